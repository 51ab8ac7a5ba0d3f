"""Bottlenecks made on purpose on a real MariaDB and an emulated volume: each is named.

The steps are short, and what is asserted is what was named, with its evidence: no time, no rate.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.capacity import Rules
from plimsoll.model.engine import EngineOperation, EngineStatement, Let
from plimsoll.model.values import PatternValue
from plimsoll.model.volumes import Volume
from plimsoll.volumes import EmulatedVolume, VolumeSettings
from plimsoll.volumes.places import MEMORY
from tests.local.limits.planting import TRIES, Ground, Planted, operation

ROWS = 60_000  # of which the buffer pool holds a quarter
HOT_ROWS = 2_000  # all of them in the buffer pool
FAT_ROWS = 4_000  # likewise
WIDE_ROWS = 20_000
FAST = {"type": "io2", "iops": 50_000}
OTHERS_MOST_PERCENT = 25.0
SLOW_US = 2_000.0  # an I/O takes so long that the server's own work is little beside it

COLD = f"""
CREATE TABLE cold (
  id INT PRIMARY KEY, pad BINARY(255) NOT NULL, pad2 BINARY(255) NOT NULL
) SELECT seq AS id, 'x' AS pad, 'x' AS pad2 FROM seq_1_to_{ROWS}
"""
HOT = """
CREATE TABLE hot (id INT PRIMARY KEY, n INT NOT NULL, pad VARCHAR(255) NOT NULL) ENGINE={engine}
SELECT seq AS id, 0 AS n, REPEAT('x', 200) AS pad FROM seq_1_to_{rows}
"""
FAT = f"""
CREATE TABLE fat (id INT PRIMARY KEY, n INT NOT NULL, pad VARCHAR(4000) NOT NULL)
SELECT seq AS id, 0 AS n, REPEAT('x', 3500) AS pad FROM seq_1_to_{FAT_ROWS}
"""
LOCKED = HOT.replace("hot", "locked").format(engine="MyISAM", rows=HOT_ROWS)
SCANNED = f"""
CREATE TABLE scanned (
  n INT NOT NULL, pad BINARY(255) NOT NULL, pad2 BINARY(255) NOT NULL, pad3 BINARY(255) NOT NULL
) ENGINE=MyISAM SELECT 0 AS n, 'x' AS pad, 'x' AS pad2, 'x' AS pad3 FROM seq_1_to_{WIDE_ROWS}
"""
pytestmark = pytest.mark.alone  # shares of the operations' time, of which processors have some
HOLD_TABLE = operation(
    "UPDATE locked SET n = n + 1 WHERE id = ? AND SLEEP(0.002) = 0", key_max=HOT_ROWS
)
COMPUTE = operation("SELECT BENCHMARK(100000, MD5('x'))")
READ_COLD = operation("SELECT pad FROM cold WHERE id = ?", key_max=ROWS)


@contextmanager
def ground_with(volume_settings: VolumeSettings, **settings: str | int) -> Iterator[Ground]:
    """A server whose files lie in memory: this machine's own disk is no part of the test."""
    volume = Volume(size_gib=100, type="nvme")
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        with (
            EmulatedVolume.create(folder, volume, settings=volume_settings) as made,
            MariaDbServer.start(
                directory=folder / "server", settings=settings, environment=made.environment()
            ) as server,
        ):
            yield Ground(server, server.dsn, made)


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    with ground_with(
        VolumeSettings(base_latency_us=SLOW_US),
        innodb_buffer_pool_size="16M",
        innodb_log_file_size="48M",
        innodb_lru_scan_depth=100,
        read_buffer_size="256K",
    ) as made:
        made.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
        made.sql(COLD, HOT.format(engine="InnoDB", rows=HOT_ROWS), LOCKED, SCANNED)
        yield made


@pytest.fixture(scope="module")
def ground_with_a_small_log() -> Iterator[Ground]:
    with ground_with(
        VolumeSettings(base_latency_us=SLOW_US),
        innodb_buffer_pool_size="64M",
        innodb_log_file_size="4M",
        innodb_log_buffer_size="2M",
        innodb_flush_log_at_trx_commit=0,
    ) as made:
        made.sql(FAT)
        made.put_on(**FAST)
        yield made


@pytest.fixture(autouse=True)
def durable(ground: Ground) -> None:
    ground.put_on(**FAST)
    ground.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1")


def assert_named(planted: Planted, resource: str, *evidence: str) -> None:
    limiting = planted.limiting
    assert (limiting.resource, limiting.reached) == (resource, True), planted.told
    for words in evidence:
        assert words in limiting.evidence[0]
    assert limiting.to_change
    assert limiting.second is None or limiting.second.resource != resource


def test_storage_iops(ground: Ground) -> None:
    ground.put_on(type="io1", iops=1000)
    planted = ground.step(READ_COLD, connections=16)
    assert_named(planted, "storage_iops", "of 1,000 IOPS", "of them waiting")
    assert planted.limiting.second is not None
    assert planted.limiting.second.resource == "buffer_pool"  # what the I/Os are for


