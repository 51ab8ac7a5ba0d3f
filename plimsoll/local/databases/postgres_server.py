"""A private PostgreSQL server on a free loopback port, removed when its owner ends."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from plimsoll.local.databases.database_server import (
    DISK_FULL,
    PORT_TAKEN,
    SqlServer,
    choose_port,
    is_disk_full,
    start_until_ready,
)
from plimsoll.local.databases.plain_user import wrap_for_plain_user
from plimsoll.local.databases.postgres_first_data import create_data_directory
from plimsoll.local.databases.postgres_program import MAJOR, find_or_fetch
from plimsoll.local.guarded import GuardedProcess

Settings = Mapping[str, str] | Mapping[str, str | int]

# The settings given to `start` override these by name.
DEFAULT_SETTINGS: Settings = {
    "shared_buffers": "128MB",
    "max_connections": 1000,
    "password_encryption": "scram-sha-256",
    "shared_preload_libraries": "pg_stat_statements",  # the same as on RDS
    "huge_pages": "off",
    "dynamic_shared_memory_type": "sysv",  # a killed server leaves nothing in /dev/shm
    "max_wal_size": "256MB",  # frequent checkpoints, in proportion to a short run
}
# io_uring would bypass the emulated volume.
_FROM_18: Settings = {"io_method": "worker"}
NONE: Mapping[str, str] = MappingProxyType({})

_READY = "ready"  # the last line of `postmaster.pid`, once it accepts connections
_AT_ONCE_S = 5.0  # seconds until an immediate shutdown becomes a kill
_SEVERE = ("FATAL:", "PANIC:")


class PostgresServer(SqlServer):
    """A running PostgreSQL server; account and database are made at its first start."""

    _NAME, _SCHEME = "PostgreSQL", "postgres"
    _STOPS_AT = signal.SIGINT  # SIGTERM would wait until all clients have left

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
        _write_access_file(directory, demands_tls=demands_tls)

        def start_server() -> PostgresServer:
            chosen = port or choose_port()
            process = GuardedProcess.start(
                _make_server_command(
                    postgres, directory, chosen, {**_make_default_settings(major), **settings}
                ),
                environment={**os.environ, **environment},
                working_directory=directory,
                log=directory / "server.log",
                remove_on_orphaned=[data],
            )
            return cls(process=process, directory=directory, port=chosen, account=account)

        return start_until_ready(start_server, timeout_s=ready_timeout_s, any_port=port is None)

    def _is_ready(self, timeout_s: float) -> bool:
        """Return whether this server reports in its own file that it accepts connections."""
        del timeout_s
        try:
            lines = (self.directory / "data/postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 1 and lines[0] == str(self.pid) and lines[-1].strip() == _READY

    def remove(self) -> None:
        """Shut it down immediately, so that it frees its shared memory, and delete its folder."""
        self._process.stop(_AT_ONCE_S, signal.SIGQUIT)
        super().remove()

    def _explain_end(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        if any(PORT_TAKEN in line for line in lines):
            return f"port {self.port}: {PORT_TAKEN}"
        if is_disk_full("\n".join(lines)):
            return f"{DISK_FULL}: {self.directory}"
        severe = [line for line in lines if any(word in line for word in _SEVERE)]
        line = (severe or lines or ["it said nothing"])[-1]
        return line.partition(":  ")[2] or line


def _make_default_settings(major: int) -> dict[str, str | int]:
    """Return the default settings of a major version's server."""
    return {**DEFAULT_SETTINGS, **(_FROM_18 if major >= 18 else NONE)}


def _make_server_command(
    postgres: Path, directory: Path, port: int, settings: Settings
) -> list[str | os.PathLike[str]]:
    """Return the server's command line; its data and the access file are in the directory."""
    own: Settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "hba_file": str(_access_path(directory)),
    }
    options = [f"--{name}={value}" for name, value in {**settings, **own}.items()]
    return wrap_for_plain_user([postgres, "-D", directory / "data", *options])


def _write_access_file(directory: Path, *, demands_tls: bool) -> None:
    """Write who may log in: everybody with the password, over the network."""
    _access_path(directory).write_text(
        f"host{'ssl' if demands_tls else ''} all all all scram-sha-256\n"
    )


def _access_path(directory: Path) -> Path:
    return directory / "pg_hba.conf"
