"""What MySQL and MariaDB counted of their statements: `performance_schema`, read and never reset.

Statements that come as text are counted by digest; the executions of prepared ones are not
(github.com/percona/pmm/issues/1240; seen with MariaDB 11.4), but counted for each that is open, with
its connection (dev.mysql.com/doc/refman/8.4/en/performance-schema-prepared-statements-instances-table.html).
Both are read. Of one that is closed nothing is left, so that who wants all of them looks often.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

from plimsoll.errors import PlimsollError
from plimsoll.families.counted_statements import (
    PATIENCE_S,
    SAMPLE_ROWS,
    SPREAD_ROWS,
    TEXT_MOST,
    Counted,
    Look,
    top_share,
)
from plimsoll.families.mysql.session import Connection, connect, execute, server_version
from plimsoll.model.engine import EngineTarget
from plimsoll.model.statements_seen import TOP_VALUES, ColumnSeen, TableSeen

_AT_ONCE = 2000  # kinds of statements in an answer, which may have 1 MiB
_TEXTS_AT_ONCE = 20
_PREPARED = "prepared "  # begins what such a kind of statement is called here
_DIGESTS = f"""
SELECT DIGEST, COUNT_STAR, SUM_TIMER_WAIT DIV 1000000, SUM_ROWS_SENT, SUM_ROWS_EXAMINED,
       SUM_ROWS_AFFECTED, UNIX_TIMESTAMP(FIRST_SEEN)
  FROM performance_schema.events_statements_summary_by_digest
 WHERE SCHEMA_NAME = DATABASE() AND DIGEST IS NOT NULL
 ORDER BY DIGEST LIMIT {_AT_ONCE} OFFSET %s
"""  # noqa: S608 - a number of ours
_UNKNOWN = """
SELECT COALESCE(SUM(COUNT_STAR), 0)
  FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NULL
"""
_OF_DATABASE = """
  FROM performance_schema.prepared_statements_instances p
  JOIN performance_schema.threads t ON t.THREAD_ID = p.OWNER_THREAD_ID
 WHERE t.PROCESSLIST_DB = DATABASE()
"""
_INSTANCES = f"""
SELECT MD5(p.SQL_TEXT), SUM(COUNT_EXECUTE), SUM(SUM_TIMER_EXECUTE) DIV 1000000, SUM(SUM_ROWS_SENT),
       SUM(SUM_ROWS_EXAMINED), SUM(SUM_ROWS_AFFECTED), MIN(STATEMENT_ID)
{_OF_DATABASE} GROUP BY 1 ORDER BY 1 LIMIT {_AT_ONCE} OFFSET %s
"""  # noqa: S608 - the same
_DIGEST_TEXTS = f"""
SELECT DIGEST, MIN(LEFT(DIGEST_TEXT, {TEXT_MOST}))
  FROM performance_schema.events_statements_summary_by_digest
 WHERE SCHEMA_NAME = DATABASE() AND DIGEST IN ({{marks}}) GROUP BY DIGEST
"""  # noqa: S608 - the same
_INSTANCE_TEXTS = f"""
SELECT MD5(p.SQL_TEXT), MIN(LEFT(p.SQL_TEXT, {TEXT_MOST}))
{_OF_DATABASE} AND MD5(p.SQL_TEXT) IN ({{marks}}) GROUP BY 1
"""  # noqa: S608 - the same
_TABLES = """
SELECT table_name FROM information_schema.tables
 WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name LIMIT 5000
"""
_COLUMNS = """
SELECT column_name, column_type, is_nullable = 'YES', extra LIKE '%%auto_increment%%', data_type
  FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = %s
   AND COALESCE(generation_expression, '') = '' ORDER BY ordinal_position
"""
_INDEXES = """
SELECT index_name, column_name, cardinality, seq_in_index FROM information_schema.statistics
 WHERE table_schema = DATABASE() AND table_name = %s AND sub_part IS NULL
 ORDER BY index_name, seq_in_index
