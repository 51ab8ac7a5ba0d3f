"""Counts of a PostgreSQL server's work: of the copy's own tables where it tells them by table.

A database's statistics (`pg_stat_database`) have the catalogs in them, which autovacuum reads in
every database that it visits: 50 pages and more each time. Those of relations do not.

The first change of a page after a checkpoint writes the whole page into the log (a "full-page
image"). A checkpoint precedes each block, and an uncounted part of the block then touches the
pages. What is left is counted apart. The extension pg_walinspect (15 and later), if the user may
create it, tells which relation a log record is of. Otherwise the log's counts are the server's, and
its bytes have the images in them.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.postgres.session import Connection, connect, execute, quote_name
from plimsoll.databases.postgres.watching import settle
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.gate import Count

_LEAVING_MAX_S = 5.0
_CHECKPOINT_MAX_S = 60.0
_POLL_S = 0.002
_LOG_VIEW, _WAL_IN_IO = 140_000, 180_000  # server_version_num, as in `counters.py`
_SESSIONS = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()"
_DATABASE = """
SELECT xact_commit + xact_rollback, temp_files
  FROM pg_stat_database WHERE datname = current_database()
"""
# 16384: the first number of what users make (FirstNormalObjectId); catalogs have lower ones.
_RELATIONS = """
SELECT COALESCE(SUM(pg_stat_get_blocks_fetched(oid)), 0)::bigint,
       COALESCE(SUM(pg_stat_get_blocks_fetched(oid) - pg_stat_get_blocks_hit(oid)), 0)::bigint,
       COALESCE(SUM(pg_stat_get_tuples_returned(oid)), 0)::bigint,
       COALESCE(SUM(pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid)
                    + pg_stat_get_tuples_deleted(oid)), 0)::bigint
  FROM pg_class WHERE oid >= 16384
"""
_TRANSACTION = "SELECT pg_current_xact_id_if_assigned()::text"  # null if none has changed anything
_OF_DATABASE: tuple[Count, ...] = ("commits", "temporary_files")
_OF_RELATIONS: tuple[Count, ...] = (
    "pages_requested",
    "pages_read",
    "rows_examined",
    "rows_changed",
)
_OF_LOG: tuple[Count, ...] = ("log_bytes", "log_records", "log_page_images")
_LOG_OF_SERVER = """
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, wal_records, wal_fpi
  FROM pg_stat_wal
"""
_LOG_POSITION = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
# The message's commit flushes all that came before it, so that the log ends with a whole record.
_FLUSH = "SELECT pg_logical_emit_message(true, 'plimsoll', '')"
_FLUSHED = "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint"
_MAY_INSPECT = "SELECT has_function_privilege('pg_get_wal_records_info(pg_lsn, pg_lsn)', 'EXECUTE')"
# Records of the copy's own relations, and what their transactions logged besides (commits).
_LOG_OF_COPY = r"""
WITH record AS (
  SELECT xid, record_length - fpi_length AS bytes, regexp_count(block_ref, 'FPW') AS images,
         regexp_match(block_ref, 'rel \d+/(\d+)/(\d+)')::bigint[] AS relation
    FROM pg_get_wal_records_info('0/0'::pg_lsn + $1::numeric, '0/0'::pg_lsn + $2::numeric)
), of_copy AS (
  SELECT * FROM record WHERE relation[2] >= 16384
     AND relation[1] = (SELECT oid FROM pg_database WHERE datname = current_database())
)
SELECT COALESCE(SUM(bytes), 0)::bigint, COUNT(*), COALESCE(SUM(images), 0)::bigint
  FROM (SELECT * FROM of_copy
        UNION ALL
        SELECT * FROM record
         WHERE relation IS NULL AND xid <> '0' AND xid IN (SELECT xid FROM of_copy)) AS counted
"""
# From 18 on only the sessions' flushes are counted: the log writer flushes by its own clock.
_FLUSHES = "SELECT wal_sync FROM pg_stat_wal"
_FLUSHES_18 = """
SELECT SUM(fsyncs)::bigint FROM pg_stat_io
 WHERE object = 'wal' AND backend_type = 'client backend'
"""
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
SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'm') AND oid >= 16384
"""


