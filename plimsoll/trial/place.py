"""Where a canary is deployed: the interface that AWS and one machine implement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from plimsoll.client.service_client import Service
from plimsoll.workflow.status import Snapshot


@dataclass(frozen=True)
class Left:
    """Something that still exists but should have been deleted.

    Attributes:
        what: The name of the resource.
        command: The shell command that deletes it.
    """

    what: str
    command: str


class Teller(Protocol):
    """Receives progress messages."""

    def say(self, text: str) -> None:
        """Report what has happened."""

    def status(self, text: str) -> None:
        """Report what is waited for. Called several times a second; shown every few seconds."""

    def show(self, now: Snapshot) -> None:
        """Report the state of the run."""


class Place(Protocol):
    """Where a deployment is created and destroyed."""

    @property
    def name(self) -> str:
        """The place's title in tables: `AWS`, `one machine`."""

    def creates(self) -> Sequence[str]:
        """Return what a deployment creates, one line per thing."""

    def require_free(self) -> None:
        """Check that a canary can be deployed. Creates nothing.

        Raises:
            PlimsollError: It cannot; the message says what to do.
        """

    def deploy(self, teller: Teller) -> Service:
        """Deploy, and return the service. A `teller` that raises ends the deployment.

        Raises:
            PlimsollError: The deployment failed; parts of it may exist.
        """

    def list_left_of_run(self, run_id: str) -> list[Left]:
        """Return what still exists of a run's target."""

    def destroy(self, teller: Teller) -> None:
        """Remove everything that `deploy` has created, complete or not. Safe to repeat.

        Raises:
            PlimsollError: Removing failed.
        """

    def list_left_of_deployment(self) -> list[Left]:
        """Return what still exists of the deployment."""
