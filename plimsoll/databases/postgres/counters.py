"""Counters of a PostgreSQL server, version 13 and later, and what they show of a step.

Their place depends on the version (www.postgresql.org/docs/18/monitoring-stats.html, and those of
13 to 17): the log has a view from 14 on, I/O by its origin from 16 on (`pg_stat_io`), checkpoints
from 17 on, and log writes are in pg_stat_io from 18 on. What a version does not count is left out.
Statistics of databases are read for the target's database only.
"""

import time

from plimsoll import words
from plimsoll.databases.connecting import escape_value, use_connection
from plimsoll.databases.postgres.session import OURS, Connection, Rows, connect, execute
from plimsoll.databases.postgres.watching import SINCE_CHECKPOINT
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.judging.steps import StorageRates
from plimsoll.model.run.fleet import ServerCounters, UnfinishedWork
from plimsoll.model.run.results import ServerFigures, ServerLooks, ServerWaits

# What the counters show of a step, and of the backlog after it.


STATEMENTS = "statements"  # executed, without ours and those that begin or end transactions
FORGOTTEN = "statements_forgotten"  # kinds of statements evicted together with their counts
STARTED = "started_s"
OLD_VERSION = "old_server_version"  # server_version_num, of servers that do not count all
GAUGES = (
    STARTED,
    OLD_VERSION,
    "autovacuum_blocks_left",
    "autovacuum_workers",
    "max_connections",
    "max_wal_bytes",
    "running",
    "wal_bytes_since_checkpoint",
    "wal_position_bytes",
)
PAGE_BYTES = 8192  # unless the server was compiled otherwise
MERGED_MOST_BYTES = 256 * 1024  # up to which neighboring checkpoint writes count as one I/O


def server_figures(
    before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
) -> ServerFigures:
    """Compute what the server did between two readings of its counters.

    Statistics survive a restart, except after a crash: then they start at 0. A counter that
    decreased without a restart was reset, or has lost entries; it is left out.

    Args:
        before: The counters before the step's load.
        after: The counters after all clients had ended.
        statements_by_clients: The statements that the clients report to have executed; None if one
            of them did not report.
    """
    old, new = before.values, after.values
    counters = [name for name in new if name not in GAUGES]
    restarted = new.get(STARTED) != old.get(STARTED)
    fallen = {name for name in counters if new[name] < old.get(name, 0)}
    began_again = restarted and bool(fallen)
    grown = {
        name: new[name] - (0 if began_again else old.get(name, 0))
        for name in counters
        if began_again or name not in fallen
    }
    blocks, hits = grown.get("blocks_read"), grown.get("blocks_hit")
    known = STATEMENTS in old and FORGOTTEN not in fallen and not grown.get(FORGOTTEN)
    return ServerFigures(
        interval_s=(after.epoch_ms - before.epoch_ms) / 1000,
        counters=grown,
        gauges={name: new[name] for name in GAUGES if name in new},
        restarted=restarted,
        statements_by_clients=None if restarted else statements_by_clients,
        statements_by_server=grown.get(STATEMENTS) if known else None,
        buffer_pool_miss_share=blocks / (blocks + hits) if blocks is not None and hits else None,
    )


def signs_of_limits(server: ServerFigures) -> list[str]:
    """Describe what else the counters show of the server's own limits, one sentence each."""
    grown, signs = server.counters, []
    requested, timed = grown.get("checkpoints_requested"), grown.get("checkpoints_timed")
    buffers = grown.get("checkpoint_buffers", 0)
    if requested or timed:
        begun = words.format_count((requested or 0) + (timed or 0), "checkpoint")
        because = f", {requested} of them because max_wal_size was full" if requested else ""
        signs.append(f"{begun} began{because}")
    if buffers:
        pages = grown.get("wal_full_pages", 0)
        signs.append(
            f"checkpoints wrote {words.format_number(buffers)} pages, and"
            f" {words.format_number(pages)} whole"
            " pages went into the log behind them"
        )
    if count := grown.get("backend_writes"):
        signs.append(
            f"sessions had to write {words.format_number(count)} pages to make room for others"
        )
    if count := grown.get("wal_buffers_full"):
        signs.append(f"{words.format_count(count, 'wait')} for room in the log's buffers")
    vacuumed = grown.get("autovacuum_reads", 0) + grown.get("autovacuum_writes", 0)
    if vacuumed:
        signs.append(f"autovacuum read and wrote {words.format_number(vacuumed)} pages")
    if count := grown.get("deadlocks"):
        signs.append(words.format_count(count, "deadlock"))
    unknown = describe_uncounted(server.gauges.get(OLD_VERSION))
    return [*signs, *_describe_samples(server.looks), *unknown]


