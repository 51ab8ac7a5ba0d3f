"""A database of the twin, seen from outside."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from plimsoll.volumes import EmulatedVolume


@dataclass(frozen=True)
class RunningDatabase:
    """A running database instance, to be watched or made to fail.

    Attributes:
        identifier: The DB instance's identifier.
        host: 127.0.0.1.
        port: TCP port.
        pid: Process id of the server.
        directory: The folder under its emulated volume.
    """

    identifier: str
    host: str
    port: int
    pid: int
    directory: Path

    @property
    def volume(self) -> EmulatedVolume:
        """Open its volume, to sample it or to inject a fault; close it after use."""
        return EmulatedVolume.open(self.directory)

    def kill(self) -> None:
        """Kill the server, as a power cut would."""
        os.kill(self.pid, signal.SIGKILL)
