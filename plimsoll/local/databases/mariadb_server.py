"""A private MariaDB server on loopback, killed when its owner ends.

Its data is then deleted; its log stays.
"""

import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pymysql
from pymysql.cursors import Cursor

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.database_server import (
    DISK_FULL,
    PORT_TAKEN,
    SqlServer,
    choose_port,
    is_disk_full,
    lacks_room,
    start_until_ready,
)
from plimsoll.local.databases.mariadb_first_data import create_data_directory
from plimsoll.local.databases.mariadb_program import (
    find_or_fetch,
    find_plugin_directory,
    find_share_directory,
)
from plimsoll.local.guarded import GuardedProcess

Settings = Mapping[str, str] | Mapping[str, str | int]

# The settings given to `start` override these by name.
DEFAULT_SETTINGS: Settings = {
    "innodb_use_native_aio": 0,  # io_uring and libaio calls escape the emulated volume
    "innodb_flush_method": "O_DIRECT",  # reads reach the volume, not the page cache
    "innodb_buffer_pool_size": "128M",
    "innodb_log_file_size": "96M",
    "innodb_buffer_pool_dump_at_shutdown": 0,  # no I/O of its own at the next start
    "innodb_buffer_pool_load_at_startup": 0,
    "skip_log_bin": "",
    "skip_name_resolve": "",
    "performance_schema": 0,
    "ssl": 0,  # otherwise 11.4 creates a 4096-bit RSA key at each start, which takes seconds of CPU
    "max_connections": 4000,
    "max_prepared_stmt_count": 1_048_576,
    "thread_cache_size": 256,
    "back_log": 1024,
    "aria_pagecache_buffer_size": "8M",
    "key_buffer_size": "1M",
}
NONE: Mapping[str, str] = MappingProxyType({})

# Resizing the buffer pool may have to write dirty pages first; the limit is shorter than callers
# wait.
RESIZED_WITHIN_S = 15.0
_RESIZED = ("Completed", "Size did not change")
_SETTING = re.compile(r"[a-z][a-z0-9_]*")
_CHANGEABLE = """
SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES
 WHERE READ_ONLY = 'NO' AND VARIABLE_SCOPE LIKE 'GLOBAL%%' AND VARIABLE_NAME IN ({})
"""


class MariaDbServer(SqlServer):
    """A running MariaDB server; its account has all rights."""

    _NAME, _SCHEME = "MariaDB", "mysql"

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
        statements = _write_init_file(directory, user, password, database)

        def start_server() -> MariaDbServer:
            chosen = port or choose_port()
            process = GuardedProcess.start(
                _make_server_command(
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

    def changeable(self, names: Sequence[str]) -> frozenset[str]:
        """Return which settings it accepts while it runs.

        Raises:
            PlimsollError: It cannot be asked.
        """
        with self._log_in() as cursor:
            cursor.execute(_CHANGEABLE.format(", ".join(["%s"] * len(names))), tuple(names))
            return frozenset(str(name) for (name,) in cursor.fetchall())

    def change(self, settings: Mapping[str, str]) -> None:
        """Change settings while it runs; new connections have them.

        A buffer pool is resized in the background, so the call waits for the end.

        Raises:
            PlimsollError: It refuses one, or does not finish in `RESIZED_WITHIN_S`.
        """
        with self._log_in() as cursor:
            for name, value in settings.items():
                if not _SETTING.fullmatch(name):
                    raise PlimsollError(f"{name} is no name of a setting")
                number = re.fullmatch(r"-?\d+", value)
                cursor.execute(f"SET GLOBAL {name} = %s", (int(value) if number else value,))
            if "innodb_buffer_pool_size" in settings:
                _wait_until_resized(cursor)

    @contextmanager
    def _log_in(self) -> Iterator[Cursor]:
        try:
            with (
                pymysql.connect(
                    host=self.host,
                    port=self.port,
                    user=self.user,
                    password=self.password,
                    connect_timeout=10,
                    read_timeout=10,
                ) as connection,
                connection.cursor() as cursor,
            ):
                yield cursor
        except pymysql.MySQLError as error:
            raise PlimsollError(f"MariaDB refuses: {error.args[-1]}") from None

    def wait_ready(self, timeout_s: float) -> None:
        """Wait until it serves its account, and delete the statements that made it."""
        super().wait_ready(timeout_s)
        _find_init_file(self.directory).unlink(missing_ok=True)

    def _is_ready(self, timeout_s: float) -> bool:
        """Return whether this server, and no other on its port, serves its account.

        It greets clients once its first statements have run, so the wait is in the connection
        attempt.
        """
        try:
            # Without pymysql at first: it loads this machine's certificate authorities for each
            # connection, and a server that does not listen yet is tried often.
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

    def _explain_end(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        errors = [line for line in lines if "[ERROR]" in line and "Aborting" not in line]
        if any(PORT_TAKEN in line for line in errors):
            return f"port {self.port}: {PORT_TAKEN}"
        # A server whose disk has room writes at least one line, so no line means a full disk.
        if is_disk_full("\n".join(lines)) or (not lines and lacks_room(self.directory)):
            return f"{DISK_FULL}: {self.directory}"
        return errors[-1].partition("[ERROR] ")[2] if errors else (lines or ["it said nothing"])[-1]


def _make_server_command(
    mariadbd: Path, directory: Path, port: int, statements: Path, settings: Settings
) -> list[str | Path]:
    """Return the server's command line; a setting without a value is a bare option."""
    share = find_share_directory(mariadbd)
    return [
        mariadbd,
        "--no-defaults",
        f"--datadir={directory / 'data'}",
        # A folder of its own: a starting server removes the temporary tables there, even others'.
        f"--tmpdir={directory / 'data'}",
        f"--lc-messages-dir={share}",
        f"--character-sets-dir={share / 'charsets'}",
        f"--plugin-dir={find_plugin_directory(mariadbd)}",
        f"--init-file={statements}",
        f"--port={port}",
        "--bind-address=127.0.0.1",
        "--socket=server.sock",  # relative to the data directory, so long paths work
        "--user=root",  # an ordinary user's server ignores it, root's requires it
        *(f"--{name}={value}" if value != "" else f"--{name}" for name, value in settings.items()),
    ]


def _write_init_file(directory: Path, user: str, password: str, database: str) -> Path:
    """Write the server's first statements, run before it accepts connections, for our eyes only."""
    account = f"'{_quote(user)}'@'%'"
    path = _find_init_file(directory)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(
        f"CREATE OR REPLACE USER {account} IDENTIFIED BY '{_quote(password)}';\n"
        f"GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;\n"
        f"CREATE DATABASE IF NOT EXISTS `{database.replace('`', '``')}`;\n"
    )
    return path


def _find_init_file(directory: Path) -> Path:
    return directory / "init.sql"


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "''")


def _wait_until_resized(cursor: Cursor) -> None:
    """Wait for the end of a resize, which MariaDB reports as a status variable."""
    until = time.monotonic() + RESIZED_WITHIN_S
    while time.monotonic() < until:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status'")
        _, told = cursor.fetchone() or ("", "")
        if not told or str(told).startswith(_RESIZED):
            return
        time.sleep(0.05)  # the server sends no notification
    raise PlimsollError(f"its buffer pool is not resized within {RESIZED_WITHIN_S:.0f} s: {told}")
