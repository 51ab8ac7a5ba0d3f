"""A real PgBouncer in transaction mode, of Debian's package."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.local.databases.plain_user import wrap_for_plain_user
from plimsoll.local.databases.postgres_server import PostgresServer
from tests.support.debian_programs import find_debian_program, list_debian_libraries


@contextmanager
def pgbouncer(server: PostgresServer, folder: Path, *, pool_size: int) -> Iterator[str]:
    """Stand before a server; yield the DSN through it.

    Args:
        server: The server.
        folder: A folder for its settings.
        pool_size: The number of sessions that all its clients share.
    """
    program = find_debian_program("pgbouncer", "usr/sbin/pgbouncer")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "users.txt").write_text(f'"{server.user}" "{server.password}"\n')
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host={server.host} port={server.port}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = scram-sha-256\nauth_file = {folder / 'users.txt'}\n"
        f"pool_mode = transaction\ndefault_pool_size = {pool_size}\n"
    )
    process = subprocess.Popen(
        wrap_for_plain_user([program, settings]),
        env={**os.environ, "LD_LIBRARY_PATH": list_debian_libraries()},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        told = []
        for line in process.stderr:
            told.append(line)
            if "process up" in line:
                break
        else:
            raise AssertionError(f"PgBouncer did not start: {''.join(told)}")
        yield server.dsn.replace(f":{server.port}/", f":{port}/")
    finally:
        process.kill()
        process.communicate()
