"""Counts of a MySQL or MariaDB server's work. All counters are those of the whole server."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

from pymysql.constants import SERVER_STATUS

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.mysql.session import ELSEWHERE, Connection, connect, execute
from plimsoll.databases.mysql.watching import read_history_length
from plimsoll.databases.sql_datasets import NOTES
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.gate import Count

# Each count is the sum of the first alternative of which the server has all variables.
_SOURCES: dict[Count, tuple[tuple[str, ...], ...]] = {
    # The log's position counts bytes of content; Innodb_os_log_written counts padding as well.
    "log_bytes": (
        ("Innodb_lsn_current",),
        ("Innodb_redo_log_current_lsn",),
        ("Innodb_os_log_written",),
    ),
    "log_flushes": (("Innodb_os_log_fsyncs",), ("Innodb_log_writes",)),
    "pages_requested": (("Innodb_buffer_pool_read_requests",),),
    "pages_read": (("Innodb_buffer_pool_reads",),),
    "pages_written": (("Innodb_pages_written",),),
    "rows_examined": (
        (
            "Handler_read_first",
            "Handler_read_key",
            "Handler_read_last",
            "Handler_read_next",
            "Handler_read_prev",
            "Handler_read_rnd",
            "Handler_read_rnd_next",
        ),
    ),
    "rows_sent": (("Rows_sent",),),
    "rows_changed": (("Handler_write", "Handler_update", "Handler_delete"),),
    "temporary_tables": (("Created_tmp_tables",),),
    "temporary_files": (("Created_tmp_disk_tables", "Created_tmp_files"),),
    "sorts": (("Sort_scan", "Sort_range"),),
    "commits": (("Handler_commit",),),
    "bytes_sent": (("Bytes_sent",),),
    "bytes_received": (("Bytes_received",),),
    "locks_waited": (("Innodb_row_lock_waits", "Table_locks_waited"),),
}
_VARIABLES = {
    name for alternatives in _SOURCES.values() for names in alternatives for name in names
}
# Counted for each session; InnoDB's own counters are those of the server alone.
_OF_SESSIONS = {name for name in _VARIABLES if not name.startswith("Innodb_")}
_SETTINGS = (
    "innodb_page_size",
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_checksum_algorithm",
    "innodb_change_buffering",
    "binlog_format",
    "log_bin",
    "sql_mode",
    "optimizer_switch",
)
PURGED = 5  # transactions in the history list: what is left of a block's purge when the next begins
_POLL_S = 0.05
# Wakes the purge and waits for it; by itself it begins up to a second later. Nothing stays set.
_WAKE_PURGE = (
    "SET STATEMENT max_statement_time = {longest_s} FOR"
    " SET GLOBAL innodb_max_purge_lag_wait = {left}"
)


class MySqlCounter:
    """Reads the counters through one connection that uses no database of ours."""

    def __init__(self, target: EngineTarget, connection: Connection) -> None:
        self._target, self._connection = target, connection

    def create_copy(self, database: str) -> None:
        """Create an empty database."""
        execute(self._connection, f"CREATE DATABASE `{database}`")

    def drop_copy(self, database: str) -> None:
        """Drop a database if it exists."""
        with use_connection(connect(self._target)) as connection:
            execute(connection, f"DROP DATABASE IF EXISTS `{database}`")

    def execute_in(self, copy: EngineTarget, statements: Sequence[str]) -> bool:
        """Execute statements in a copy, one by one; False if they leave changes uncommitted."""
        with use_connection(connect(copy)) as connection:
            for statement in statements:
                execute(connection, statement)
            status: int = connection.server_status  # type: ignore[attr-defined]  # not in the stubs
            return not status & SERVER_STATUS.SERVER_STATUS_IN_TRANS

    def refresh_statistics(self, copy: EngineTarget) -> None:
        """Refresh the statistics of all tables; they are not recalculated during the load."""
        with use_connection(connect(copy)) as connection:
            tables = "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'"
            for name, _ in execute(connection, tables):
                quoted = str(name).replace("`", "``")
                execute(connection, f"ALTER TABLE `{quoted}` STATS_AUTO_RECALC=0")
                execute(connection, f"ANALYZE TABLE `{quoted}`")

    def checkpoint(self, copy: EngineTarget) -> None:
        """Do nothing: InnoDB's log does not depend on checkpoints."""

    def settle(self, copy: EngineTarget, *, longest_s: float) -> bool:
        """Wait until the purge has caught up: it writes log and reads pages.

        Returns:
            False if it had not, or if the account may not see it (PROCESS).
        """
        del copy
        deadline = time.monotonic() + longest_s
        if (read_history_length(self._connection) or 0) > PURGED:
            with suppress(PlimsollError):  # not on MySQL, and not for every account
                # 0 would set no limit
                limits = {"longest_s": max(longest_s, _POLL_S), "left": PURGED}
                execute(self._connection, _WAKE_PURGE.format(**limits))
        while (length := read_history_length(self._connection)) is not None and length > PURGED:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
        return length is not None

    @contextmanager
    def defer_purge(self, copy: EngineTarget) -> Iterator[None]:
        """Stop the purge, if the account may; else hold what it would remove.

        A table that is flushed for export stops it until the table's lock is released: the copy's
        notes, which no operation uses. An open snapshot needs all old row versions, but the purge
        still looks at the rollback segments about once a second, some 500 pages each time.
        """
        with use_connection(connect(copy)) as connection:
            try:
                execute(connection, f"FLUSH TABLES `{NOTES}` FOR EXPORT")  # RELOAD
            except PlimsollError:
                execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                execute(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
            yield

    def totals(self, copy: EngineTarget) -> dict[Count, float]:
        """Read the counters."""
        del copy
        values = self._read_status("GLOBAL")
        # Waiting for the purge takes statements of ours, which are as many as it takes.
        own = self._read_status("SESSION")
        for name in _OF_SESSIONS & values.keys() & own.keys():
            values[name] -= own[name]
        totals: dict[Count, float] = {}
        for count, alternatives in _SOURCES.items():
            for names in alternatives:
                if all(name in values for name in names):
                    totals[count] = sum(values[name] for name in names)
                    break
        return totals

    def _read_status(self, scope: Literal["GLOBAL", "SESSION"]) -> dict[str, int]:
        places = ", ".join(["%s"] * len(_VARIABLES))
        asked = f"SHOW {scope} STATUS WHERE Variable_name IN ({places})"
        rows = execute(self._connection, asked, sorted(_VARIABLES))
        return {str(name): int(value) for name, value in rows if str(value).isdigit()}

    def settings(self) -> dict[str, str]:
        """Read the server's settings on which counts depend."""
        places = ", ".join(["%s"] * len(_SETTINGS))
        asked = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({places})"
        return {
            str(name): str(value) for name, value in execute(self._connection, asked, _SETTINGS)
        }


@contextmanager
def open_mysql_counter(target: EngineTarget) -> Iterator[MySqlCounter]:
    """Connect to count a server's work.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    beside = target.model_copy(update={"database": ELSEWHERE})
    with use_connection(connect(beside)) as connection:
        yield MySqlCounter(beside, connection)