def describe_uncounted(version: int | None) -> list[str]:
    """Describe what an old server does not count; empty for 16 and later, and without a version.

    Args:
        version: its `server_version_num`, such as 150018.
    """
    if version is None or version >= _IO:
        return []
    lacks = ["page writes by sessions and by autovacuum"]
    if version < _LOG_VIEW:
        lacks.append("writes and flushes of the log")
    return [f"PostgreSQL {version // 10_000} does not count {', nor '.join(lacks)}: not known"]


def _describe_samples(looks: ServerLooks | None) -> list[str]:
    """Describe how much of the server's own work the samples showed."""
    if looks is None:
        return []
    signs = []
    if looks.checkpoint_looks:
        of_looks = f"{looks.checkpoint_looks} of {words.format_count(looks.looks, 'sample')}"
        signs.append(f"a checkpoint was in progress in {of_looks}")
    if looks.autovacuum_workers:
        workers = words.format_three_figures(looks.autovacuum_workers)
        signs.append(f"{workers} autovacuum workers were at work, as a mean")
    if looks.log_waiters:
        waiters = words.format_three_figures(looks.log_waiters)
        signs.append(f"{waiters} sessions waited for the log, as a mean")
    return signs


def waits(server: ServerFigures) -> ServerWaits:
    """Return what a step's load waited for, as far as the counters show.

    A page that was read may have come from the operating system's cache; the samples show how many
    sessions wait for one (`plimsoll.databases.postgres.watching`).
    """
    grown = server.counters
    return ServerWaits(
        page_reads=grown.get("blocks_read"),
        page_reads_s=_to_seconds(grown.get("block_read_us")),
        commits=grown.get("commits"),
        log_flushes=grown.get("wal_flushes"),
        log_io_s=_to_seconds(grown.get("wal_io_us")),
        connections_max=server.gauges.get("max_connections"),
    )


def _to_seconds(us: int | None) -> float | None:
    return None if us is None else us / 1e6


def storage_rates(server: ServerFigures) -> StorageRates | None:
    """Return the I/O that surely reached the storage; None if the counters restarted.

    This is what was flushed: the log, and checkpoint writes, neighboring pages as one I/O. Reads
    and other writes may have ended in the operating system's cache, and are not counted.
    """
    writes, flushes = (server.counters.get(f"wal_{name}") for name in ("writes", "flushes"))
    log_bytes = server.counters.get("wal_bytes")
    buffers = server.counters.get("checkpoint_buffers")
    if server.restarted or server.interval_s <= 0:
        return None
    if writes is None or flushes is None or log_bytes is None or buffers is None:
        return None
    checkpoint_bytes = buffers * PAGE_BYTES
    return StorageRates(
        interval_s=server.interval_s,
        iops=(writes + checkpoint_bytes / MERGED_MOST_BYTES) / server.interval_s,
        mib_s=(log_bytes + checkpoint_bytes) / 2**20 / server.interval_s,
        fsyncs_per_second=flushes / server.interval_s,
        whole=False,
    )


def find_unfinished_work(now: ServerCounters) -> UnfinishedWork | None:
    """Return the backlog that a load left on a target; None if there is none.

    Two things outlast a load and slow the next one: running statements, and autovacuum. What the
    next checkpoint owes is judged with each window (`capacity/steps/debt.py`).
    """
    running = now.values.get("running", 0)
    if running:
        return UnfinishedWork(what=f"{words.format_count(running, 'statement')} still running")
    if workers := now.values.get("autovacuum_workers"):
        left = now.values.get("autovacuum_blocks_left", 0)
        at_work = words.format_count(workers, "autovacuum worker")
        return UnfinishedWork(
            what=f"{at_work} with {words.format_number(left)} pages left", left=left
        )
    return None


def write_debt(now: ServerCounters) -> WriteDebt | None:
    """Return the log since the last checkpoint, and `max_wal_size`; None if it cannot be read."""
    names = ("wal_bytes_since_checkpoint", "max_wal_bytes", "wal_position_bytes")
    owed, limit, position = (now.values.get(name) for name in names)
    if owed is None or not limit or position is None:
        return None
    return WriteDebt(owed_bytes=max(0, owed), limit_bytes=limit, written_bytes=position)