def test_storage_throughput(ground: Ground) -> None:
    ground.put_on(type="gp3", iops=3000, throughput_mib_s=125)
    scan = operation("SELECT COUNT(*) FROM scanned WHERE n > 0")
    assert_named(ground.step(scan, connections=4), "storage_throughput", "of 125 MiB/s")


def test_storage_latency(ground: Ground) -> None:
    """One connection that commits each change: it waits for one flush after another."""
    ground.sql("SELECT SUM(n) FROM hot")  # which reads it
    update = operation("UPDATE hot SET n = n + 1 WHERE id = ?", key_max=HOT_ROWS)
    planted = ground.step(update, connections=1)
    assert_named(planted, "storage_latency", "commits/s", "flushes/s of the log, each")


def test_row_locks(ground: Ground) -> None:
    ground.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
    update = operation(
        "UPDATE hot SET n = n + 1 WHERE id = 1", "SELECT SLEEP(0.002)", transaction=True
    )
    planted = ground.step(update, connections=8)
    assert_named(planted, "row_locks", "row locks: ", "of the operations' time")


def test_table_locks(ground: Ground) -> None:
    planted = ground.step(HOLD_TABLE, connections=8)
    assert_named(planted, "table_locks", "table locks: ", "of the operations' time")


def test_table_locks_that_the_server_times_itself() -> None:
    with ground_with(VolumeSettings(base_latency_us=350), performance_schema=1) as timed:
        timed.sql(LOCKED)
        planted = timed.step(HOLD_TABLE, connections=8, looks_at_it=False)
    assert planted.step.server is not None
    assert planted.step.server.looks is None
    assert_named(planted, "table_locks", "table locks: ", "of the operations' time")


def test_buffer_pool(ground: Ground) -> None:
    """The volume could do many times as many reads; each operation waits for its own."""
    planted = ground.step(READ_COLD, connections=4)
    assert_named(planted, "buffer_pool", "page reads/s missed it", "for each operation")


def test_connections(ground: Ground) -> None:
    ground.sql("SET GLOBAL max_connections = 10")
    try:
        planted = ground.step(operation("DO 1"), connections=16)
    finally:
        ground.sql("SET GLOBAL max_connections = 1000")
    assert (planted.capacity.verdict, planted.capacity.cause) == ("BELOW_FIRST_STEP", "connections")
    assert_named(planted, "connections", "connections: 16 of at most 10", "Too many connections")


def test_connections_of_one_user(ground: Ground) -> None:
    limit = f"ALTER USER {ground.target.user} WITH MAX_USER_CONNECTIONS"
    ground.sql(f"{limit} 10")
    try:
        planted = ground.step(operation("DO 1"), connections=16)
    finally:
        ground.sql(f"{limit} 0")
    assert planted.capacity.cause == "connections"
    assert_named(planted, "connections", "connections: 16", "'max_user_connections'")
    assert "the user's connections" in (planted.limiting.to_change or "")


def test_log(ground_with_a_small_log: Ground) -> None:
    """Changes of pages that are all in memory, and a log that some hundred of them fill."""
    update = operation(
        "UPDATE fat SET n = n + 1, pad = REPEAT(CHAR(97 + n MOD 26), 3500) WHERE id = ?",
        key_max=FAT_ROWS,
    )
    planted = ground_with_a_small_log.step(update, connections=64)
    assert_named(planted, "log", "redo log: ", "waited for pages to be written")


def test_client(ground: Ground) -> None:
    """A client that makes long texts, of which it sends none."""
    texts = tuple(
        Let(name=f"text{number}", value=PatternValue(pattern="#" * 60_000)) for number in range(8)
    )
    nothing = EngineStatement(sql=("DO 1",))
    planted = ground.step(
        EngineOperation(name="planted", weight=1, let=texts, statements=(nothing,)), connections=4
    )
    assert planted.capacity.verdict == "CLIENT_BOUND", planted.told
    assert_named(planted, "client", "the clients were busy")


def test_cpu(ground: Ground) -> None:
    for _ in range(TRIES):
        planted = ground.step(COMPUTE, connections=8)
        if planted.others_percent < OTHERS_MOST_PERCENT:
            break  # what others leave of a busy machine is no server's
    assert_named(planted, "cpu", "cpu: ", "of the server's")


LOOP = """
import time
until = time.monotonic() + 60
while time.monotonic() < until: pass
"""


def test_this_machine(ground: Ground) -> None:
    """Busy loops beside it, of which each processor has several: others' work."""
    cores = len(os.sched_getaffinity(0))
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(4 * cores)]
    ground.strangers = [loop.pid for loop in loops]
    try:
        planted = ground.step(COMPUTE, connections=cores, host=True)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert_named(planted, "machine", "this machine: ", "of its processor time went to other work")


def test_where_nothing_failed_the_nearest_to_its_limit_is_named(ground: Ground) -> None:
    """One connection that reads what is not in memory, with time to spare."""
    allowed = Rules(confirmation=None, limits_us={"planted": 1e7})
    planted = ground.step(READ_COLD, connections=1, rules=allowed)
    assert planted.capacity.verdict == "LOWER_BOUND"
    assert (planted.limiting.resource, planted.limiting.reached) == ("buffer_pool", False)
    assert planted.limiting.to_change
