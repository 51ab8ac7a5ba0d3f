"""The databases that run now: each a real server on an emulated volume."""

import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from moto.ec2.models.instance_types import INSTANCE_TYPES

from plimsoll.errors import UsageError
from plimsoll.local.databases.certificates import Authority
from plimsoll.local.databases.database_server import DatabaseServer
from plimsoll.local.resources.sampler import Naming, Sampler
from plimsoll.volumes import EmulatedVolume


@dataclass
class Database:
    """One running instance."""

    identifier: str
    directory: Path
    volume: EmulatedVolume
    server: DatabaseServer
    sampler: Sampler
    attributes: Mapping[str, str]  # of its resource, by CloudFormation's names
    forget: Callable[[], None]  # removes what other services of AWS know of it
    protected: bool = False  # against deletion by RDS


Start = Callable[[Path, ExitStack], Database]


class Databases:
    """All instances of a twin. Thread-safe."""

    def __init__(
        self,
        directory: Path,
        *,
        memory_scale: float,
        metric_period_s: int = 1,
        metrics_late_s: float = 0,
    ) -> None:
        """Take over a folder.

        Args:
            directory: Where each instance gets a folder.
            memory_scale: This machine's memory for one unit of the instance class's.
            metric_period_s: Seconds that a point of CloudWatch is of.
            metrics_late_s: How long after its period's end it comes.
        """
        self._directory = directory
        self._sampler = partial(Sampler, period_s=metric_period_s, late_s=metrics_late_s)
        self.memory_scale = memory_scale
        self.authority = Authority.new()  # of the servers' certificates
        self._lock = threading.Lock()
        self._running: dict[str, Database] = {}

    def create(self, identifier: str, start: Start) -> Database:
        """Start an instance in a folder of its own; what fails half-way is undone.

        Args:
            identifier: Its name.
            start: Starts it, given its folder and where to put what undoes it.

        Raises:
            UsageError: There is one of this name already, or AWS has no such instance.
            PlimsollError: The server did not start.
        """
        with ExitStack() as undo:
            directory = self._take(identifier)
            undo.callback(shutil.rmtree, directory, ignore_errors=True)
            database = start(directory, undo)
            undo.pop_all()
        with self._lock:
            self._running[identifier] = database
        return database

    def sample(self, volume: EmulatedVolume, pid: int, naming: Naming) -> Sampler:
        """Publish what an instance does, until that is closed."""
        return self._sampler(volume, pid, naming)

    def _take(self, identifier: str) -> Path:
        directory = self._directory / identifier
        with self._lock:
            if directory.exists():
                raise UsageError(f"DB instance already exists: {identifier}")
            directory.mkdir(parents=True)
        return directory

    def delete(self, identifier: str) -> None:
        """End an instance and remove all that it was; safe to repeat."""
        with self._lock:
            database = self._running.pop(identifier, None)
        if database is None:
            return
        database.sampler.close()
        database.server.remove()
        database.volume.close()
        shutil.rmtree(database.directory, ignore_errors=True)
        database.forget()

    def protect(self, identifier: str, *, protected: bool) -> None:
        """Switch an instance's deletion protection.

        Raises:
            KeyError: There is none of this name.
        """
        with self._lock:
            self._running[identifier].protected = protected

    def list(self) -> list[Database]:
        """Give the running instances."""
        with self._lock:
            return list(self._running.values())

    def close(self) -> None:
        """End all instances."""
        for database in self.list():
            self.delete(database.identifier)


def instance_memory_mib(instance_class: str) -> int:
    """Give an instance class's memory, as EC2 describes it.

    Raises:
        UsageError: There is no such class.
    """
    name = instance_class.removeprefix("db.")
    if name not in INSTANCE_TYPES:
        raise UsageError(f"Invalid DB Instance class: {instance_class}")
    return int(INSTANCE_TYPES[name]["MemoryInfo"]["SizeInMiB"])
