"""Bottlenecks made on purpose on a real PostgreSQL and an emulated volume: each is named.

The steps are short, and what is asserted is what was named, with its evidence: no time, no rate.
"""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from plimsoll.databases.postgres.session import connect, execute
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume
from plimsoll.volumes.places import MEMORY
from tests.local.limiting.planting import (
    LONG_IO_US,
    TAKEN_MOST_PERCENT,
    TRIES,
    Ground,
    assert_named,
    operation,
    settings_with,
    with_long_ios,
)

ROWS = 60_000  # of which the server's own memory holds a third, and the system's none
HOT_ROWS = 2_000
HOLD_S = 0.01  # an operation holds its lock so long: it waits for a processor for less
COLD = (
    f"CREATE TABLE cold AS SELECT id, repeat('x', 500) AS pad FROM generate_series(1, {ROWS}) id",
    "ALTER TABLE cold ADD PRIMARY KEY (id)",
    "VACUUM (ANALYZE, FREEZE) cold",
)
HOT = (
    f"CREATE TABLE hot AS SELECT id, 0 AS n FROM generate_series(1, {HOT_ROWS}) AS id",
    "ALTER TABLE hot ADD PRIMARY KEY (id)",
    "VACUUM (ANALYZE, FREEZE) hot",
    "CHECKPOINT",
)
COMPUTE = operation("SELECT SUM(SQRT(i)) FROM generate_series(1, 20000) AS i")
READ_COLD = operation("SELECT pad FROM cold WHERE id = $1", key_max=ROWS)


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    """Give a server whose files lie in memory: this machine's own disk is no part of the test.

    Its volume answers at once until the tables are made.
    """
    volume = Volume(size_gib=100, type="nvme")
    settings = settings_with(0)
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        folder.chmod(0o755)  # the server is no superuser
        with (
            EmulatedVolume.create(folder, volume, settings=settings) as made,
            PostgresServer.start(
                directory=folder / "server",
                settings={
                    "shared_buffers": "16MB",
                    "max_connections": 40,
                    "max_wal_size": "32MB",
                    "autovacuum": "off",
                    # looks are few in so short a window where each of them reads, too
                    "track_io_timing": "on",
                },
                environment=made.environment(),
            ) as server,
        ):
            ground = Ground(server, server.dsn, made)
            ground.sql(*COLD, *HOT)
            yield ground


@pytest.fixture(autouse=True)
def durable(ground: Ground) -> None:
    ground.put_on()


def test_storage_iops(ground: Ground) -> None:
    slow = Volume(type="io1", size_gib=100, iops=100)
    planted = ground.step(READ_COLD, connections=24, at_start=lambda: ground.put_on(slow))
    assert_named(planted, "storage_iops", "of 100 IOPS", "of them waiting")
    assert planted.limiting.second is not None
    assert planted.limiting.second.resource == "buffer_pool"  # what the I/Os are for


def test_buffer_pool(ground: Ground) -> None:
    """The volume could do many times as many reads; each operation waits for its own."""
    planted = ground.step(READ_COLD, connections=4, at_start=partial(with_long_ios, ground))
    assert_named(planted, "buffer_pool", "page reads/s missed it", "per operation")


def test_storage_latency(ground: Ground) -> None:
    """One connection that commits each change: it waits for one flush after another.

    The server is looked at, and three quarters of the looks have to find a flush. On a machine that
    others keep busy, 11 ms were seen between two flushes of 400 ms: of 12 looks fewer do with a
    chance of 1 in 4,700, and are looked at again there.
    """
    # the table and its index are read now, not by the load
    ground.sql("SET enable_seqscan = off", "SELECT SUM(n) FROM hot WHERE id > 0")
    update = operation("UPDATE hot SET n = n + 1 WHERE id = $1", key_max=HOT_ROWS)
    for _ in range(TRIES):
        planted = ground.step(
            update,
            connections=1,
            at_start=lambda: ground.put_on(latency_us=4 * LONG_IO_US),
            duration_s=6.0,
        )
        if planted.limiting.reached or planted.measured.taken_percent < TAKEN_MOST_PERCENT:
            break
        ground.put_on()
    assert_named(planted, "storage_latency", "log flushes: ", "/s, in progress in", "commits/s")


def test_row_locks(ground: Ground) -> None:
    update = operation(
        "UPDATE hot SET n = n + 1 WHERE id = 1", f"SELECT pg_sleep({HOLD_S})", transaction=True
    )
    planted = ground.step(update, connections=8)
    assert_named(planted, "row_locks", "row locks: ", "of the operations' time")


def test_table_locks(ground: Ground) -> None:
    """Another session locks the whole table, again and again."""
    update = operation("UPDATE hot SET n = n + 1 WHERE id = $1", key_max=HOT_ROWS)
    ended = threading.Event()
    thread = threading.Thread(target=_lock_again_and_again, args=(ground, ended))
    thread.start()
    try:
        planted = ground.step(update, connections=8)
    finally:
        ended.set()
        thread.join()
    assert_named(planted, "table_locks", "table locks: ", "of the operations' time")


def _lock_again_and_again(ground: Ground, ended: threading.Event) -> None:
    with closing(connect(ground.target)) as connection:
        while not ended.is_set():
            execute(connection, "DO 'BEGIN LOCK TABLE hot; PERFORM pg_sleep(0.3); END'")


def test_connections(ground: Ground) -> None:
    planted = ground.step(operation("SELECT 1"), connections=60)
    assert (planted.capacity.verdict, planted.capacity.cause) == ("BELOW_FIRST_STEP", "connections")
    assert_named(planted, "connections", "connections: 60 of at most 37", "too many clients")


@pytest.mark.alone  # a server can be at the limit of its processors only where it has them
@pytest.mark.whole  # MariaDB's is named in `make test`
def test_cpu(ground: Ground) -> None:
    planted = ground.step_without_others(COMPUTE, connections=8)
    assert_named(planted, "cpu", "cpu: the server used ", "of its CPU")


def test_a_checkpoint_and_what_it_wrote_are_told(ground: Ground) -> None:
    update = operation(
        "UPDATE cold SET pad = repeat('y', 500) WHERE id BETWEEN $1 AND $1 + 99", key_max=ROWS
    )
    planted = ground.step(update, connections=8)
    assert "because max_wal_size was full" in planted.told, planted.step.server
    assert "whole pages went into the log behind them" in planted.told
