"""The running databases: each a real server on an emulated volume."""

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from moto.ec2.models.instance_types import INSTANCE_TYPES

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.databases.certificates import Authority
from plimsoll.local.databases.database_server import DatabaseServer, is_disk_full
from plimsoll.local.guarded import kill_all
from plimsoll.local.home import Places
from plimsoll.local.resources.restarting import Restarting
from plimsoll.local.resources.sampler import Naming, Sampler
from plimsoll.volumes import EmulatedVolume

_UNDO_TIMEOUT_S = 15.0
_LOG = re.compile(r"(?: \(|; )its log is [^)]*\)?$")
_KILL_AGAIN_S = 0.05  # a server may be started while everything ends


@dataclass
class Database:
    """One running instance."""

    identifier: str
    directory: Path
    volume: EmulatedVolume
    server: DatabaseServer
    sampler: Sampler
    attributes: Mapping[str, str]  # the resource's attributes, with CloudFormation's names
    forget: Callable[[], None]  # removes it from AWS's other services
    protected: bool = False  # deletion protection of RDS
    restarting: Restarting | None = None  # None if it cannot be restarted
    account: tuple[str, str] = ("", "")  # master user and first database on RDS


Start = Callable[[Path, ExitStack], Database]


class Databases:
    """All instances of a twin. Thread-safe."""

    def __init__(
        self,
        places: Places,
        *,
        memory_scale: float,
        metric_period_s: int = 1,
        metrics_late_s: float = 0,
    ) -> None:
        """Start without instances.

        Args:
            places: Chooses each instance's folder.
            memory_scale: This machine's memory for one unit of the instance class's.
            metric_period_s: The period of CloudWatch's points in seconds.
            metrics_late_s: The delay of a point after its period's end, in seconds.
        """
        self._places = places
        self._sampler = partial(Sampler, period_s=metric_period_s, late_s=metrics_late_s)
        self.memory_scale = memory_scale
        self.authority = Authority.new()  # signs the servers' certificates
        self._lock = threading.Condition()
        self._names: set[str] = set()  # running instances, and those being started
        self._starting = 0
        self._closed = False
        self._running: dict[str, Database] = {}

    def create(self, identifier: str, start: Start) -> Database:
        """Start an instance in a folder of its own; undo everything if it fails.

        Args:
            identifier: The instance's name.
            start: Starts it, given its folder and a stack of callbacks that undo the start.

        Raises:
            UsageError: The name exists already, or AWS has no such instance.
            PlimsollError: The server did not start.
        """
        with self._count_start(), ExitStack() as undo:
            directory = self._take_folder(identifier, undo)
            undo.callback(shutil.rmtree, directory, ignore_errors=True)
            database = self._start(directory, start, undo)
            undo.callback(database.sampler.close)
            with self._lock:
                self._refuse_if_closed()
                self._running[identifier] = database
            undo.pop_all()
        return database

    def sample(self, volume: EmulatedVolume, pid: int, naming: Naming) -> Sampler:
        """Publish an instance's metrics, until the sampler is closed."""
        return self._sampler(volume, pid, naming)

    @staticmethod
    def _start(directory: Path, start: Start, undo: ExitStack) -> Database:
        """Start an instance; the error says why it failed, since its log is then removed."""
        try:
            return start(directory, undo)
        except UsageError:
            raise
        except (OSError, PlimsollError) as error:
            if is_disk_full(str(error)):
                where, whose = directory.parent, directory.name
                raise PlimsollError(f"no space left in {where} for the database {whose}") from None
            raise PlimsollError(_LOG.sub("", str(error))) from error

    @contextmanager
    def _count_start(self) -> Iterator[None]:
        """Count a start in progress: `close` waits until it has been undone."""
        with self._lock:
            self._refuse_if_closed()
            self._starting += 1
        try:
            yield
        finally:
            with self._lock:
                self._starting -= 1
                self._lock.notify_all()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise PlimsollError("the local stand-in for AWS is ending")

    def _take_folder(self, identifier: str, undo: ExitStack) -> Path:
        taken = UsageError(f"DB instance already exists: {identifier}")
        with self._lock:
            if identifier in self._names:
                raise taken
            self._names.add(identifier)
        undo.callback(self._names.discard, identifier)
        directory = self._places.choose(identifier)
        undo.callback(self._places.give_back, identifier)
        if directory.exists():
            raise taken
        directory.mkdir(parents=True)
        return directory

    def delete(self, identifier: str) -> None:
        """End an instance and remove everything of it; safe to repeat."""
        with self._lock:
            database = self._running.pop(identifier, None)
        if database is None:
            return
        if database.restarting is not None:
            if database.restarting.status == "rebooting":
                database.server.kill()  # a restart that waits for the server's end stops here
            database.restarting.refuse()
        database.sampler.close()
        database.server.remove()
        database.volume.close()
        shutil.rmtree(database.directory, ignore_errors=True)
        database.forget()
        self._places.give_back(identifier)
        self._names.discard(identifier)

    def protect(self, identifier: str, *, protected: bool) -> None:
        """Switch an instance's deletion protection.

        Raises:
            KeyError: There is no such instance.
        """
        with self._lock:
            self._running[identifier].protected = protected

    def find(self, identifier: str) -> Database | None:
        """Find a running instance."""
        with self._lock:
            return self._running.get(identifier)

    def restart(self, database: Database, parameters: Mapping[str, str]) -> None:
        """Stop an instance's server cleanly, and start it again on the same files."""
        restarting = database.restarting
        if restarting is None:
            raise UsageError(f"{database.identifier} cannot be restarted on one machine")

        def restart() -> None:
            with self._count_start():
                database.sampler.close()
                database.server.stop()
                if self.find(database.identifier) is not database:
                    return
                try:
                    database.server, database.sampler = restarting.start_again(parameters)
                except PlimsollError as error:  # the log is removed with its folder
                    raise PlimsollError(_LOG.sub("", str(error))) from error

        restarting.begin(restart)

    def list(self) -> list[Database]:
        """Return the running instances."""
        with self._lock:
            return list(self._running.values())

    def close(self) -> None:
        """End all instances, including those being started, and remove everything of them."""
        with self._lock:
            self._closed = True
            deadline = time.monotonic() + _UNDO_TIMEOUT_S
            while self._starting and time.monotonic() < deadline:
                kill_all()  # starts that wait for their server then fail and undo themselves
                self._lock.wait(_KILL_AGAIN_S)
        for database in self.list():
            self.delete(database.identifier)


def find_instance_memory_mib(instance_class: str) -> int:
    """Return an instance class's memory in MiB, as EC2 describes it.

    Raises:
        UsageError: There is no such class.
    """
    name = instance_class.removeprefix("db.")
    if name not in INSTANCE_TYPES:
        raise UsageError(f"Invalid DB Instance class: {instance_class}")
    return int(INSTANCE_TYPES[name]["MemoryInfo"]["SizeInMiB"])
