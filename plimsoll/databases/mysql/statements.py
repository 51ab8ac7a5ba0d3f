"""Statement statistics of MySQL and MariaDB: `performance_schema`, read and never reset.

Statements sent as text are counted by digest. Executions of prepared statements are not
(github.com/percona/pmm/issues/1240; seen with MariaDB 11.4); they are counted for each open one,
with its connection (dev.mysql.com/doc/refman/8.4/en/, "The prepared_statements_instances Table").
Both are read. The counts of a closed prepared statement are lost, so a reader that wants all of
them has to read often. Nothing is counted unless the consumer `events_statements_current` is on:
the default in MySQL, but not in MariaDB (seen with 11.4: every count stays 0).
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.counted_statements import PATIENCE_S, TEXT_MOST, Counted, Look
from plimsoll.databases.mysql.history import NOT_KEPT, choose_history, read_thread_history
from plimsoll.databases.mysql.session import (
    ELSEWHERE,
    Connection,
    connect,
    execute,
    read_version,
    require_database,
)
from plimsoll.databases.mysql.table_facts import describe_table
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.statements_seen import TableSeen

_AT_ONCE = 2000  # kinds of statements per answer, which may have 1 MiB
_TEXTS_AT_ONCE = 20
_PREPARED = "prepared "  # prefix of the kinds that are open prepared statements
_DIGESTS = f"""
SELECT DIGEST, COUNT_STAR, SUM_TIMER_WAIT DIV 1000000, SUM_ROWS_SENT, SUM_ROWS_EXAMINED,
       SUM_ROWS_AFFECTED, UNIX_TIMESTAMP(FIRST_SEEN)
  FROM performance_schema.events_statements_summary_by_digest
 WHERE SCHEMA_NAME = %s AND DIGEST IS NOT NULL
 ORDER BY DIGEST LIMIT {_AT_ONCE} OFFSET %s
"""  # noqa: S608 - a number of ours
_UNKNOWN = """
SELECT COALESCE(SUM(COUNT_STAR), 0)
  FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NULL
"""
_OF_DATABASE = """
  FROM performance_schema.prepared_statements_instances p
  JOIN performance_schema.threads t ON t.THREAD_ID = p.OWNER_THREAD_ID
 WHERE t.PROCESSLIST_DB = %s
"""
_INSTANCES = f"""
SELECT MD5(p.SQL_TEXT), SUM(COUNT_EXECUTE), SUM(SUM_TIMER_EXECUTE) DIV 1000000, SUM(SUM_ROWS_SENT),
       SUM(SUM_ROWS_EXAMINED), SUM(SUM_ROWS_AFFECTED), MIN(STATEMENT_ID)
{_OF_DATABASE} GROUP BY 1 ORDER BY 1 LIMIT {_AT_ONCE} OFFSET %s
"""
_DIGEST_TEXTS = f"""
SELECT DIGEST, MIN(LEFT(DIGEST_TEXT, {TEXT_MOST}))
  FROM performance_schema.events_statements_summary_by_digest
 WHERE SCHEMA_NAME = %s AND DIGEST IN ({{marks}}) GROUP BY DIGEST
"""  # noqa: S608 - the same
_INSTANCE_TEXTS = f"""
SELECT MD5(p.SQL_TEXT), MIN(LEFT(p.SQL_TEXT, {TEXT_MOST}))
{_OF_DATABASE} AND MD5(p.SQL_TEXT) IN ({{marks}}) GROUP BY 1
"""
_TABLES = """
SELECT table_name FROM information_schema.tables
 WHERE table_schema = %s AND table_type = 'BASE TABLE' ORDER BY table_name LIMIT 5000
"""
_NEXT_NUMBERS = """
SELECT table_name, auto_increment FROM information_schema.tables
 WHERE table_schema = %s AND auto_increment IS NOT NULL