"""
POOL_FREE_MOST = 0.1  # of a buffer pool that is as good as full
_NUMBERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
_TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext")
_BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")


class MySqlStatements:
    """Reads one server through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._server = server_version(connection)
        self._require_counting()
        execute(connection, "SET SESSION TRANSACTION READ ONLY")
        for limit in (
            f"SET SESSION max_statement_time = {PATIENCE_S}",  # MariaDB, in seconds
            f"SET SESSION max_execution_time = {PATIENCE_S * 1000}",  # MySQL, in milliseconds
        ):
            with suppress(PlimsollError):
                execute(connection, limit)

    def _require_counting(self) -> None:
        shown = execute(self._connection, "SHOW GLOBAL VARIABLES LIKE 'performance_schema'")
        if dict(shown).get("performance_schema") != "ON":
            raise PlimsollError(
                f"{self._server}: performance_schema is off, so statements are not counted: the"
                " server has to be started with performance_schema=ON"
            )

    def server(self) -> str:
        """Say what server answers, as it calls itself."""
        return self._server

    def qualifier(self) -> str:
        """Say what may stand before a table's name, for the target's own."""
        ((name,),) = execute(self._connection, "SELECT DATABASE()")
        return str(name)

    def look(self) -> Look:
        """Read all that it has counted in the target's database."""
        counted = self._counted(_DIGESTS, "")
        with suppress(PlimsollError):  # MariaDB has them from 10.5.2 on
            counted |= self._counted(_INSTANCES, _PREPARED)
        ((unknown,),) = execute(self._connection, _UNKNOWN)
        missed = self._status().get("Innodb_buffer_pool_reads")
        return Look(time.time(), counted, int(unknown), missed)

    def _status(self) -> dict[str, int]:
        rows = execute(self._connection, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool%'")
        return {str(name): int(value) for name, value in rows if str(value).isdigit()}

    def _counted(self, sql: str, mark: str) -> dict[str, Counted]:
        found: dict[str, Counted] = {}
        while True:
            rows = execute(self._connection, sql, (len(found),))
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
        """Read the texts of some kinds of statements."""
        wanted = list(kinds)
        digests = [kind for kind in wanted if not kind.startswith(_PREPARED)]
        prepared = [kind.removeprefix(_PREPARED) for kind in wanted if kind not in set(digests)]
        found = self._texts(_DIGEST_TEXTS, digests)
        of_prepared = self._texts(_INSTANCE_TEXTS, prepared) if prepared else {}
        return found | {f"{_PREPARED}{kind}": text for kind, text in of_prepared.items()}

    def _texts(self, sql: str, kinds: list[str]) -> dict[str, str]:
        found = {}
        for start in range(0, len(kinds), _TEXTS_AT_ONCE):
            part = kinds[start : start + _TEXTS_AT_ONCE]
            asked = sql.format(marks=", ".join(["%s"] * len(part)))
            rows = execute(self._connection, asked, part)
            found |= {str(kind): str(text) for kind, text in rows if text is not None}
        return found

    def table_names(self) -> list[str]:
        """Name the tables of the target's database."""
        return [str(name) for (name,) in execute(self._connection, _TABLES)]

    def tables(self, names: Iterable[str]) -> list[TableSeen]:
        """Describe some tables."""
        return [self._table(name) for name in names]

    def pool_pages(self) -> int | None:
        """Say how many pages of data its buffer pool holds; None where it is not full."""
        status = self._status()
        data, total, free = (
            status.get(f"Innodb_buffer_pool_pages_{kind}") for kind in ("data", "total", "free")
        )
        full = total and free is not None and free < POOL_FREE_MOST * total
        return data if full else None

    def notes(self) -> tuple[str, ...]:
        """Say what a reader has to know of how it counts."""
        return ("prepared statements are counted while they are open: those that were closed lack",)

    def _table(self, name: str) -> TableSeen:
        rows = execute(
            self._connection,
            "SELECT table_rows, (data_length + index_length) DIV @@innodb_page_size"
            " FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = %s",
            (name,),
        )
        indexes: dict[str, list[str]] = {}
        distinct: dict[str, int] = {}
        for index, column, cardinality, place in execute(self._connection, _INDEXES, (name,)):
            indexes.setdefault(str(index), []).append(str(column))
            if cardinality is not None and int(place) == 1:
                distinct.setdefault(str(column), int(cardinality))
        columns = execute(self._connection, _COLUMNS, (name,))
        lengths = self._lengths(name, columns)
        primary = indexes.pop("PRIMARY", [])
        leading = {names[0] for names in (primary, *indexes.values()) if names}
        return TableSeen(
            name=name,
            rows=max(int(rows[0][0] or 0), 0) if rows else 0,
            pages=int(rows[0][1]) if rows and rows[0][1] is not None else None,
            columns=tuple(
                self._column(name, row, lengths, distinct, leading, primary) for row in columns
            ),
            primary_key=tuple(primary),
            indexes={index: tuple(names) for index, names in indexes.items()},
        )

    def _column(
        self,
        table: str,
        row: tuple[Any, ...],
        lengths: dict[str, float],
        distinct: dict[str, int],
        leading: set[str],
        primary: list[str],
    ) -> ColumnSeen:
        name, kind, nullable, own_number, data_type = row
        lowest = highest = None
        if name in leading and data_type in _NUMBERS:
            sql = f"SELECT MIN({_quoted(name)}), MAX({_quoted(name)}) FROM {_quoted(table)}"  # noqa: S608 - quoted
            ((lowest, highest),) = execute(self._connection, sql)
        spread = None
        if name in leading and primary and name not in primary:
            spread = self._spread(table, str(name))
        return ColumnSeen(
            name=str(name),
            type=str(kind),
            nullable=bool(nullable),
            auto_increment=bool(own_number),
            mean_length=lengths.get(str(name)),
            distinct=distinct.get(str(name)),
            top_share=spread,
            lowest=None if lowest is None else int(lowest),
            highest=None if highest is None else int(highest),
        )

    def _lengths(self, table: str, columns: tuple[tuple[Any, ...], ...]) -> dict[str, float]:
        """Give the mean length of each text, of a few rows; the server measures, nobody reads."""
        named = {
            str(name): "CHAR_LENGTH" if data_type in _TEXTS else "LENGTH"
            for name, _, _, _, data_type in columns
            if data_type in _TEXTS + _BYTES
        }
        if not named:
            return {}
        means = ", ".join(f"AVG({function}({_quoted(name)}))" for name, function in named.items())
        chosen = ", ".join(map(_quoted, named))
        sql = f"SELECT {means} FROM (SELECT {chosen} FROM {_quoted(table)} LIMIT {SAMPLE_ROWS}) AS s"  # noqa: S608 - quoted
        (row,) = execute(self._connection, sql)
        pairs = zip(named, row, strict=True)
        return {name: float(mean) for name, mean in pairs if mean is not None}

    def _spread(self, table: str, column: str) -> float | None:
        """Say which share of some rows, in the order of the key, has the commonest values."""
        rows = execute(
            self._connection,
            f"SELECT COUNT(*) FROM (SELECT {_quoted(column)} AS v FROM {_quoted(table)}"  # noqa: S608 - quoted
            f" FORCE INDEX (PRIMARY) LIMIT {SPREAD_ROWS}) AS s GROUP BY v",
        )
        return top_share([int(count) for (count,) in rows], TOP_VALUES)


def _quoted(name: object) -> str:
    return "`" + str(name).replace("`", "``") + "`"


@contextmanager
def open_reader(target: EngineTarget) -> Iterator[MySqlStatements]:
    """Connect to a server, to read what it counted of its statements.

    Raises:
        PlimsollError: It cannot be reached or refuses, or counts no statements.
    """
    with closing(connect(target)) as connection:
        yield MySqlStatements(connection)
