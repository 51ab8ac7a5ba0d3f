"""Where a canary lives: the seam between AWS and one machine. Only what differs is in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from plimsoll.client.service_client import Service
from plimsoll.workflow.status import Snapshot


@dataclass(frozen=True)
class Left:
    """Something that is still there and should not be.

    Attributes:
        what: Its name.
        command: What deletes it, for a shell.
    """

    what: str
    command: str


class Teller(Protocol):
    """Who is told what happens."""

    def say(self, text: str) -> None:
        """Tell what has happened."""

    def status(self, text: str) -> None:
        """Tell what is waited for; called several times a second, shown each few of them."""

    def show(self, now: Snapshot) -> None:
        """Tell where the run stands."""


class Place(Protocol):
    """Where a deployment is made and destroyed."""

    @property
    def name(self) -> str:
        """Its title in tables: `AWS`, `one machine`."""

    def creates(self) -> Sequence[str]:
        """Say what deploying makes, a line for each thing."""

    def require_free(self) -> None:
        """Look whether a canary can be deployed; makes nothing.

        Raises:
            PlimsollError: It cannot; says what to do.
        """

    def deploy(self, teller: Teller) -> Service:
        """Deploy, and give the service that then answers; `teller` may raise to end it.

        Raises:
            PlimsollError: It failed. Some of it may be there.
        """

    def left_of_run(self, run_id: str) -> list[Left]:
        """Look for what is still there of a run's target."""

    def destroy(self, teller: Teller) -> None:
        """Remove all that `deploy` has made, or some of it; safe to repeat.

        Raises:
            PlimsollError: It failed.
        """

    def left_of_deployment(self) -> list[Left]:
        """Look for what is still there of the deployment."""
