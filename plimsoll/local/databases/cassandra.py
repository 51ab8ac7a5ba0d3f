"""A private single-node Cassandra on free loopback ports, gone when its owner is."""

import os
import shutil
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.cassandra_program import fetch_cassandra, find_java
from plimsoll.local.databases.cassandra_settings import HEAP_MIB, command, write_settings
from plimsoll.local.guarded import GuardedProcess
from plimsoll.model.cassandra import KEYSPACE

_NO_SETTINGS: Mapping[str, object] = MappingProxyType({})
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_LISTENS = "Starting listening for CQL clients"
_HAS_ADMIN = "Created default superuser role"
_PORT_TAKEN = "Address already in use"


class CassandraServer:
    """A running Cassandra of one node. As a context manager it removes itself.

    It asks for no password, and listens on the loopback interface alone.

    Attributes:
        directory: The folder given; the server's data is in `directory / "data"`.
        host: Its address, 127.0.0.1 by default.
        port: TCP port of CQL.
        keyspace: The keyspace that its DSN names; nothing makes it.
    """

    keyspace = KEYSPACE

    def __init__(self, *, process: GuardedProcess, directory: Path, host: str, port: int) -> None:
        self._process = process
        self.directory = directory
        self.host = host
        self.port = port

    @classmethod
    def start(
        cls,
        *,
        directory: Path,
        settings: Mapping[str, object] = _NO_SETTINGS,
        environment: Mapping[str, str] = _NO_VARIABLES,
        heap_mib: int = HEAP_MIB,
        host: str = "127.0.0.1",
        port: int | None = None,
        ready_timeout_s: float = 180.0,
    ) -> Self:
        """Start a server and wait until it is ready; fetch it first if it is not there.

        Args:
            directory: Folder of its own; data left there by an earlier start is used again.
            settings: Of `cassandra.yaml`, merged over `DEFAULT_SETTINGS`.
            environment: Variables added to this process's own for the server.
            heap_mib: The JVM's heap, in MiB.
            host: Its address, of the loopback network.
            port: TCP port of CQL; None takes a free one.
            ready_timeout_s: How long it may take until it is ready.

        Raises:
            MissingToolError: There is no Java 17, or no Maven to fetch the server with.
            PlimsollError: It did not start; says the server's own reason and names its log.
        """
        java, jars = find_java(), fetch_cassandra()
        directory = directory.resolve()
        for folder in ("data", "tmp"):
            (directory / folder).mkdir(parents=True, exist_ok=True)
        signs = _signs_of_readiness(directory, settings)
        for attempts_left in (4, 3, 2, 1, 0):
            chosen, storage_port = _free_ports(host, port)
            write_settings(
                directory,
                host=host,
                cql_port=chosen,
                storage_port=storage_port,
                settings=settings,
            )
            (directory / "server.log").unlink(missing_ok=True)
            process = GuardedProcess.start(
                command(java, jars, directory, heap_mib=heap_mib),
                environment={**os.environ, **environment},
                working_directory=directory,
                log=directory / "server.log",
                remove_on_orphaned=[directory / "data", directory / "tmp"],
            )
            server = cls(process=process, directory=directory, host=host, port=chosen)
            try:
                server._wait_ready(signs, ready_timeout_s)
            except PlimsollError as error:
                if attempts_left and port is None and _PORT_TAKEN in str(error):
                    continue  # another process was quicker to take the port
                raise
            except BaseException:
                server.kill()
                raise
            return server
        raise AssertionError("unreachable")  # pragma: no cover

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._process.pid

    @property
    def dsn(self) -> str:
        """The data source name."""
        return f"cassandra://{self.host}:{self.port}/{self.keyspace}"

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process.poll() is None

    def stop(self, timeout_s: float = 60.0) -> None:
        """Shut it down cleanly; kill it if that takes longer than `timeout_s`."""
        self._process.stop(timeout_s)

    def kill(self) -> None:
        """End it as a power cut would (SIGKILL); its data stays."""
        self._process.kill()

    def remove(self) -> None:
        """Kill it if it runs, and delete its folder."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def _wait_ready(self, signs: Sequence[str], timeout_s: float) -> None:
        """Wait for the lines that it logs when it is ready: no other server writes there.

        Raises:
            PlimsollError: It ended before, or it takes too long.
        """
        log = self.directory / "server.log"
        deadline = time.monotonic() + timeout_s
        while not all(sign in (text := log.read_text(errors="replace")) for sign in signs):
            if not self.running:
                raise PlimsollError(f"Cassandra did not start: {_reason(text)} (its log is {log})")
            if time.monotonic() >= deadline:
                self.kill()
                raise PlimsollError(f"Cassandra was not ready in {timeout_s:g} s; its log is {log}")
            time.sleep(0.05)  # bounded by the deadline


def _signs_of_readiness(directory: Path, settings: Mapping[str, object]) -> list[str]:
    """Give what its log must say before a client can do all that it may.

    A new server that asks for passwords makes its first user in the background, sometimes only
    after it listens; one that is started on its old data has it.
    """
    asks = settings.get("authenticator", "AllowAllAuthenticator") != "AllowAllAuthenticator"
    is_new = not any((directory / "data").iterdir())
    return [_LISTENS, _HAS_ADMIN] if asks and is_new else [_LISTENS]


def _reason(text: str) -> str:
    """Find what it said when it ended: the cause that its last errors give."""
    lines = [line.strip() for line in text.splitlines()]
    if any(_PORT_TAKEN in line or "is in use by another process" in line for line in lines):
        return _PORT_TAKEN  # by a process that was quicker than this one
    told = [line.partition(" - ")[2] for line in lines if line.startswith(("ERROR", "FATAL"))]
    thrown = [line for line in lines if "Exception: " in line]
    return (told or thrown or [line for line in lines if line] or ["it said nothing"])[-1]


def _free_ports(host: str, cql_port: int | None) -> tuple[int, int]:
    """Give the ports of CQL and of the storage protocol, the first one as asked.

    Raises:
        PlimsollError: The port asked for is taken; Cassandra would say so after seconds.
    """
    with ExitStack() as held:
        ports = []
        for wanted in (cql_port or 0, 0):
            probe = held.enter_context(socket.socket())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Cassandra's own
            try:
                probe.bind((host, wanted))
            except OSError:
                raise PlimsollError(
                    f"Cassandra did not start: port {wanted}: {_PORT_TAKEN}"
                ) from None
            ports.append(int(probe.getsockname()[1]))
    return ports[0], ports[1]
