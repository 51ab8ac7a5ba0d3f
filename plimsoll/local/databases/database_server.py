"""Common to the databases of this machine: a process, a folder, and its removal."""

import re
import shutil
import signal
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self, TypeVar
from urllib.parse import quote

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.local.guarded import GuardedProcess
from plimsoll.local.room import read_free_disk_bytes

PORT_TAKEN = "Address already in use"
DISK_FULL = "No space left on device"
_SAYS_FULL = re.compile(rf"{DISK_FULL}|disk is full|[Ee]rror(?: number|:)? 28\b")
_ATTEMPTS = 5
_START_BYTES = 32 * 2**20  # a server that starts writes logs, and temporary tables of 12 MiB


class DatabaseServer(ABC):
    """A running server with a folder of its own. As a context manager it removes itself.

    Attributes:
        directory: The server's folder; its data is in `directory / "data"`.
        host: The server's address in the loopback network.
        port: TCP port that clients connect to.
    """

    _NAME: ClassVar[str]
    _STOPS_AT = signal.SIGTERM  # clean shutdown, even with clients connected

    def __init__(self, *, process: GuardedProcess, directory: Path, host: str, port: int) -> None:
        self._process = process
        self.directory = directory
        self.host = host
        self.port = port

    @property
    @abstractmethod
    def dsn(self) -> str:
        """The data source name, including a password if there is one."""

    @abstractmethod
    def _is_ready(self, timeout_s: float) -> bool:
        """Return whether this server, and no other on its port, gives clients all their rights.

        Args:
            timeout_s: The longest time that the look may take, in seconds.
        """

    @abstractmethod
    def _explain_end(self) -> str:
        """Return the server's own reason for its end, from its log."""

    def wait_ready(self, timeout_s: float) -> None:
        """Wait until clients have all their rights.

        Raises:
            PlimsollError: It ended before, or it takes too long; then it is killed.
        """
        deadline = time.monotonic() + timeout_s
        while not self._is_ready(max(1.0, deadline - time.monotonic())):
            if not self.running:
                reason = f"{self._explain_end()} (its log is {self.log})"
                raise PlimsollError(f"{self._NAME} did not start: {reason}")
            if time.monotonic() >= deadline:
                self.kill()
                waited = words.format_duration(timeout_s)
                raise PlimsollError(
                    f"{self._NAME} did not answer in {waited}; its log is {self.log}"
                )
            time.sleep(0.02)  # bounded by the deadline

    @property
    def log(self) -> Path:
        """The file that the server writes its log to."""
        return self.directory / "server.log"

    def changeable(self, names: Sequence[str]) -> frozenset[str]:
        """Return which settings it accepts while it runs; none unless overridden."""
        del names
        return frozenset()

    def change(self, settings: Mapping[str, str]) -> None:
        """Change settings of the running server.

        Raises:
            PlimsollError: It refuses one.
        """
        raise PlimsollError(f"{', '.join(settings)} cannot be changed while the server runs")

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether its process is alive."""
        return self._process.poll() is None

    def stop(self, timeout_s: float = 60.0) -> None:
        """Shut it down cleanly; kill it if that takes longer than `timeout_s`."""
        self._process.stop(timeout_s, self._STOPS_AT)

    def kill(self) -> None:
        """Kill it as a power cut would (SIGKILL); its data stays."""
        self._process.kill()

    def remove(self) -> None:
        """Kill it if it runs, and delete its folder."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class SqlServer(DatabaseServer):
    """A server on 127.0.0.1 with an account and a database of its own.

    Attributes:
        user: The account.
        password: Password of the account.
        database: A database that the account may change.
    """

    _SCHEME: ClassVar[str]

    def __init__(
        self, *, process: GuardedProcess, directory: Path, port: int, account: tuple[str, str, str]
    ) -> None:
        super().__init__(process=process, directory=directory, host="127.0.0.1", port=port)
        self.user, self.password, self.database = account

    @property
    def dsn(self) -> str:
        """The data source name, password included."""
        account = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"{self._SCHEME}://{account}@{self.host}:{self.port}/{quote(self.database, safe='')}"


Server = TypeVar("Server", bound=DatabaseServer)


def lacks_room(folder: Path) -> bool:
    """Return whether the disk of a folder has too little room for a server to start."""
    return read_free_disk_bytes(folder) < _START_BYTES


def is_disk_full(text: str) -> bool:
    """Return whether a server's log, or an error, reports a full disk."""
    return _SAYS_FULL.search(text) is not None


def choose_port() -> int:
    """Return a free TCP port of 127.0.0.1; another process may take it before its use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_until_ready(start: Callable[[], Server], *, timeout_s: float, any_port: bool) -> Server:
    """Start a server and wait until it is ready; retry if its port was taken meanwhile.

    Args:
        start: The function that starts one, on a port that is free then.
        timeout_s: The longest time until a server is ready, in seconds.
        any_port: Whether another port is acceptable.

    Raises:
        PlimsollError: It did not start.
    """
    for attempts_left in reversed(range(_ATTEMPTS)):
        server = start()
        try:
            server.wait_ready(timeout_s)
        except PlimsollError as error:
            if attempts_left and any_port and PORT_TAKEN in str(error):
                continue  # another process was faster to take the port
            raise
        except BaseException:
            server.kill()
            raise
        return server
    raise AssertionError("unreachable")  # pragma: no cover
