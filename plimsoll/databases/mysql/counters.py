"""Counters of a MySQL or MariaDB server, and what they show of limits, waits and backlog."""

import time

from plimsoll import words
from plimsoll.databases.connecting import use_connection
from plimsoll.databases.mysql.session import ELSEWHERE, Connection, connect, execute
from plimsoll.databases.mysql.watching import HISTORY, LOG_NAMES, find_write_debt
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.judging.steps import StorageRates
from plimsoll.model.run.fleet import ServerCounters, UnfinishedWork
from plimsoll.model.run.results import ServerFigures, ServerWaits

IDLE_THREADS = 3  # Plimsoll's own, and those that the server or RDS runs by itself
# Transactions in the history list that a load is left with at most, one or two I/Os for each
PURGED = 500
EXECUTED = "Com_stmt_execute"  # executions of prepared statements, which is what the engine sends

COUNTERS = (
    EXECUTED,
    "Questions",
    "Handler_commit",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_wait_free",
    "Innodb_data_fsyncs",
    "Innodb_data_read",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Innodb_dblwr_pages_written",
    "Innodb_log_waits",
    "Innodb_log_writes",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_written",
    "Innodb_pages_written",
    "Innodb_row_lock_time",
    "Innodb_row_lock_waits",
    "Table_locks_waited",
    # microseconds, summed over all sessions, from performance_schema if it is on
    "wait_us_data_reads",
    "wait_us_log_io",
    "wait_us_table_locks",
)
GAUGES = (
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_total",
    HISTORY,
    *LOG_NAMES,
    "Threads_connected",
    "Threads_running",
    "Uptime",
    "max_connections",
)
_WAITS = {
    "Innodb_log_waits": "for room in the log buffer",
    "Innodb_buffer_pool_wait_free": "for a free page in the buffer pool",
}
# dev.mysql.com/doc/refman/8.4/en/performance-schema-file-summary-tables.html, and
# .../performance-schema-wait-summary-tables.html: times in picoseconds. MariaDB does not time its
# log file, and times metadata locks only if it is told to.
_TIMED = """
SELECT 'wait_us_data_reads', SUM(SUM_TIMER_READ) FROM performance_schema.file_summary_by_event_name
 WHERE EVENT_NAME = 'wait/io/file/innodb/innodb_data_file'
UNION ALL
SELECT 'wait_us_log_io', SUM(SUM_TIMER_WRITE + SUM_TIMER_MISC)
  FROM performance_schema.file_summary_by_event_name
 WHERE EVENT_NAME = 'wait/io/file/innodb/innodb_log_file'
UNION ALL
SELECT 'wait_us_table_locks', SUM(SUM_TIMER_WAIT)
  FROM performance_schema.events_waits_summary_global_by_event_name
 WHERE EVENT_NAME IN ('wait/lock/table/sql/handler', 'wait/lock/metadata/sql/mdl')
"""
_PS_PER_US = 1_000_000


def read_counters(target: EngineTarget) -> ServerCounters | None:
    """Read the server's own counters; None if it does not answer."""
    try:
        # From there our queries do not count as statements of the target's database.
        beside = target.model_copy(update={"database": ELSEWHERE})
        with use_connection(connect(beside)) as connection:
            rows: dict[str, str] = dict(execute(connection, "SHOW GLOBAL STATUS"))
            variables = "SHOW GLOBAL VARIABLES WHERE Variable_name IN (%s, %s)"
            rows |= execute(connection, variables, ("max_connections", "performance_schema"))
            timed = _read_waits(connection) if rows.get("performance_schema") == "ON" else {}
            names = [name for name in (*COUNTERS, *GAUGES) if name in rows]
            values = {name: int(rows[name]) for name in names} | timed
    except PlimsollError:
        return None
    return ServerCounters(epoch_ms=round(time.time() * 1000), values=values, family="mysql")