"""
_ACTIVITY = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Uptime')"
_LOG_SETTINGS = """
SHOW GLOBAL VARIABLES WHERE Variable_name IN ('long_query_time', 'log_slow_rate_limit',
  'slow_query_log', 'log_slow_filter', 'min_examined_row_limit', 'log_slow_min_examined_row_limit')
"""
_CONSUMER = """
SELECT NAME FROM performance_schema.setup_consumers
 WHERE NAME = 'events_statements_current' AND ENABLED = 'YES'
"""
_NOT_COUNTED = (
    "this server does not count which prepared statements it executes: UPDATE"
    " performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME ="
    " 'events_statements_current' has it count them, without a restart"
)
# A pool that is nearly full counts as full: InnoDB keeps up to innodb_lru_scan_depth pages free
# (1,306 of 3,003 were seen in MariaDB 11.4 with 48 MiB), and a share of large ones.
POOL_FREE_MOST, POOL_DEPTHS_MOST = 0.1, 1


class MySqlTables:
    """Reads a database's tables through one connection.

    The connection uses another database than the observed one, so that the server does not count
    our queries as statements of that database.
    """

    def __init__(self, connection: Connection, database: str) -> None:
        self._connection = connection
        self._database = database
        self._server = read_version(connection)
        execute(connection, "SET SESSION TRANSACTION READ ONLY")
        for limit in (
            f"SET SESSION max_statement_time = {PATIENCE_S}",  # MariaDB, in seconds
            f"SET SESSION max_execution_time = {PATIENCE_S * 1000}",  # MySQL, in milliseconds
        ):
            with suppress(PlimsollError):
                execute(connection, limit)

    def server(self) -> str:
        """Return the server's product and version, as it reports them."""
        return self._server

    def qualifier(self) -> str:
        """Return the qualifier that table names of the target's database may have."""
        return self._database

    def table_names(self) -> list[str]:
        """List the tables of the target's database."""
        return [str(name) for (name,) in execute(self._connection, _TABLES, (self._database,))]

    def tables(self, names: Iterable[str]) -> list[TableSeen]:
        """Describe the given tables."""
        return [describe_table(self._connection, self._database, name) for name in names]

    def log_settings(self) -> dict[str, str]:
        """Return the server's settings of its logs, by name."""
        return {str(name): str(value) for name, value in execute(self._connection, _LOG_SETTINGS)}

    def statements_per_second(self) -> float | None:
        """Return the statements per second since the server started."""
        rows = execute(self._connection, _ACTIVITY)
        values = {str(name): float(value) for name, value in rows}
        questions, uptime_s = values.get("Questions"), values.get("Uptime")
        return questions / uptime_s if questions is not None and uptime_s else None

    def next_numbers(self) -> dict[str, int]:
        """Return the next number of each table with an AUTO_INCREMENT column."""
        rows = execute(self._connection, _NEXT_NUMBERS, (self._database,))
        return {str(name): int(number) for name, number in rows}


