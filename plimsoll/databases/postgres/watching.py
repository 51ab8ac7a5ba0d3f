"""Samples of what the sessions of a PostgreSQL server wait for.

A user sees the waits of its own sessions without any privilege
(www.postgresql.org/docs/current/monitoring-stats.html#WAIT-EVENT-TABLE), so the load's user can
sample the load. The waits of the server's own processes need `pg_read_all_stats`. The names of log
waits are in capitals or not, depending on the version.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.postgres.session import Connection, connect, execute
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.run.fleet import ServerLook

_LOOK = """
WITH waiting AS (
  SELECT backend_type = 'client backend' AS of_load, backend_type,
         wait_event_type AS kind, lower(wait_event) AS event
    FROM pg_stat_activity
   WHERE pid <> pg_backend_pid() AND (state = 'active' OR backend_type <> 'client backend')
     AND (datname = current_database() OR datname IS NULL)
)
SELECT
  COUNT(*) FILTER (WHERE of_load AND kind = 'Lock' AND event IN ('transactionid', 'tuple')),
  COUNT(*) FILTER (WHERE of_load AND kind = 'Lock'
                     AND event NOT IN ('transactionid', 'tuple', 'extend')),
  COUNT(*) FILTER (WHERE of_load AND kind = 'IO' AND (event LIKE 'datafile%' OR event LIKE 'aio%')),
  COUNT(*) FILTER (WHERE of_load AND (kind IN ('LWLock', 'BufferPin', 'Buffer')
                                      OR event = 'extend') AND event <> 'walwrite'),
  COUNT(*) FILTER (WHERE of_load AND (kind, event) IN
                   (('IO', 'walsync'), ('IO', 'walwrite'), ('LWLock', 'walwrite'))),
  COUNT(*) FILTER (WHERE kind = 'IO' AND event IN ('walsync', 'walwrite')) > 0,
  CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN
    COUNT(*) FILTER (WHERE backend_type = 'autovacuum worker') END,
  CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN
    COUNT(*) FILTER (WHERE backend_type = 'checkpointer'
                       AND event IS DISTINCT FROM 'checkpointermain') > 0 END
FROM waiting
"""


# A standby has no position to write at, and only some users may read where a checkpoint began.
SINCE_CHECKPOINT = """
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::bigint AS wal_bytes_since_checkpoint,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS wal_position_bytes
  FROM pg_control_checkpoint()
"""
_LIMIT = "SELECT pg_size_bytes(current_setting('max_wal_size'))"
# Pages that a checkpoint can write at most: those of this database, or what the buffers hold
_PAGES = """
SELECT LEAST(pg_database_size(current_database()), pg_size_bytes(current_setting('shared_buffers')))
       / current_setting('block_size')::bigint
"""
# Pages that checkpoints have written, which grow while one is in progress; from 17 on, and before
_PAGES_PAID = (
    "SELECT buffers_written FROM pg_stat_checkpointer",
    "SELECT buffers_checkpoint FROM pg_stat_bgwriter",
)


class PostgresWatcher:
    """Samples what a server does, through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._limit_bytes = _read_number(connection, _LIMIT)
        self._pages = _read_number(connection, _PAGES)
        paid = [_read_number(connection, sql) for sql in _PAGES_PAID]
        known = [sql for sql, pages in zip(_PAGES_PAID, paid, strict=True) if pages is not None]
        self._paid_by = known[0] if known else None
        self._paid = max(filter(None, paid), default=0)

    def cut_off(self) -> None:
        """Abort a sample that takes too long; called from another thread."""
        self._connection.cut_off()

    def look(self) -> ServerLook:
        """Sample what the server does now.

        Raises:
            PlimsollError: The server refuses, or the connection is lost.
        """
        ((rows, tables, pages, inner, log, log_io, vacuums, checkpoint),) = execute(
            self._connection, _LOOK
        )
        return ServerLook(
            epoch_ms=round(time.time() * 1000),
            row_lock_waiters=rows,
            table_lock_waiters=tables,
            page_read_waiters=pages,
            inner_lock_waiters=inner,
            log_waiters=log,
            log_io=log_io,
            autovacuum_workers=vacuums,
            checkpoint=checkpoint,
            debt=self._read_debt(in_progress=checkpoint),
        )

    def _read_debt(self, *, in_progress: bool | None) -> WriteDebt | None:
        """Read what the next checkpoint owes; None if this user may not, or on a standby.

        Args:
            in_progress: Whether a checkpoint is; None if this user may not see it. Then the pages
                that checkpoints write show it.
        """
        if not self._limit_bytes:
            return None
        try:
            ((owed, position),) = execute(self._connection, SINCE_CHECKPOINT)
        except PlimsollError:
            self._limit_bytes = None  # refused once, refused always
            return None
        paid = _read_number(self._connection, self._paid_by) if self._paid_by else None
        grown, self._paid = (paid or 0) > self._paid, max(paid or 0, self._paid)
        return WriteDebt(
            owed_bytes=max(0, int(owed)),
            limit_bytes=self._limit_bytes,
            written_bytes=int(position),
            paying=bool(in_progress) or grown,
            owed_pages=self._pages,
        )


def _read_number(connection: Connection, sql: str) -> int | None:
    """Read one number; None if this version or user has none."""
    try:
        ((value,),) = execute(connection, sql)
    except PlimsollError:
        return None
    return None if value is None else int(value)


@contextmanager
def open_postgres_watcher(target: EngineTarget) -> Iterator[PostgresWatcher]:
    """Connect to sample a server under load.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    with use_connection(connect(target)) as connection:
        yield PostgresWatcher(connection)


# Waiting until a server has worked off the backlog of loading.


_POLL_S = 0.25
_MAY_CHECKPOINT = """
SELECT rolsuper OR COALESCE((SELECT pg_has_role(oid, 'USAGE') FROM pg_roles
                              WHERE rolname = 'pg_checkpoint'), false)
  FROM pg_roles WHERE rolname = current_user
"""
_AT_WORK = "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"


def settle(target: EngineTarget, *, longest_s: float) -> bool:
    """Wait until autovacuum has ended and a checkpoint has written what loading changed.

    Without this checkpoint the next one comes in the middle of a load, and writes the dataset once
    more. It is left out if the user may not request one (`pg_checkpoint`; before 15, superusers).

    Returns:
        False if they had not ended after `longest_s` seconds.

    Raises:
        PlimsollError: The server cannot be reached.
    """
    deadline = time.monotonic() + longest_s
    with use_connection(connect(target)) as connection:
        while execute(connection, _AT_WORK)[0][0]:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
        ((may,),) = execute(connection, _MAY_CHECKPOINT)
        if not may:
            return True
        left_ms = max(1, round((deadline - time.monotonic()) * 1000))
        # SET LOCAL: what a transaction leaves set, a connection pooler would give to other clients
        execute(connection, "BEGIN")
        execute(connection, f"SET LOCAL statement_timeout = {left_ms}")
        try:
            execute(connection, "CHECKPOINT")
        except PlimsollError:
            if time.monotonic() < deadline - _POLL_S:
                raise
            return False
        finally:
            execute(connection, "ROLLBACK")
    return True