def _read_waits(connection: Connection) -> dict[str, int]:
    """Read the wait times of performance_schema; empty if the user may not."""
    try:
        rows = execute(connection, _TIMED)
    except PlimsollError:
        return {}
    return {name: int(time_ps) // _PS_PER_US for name, time_ps in rows if time_ps is not None}


def server_figures(
    before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
) -> ServerFigures:
    """Compute what the server did between two readings of its counters.

    Args:
        before: The counters before the step's load.
        after: The counters after all clients had ended.
        statements_by_clients: The statements that the clients report as executed; None if one of
            them did not report.
    """
    restarted = after.values.get("Uptime", 0) < before.values.get("Uptime", 0)
    grown = {
        name: after.values[name] - (0 if restarted else before.values.get(name, 0))
        for name in COUNTERS
        if name in after.values
    }
    requests = grown.get("Innodb_buffer_pool_read_requests")
    reads = grown.get("Innodb_buffer_pool_reads")
    return ServerFigures(
        interval_s=(after.epoch_ms - before.epoch_ms) / 1000,
        counters=grown,
        gauges={name: after.values[name] for name in GAUGES if name in after.values},
        restarted=restarted,
        statements_by_clients=None if restarted else statements_by_clients,
        statements_by_server=grown.get(EXECUTED),
        buffer_pool_miss_share=reads / requests if requests and reads is not None else None,
    )


def signs_of_limits(server: ServerFigures) -> list[str]:
    """Describe what else the counters show of the server's own limits, one sentence each."""
    signs = [
        f"{words.format_count(count, 'wait')} {awaited}"
        for name, awaited in _WAITS.items()
        if (count := server.counters.get(name))
    ]
    dirty = server.gauges.get("Innodb_buffer_pool_pages_dirty")
    total = server.gauges.get("Innodb_buffer_pool_pages_total")
    if dirty is not None and total:
        share = words.format_percent(dirty / total)
        signs.append(f"{share} of the buffer pool's pages were dirty at its end")
    history = server.gauges.get(HISTORY, 0)
    if history > PURGED:
        signs.append(f"{words.format_number(history)} transactions waited for the purge at its end")
    return signs


def waits(server: ServerFigures) -> ServerWaits:
    """Return what a step's load waited for, as far as the counters show.

    MariaDB does not count log flushes. If it flushes at each commit, there is one for each log
    write; data files are flushed besides.
    """
    grown = server.counters
    writes, syncs = grown.get("Innodb_log_writes"), grown.get("Innodb_data_fsyncs")
    flushes = grown.get("Innodb_os_log_fsyncs")
    if flushes is None and writes is not None and syncs is not None:
        flushes = min(writes, syncs)
    return ServerWaits(
        row_locks_s=_to_seconds(grown.get("Innodb_row_lock_time"), 1e3),
        row_lock_waits=grown.get("Innodb_row_lock_waits"),
        table_locks_s=_to_seconds(grown.get("wait_us_table_locks"), 1e6),
        table_lock_waits=grown.get("Table_locks_waited"),
        page_reads=grown.get("Innodb_buffer_pool_reads"),
        page_reads_s=_to_seconds(grown.get("wait_us_data_reads"), 1e6),
        commits=grown.get("Handler_commit"),
        log_flushes=flushes,
        log_io_s=_to_seconds(grown.get("wait_us_log_io"), 1e6),
        connections_max=server.gauges.get("max_connections"),
    )


def _to_seconds(value: int | None, per_second: float) -> float | None:
    return None if value is None else value / per_second


def storage_rates(server: ServerFigures) -> StorageRates | None:
    """Return InnoDB's storage I/O; None if its counters restarted or one is missing.

    dev.mysql.com/doc/refman/8.4/en/server-status-variables.html. A page is 16 KiB, and so is an I/O
    of EBS. I/O that the file system adds is not counted. MariaDB has not counted log flushes since
    it writes the log apart from its data files (MDEV-14425, 10.8), and counts log writes
    separately.
    """
    names = ("reads", "writes", "fsyncs", "read", "written")
    grown = [server.counters.get(f"Innodb_data_{name}") for name in names]
    if server.restarted or server.interval_s <= 0 or None in grown:
        return None
    reads, writes, fsyncs, read, written = (count or 0 for count in grown)
    if "Innodb_os_log_fsyncs" not in server.counters:  # MariaDB counts log I/O separately
        writes += server.counters.get("Innodb_log_writes", 0)
        written += server.counters.get("Innodb_os_log_written", 0)
    return StorageRates(
        interval_s=server.interval_s,
        iops=(reads + writes) / server.interval_s,
        mib_s=(read + written) / 2**20 / server.interval_s,
        fsyncs_per_second=fsyncs / server.interval_s,
    )


def write_debt(now: ServerCounters) -> WriteDebt | None:
    """Return what InnoDB still has to write back; None if the server does not report it."""
    return find_write_debt(now.values)


def find_unfinished_work(now: ServerCounters) -> UnfinishedWork | None:
    """Return the backlog that a load left on a target; None if there is none.

    Dirty pages are InnoDB's normal state, and what they lend is judged with each window
    (`capacity/steps/debt.py`). The purge is not: a single thread visits each changed row of a table
    again, falls behind under overload, and takes I/Os from whatever load comes next.
    """
    running = now.values.get("Threads_running", 0)
    if running > IDLE_THREADS:
        return UnfinishedWork(what=f"{running} statements are still running")
    history = now.values.get(HISTORY, 0)
    if history > PURGED:
        waiting = f"{words.format_number(history)} transactions wait for the purge"
        return UnfinishedWork(what=waiting, left=history)
    return None
