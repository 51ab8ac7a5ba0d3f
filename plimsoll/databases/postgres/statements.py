"""Statement statistics of PostgreSQL: `pg_stat_statements`, read and never reset.

www.postgresql.org/docs/18/pgstatstatements.html. The planner statistics (`pg_stats`) give column
widths and numbers of distinct values without any row being read; the values in them are not read.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.counted_statements import (
    PATIENCE_S,
    TEXT_MOST,
    Counted,
    Look,
    find_top_share,
)
from plimsoll.databases.postgres.session import (
    OURS,
    Connection,
    connect,
    execute,
    quote_name,
    read_version,
)
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.statements_seen import TOP_VALUES, ColumnSeen, IndexLeft, TableSeen

_AT_ONCE = 2000  # kinds of statements per answer, which may have 1 MiB
_TEXTS_AT_ONCE = 25
_COUNTED = f"""
SELECT queryid::text, SUM(calls)::bigint, (SUM(total_exec_time) * 1000)::bigint,
       SUM(rows)::bigint, {{order}}
  FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
 WHERE d.datname = current_database() AND queryid IS NOT NULL AND query NOT LIKE '%{OURS}%'
 GROUP BY queryid ORDER BY queryid LIMIT {_AT_ONCE} OFFSET {{offset}}
"""  # noqa: S608 - numbers and names of ours
_HAS_SINCE = """
SELECT COUNT(*) FROM pg_attribute
 WHERE attrelid = 'pg_stat_statements'::regclass AND attname = 'stats_since'
"""
_TABLES = """
SELECT relname FROM pg_class
 WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') ORDER BY relname
 LIMIT 5000
"""
_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull OR a.attgenerated <> '',
       a.attidentity <> '' OR COALESCE(pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false),
       s.avg_width, s.n_distinct, s.most_common_freqs, s.null_frac,
       a.atthasdef
  FROM pg_attribute a
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  LEFT JOIN pg_stats s ON s.schemaname = current_schema() AND s.tablename = $1
                      AND s.attname = a.attname AND NOT s.inherited
 WHERE a.attrelid = $2::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_INDEXES = """
SELECT c.relname, i.indisprimary, i.indisunique, a.attname, COALESCE(k.option & 1, 0) = 1,
       CASE WHEN m.amname <> 'btree' THEN 'is ' || m.amname
            WHEN i.indpred IS NOT NULL THEN 'is partial'
            WHEN i.indexprs IS NOT NULL THEN 'has an expression'
            WHEN i.indnatts > i.indnkeyatts THEN 'has INCLUDE columns' END
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
  CROSS JOIN LATERAL unnest(i.indkey::int2[], i.indoption::int2[]) WITH ORDINALITY
       AS k (attnum, option, place)
  LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
 WHERE i.indrelid = $1::regclass AND i.indisvalid
 ORDER BY c.relname, k.place
"""
_LOG_SETTINGS = """
SELECT name, setting FROM pg_settings WHERE name IN ('log_min_duration_statement',
  'log_min_duration_sample', 'log_statement_sample_rate', 'log_transaction_sample_rate')
"""
_NUMBERS = ("smallint", "integer", "bigint")


class PostgresTables:
    """Reads a database's tables through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._server = read_version(connection)
        execute(connection, "SET default_transaction_read_only = on")
        execute(connection, f"SET statement_timeout = {PATIENCE_S * 1000}")

    def server(self) -> str:
        """Return the server's product and version, as it reports them."""
        return self._server

    def qualifier(self) -> str:
        """Return the qualifier that table names of the target's database may have."""
        ((name,),) = execute(self._connection, "SELECT current_schema()")
        return str(name)

    def table_names(self) -> list[str]:
        """List the tables of the first schema of the user's search path."""
        return [str(name) for (name,) in execute(self._connection, _TABLES)]

    def tables(self, names: Iterable[str]) -> list[TableSeen]:
        """Describe the given tables."""
        return [self._table(name) for name in names]

    def log_settings(self) -> dict[str, str]:
        """Return the server's settings of its log, by name."""
        rows = execute(self._connection, _LOG_SETTINGS)
        return {str(name): str(value) for name, value in rows}

    def statements_per_second(self) -> None:
        """Return None: PostgreSQL counts transactions."""

    def next_numbers(self) -> dict[str, int]:
        """Return nothing: pg_dump -s leaves the state of sequences out."""
        return {}

    def _table(self, name: str) -> TableSeen:
        ((rows,),) = execute(
            self._connection,
            "SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = $1::regclass",
            (quote_name(name),),
        )
        indexes: dict[str, list[str]] = {}
        primary: list[str] = []
        unique: dict[str, None] = {}
        reasons: dict[str, str] = {}
        for index, is_primary, is_unique, column, descending, why in execute(
            self._connection, _INDEXES, (quote_name(name),)
        ):
            named = primary if is_primary else indexes.setdefault(str(index), [])
            if column is not None:
                named.append(f"{column}{' desc' if descending else ''}")
            if why is not None and not is_primary:
                reasons[str(index)] = str(why)
            if is_unique:
                unique[str(index)] = None
        left = {
            index: IndexLeft(columns=tuple(indexes.pop(index)), why=why)
            for index, why in reasons.items()
        }
        leading = {
            columns[0].removesuffix(" desc") for columns in (primary, *indexes.values()) if columns
        }
        seen = execute(self._connection, _COLUMNS, (name, quote_name(name)))
        return TableSeen(
            name=name,
            rows=int(rows),
            columns=tuple(self._column(name, int(rows), row, leading) for row in seen),
            primary_key=tuple(primary),
            indexes={index: tuple(columns) for index, columns in indexes.items()},
            unique=tuple(index for index in unique if index in indexes),
            indexes_left=left,
        )

    def _column(self, table: str, rows: int, row: tuple[Any, ...], leading: set[str]) -> ColumnSeen:
        name, kind, nullable, own_number, width, distinct, frequencies, nulls, has_default = row
        lowest = highest = None
        if name in leading and kind in _NUMBERS:
            sql = (
                f"SELECT MIN({quote_name(name)}), MAX({quote_name(name)}) FROM {quote_name(table)}"  # noqa: S608 - quoted
            )
            with suppress(PlimsollError):  # the user may not read it, or it takes too long
                ((lowest, highest),) = execute(self._connection, sql)
        values = _count_distinct(distinct, rows)
        return ColumnSeen(
            name=str(name),
            type=str(kind),
            nullable=bool(nullable),
            auto_increment=bool(own_number),
            has_default=bool(has_default),
            mean_length=None if width is None else float(width),
            distinct=values,
            top_share=_compute_spread(frequencies, values),
            null_share=float(nulls or 0.0),
            lowest=None if lowest is None else int(lowest),
            highest=None if highest is None else int(highest),
        )


