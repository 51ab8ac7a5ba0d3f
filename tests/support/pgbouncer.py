"""A real PgBouncer, of Debian's package: 1.18 on Debian 12, 1.24 on Debian 13."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.local.databases.plain_user import wrap_for_plain_user
from plimsoll.local.databases.postgres_server import PostgresServer
from tests.support.debian_programs import find_debian_program, list_debian_libraries


@contextmanager
def pgbouncer(
    server: PostgresServer,
    folder: Path,
    *,
    pool_size: int,
    mode: str = "transaction",
    prepared: int = 0,
) -> Iterator[str]:
    """Stand before a server; yield the DSN through it.

    Args:
        server: The server.
        folder: A folder for its settings.
        pool_size: The number of sessions that all its clients share.
        mode: What its clients share: `transaction` or `session`.
        prepared: The prepared statements that each session keeps (max_prepared_statements); from
            1.21 on.
    """
    program = find_debian_program("pgbouncer", "usr/sbin/pgbouncer")
    keeps = f"max_prepared_statements = {prepared}\n" if read_version() >= (1, 21) else ""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "users.txt").write_text(f'"{server.user}" "{server.password}"\n')
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host={server.host} port={server.port}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = scram-sha-256\nauth_file = {folder / 'users.txt'}\n"
        f"pool_mode = {mode}\ndefault_pool_size = {pool_size}\n{keeps}"
    )
    process = subprocess.Popen(
        wrap_for_plain_user([program, settings]),
        env=_build_environment(),
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


def read_version() -> tuple[int, int]:
    """Return its major and minor version."""
    program = find_debian_program("pgbouncer", "usr/sbin/pgbouncer")
    done = subprocess.run(
        (program, "--version"),
        env=_build_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"PgBouncer (\d+)\.(\d+)", done.stdout)
    assert found
    return int(found[1]), int(found[2])


def _build_environment() -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": list_debian_libraries()}
