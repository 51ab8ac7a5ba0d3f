"""The restart of an instance, with the states that RDS shows."""

import threading
from collections.abc import Callable, Mapping
from typing import Literal

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.database_server import DatabaseServer
from plimsoll.local.resources.sampler import Sampler

Status = Literal["available", "rebooting", "incompatible-parameters"]
StartAgain = Callable[[Mapping[str, str]], tuple[DatabaseServer, Sampler]]


class Restarting:
    """Restarts one instance in the background: one restart at a time, none after its deletion.

    Attributes:
        start_again: Starts the server on the same files and port with other parameters.
        group: The name of its parameter group.
        status: The status in RDS's words.
        pending: Whether its group has parameters that it was not started with.
        problem: Why it did not start again; None if it did, or has not tried.
    """

    def __init__(self, start_again: StartAgain, group: str) -> None:
        self.start_again = start_again
        self.group = group
        self.status: Status = "available"
        self.pending = False
        self.problem: str | None = None
        self._lock = threading.Lock()
        self._refused = False

    def begin(self, restart: Callable[[], None]) -> None:
        """Restart it in the background."""
        self.status = "rebooting"
        threading.Thread(target=self._run, args=(restart,), daemon=True).start()

    def refuse(self) -> None:
        """Refuse further restarts, and wait for the end of one under way."""
        self._refused = True
        with self._lock:
            pass

    def _run(self, restart: Callable[[], None]) -> None:
        with self._lock:
            if self._refused:
                return
            try:
                restart()
            except (OSError, PlimsollError) as error:
                self.status, self.problem = "incompatible-parameters", str(error)
            else:
                self.status, self.pending = "available", False
