"""What a PostgreSQL server says of itself: its counters, in version 16 and later.

Where a counter is differs by version (www.postgresql.org/docs/18/monitoring-stats.html, and 16's
and 17's): checkpoints have a view of their own from 17 on, and the log's writes are in pg_stat_io
from 18 on. Of all that only the database is read that the target names.
"""

import time
from contextlib import closing

from plimsoll.errors import PlimsollError
from plimsoll.families.postgres.figures import FORGOTTEN, STARTED, STATEMENTS
from plimsoll.families.postgres.session import OURS, Connection, Rows, connect, execute
from plimsoll.model.engine import EngineTarget
from plimsoll.model.fleet import ServerCounters

_LEAVING_MAX_S = 1.0  # backends tell what they did when they end, shortly after their client has
_POLL_S = 0.02
_WAL_IN_IO, _CHECKPOINTER = 180_000, 170_000  # server_version_num from which on they are there

_DATABASE = """
SELECT xact_commit AS commits, xact_rollback AS rollbacks, blks_read AS blocks_read,
       blks_hit AS blocks_hit, deadlocks, temp_bytes,
       CASE WHEN current_setting('track_io_timing')::bool
            THEN (blk_read_time * 1000)::bigint END AS block_read_us
  FROM pg_stat_database WHERE datname = current_database()
"""
_LOG = """
SELECT wal_bytes, wal_fpi AS wal_full_pages, wal_buffers_full FROM pg_stat_wal
"""
_LOG_WRITES = """
SELECT wal_write AS wal_writes, wal_sync AS wal_flushes,
       CASE WHEN current_setting('track_wal_io_timing')::bool
            THEN ((wal_write_time + wal_sync_time) * 1000)::bigint END AS wal_io_us
  FROM pg_stat_wal
"""
_LOG_WRITES_18 = """
SELECT SUM(writes) AS wal_writes, SUM(fsyncs) AS wal_flushes,
       CASE WHEN current_setting('track_wal_io_timing')::bool
            THEN (SUM(write_time + fsync_time) * 1000)::bigint END AS wal_io_us
  FROM pg_stat_io WHERE object = 'wal' AND context = 'normal'
"""
_RELATIONS = """
SELECT SUM(reads) AS relation_reads,
       SUM(writes) FILTER (WHERE backend_type = 'client backend') AS backend_writes,
       SUM(extends) AS relation_extends,
       SUM(reads) FILTER (WHERE backend_type = 'autovacuum worker') AS autovacuum_reads,
       SUM(writes) FILTER (WHERE backend_type = 'autovacuum worker') AS autovacuum_writes
  FROM pg_stat_io WHERE object = 'relation'
"""
_CHECKPOINTS = """
SELECT checkpoints_timed, checkpoints_req AS checkpoints_requested,
       buffers_checkpoint AS checkpoint_buffers, checkpoint_write_time::bigint AS checkpoint_ms,
       buffers_clean AS bgwriter_buffers
  FROM pg_stat_bgwriter
"""
_CHECKPOINTS_17 = """
SELECT num_timed AS checkpoints_timed, num_requested AS checkpoints_requested,
       c.buffers_written AS checkpoint_buffers, write_time::bigint AS checkpoint_ms,
       buffers_clean AS bgwriter_buffers
  FROM pg_stat_checkpointer c, pg_stat_bgwriter b
"""
# The text of others' statements is shown to few users; then they are counted as statements.
_STATEMENTS = f"""
SELECT COALESCE(SUM(calls), 0) AS {STATEMENTS}, MAX(i.dealloc) AS {FORGOTTEN}
  FROM pg_stat_statements_info i LEFT JOIN pg_stat_statements s
    ON s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND s.toplevel
   AND s.query NOT LIKE '%{OURS}%' AND s.query !~* '^\\s*(BEGIN|START|COMMIT|END|ROLLBACK|ABORT'
       '|SAVEPOINT|RELEASE|SET|RESET|SHOW|DISCARD|DEALLOCATE)\\M'
"""  # noqa: S608 - a mark of ours
_GAUGES = f"""
SELECT EXTRACT(EPOCH FROM pg_postmaster_start_time())::bigint AS {STARTED},
       current_setting('max_connections')::bigint
         - current_setting('superuser_reserved_connections')::bigint AS max_connections,
       pg_size_bytes(current_setting('max_wal_size')) AS max_wal_bytes,
       (SELECT COUNT(*) FROM pg_stat_activity
         WHERE state = 'active' AND pid <> pg_backend_pid()
           AND backend_type = 'client backend') AS running,
       (SELECT COUNT(*) FROM pg_stat_activity
         WHERE backend_type = 'autovacuum worker') AS autovacuum_workers,
       (SELECT COALESCE(SUM(heap_blks_total - heap_blks_scanned), 0)
          FROM pg_stat_progress_vacuum) AS autovacuum_blocks_left
"""  # noqa: S608 - a name of ours
# of a standby there is none; only who may read it does
_SINCE_CHECKPOINT = """
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::bigint AS wal_bytes_since_checkpoint
  FROM pg_control_checkpoint()
"""
_LEAVING = """
SELECT COUNT(*) FROM pg_stat_activity
 WHERE application_name = 'plimsoll' AND datname = current_database()
"""


def read_counters(target: EngineTarget) -> ServerCounters | None:
    """Read the server's own counters; None where it does not answer."""
    try:
        with closing(connect(target)) as connection:
            _await_clients_left(connection)
            values = _values(connection)
    except PlimsollError:
        return None
    return ServerCounters(epoch_ms=round(time.time() * 1000), values=values, family="postgres")


def _await_clients_left(connection: Connection) -> None:
    """Wait until the sessions of a load that has ended are gone: they tell what they did last."""
    deadline = time.monotonic() + _LEAVING_MAX_S
    while execute(connection, _LEAVING)[0][0] and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _values(connection: Connection) -> dict[str, int]:
    ((number,),) = execute(connection, "SELECT current_setting('server_version_num')::int")
    version = int(number)
    queries = (
        _DATABASE,
        _LOG,
        _LOG_WRITES_18 if version >= _WAL_IN_IO else _LOG_WRITES,
        _RELATIONS,
        _CHECKPOINTS_17 if version >= _CHECKPOINTER else _CHECKPOINTS,
        _GAUGES,
    )
    values: dict[str, int] = {}
    for sql in queries:
        values |= _named(connection, execute(connection, sql))
    for sql in (_STATEMENTS, _SINCE_CHECKPOINT):
        values |= _where_shown(connection, sql)
    return values


def _where_shown(connection: Connection, sql: str) -> dict[str, int]:
    """Read what not every server shows to every user; nothing where it does not."""
    try:
        return _named(connection, execute(connection, sql))
    except PlimsollError:
        return {}


def _named(connection: Connection, rows: Rows) -> dict[str, int]:
    """Give one row's values by name, without those that the server does not know."""
    names = [column["name"] for column in connection.columns or ()]
    return {
        str(name): int(value)
        for row in rows
        for name, value in zip(names, row, strict=True)
        if value is not None
    }
