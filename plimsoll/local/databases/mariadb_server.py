"""A private MariaDB server on loopback, killed when its owner ends.

Its data is then deleted; its log stays.
"""

import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import pymysql

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.database_server import (
    DISK_FULL,
    PORT_TAKEN,
    DatabaseServer,
    is_disk_full,
    lacks_room,
    start_until_ready,
)
from plimsoll.local.databases.mariadb_first_data import create_data_directory
from plimsoll.local.databases.mariadb_program import (
    fetch_mariadb,
    find_mariadbd,
    find_or_fetch,
)
from plimsoll.local.databases.mariadb_settings import (
    DEFAULT_SETTINGS,
    NONE,
    Settings,
    server_command,
    write_init_file,
)
from plimsoll.local.databases.mariadb_variables import change_variables, find_changeable
from plimsoll.local.guarded import GuardedProcess

__all__ = ["DEFAULT_SETTINGS", "MariaDbServer", "fetch_mariadb", "find_mariadbd"]


class MariaDbServer(DatabaseServer):
    """A running MariaDB server.

    Attributes:
        user: Account with all rights.
        password: Password of the account.
        database: A database, created if it did not exist.
    """

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
        settings: Settings = NONE,
        environment: Mapping[str, str] = NONE,
        port: int | None = None,
        user: str = "plimsoll",
        password: str = "plimsoll",  # noqa: S107 - it listens on loopback and lives for a test or a run
        database: str = "plimsoll",
        ready_timeout_s: float = 180.0,
    ) -> "MariaDbServer":
        """Start a server and wait until it answers.

        Args:
            directory: Folder of its own; data from an earlier start is used again.
            settings: Server settings, merged over `DEFAULT_SETTINGS`.
            environment: Variables added to this process's own for the server.
            port: TCP port; None takes a free one.
            user: Account with all rights, created anew at each start.
            password: Password of the account.
            database: Database to create if it does not exist.
            ready_timeout_s: The longest time until it answers, in seconds.

        Raises:
            UsageError: PLIMSOLL_MARIADBD names no program.
            MissingToolError: There is no server program, and no Maven to fetch one with.
            PlimsollError: The program could not be fetched, or the server did not start or did not
                answer in time; the message has the server's own reason, if it gave one, and names
                its log.
        """
        mariadbd = find_or_fetch()
        directory = directory.resolve()
        data = directory / "data"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "server.log").unlink(missing_ok=True)
        if not data.exists():
            create_data_directory(mariadbd, data)
        statements = write_init_file(directory, user, password, database)

        def start_server() -> MariaDbServer:
            chosen = port or _choose_port()
            process = GuardedProcess.start(
                server_command(
                    mariadbd, directory, chosen, statements, {**DEFAULT_SETTINGS, **settings}
                ),
                environment={**os.environ, **environment},
                working_directory=directory,
                log=directory / "server.log",
                remove_on_orphaned=[directory / "data"],
            )
            account = (user, password, database)
            return cls(process=process, directory=directory, port=chosen, account=account)

        return start_until_ready(start_server, timeout_s=ready_timeout_s, any_port=port is None)

    @property
    def dsn(self) -> str:
        """The data source name, password included."""
        account = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return f"mysql://{account}@{self.host}:{self.port}/{quote(self.database, safe='')}"

    def changeable(self, names: Sequence[str]) -> frozenset[str]:
        """Return which settings it accepts while it runs."""
        return find_changeable(self.dsn, names)

    def change(self, settings: Mapping[str, str]) -> None:
        """Change settings while it runs."""
        change_variables(self.dsn, settings)

    def wait_ready(self, timeout_s: float) -> None:
        """Wait until this server, and no other on its port, serves its account."""
        deadline = time.monotonic() + timeout_s
        while not self._answers(max(1.0, deadline - time.monotonic())):
            if not self.running:
                raise PlimsollError(f"MariaDB did not start: {self._last_error()}")
            if time.monotonic() >= deadline:
                self.kill()
                log = self.directory / "server.log"
                waited = words.duration(timeout_s)
                raise PlimsollError(f"MariaDB did not answer in {waited}; its log is {log}")
            time.sleep(0.02)  # bounded by the deadline
        (self.directory / "init.sql").unlink(missing_ok=True)

    def _answers(self, timeout_s: float) -> bool:
        """Return whether this server, and not another on its port, serves its account.

        It greets clients once its first statements have run, so the wait is in the connection
        attempt.
        """
        try:
            # First without pymysql, which reads this machine's authorities for each connection: a
            # server that does not listen yet is asked often.
            reached = socket.create_connection((self.host, self.port), timeout_s)
        except OSError:
            return False
        connection = pymysql.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            defer_connect=True,
        )
        try:
            connection.connect(reached)
            with connection, connection.cursor() as cursor:
                cursor.execute("SELECT @@datadir")
                row = cursor.fetchone()
        except pymysql.MySQLError:
            return False
        return row is not None and Path(row[0]) == self.directory / "data"

    def _last_error(self) -> str:
        log = self.directory / "server.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        errors = [line for line in lines if "[ERROR]" in line and "Aborting" not in line]
        reason = (
            errors[-1].partition("[ERROR] ")[2] if errors else (lines or ["it said nothing"])[-1]
        )
        if any(PORT_TAKEN in line for line in errors):
            reason = f"port {self.port}: {PORT_TAKEN}"
        elif is_disk_full("\n".join(lines)) or (not lines and lacks_room(self.directory)):
            # With room, a server writes at least a line; the last error is only a consequence.
            reason = f"{DISK_FULL}: {self.directory}"
        return f"{reason} (its log is {log})"


def _choose_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