class PostgresCounter:
    """Reads the counters through one connection to another database of the server."""

    def __init__(self, target: EngineTarget, connection: Connection) -> None:
        self._target, self._connection = target, connection
        ((number,),) = execute(connection, "SELECT current_setting('server_version_num')::int")
        self._version = int(number)
        self._inspects = False  # whether the copy has pg_walinspect
        self._inspected: int | None = None  # position in the log up to which records were counted
        self._log = dict.fromkeys(_OF_LOG, 0)  # sums over the copy's records up to that position

    def create_copy(self, database: str) -> None:
        """Create an empty database."""
        execute(self._connection, f"CREATE DATABASE {quote_name(database)}")
        self._inspects, self._inspected = False, None
        copy = self._target.model_copy(update={"database": database})
        with suppress(PlimsollError), use_connection(connect(copy)) as connection:
            execute(connection, "CREATE EXTENSION pg_walinspect")
            ((self._inspects,),) = execute(connection, _MAY_INSPECT)

    def drop_copy(self, database: str) -> None:
        """Drop a database if it exists."""
        with use_connection(connect(self._target)) as connection:
            execute(connection, f"DROP DATABASE IF EXISTS {quote_name(database)} WITH (FORCE)")

    def execute_in(self, copy: EngineTarget, statements: Sequence[str]) -> bool:
        """Execute statements in a copy, one by one; False if they leave changes uncommitted."""
        with use_connection(connect(copy)) as connection:
            for statement in statements:
                execute(connection, statement)
            return execute(connection, _TRANSACTION)[0][0] is None

    def refresh_statistics(self, copy: EngineTarget) -> None:
        """Vacuum and analyze all tables; autovacuum then leaves them alone."""
        with use_connection(connect(copy)) as connection:
            for (name,) in execute(connection, _TABLES):
                off = "autovacuum_enabled = false, toast.autovacuum_enabled = false"
                execute(connection, f"ALTER TABLE {name} SET ({off})")
                execute(connection, f"VACUUM (ANALYZE) {name}")

    def checkpoint(self, copy: EngineTarget) -> None:
        """Request a checkpoint, if the user may; after it, each page's first change is an image."""
        settle(copy, longest_s=_CHECKPOINT_MAX_S)

    def settle(self, copy: EngineTarget, *, longest_s: float) -> bool:
        """Do nothing: autovacuum leaves the copy's tables alone."""
        del copy, longest_s
        return True

    def defer_purge(self, copy: EngineTarget) -> AbstractContextManager[None]:
        """Do nothing: sessions remove old versions as they meet them, which is operations' work."""
        del copy
        return nullcontext()

    def totals(self, copy: EngineTarget) -> dict[Count, float]:
        """Read the counters, once all sessions of the copy have left and reported theirs."""
        deadline = time.monotonic() + _LEAVING_MAX_S
        while execute(self._connection, _SESSIONS, (copy.database,))[0][0]:
            if time.monotonic() >= deadline:
                break
            time.sleep(_POLL_S)
        with use_connection(connect(copy)) as connection:
            totals: dict[Count, float] = {}
            for counts, asked in ((_OF_DATABASE, _DATABASE), (_OF_RELATIONS, _RELATIONS)):
                totals |= _read_numbers(connection, asked, counts)
            totals |= self._read_log(connection)
            if self._version >= _LOG_VIEW:
                flushes = _FLUSHES_18 if self._version >= _WAL_IN_IO else _FLUSHES
                totals |= _read_numbers(connection, flushes, ("log_flushes",))
        return totals

    def _read_log(self, connection: Connection) -> dict[Count, int]:
        """Count what was logged: by the copy since it was made, or by the server."""
        if not self._inspects:
            if self._version >= _LOG_VIEW:
                return _read_numbers(connection, _LOG_OF_SERVER, _OF_LOG)
            return _read_numbers(connection, _LOG_POSITION, ("log_bytes",))
        execute(connection, _FLUSH)
        flushed = int(execute(connection, _FLUSHED)[0][0])
        if self._inspected is not None and self._inspected < flushed:
            since = (self._inspected, flushed)
            for count, number in _read_numbers(connection, _LOG_OF_COPY, _OF_LOG, since).items():
                self._log[count] += number
        self._inspected = flushed
        return dict(self._log)

    def settings(self) -> dict[str, str]:
        """Read the server's settings on which counts depend."""
        rows = execute(self._connection, "SELECT name, setting FROM pg_settings")
        return {str(name): str(value) for name, value in rows if name in _SETTINGS}


def _read_numbers(
    connection: Connection, asked: str, counts: Sequence[Count], values: Sequence[object] = ()
) -> dict[Count, int]:
    (row,) = execute(connection, asked, values)
    return dict(zip(counts, map(int, row), strict=True))


@contextmanager
def open_postgres_counter(target: EngineTarget) -> Iterator[PostgresCounter]:
    """Connect to count a server's work.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    with use_connection(connect(target)) as connection:
        yield PostgresCounter(target, connection)
