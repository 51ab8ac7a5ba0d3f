"""How a private MariaDB server is started: its settings, command line and first statements."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from plimsoll.local.databases.mariadb_program import find_plugin_directory, find_share_directory

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


def server_command(
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


def write_init_file(directory: Path, user: str, password: str, database: str) -> Path:
    """Write the server's first statements, run before it accepts connections, for our eyes only."""
    account = f"'{_quote(user)}'@'%'"
    path = directory / "init.sql"
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(
        f"CREATE OR REPLACE USER {account} IDENTIFIED BY '{_quote(password)}';\n"
        f"GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;\n"
        f"CREATE DATABASE IF NOT EXISTS `{database.replace('`', '``')}`;\n"
    )
    return path


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "''")
