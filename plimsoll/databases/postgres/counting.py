"""Counts of a PostgreSQL server's work: of the loaded database where it tells them by database.

The first change of a page after a checkpoint writes the whole page into the log (a "full-page
image"). A checkpoint precedes each block, and an uncounted part of the block then touches the
pages. What is left is counted apart (`wal_fpi`), and not among the log's bytes if the server has
the extension pg_walinspect, and the user may create it (15 and later).
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.postgres.session import Connection, connect, execute, quote_name
from plimsoll.databases.postgres.watching import settle
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.gate import Count

_LEAVING_MAX_S = 5.0
_CHECKPOINT_MAX_S = 60.0
_POLL_S = 0.02
_LOG_VIEW, _WAL_IN_IO = 140_000, 180_000  # server_version_num, as in `counters.py`
_SESSIONS = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()"
_DATABASE = """
SELECT xact_commit + xact_rollback, blks_hit + blks_read, blks_read, tup_returned,
       tup_inserted + tup_updated + tup_deleted, temp_files,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint
  FROM pg_stat_database WHERE datname = $1
"""
_NAMES: tuple[Count, ...] = (
    "commits",
    "pages_requested",
    "pages_read",
    "rows_examined",
    "rows_changed",
    "temporary_files",
    "log_bytes",
)
_LOG = "SELECT wal_records, wal_fpi FROM pg_stat_wal"
# The message's commit flushes all that came before it, so that the log ends with a whole record.
_FLUSH = "SELECT pg_logical_emit_message(true, 'plimsoll', '')"
_FLUSHED = "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint"
_IMAGES = """
SELECT SUM(fpi_length)::bigint
  FROM pg_get_wal_records_info('0/0'::pg_lsn + $1::numeric, '0/0'::pg_lsn + $2::numeric)
"""
_FLUSHES = "SELECT wal_sync FROM pg_stat_wal"
_FLUSHES_18 = "SELECT SUM(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal'"
_SETTINGS = (
    "block_size",
    "shared_buffers",
    "full_page_writes",
    "wal_level",
    "wal_compression",
    "wal_log_hints",
    "data_checksums",
    "synchronous_commit",
    "work_mem",
    "random_page_cost",
    "jit",
)
_TABLES = """
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""


class PostgresCounter:
    """Reads the counters through one connection to another database of the server."""

    def __init__(self, target: EngineTarget, connection: Connection) -> None:
        self._target, self._connection = target, connection
        ((number,),) = execute(connection, "SELECT current_setting('server_version_num')::int")
        self._version = int(number)
        self._copy: EngineTarget | None = None  # the copy that has pg_walinspect
        self._inspected: int | None = None  # position in the log up to which images were added up
        self._image_bytes = 0

    def create_copy(self, database: str) -> None:
        """Create an empty database."""
        execute(self._connection, f"CREATE DATABASE {quote_name(database)}")
        self._copy, self._inspected = None, None
        copy = self._target.model_copy(update={"database": database})
        with suppress(PlimsollError):
            self.execute_in(copy, ["CREATE EXTENSION pg_walinspect"])
            self._copy = copy

    def drop_copy(self, database: str) -> None:
        """Drop a database if it exists."""
        execute(self._connection, f"DROP DATABASE IF EXISTS {quote_name(database)} WITH (FORCE)")

    def execute_in(self, copy: EngineTarget, statements: Sequence[str]) -> None:
        """Execute statements in a copy, one by one."""
        with use_connection(connect(copy)) as connection:
            for statement in statements:
                execute(connection, statement)

    def refresh_statistics(self, copy: EngineTarget) -> None:
        """Vacuum and analyze all tables; autovacuum then leaves them alone."""
        with use_connection(connect(copy)) as connection:
            for (name,) in execute(connection, _TABLES):
                execute(connection, f"ALTER TABLE {name} SET (autovacuum_enabled = false)")
                execute(connection, f"VACUUM (ANALYZE) {name}")

    def checkpoint(self, copy: EngineTarget) -> None:
        """Request a checkpoint, if the user may; after it, each page's first change is an image."""
        settle(copy, longest_s=_CHECKPOINT_MAX_S)

    def settle(self, copy: EngineTarget, *, longest_s: float) -> bool:
        """Do nothing: autovacuum leaves the copy's tables alone."""
        del copy, longest_s
        return True

    def totals(self, database: str) -> dict[Count, float]:
        """Read the counters, once all sessions of the database have left and reported theirs."""
        deadline = time.monotonic() + _LEAVING_MAX_S
        while execute(self._connection, _SESSIONS, (database,))[0][0]:
            if time.monotonic() >= deadline:
                break
            time.sleep(_POLL_S)
        (row,) = execute(self._connection, _DATABASE, (database,))
        totals: dict[Count, float] = dict(zip(_NAMES, map(int, row), strict=True))
        if self._version >= _LOG_VIEW:
            ((records, images),) = execute(self._connection, _LOG)
            totals["log_records"], totals["log_page_images"] = int(records), int(images)
            flushes = _FLUSHES_18 if self._version >= _WAL_IN_IO else _FLUSHES
            ((count,),) = execute(self._connection, flushes)
            totals["log_flushes"] = int(count)
        if self._copy is not None:
            totals["log_bytes"] -= self._add_images(self._copy)
        return totals

    def _add_images(self, copy: EngineTarget) -> int:
        """Return the bytes of all images that were flushed since the copy was made."""
        with use_connection(connect(copy)) as connection:
            execute(connection, _FLUSH)
            flushed = int(execute(connection, _FLUSHED)[0][0])
            if self._inspected is not None and self._inspected < flushed:
                ((size,),) = execute(connection, _IMAGES, (self._inspected, flushed))
                self._image_bytes += int(size or 0)
        self._inspected = flushed
        return self._image_bytes

    def settings(self) -> dict[str, str]:
        """Read the server's settings on which counts depend."""
        rows = execute(self._connection, "SELECT name, setting FROM pg_settings")
        return {str(name): str(value) for name, value in rows if name in _SETTINGS}


@contextmanager
def open_postgres_counter(target: EngineTarget) -> Iterator[PostgresCounter]:
    """Connect to count a server's work.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    with use_connection(connect(target)) as connection:
        yield PostgresCounter(target, connection)
