"""Bottlenecks made on purpose on a real MariaDB and an emulated volume: each is named.

The steps are short, and what is asserted is what was named, with its evidence: no time, no rate.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.engine.asked import EngineOperation, EngineStatement, Let
from plimsoll.model.engine.values import PatternValue
from plimsoll.model.judging.capacity import AuditName, Rules
from plimsoll.volumes import EmulatedVolume
from plimsoll.volumes.places import MEMORY
from tests.local.limiting.planting import (
    LONG_IO_US,
    Ground,
    as_on_one_machine,
    assert_named,
    operation,
    settings_with,
    with_long_ios,
)

ROWS = 30_000  # the buffer pool holds a quarter of them
HOT_ROWS = 2_000  # all of them in the buffer pool
FAT_ROWS = 4_000  # likewise
WIDE_ROWS = 5_000
WIDE_COLUMNS = 12  # of 255 bytes: a scan of few rows that are wide takes little of a processor

HOLD_S = 0.01  # an operation holds its lock so long: it waits for a processor for less

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
  n INT NOT NULL, {", ".join(f"pad{i} BINARY(255) NOT NULL" for i in range(WIDE_COLUMNS))}
) ENGINE=MyISAM
SELECT 0 AS n, {", ".join(f"'x' AS pad{i}" for i in range(WIDE_COLUMNS))} FROM seq_1_to_{WIDE_ROWS}
"""
HOLD_TABLE = operation(
    f"UPDATE locked SET n = n + 1 WHERE id = ? AND SLEEP({HOLD_S}) = 0", key_max=HOT_ROWS
)
COMPUTE = operation("SELECT BENCHMARK(100000, MD5('x'))")
READ_COLD = operation("SELECT pad FROM cold WHERE id = ?", key_max=ROWS)


@contextmanager
def ground_with(**settings: str | int) -> Iterator[Ground]:
    """Give a server whose files lie in memory: this machine's own disk is no part of the test.

    Its volume answers at once until it is changed, so that tables are made soon.
    """
    volume = Volume(size_gib=100, type="nvme")
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        with (
            EmulatedVolume.create(folder, volume, settings=settings_with(0)) as made,
            MariaDbServer.start(
                directory=folder / "server", settings=settings, environment=made.environment()
            ) as server,
        ):
            yield Ground(server, server.dsn, made)


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    with ground_with(
        innodb_buffer_pool_size="8M",
        innodb_log_file_size="48M",
        innodb_lru_scan_depth=100,
        read_buffer_size="256K",
    ) as made:
        made.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
        made.sql(COLD, HOT.format(engine="InnoDB", rows=HOT_ROWS), LOCKED, SCANNED)
        # pages written later would take I/Os from a load that reads
        made.sql(
            "FLUSH TABLES cold, hot FOR EXPORT", "UNLOCK TABLES", "SELECT COUNT(pad) FROM cold"
        )
        yield made


@pytest.fixture(scope="module")
def other_ground() -> Iterator[Ground]:
    """Give a server with all data in memory and a small log, which times waits for tables."""
    with ground_with(
        innodb_buffer_pool_size="64M",
        innodb_log_file_size="4M",
        innodb_log_buffer_size="2M",
        innodb_adaptive_flushing=0,  # pages are written when the log is nearly full, not before
        performance_schema=1,
    ) as made:
        made.sql(FAT, LOCKED, "FLUSH TABLES fat FOR EXPORT", "UNLOCK TABLES")
        yield made


@pytest.fixture(autouse=True)
def durable(ground: Ground) -> None:
    ground.put_on()
    ground.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1")


def test_storage_iops(ground: Ground) -> None:
    slow = Volume(type="io1", size_gib=100, iops=100)
    planted = ground.step(READ_COLD, connections=24, at_start=lambda: ground.put_on(slow))
    assert_named(planted, "storage_iops", "of 100 IOPS", "of them waiting")
    assert planted.limiting.second is not None
    assert planted.limiting.second.resource == "buffer_pool"  # what the I/Os are for


