"""How a private PostgreSQL server is started: its settings and its command line."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from plimsoll.local.databases.plain_user import wrap_for_plain_user

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


def default_settings(major: int) -> dict[str, str | int]:
    """Return the default settings of a major version's server."""
    return {**DEFAULT_SETTINGS, **(_FROM_18 if major >= 18 else NONE)}


def server_command(
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


def write_access_file(directory: Path, *, demands_tls: bool) -> None:
    """Write who may log in: everybody with the password, over the network."""
    _access_path(directory).write_text(
        f"host{'ssl' if demands_tls else ''} all all all scram-sha-256\n"
    )


def _access_path(directory: Path) -> Path:
    return directory / "pg_hba.conf"
