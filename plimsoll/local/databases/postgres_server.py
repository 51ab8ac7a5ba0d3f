"""A private PostgreSQL server on a free loopback port, removed when its owner ends."""

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
    is_disk_full,
    start_until_ready,
)
from plimsoll.local.databases.postgres_first_data import create_data_directory
from plimsoll.local.databases.postgres_program import MAJOR, find_or_fetch
from plimsoll.local.databases.postgres_settings import (
    NONE,
    Settings,
    default_settings,
    server_command,
    write_access_file,
)
from plimsoll.local.guarded import GuardedProcess

_READY = "ready"  # the last line of `postmaster.pid`, once it accepts connections
_AT_ONCE_S = 5.0  # seconds until an immediate shutdown becomes a kill
_SEVERE = ("FATAL:", "PANIC:")


class PostgresServer(DatabaseServer):
    """A running PostgreSQL server.

    Attributes:
        user: The account created at the first start.
        password: Password of the account.
        database: A database created at the first start.
    """

    _STOPS_AT = signal.SIGINT  # SIGTERM would wait until all clients have left

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
            directory: Folder of its own; data from an earlier start is used again.
            major: PostgreSQL's major version.
            settings: Server settings, merged over the default ones.
            environment: Variables added to this process's own for the server.
            port: TCP port; None takes a free one.
            user: Account to create at the first start.
            password: Password of the account.
            database: Database to create at the first start.
            as_on_rds: Whether the account has the rights of an RDS master user; otherwise all.
            demands_tls: Whether to refuse logins without TLS, which the settings have to offer.
            ready_timeout_s: The longest time until it answers, in seconds.

        Raises:
            MissingToolError: There is no server program.
            PlimsollError: It did not start; says the server's own reason and names its log.
        """
        postgres = find_or_fetch(major)
        directory = directory.resolve()
        data = directory / "data"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "server.log").unlink(missing_ok=True)
        account = (user, password, database)
        if not data.exists():
            create_data_directory(postgres, data, account=account, as_on_rds=as_on_rds)
        write_access_file(directory, demands_tls=demands_tls)

        def start_server() -> PostgresServer:
            chosen = port or _choose_port()
            process = GuardedProcess.start(
                server_command(
                    postgres, directory, chosen, {**default_settings(major), **settings}
                ),
                environment={**os.environ, **environment},
                working_directory=directory,
                log=directory / "server.log",
                remove_on_orphaned=[data],
            )
            return cls(process=process, directory=directory, port=chosen, account=account)

        return start_until_ready(start_server, timeout_s=ready_timeout_s, any_port=port is None)

    @property
    def dsn(self) -> str:
        """The data source name, password included."""
        account = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"postgres://{account}@{self.host}:{self.port}/{quote(self.database, safe='')}"

    def wait_ready(self, timeout_s: float) -> None:
        """Wait until this server reports in its own file that it accepts connections."""
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
        """Shut it down immediately, so that it frees its shared memory, and delete its folder."""
        self._process.stop(_AT_ONCE_S, signal.SIGQUIT)
        super().remove()

    def _last_error(self) -> str:
        log = self.directory / "server.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        if any(PORT_TAKEN in line for line in lines):
            reason = f"port {self.port}: {PORT_TAKEN}"
        elif is_disk_full("\n".join(lines)):
            reason = f"{DISK_FULL}: {self.directory}"
        else:
            severe = [line for line in lines if any(word in line for word in _SEVERE)]
            line = (severe or lines or ["it said nothing"])[-1]
            reason = line.partition(":  ")[2] or line
        return f"{reason} (its log is {log})"


def _choose_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