# Backends report their last statistics when they exit, shortly after their client has left.
_LEAVING_MAX_S = 1.0
_POLL_S = 0.02
# server_version_num from which on pg_stat_io has the log, checkpoints have a view, pg_stat_io
# exists, and pg_stat_wal and pg_stat_statements_info
_WAL_IN_IO, _CHECKPOINTER, _IO, _LOG_VIEW = 180_000, 170_000, 160_000, 140_000

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
# Few users may read the text of others' statements. Hidden ones count as statements. Clients leave
# out the same ones (engine/src/generators/compile.rs).
_OF_LOAD = f"""
       s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND s.query NOT LIKE '%{OURS}%' AND s.query !~* '^\\s*(BEGIN|START|COMMIT|END|ROLLBACK|ABORT'
       '|SAVEPOINT|RELEASE|SET|RESET|SHOW|DISCARD|DEALLOCATE)\\M'
"""  # noqa: S608 - a mark of ours
_STATEMENTS = f"""
SELECT COALESCE(SUM(calls), 0) AS {STATEMENTS}, MAX(i.dealloc) AS {FORGOTTEN}
  FROM pg_stat_statements_info i LEFT JOIN pg_stat_statements s ON s.toplevel AND {_OF_LOAD}
"""  # noqa: S608 - names and a mark of ours
# 13 tells neither which statements functions sent nor whether it forgot some. It sends the first
# only if it is set to, and forgets a twentieth of all kinds when there is no more room.
_STATEMENTS_13 = f"""
SELECT COALESCE(SUM(calls), 0) AS {STATEMENTS}
  FROM (SELECT 1) one LEFT JOIN pg_stat_statements s ON {_OF_LOAD}
HAVING current_setting('pg_stat_statements.track') = 'top'
   AND (SELECT COUNT(*) FROM pg_stat_statements)
         < 0.9 * current_setting('pg_stat_statements.max')::int
"""  # noqa: S608 - names and a mark of ours
_GAUGES = f"""
SELECT EXTRACT(EPOCH FROM pg_postmaster_start_time())::bigint AS {STARTED},
       CASE WHEN current_setting('server_version_num')::int < {_IO}
            THEN current_setting('server_version_num')::int END AS {OLD_VERSION},
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
_LEAVING = """
SELECT COUNT(*) FROM pg_stat_activity
 WHERE application_name = 'plimsoll' AND datname = current_database()
"""


def read_counters(target: EngineTarget) -> ServerCounters | None:
    """Read the server's own counters; None if it does not answer."""
    try:
        with use_connection(connect(target)) as connection:
            _await_clients_left(connection)
            values = _read_values(connection)
    except PlimsollError:
        return None
    return ServerCounters(epoch_ms=round(time.time() * 1000), values=values, family="postgres")


def _await_clients_left(connection: Connection) -> None:
    """Wait until the sessions of an ended load are gone: they report their last statistics then."""
    deadline = time.monotonic() + _LEAVING_MAX_S
    while execute(connection, _LEAVING)[0][0] and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _read_values(connection: Connection) -> dict[str, int]:
    ((number,),) = execute(connection, "SELECT current_setting('server_version_num')::int")
    version = int(number)
    queries = [_DATABASE, _CHECKPOINTS_17 if version >= _CHECKPOINTER else _CHECKPOINTS]
    queries += [_STATEMENTS if version >= _LOG_VIEW else _STATEMENTS_13, SINCE_CHECKPOINT]
    if version >= _LOG_VIEW:
        queries += [_LOG, _LOG_WRITES_18 if version >= _WAL_IN_IO else _LOG_WRITES]
    if version >= _IO:
        queries.append(_RELATIONS)
    values: dict[str, int] = {}
    for sql in queries:
        values |= _read_if_shown(connection, sql)
    # Every server has these, so an error says that the connection is lost.
    return values | _name_values(connection, execute(connection, _GAUGES))


def _read_if_shown(connection: Connection, sql: str) -> dict[str, int]:
    """Read what not every server has, or shows to every user; empty if it is not shown."""
    try:
        return _name_values(connection, execute(connection, sql))
    except PlimsollError:
        return {}


def _name_values(connection: Connection, rows: Rows) -> dict[str, int]:
    """Return one row's values by name, without those that the server does not know."""
    names = [escape_value(str(column["name"])) for column in connection.columns or ()]
    return {
        name: int(value)
        for row in rows
        for name, value in zip(names, row, strict=True)
        if value is not None
    }
