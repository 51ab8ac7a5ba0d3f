"""A server whose files lie in memory does the same I/O on its volume as one whose files do not."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume
from plimsoll.volumes.places import MEMORY
from tests.support.mariadb_connection import connected


@pytest.fixture
def memory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def test_each_commit_writes_its_log_though_mariadb_takes_this_memory_for_persistent(
    memory: Path,
) -> None:
    with (
        EmulatedVolume.create(memory, Volume(type="nvme", size_gib=10)) as volume,
        MariaDbServer.start(
            directory=memory / "server", environment=volume.environment()
        ) as server,
        connected(server, autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
        cursor.execute("INSERT INTO t VALUES (1, 0)")
        before = volume.sample()
        for _ in range(100):
            cursor.execute("UPDATE t SET n = n + 1 WHERE id = 1")
        after = volume.sample()
    assert after.write_ios - before.write_ios >= 100
    assert after.flush_operations - before.flush_operations >= 100