class PostgresStatements(PostgresTables):
    """Reads a server's statement statistics as well."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        try:
            ((since,),) = execute(connection, _HAS_SINCE)
        except PlimsollError:
            raise PlimsollError(
                f"{self._server}: pg_stat_statements is not there: shared_preload_libraries has to"
                " name it, and CREATE EXTENSION pg_stat_statements makes it in this database"
            ) from None
        self._order = "EXTRACT(EPOCH FROM MIN(stats_since))::float8" if since else "0::float8"

    def look(self) -> Look:
        """Read all statement statistics of the target's database."""
        counted: dict[str, Counted] = {}
        offset = 0
        while True:
            sql = _COUNTED.format(order=self._order, offset=offset)
            rows = execute(self._connection, sql)
            for kind, calls, time_us, met, order in rows:
                counted[str(kind)] = Counted(
                    int(calls), int(time_us), int(met), None, int(met), float(order)
                )
            if len(rows) < _AT_ONCE:
                return Look(time.time(), counted)
            offset += _AT_ONCE

    def texts(self, kinds: Iterable[str]) -> dict[str, str]:
        """Read the texts of the given kinds of statements.

        Those of other users are hidden without the necessary privilege.

        Raises:
            PlimsollError: All of them are hidden.
        """
        wanted = list(kinds)
        found: dict[str, str] = {}
        for start in range(0, len(wanted), _TEXTS_AT_ONCE):
            numbers = ", ".join(str(int(kind)) for kind in wanted[start : start + _TEXTS_AT_ONCE])
            sql = (
                f"SELECT queryid::text, MIN(LEFT(query, {TEXT_MOST})) FROM pg_stat_statements"  # noqa: S608 - numbers
                f" WHERE queryid IN ({numbers}) AND query NOT LIKE '%{OURS}%' GROUP BY queryid"
            )
            found |= {str(kind): str(text) for kind, text in execute(self._connection, sql)}
        hidden = [text for text in found.values() if text == "<insufficient privilege>"]
        if hidden and len(hidden) == len(found):
            raise PlimsollError(
                f"{self._server}: the user may not read others' statements: GRANT pg_read_all_stats"
            )
        return found

    def pool_pages(self) -> None:
        """Return None: PostgreSQL also uses the operating system's cache, of unknown size."""

    def notes(self) -> tuple[str, ...]:
        """Return notes on how the server counts, for the reader."""
        return ("PostgreSQL tells how many rows a statement gave, and not how many it read",)


def _count_distinct(told: float | None, rows: int) -> int | None:
    """Convert `n_distinct`: below 0 it is minus the share of the rows."""
    if told is None or not told:
        return None
    return max(1, round(told if told > 0 else -told * rows))


def _compute_spread(frequencies: list[float] | None, distinct: int | None) -> float | None:
    """Return the share of rows with the commonest fifth of the values, if all values are known."""
    if not frequencies or distinct is None or len(frequencies) < distinct:
        return None
    return find_top_share([round(float(share) * 1e6) for share in frequencies], TOP_VALUES)


@contextmanager
def open_postgres_reader(target: EngineTarget) -> Iterator[PostgresStatements]:
    """Connect to a server to read its statement statistics.

    Raises:
        PlimsollError: The server is unreachable, refuses, or has no pg_stat_statements.
    """
    with use_connection(connect(target)) as connection:
        yield PostgresStatements(connection)


@contextmanager
def open_postgres_tables(target: EngineTarget) -> Iterator[PostgresTables]:
    """Connect to a server to read a database's tables; it need not count statements.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    with use_connection(connect(target)) as connection:
        yield PostgresTables(connection)
