"""A private Cassandra node on free loopback ports, removed when its owner ends."""

import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.cassandra_program import fetch_cassandra, find_java
from plimsoll.local.databases.cassandra_settings import (
    HEAP_MIB,
    make_server_command,
    write_settings,
)
from plimsoll.local.databases.database_server import (
    DISK_FULL,
    PORT_TAKEN,
    DatabaseServer,
    is_disk_full,
    start_until_ready,
)
from plimsoll.local.guarded import GuardedProcess
from plimsoll.model.request.cassandra_target import KEYSPACE

_NO_SETTINGS: Mapping[str, object] = MappingProxyType({})
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_STARTED = "Startup complete"  # logged slightly before it listens
_HAS_ADMIN = "Created default superuser role"


class CassandraServer(DatabaseServer):
    """A running Cassandra node that listens on the loopback interface only.

    Attributes:
        keyspace: The keyspace that its DSN names; nothing creates it.
    """

    _NAME = "Cassandra"
    keyspace = KEYSPACE

    def __init__(
        self,
        *,
        process: GuardedProcess,
        directory: Path,
        host: str,
        port: int,
        signs_of_readiness: Sequence[str],
    ) -> None:
        super().__init__(process=process, directory=directory, host=host, port=port)
        self._signs_of_readiness = signs_of_readiness

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
        storage_port: int | None = None,
        seed: str | None = None,
        ready_timeout_s: float = 180.0,
    ) -> "CassandraServer":
        """Start a server and wait until it is ready; fetch it first if it is missing.

        Args:
            directory: Folder of its own; data from an earlier start is used again.
            settings: Settings of `cassandra.yaml`, merged over `DEFAULT_SETTINGS`.
            environment: Variables added to this process's own for the server.
            heap_mib: The JVM's heap, in MiB.
            host: The node's address in the loopback network.
            port: TCP port of CQL; None takes a free one.
            storage_port: TCP port for the other nodes of its cluster; None takes a free one.
            seed: The address of its cluster's first node; None if it is that node, or alone.
            ready_timeout_s: The longest time until it is ready, in seconds.

        Raises:
            MissingToolError: There is no Java 17, or no Maven to fetch the server with.
            PlimsollError: It did not start; says the server's own reason and names its log.
        """
        java, jars = find_java(), fetch_cassandra()
        directory = directory.resolve()
        for folder in ("data", "tmp"):
            (directory / folder).mkdir(parents=True, exist_ok=True)
        is_new = not any((directory / "data").iterdir())
        signs = _list_signs_of_readiness(settings, is_new=is_new)

        def start_server() -> CassandraServer:
            if is_new:  # An attempt whose port was taken may have made the first user already.
                shutil.rmtree(directory / "data")
                (directory / "data").mkdir()
            chosen, chosen_storage = _choose_ports(host, port, storage_port)
            write_settings(
                directory,
                host=host,
                cql_port=chosen,
                storage_port=chosen_storage,
                settings=settings,
                seed=seed,
            )
            (directory / "server.log").unlink(missing_ok=True)
            process = GuardedProcess.start(
                make_server_command(
                    java, jars, directory, heap_mib=heap_mib, joins=seed is not None
                ),
                environment={**os.environ, **environment},
                working_directory=directory,
                log=directory / "server.log",
                remove_on_orphaned=[directory / "data", directory / "tmp"],
            )
            return cls(
                process=process,
                directory=directory,
                host=host,
                port=chosen,
                signs_of_readiness=signs,
            )

        return start_until_ready(start_server, timeout_s=ready_timeout_s, any_port=port is None)

    @property
    def dsn(self) -> str:
        """The data source name."""
        return f"cassandra://{self.host}:{self.port}/{self.keyspace}"

    def _is_ready(self, timeout_s: float) -> bool:
        """Return whether its log has the lines of readiness; no other server shares the log."""
        del timeout_s
        text = self.log.read_text(errors="replace")
        return all(sign in text for sign in self._signs_of_readiness)

    def _explain_end(self) -> str:
        """Find in its log why it ended: its last error, exception or line, in this order."""
        text = self.log.read_text(errors="replace")
        lines = [line.strip() for line in text.splitlines()]
        if any(PORT_TAKEN in line or "is in use by another process" in line for line in lines):
            return PORT_TAKEN
        if is_disk_full(text):
            return DISK_FULL
        errors = [line.partition(" - ")[2] for line in lines if line.startswith(("ERROR", "FATAL"))]
        exceptions = [line for line in lines if "Exception: " in line]
        return (errors or exceptions or [line for line in lines if line] or ["it said nothing"])[-1]


def _list_signs_of_readiness(settings: Mapping[str, object], *, is_new: bool) -> list[str]:
    """Return what its log must contain before clients have all their rights.

    A new server with passwords creates its first user in the background, sometimes only after it
    listens; a server that starts on old data has that user already.
    """
    asks = settings.get("authenticator", "AllowAllAuthenticator") != "AllowAllAuthenticator"
    return [_STARTED, _HAS_ADMIN] if asks and is_new else [_STARTED]


def _choose_ports(host: str, cql_port: int | None, storage_port: int | None) -> tuple[int, int]:
    """Return the ports of CQL and of the storage protocol: the requested or free ones.

    Raises:
        PlimsollError: The requested port is in use; Cassandra itself would take seconds to report
            that.
    """
    with ExitStack() as held:
        ports = []
        for wanted in (cql_port or 0, storage_port or 0):
            probe = held.enter_context(socket.socket())
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # Cassandra does the same
            try:
                probe.bind((host, wanted))
            except OSError:
                raise PlimsollError(
                    f"Cassandra did not start: port {wanted}: {PORT_TAKEN}"
                ) from None
            ports.append(int(probe.getsockname()[1]))
    return ports[0], ports[1]
