"""All that PostgreSQL reads and writes is on the volume: pages, the log, checkpoints."""

from collections.abc import Iterator

import pg8000.native
import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.volumes import EmulatedVolume
from tests.local.volumes.conftest import INSTANT, VolumeFactory
from tests.support.postgres_connection import connected

PAGE = 8192
ROWS = 20_000  # of about 850 bytes: 2,223 pages
CACHED_MIB = 8  # of 17 MiB


@pytest.fixture(params=[18, pytest.param(17, marks=pytest.mark.whole)])
def on_volume(
    volumes: VolumeFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[EmulatedVolume, pg8000.native.Connection]]:
    volume = volumes(settings=INSTANT.model_copy(update={"page_cache_mib": CACHED_MIB}))
    with PostgresServer.start(
        directory=volume.directory / "server",
        major=request.param,
        settings={"shared_buffers": "1MB", "max_connections": 20, "autovacuum": "off"},
        environment=volume.environment(),
    ) as server:
        connection = connected(server)
        connection.run("CREATE TABLE t (id INT, pad TEXT)")
        connection.run(
            f"INSERT INTO t SELECT n, repeat('x', 800) FROM generate_series(1, {ROWS}) n"
        )
        connection.run("CREATE INDEX ON t (id)")
        connection.run("ANALYZE t")
        connection.run("CHECKPOINT")
        yield volume, connection
        connection.close()


def pages(connection: pg8000.native.Connection) -> int:
    ((count,),) = connection.run("SELECT pg_relation_size('t') / 8192")
    return int(count)


def test_nothing_goes_past_the_volume(
    on_volume: tuple[EmulatedVolume, pg8000.native.Connection],
) -> None:
    volume, connection = on_volume
    sample = volume.sample()
    assert sample.write_bytes > pages(connection) * PAGE  # the table, and its log besides
    assert sample.escapes == ()
    assert (sample.unwatched, sample.uncounted_maps, sample.refused_calls) == (False, 0, 0)


def test_a_table_larger_than_the_memory_is_read_from_the_volume_each_time(
    on_volume: tuple[EmulatedVolume, pg8000.native.Connection],
) -> None:
    volume, connection = on_volume

    def bytes_of(sql: str) -> int:
        before = volume.sample().read_bytes
        connection.run(sql)
        return volume.sample().read_bytes - before

    whole, part = "SELECT count(pad) FROM t", "SELECT count(pad) FROM t WHERE id < 3000"
    bytes_of(whole)
    assert bytes_of(whole) > 0.9 * pages(connection) * PAGE
    connection.run("SET enable_seqscan = off")
    for _ in range(5):  # some 350 pages: more than the shared buffers, less than the page cache
        bytes_of(part)
    assert bytes_of(part) < 350 * PAGE / 10


def test_a_commit_is_a_write_of_the_log_and_a_flush(
    on_volume: tuple[EmulatedVolume, pg8000.native.Connection],
) -> None:
    volume, connection = on_volume
    update = "UPDATE t SET pad = upper(pad) WHERE id = 77"
    connection.run(update)
    before = volume.sample()
    connection.run(update)
    after = volume.sample()
    assert after.flush_operations - before.flush_operations >= 1
    assert 1 <= after.write_ios - before.write_ios <= 4


def test_a_checkpoint_writes_dirty_pages_and_the_log_then_whole_pages_anew(
    on_volume: tuple[EmulatedVolume, pg8000.native.Connection],
) -> None:
    volume, connection = on_volume

    def written(sql: str) -> int:
        before = volume.sample().write_bytes
        connection.run(sql)
        return volume.sample().write_bytes - before

    update = "UPDATE t SET id = id WHERE id = 4711"
    again: list[int] = []
    connection.run("CHECKPOINT")
    first = written(update)
    again.extend(written(update) for _ in range(3))
    assert first >= min(again) + PAGE  # the image of a page, compressed or not, and of its index's
    assert written("CHECKPOINT") >= PAGE


def test_io_uring_does_not_start(volumes: VolumeFactory) -> None:
    volume = volumes()
    with pytest.raises(PlimsollError, match="io_uring"):
        PostgresServer.start(
            directory=volume.directory / "server",
            settings={"io_method": "io_uring"},
            environment=volume.environment(),
        )