class MySqlStatements(MySqlTables):
    """Reads a server's statement statistics as well."""

    def __init__(self, connection: Connection, database: str) -> None:
        super().__init__(connection, database)
        self._require_counting()
        self._counts_prepared = bool(execute(connection, _CONSUMER))
        self._has_instances = False
        with suppress(PlimsollError):  # MariaDB has the table from 10.5.2 on
            execute(connection, _INSTANCES, (self._database, 0))
            self._has_instances = True
        self._history = choose_history(connection)

    def _require_counting(self) -> None:
        shown = execute(self._connection, "SHOW GLOBAL VARIABLES LIKE 'performance_schema'")
        if [value for _, value in shown] != ["ON"]:
            raise PlimsollError(
                f"{self._server}: performance_schema is off, so statements are not counted: the"
                " server has to be started with performance_schema=ON"
            )

    def look(self) -> Look:
        """Read all statement statistics of the target's database, without our own queries."""
        counted = self._read_counts(_DIGESTS, "")
        # if one look lacked them, the next would count all their calls as new
        if self._has_instances:
            counted |= self._read_counts(_INSTANCES, _PREPARED)
        ((unknown,),) = execute(self._connection, _UNKNOWN)
        status = self._status()
        executed = 0 if self._counts_prepared else status.get("Com_stmt_execute", 0)
        missed = status.get("Innodb_buffer_pool_reads")
        history = None
        if self._history is not None:
            history = read_thread_history(self._connection, self._history, self._database)
        return Look(time.time(), counted, int(unknown) + executed, missed, history)

    def _status(self) -> dict[str, int]:
        rows = execute(
            self._connection,
            "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Innodb_buffer_pool%'"
            " OR Variable_name = 'Com_stmt_execute'",
        )
        return {str(name): int(value) for name, value in rows if str(value).isdigit()}

    def _read_counts(self, sql: str, mark: str) -> dict[str, Counted]:
        found: dict[str, Counted] = {}
        while True:
            rows = execute(self._connection, sql, (self._database, len(found)))
            for kind, calls, time_us, sent, examined, affected, order in rows:
                found[f"{mark}{kind}"] = Counted(
                    int(calls),
                    int(time_us),
                    int(sent),
                    int(examined),
                    int(affected),
                    float(order or 0),
                    closes=bool(mark),
                )
            if len(rows) < _AT_ONCE:
                return found

    def texts(self, kinds: Iterable[str]) -> dict[str, str]:
        """Read the texts of the given kinds of statements."""
        wanted = list(kinds)
        digests = [kind for kind in wanted if not kind.startswith(_PREPARED)]
        prepared = [kind.removeprefix(_PREPARED) for kind in wanted if kind not in set(digests)]
        found = self._texts(_DIGEST_TEXTS, digests)
        of_prepared = self._texts(_INSTANCE_TEXTS, prepared) if prepared else {}
        return found | {f"{_PREPARED}{kind}": text for kind, text in of_prepared.items()}

    def _texts(self, sql: str, kinds: list[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for start in range(0, len(kinds), _TEXTS_AT_ONCE):
            part = kinds[start : start + _TEXTS_AT_ONCE]
            asked = sql.format(marks=", ".join(["%s"] * len(part)))
            rows = execute(self._connection, asked, (self._database, *part))
            found |= {str(kind): str(text) for kind, text in rows if text is not None}
        return found

    def pool_pages(self) -> int | None:
        """Return how many data pages the buffer pool holds; None if it is not full."""
        status = self._status()
        data, total, free = (
            status.get(f"Innodb_buffer_pool_pages_{kind}") for kind in ("data", "total", "free")
        )
        if not total or free is None:
            return None
        ((depth,),) = execute(self._connection, "SELECT @@innodb_lru_scan_depth")
        return data if free < POOL_FREE_MOST * total + POOL_DEPTHS_MOST * int(depth) else None

    def notes(self) -> tuple[str, ...]:
        """Return notes on how the server counts, for the reader."""
        prepared = (
            "prepared statements are counted only while they are open"
            if self._counts_prepared
            else _NOT_COUNTED
        )
        return (prepared,) if self._history is not None else (prepared, NOT_KEPT)


@contextmanager
def open_mysql_reader(target: EngineTarget) -> Iterator[MySqlStatements]:
    """Connect to a server to read its statement statistics.

    Raises:
        PlimsollError: The server is unreachable, refuses, or counts no statements.
    """
    beside = target.model_copy(update={"database": ELSEWHERE})
    with use_connection(connect(beside)) as connection:
        require_database(connection, target.database)
        yield MySqlStatements(connection, target.database)


@contextmanager
def open_mysql_tables(target: EngineTarget) -> Iterator[MySqlTables]:
    """Connect to a server to read a database's tables; it need not count statements.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    beside = target.model_copy(update={"database": ELSEWHERE})
    with use_connection(connect(beside)) as connection:
        require_database(connection, target.database)
        yield MySqlTables(connection, target.database)
