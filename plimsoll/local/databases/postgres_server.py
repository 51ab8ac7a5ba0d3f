"""A private PostgreSQL server on a free loopback port, gone when its owner is."""

import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.database_server import (
    DISK_FULL,
    PORT_TAKEN,
    DatabaseServer,
    first_ready,
    says_full,
)
from plimsoll.local.databases.postgres_first_data import new_data_directory
from plimsoll.local.databases.postgres_program import MAJOR, found_or_fetched
from plimsoll.local.databases.postgres_settings import (
    NONE,
    Settings,
    command,
    default_settings,
    write_access_file,
)
from plimsoll.local.guarded import GuardedProcess

_READY = "ready"  # the last line of `postmaster.pid`, once it takes connections
_AT_ONCE_S = 5.0  # for an immediate shutdown
_SEVERE = ("FATAL:", "PANIC:")


class PostgresServer(DatabaseServer):
    """A running PostgreSQL server.

    Attributes:
        user: The account made at the first start.
        password: Its password.
        database: A database made at the first start.
    """

    _STOPS_AT = signal.SIGINT  # SIGTERM waits until all clients have gone

    def __init__(
        self, *, process: GuardedProcess, directory: Path, port: int, account: tuple[str, str, str]
    ) -> None:
        super().__init__(process=process, directory=directory, host="127.0.0.1", port=port)
        self.user, self.password, self.database = account

    @classmethod
    def start(
        cls,
        *,
        directory: Path,
        major: int = MAJOR,
        settings: Settings = NONE,
        environment: Mapping[str, str] = NONE,
        port: int | None = None,
        user: str = "plimsoll",
        password: str = "plimsoll",  # noqa: S107 - it listens on loopback and lives for a test or a run
        database: str = "plimsoll",
        as_on_rds: bool = False,
        demands_tls: bool = False,
        ready_timeout_s: float = 180.0,
    ) -> "PostgresServer":
        """Start a server and wait until it answers.

        Args:
            directory: Folder of its own; data left there by an earlier start are used again.
            major: PostgreSQL's major version.
            settings: Server settings, merged over the default ones.
            environment: Variables added to this process's own for the server.
            port: TCP port; None takes a free one.
            user: Account to make at the first start.
            password: Its password.
            database: Database to make at the first start.
            as_on_rds: The account has the rights of a master user of RDS; else all.
            demands_tls: Refuse logins without TLS, which its settings have to offer.
            ready_timeout_s: How long it may take until it answers.

        Raises:
            MissingToolError: There is no server program.
            PlimsollError: It did not start; says the server's own reason and names its log.
        """
        postgres = found_or_fetched(major)
        directory = directory.resolve()
        data = directory / "data"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "server.log").unlink(missing_ok=True)
        account = (user, password, database)
        if not data.exists():
            new_data_directory(postgres, data, account=account, as_on_rds=as_on_rds)
        write_access_file(directory, demands_tls=demands_tls)

        def start_server() -> PostgresServer:
            chosen = port or _free_port()
            process = GuardedProcess.start(
                command(postgres, directory, chosen, {**default_settings(major), **settings}),
                environment={**os.environ, **environment},
                working_directory=directory,
                log=directory / "server.log",
                remove_on_orphaned=[data],
            )
            return cls(process=process, directory=directory, port=chosen, account=account)

        return first_ready(start_server, timeout_s=ready_timeout_s, any_port=port is None)

    @property
    def dsn(self) -> str:
        """The data source name, password included."""
        account = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"postgres://{account}@{self.host}:{self.port}/{quote(self.database, safe='')}"

    def wait_ready(self, timeout_s: float) -> None:
        """Wait until this very server says in its file that it takes connections."""
        deadline = time.monotonic() + timeout_s
        while not self._takes_connections():
            if not self.running:
                raise PlimsollError(f"PostgreSQL did not start: {self._last_error()}")
            if time.monotonic() >= deadline:
                self.kill()
                log = self.directory / "server.log"
                waited = words.duration(timeout_s)
                raise PlimsollError(f"PostgreSQL did not answer in {waited}; its log is {log}")
            time.sleep(0.02)  # bounded by the deadline

    def _takes_connections(self) -> bool:
        try:
            lines = (self.directory / "data/postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 1 and lines[0] == str(self.pid) and lines[-1].strip() == _READY

    def remove(self) -> None:
        """End it at once, so that it takes its shared memory away, and delete its folder."""
        self._process.stop(_AT_ONCE_S, signal.SIGQUIT)
        super().remove()

    def _last_error(self) -> str:
        log = self.directory / "server.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        if any(PORT_TAKEN in line for line in lines):
            reason = f"port {self.port}: {PORT_TAKEN}"
        elif says_full("\n".join(lines)):
            reason = f"{DISK_FULL}: {self.directory}"
        else:
            severe = [line for line in lines if any(word in line for word in _SEVERE)]
            line = (severe or lines or ["it said nothing"])[-1]
            reason = line.partition(":  ")[2] or line
        return f"{reason} (its log is {log})"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
