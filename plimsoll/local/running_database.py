"""A database of the twin, seen from outside."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from plimsoll.volumes import EmulatedVolume


@dataclass(frozen=True)
class RunningDatabase:
    """A database instance as it runs here: for watching it, and for making it fail.

    Attributes:
        identifier: The DB instance's.
        host: 127.0.0.1.
        port: TCP port.
        pid: Process id of the server.
        directory: What its emulated volume lies under.
    """

    identifier: str
    host: str
    port: int
    pid: int
    directory: Path

    @property
    def volume(self) -> EmulatedVolume:
        """Its volume, to sample it or to inject a fault; close it after use."""
        return EmulatedVolume.open(self.directory)

    def kill(self) -> None:
        """End the server as a power cut would."""
        os.kill(self.pid, signal.SIGKILL)