def test_storage_throughput(ground: Ground) -> None:
    ground.put_on(Volume(type="gp3", size_gib=100, iops=3000, throughput_mib_s=125))
    scan = operation("SELECT COUNT(*) FROM scanned WHERE n > 0")
    assert_named(ground.step(scan, connections=16), "storage_throughput", "of 125 MiB/s")


def test_storage_latency(other_ground: Ground) -> None:
    """One connection that commits each change: it waits for one flush after another.

    Three quarters of the window have to be flushes. They take 400 ms, so that 133 ms may lie
    between two, whatever else keeps this machine busy.
    """
    other_ground.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1")
    update = operation("UPDATE fat SET n = n + 1 WHERE id = ?", key_max=FAT_ROWS)
    planted = other_ground.step(
        update,
        connections=1,
        at_start=lambda: other_ground.put_on(latency_us=4 * LONG_IO_US),
        duration_s=6.0,
    )
    assert_named(planted, "storage_latency", "log flushes: ", "so one is in progress", "commits/s")


def test_row_locks(ground: Ground) -> None:
    ground.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
    update = operation(
        "UPDATE hot SET n = n + 1 WHERE id = 1", f"SELECT SLEEP({HOLD_S})", transaction=True
    )
    planted = ground.step(update, connections=8)
    assert_named(planted, "row_locks", "row locks: ", "of the operations' time")


def test_table_locks(ground: Ground) -> None:
    planted = ground.step(HOLD_TABLE, connections=8)
    assert_named(planted, "table_locks", "table locks: ", "of the operations' time")


def test_table_locks_that_the_server_times_itself(other_ground: Ground) -> None:
    other_ground.put_on()
    planted = other_ground.step(HOLD_TABLE, connections=8, looks_at_it=False)
    assert planted.step.server is not None
    assert planted.step.server.looks is None
    assert_named(planted, "table_locks", "table locks: ", "of the operations' time")


def test_buffer_pool(ground: Ground) -> None:
    """The volume could do many times as many reads; each operation waits for its own."""
    planted = ground.step(READ_COLD, connections=4, at_start=partial(with_long_ios, ground))
    assert_named(planted, "buffer_pool", "page reads/s missed it", "per operation")


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


def test_log(other_ground: Ground) -> None:
    """Changes of pages that are all in memory, and a log that some hundred of them fill."""
    other_ground.put_on()
    changes = "UPDATE fat SET n = n + 1, pad = REPEAT(CHAR(97 + n MOD 26), 3500)"
    # it is full when the load starts, however few changes a busy machine makes
    other_ground.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0", changes)
    update = operation(f"{changes} WHERE id = ?", key_max=FAT_ROWS)
    planted = other_ground.step(update, connections=64)
    assert_named(planted, "log", "redo log: ", "pages that were not yet written held")


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


@pytest.mark.alone  # a server can be at the limit of its processors only where it has them
def test_cpu(ground: Ground) -> None:
    planted = ground.step_without_others(COMPUTE, connections=8)
    assert_named(planted, "cpu", "cpu: the server used ", "of its CPU")


LOOP = """
import time
until = time.monotonic() + 60
while time.monotonic() < until: pass
"""


def test_this_machine(ground: Ground) -> None:
    """Busy loops beside it, more than the server has connections: others' work."""
    cores = len(os.sched_getaffinity(0))
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(2 * cores)]
    ground.strangers = [loop.pid for loop in loops]
    try:
        planted = ground.step(COMPUTE, connections=cores, figures=as_on_one_machine)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert_named(planted, "machine", "this machine: other processes used ")


def test_where_nothing_failed_the_nearest_to_its_limit_is_named(ground: Ground) -> None:
    """One connection that reads what is not in memory, with time to spare.

    A busy machine makes the halves of its window differ, and takes from one connection the 299
    reads that a p99 needs: neither is asked here.
    """
    off: frozenset[AuditName] = frozenset({"steady_state", "enough_operations"})
    allowed = Rules(confirmation=None, limits_us={"planted": 1e7}, audits_off=off)
    planted = ground.step(READ_COLD, connections=1, rules=allowed)
    assert planted.capacity.verdict == "LOWER_BOUND"
    assert (planted.limiting.resource, planted.limiting.reached) == ("buffer_pool", False)
    assert planted.limiting.to_change
