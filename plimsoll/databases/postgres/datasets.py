"""Datasets in a PostgreSQL database: tables in the first schema of the user's search path."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import count

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.dataset_notes import read_postgres_layout
from plimsoll.databases.postgres import session
from plimsoll.databases.postgres.session import Connection, Rows, quote_name
from plimsoll.databases.sql_datasets import NOTES, SqlDatasets
from plimsoll.errors import PlimsollError
from plimsoll.model.datasets import TableLayout
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload.compiled import Compiled, Table


def open_datasets(target: EngineTarget) -> AbstractContextManager["PostgresDatasets"]:
    """Connect to a target's database; disconnect at the end of the `with`.

    Raises:
        PlimsollError: The server is unreachable or refuses; one line, without the password.
    """
    return use_connection(PostgresDatasets(session.connect(target)))


_BLOCKS_READ = 16_384  # blocks of a table to read at a time: 128 MiB
UNLOGGED = (
    "an UNLOGGED table is not in the log: no COMMIT waits for what is written to it, a crash"
    " empties it, and a table that is in the log is slower"
)
TEMPORARY = "a temporary table is not in the log: no COMMIT waits for what is written to it"
_FOREIGN = "a foreign table: whether another server's COMMIT waits for the storage is not known"
# A table, its partitions and children, and what is behind it if it is a view or has rules
_EARLY_WRITES = """
WITH RECURSIVE reached (oid) AS (
  SELECT to_regclass(?)::oid
   UNION
  SELECT next.oid FROM reached, LATERAL (
    SELECT inhrelid FROM pg_inherits WHERE inhparent = reached.oid
     UNION ALL
    SELECT d.refobjid FROM pg_rewrite w JOIN pg_depend d ON d.objid = w.oid
     WHERE w.ev_class = reached.oid AND d.classid = 'pg_rewrite'::regclass
       AND d.refclassid = 'pg_class'::regclass
  ) AS next (oid))
SELECT c.oid::regclass::text, c.relpersistence::text, c.relkind::text
  FROM reached JOIN pg_class c ON c.oid = reached.oid
 WHERE (c.relpersistence IN ('u', 't') AND c.relkind = 'r') OR c.relkind = 'f'
 ORDER BY 1
"""


class PostgresDatasets(SqlDatasets):
    """The datasets in one database."""

    drop_reference = "DROP CONSTRAINT"
    or_update = (
        "ON CONFLICT (dataset) DO UPDATE"
        " SET records = excluded.records, parameters = excluded.parameters"
    )

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def cut_off(self) -> None:
        """Close the connection from another thread; whoever waits for an answer gets an error."""
        self._connection.cut_off()

    def version(self) -> str:
        """Return the server's product and version, as it reports them."""
        return session.read_version(self._connection)

    def layout(self, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
        """Return the stored size of each table, given its counted rows."""
        return read_postgres_layout(self._execute, compiled, counts)

    def scan(
        self, table: Table, index: str | None, start: int | str | None, going_on: Callable[[], bool]
    ) -> int | None:
        """Read pages of an index, or of a table and its primary key, while `going_on` allows it.

        It uses pg_prewarm, which RDS offers: it reads each block of a relation without keeping it.
        """
        self._execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        read = "SELECT pg_prewarm(?::regclass, 'read')"
        if index is not None:
            self._execute(read, quote_name(index))
            return None
        name = quote_name(table.name)
        size = "SELECT pg_relation_size(?::regclass) / current_setting('block_size')::int"
        blocks = int(self._execute(size, name)[0][0])
        block = int(start or 0)
        while block < blocks:
            if not going_on():
                return block
            last = min(block + _BLOCKS_READ, blocks) - 1
            sql = f"SELECT pg_prewarm(?::regclass, 'read', 'main', {block}, {last})"
            self._execute(sql, name)
            block = last + 1
        primary = "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = ?::regclass"
        for (key,) in self._execute(f"{primary} AND indisprimary", name):
            self._execute(read, str(key))
        return None

    def begin_load(self, compiled: Compiled) -> int:
        """Return the number of a new load that inserts; 0 for the first on a fresh dataset."""
        rows = self._execute(
            f"UPDATE {NOTES} SET loads = loads + 1 WHERE dataset = ? RETURNING loads",  # noqa: S608 - a name of ours
            self.find_noted_name(compiled),
        )
        return int(rows[0][0]) - 1 if rows else 0

    def describe_early_writes(self, names: Sequence[str]) -> dict[str, str]:
        """Say of tables that are not in the log that no COMMIT waits for their writes."""
        return {
            str(table): _FOREIGN if kind == "f" else TEMPORARY if persists == "t" else UNLOGGED
            for name in names
            for table, persists, kind in self._execute(_EARLY_WRITES, name)
        }

    def _execute(self, sql: str, *values: object) -> Rows:
        if values:
            first, *rest = sql.split("?")
            sql = first + "".join(f"${n}{text}" for n, text in zip(count(1), rest, strict=False))
        return session.execute(self._connection, sql, values)

    def _read_within(self, query: str, longest_s: float) -> Rows:
        self._execute("BEGIN")  # through a pooler, a setting outlives all but a transaction
        try:
            self._execute(f"SET LOCAL statement_timeout = {max(1, round(1000 * longest_s))}")
            return self._execute(query)
        finally:
            with suppress(PlimsollError):  # the connection may be lost
                self._execute("ROLLBACK")

    def _quote(self, name: str) -> str:
        return quote_name(name)

    def _complete(self, table: Table) -> None:
        """Set the sequences, and vacuum.

        Rows written by COPY do not advance the sequence of their column, so it is set past them.
        VACUUM does the page writes that the first reader of each page would otherwise do within the
        first load, and ANALYZE gives the planner its statistics.
        """
        rows = self._execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass AND attidentity <> ''",
            quote_name(table.name),
        )
        for (column,) in rows:
            last = f"SELECT GREATEST(MAX({quote_name(column)}), 1) FROM {quote_name(table.name)}"  # noqa: S608 - checked names
            sql = f"SELECT setval(pg_get_serial_sequence(?, ?), ({last}))"
            self._execute(sql, quote_name(table.name), column)
        self._execute(f"VACUUM (ANALYZE) {quote_name(table.name)}")

    def _table_exists(self, name: str) -> bool:
        sql = "SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        return bool(self._execute(f"{sql} AND relname = ?", name))

    def _procedure_exists(self, name: str) -> bool:
        sql = "SELECT 1 FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        return bool(self._execute(f"{sql} AND proname = ?", name.lower()))

    def _comment_procedure(self, name: str, comment: str) -> None:
        text = comment.replace("'", "''")
        self._execute(f"COMMENT ON PROCEDURE {quote_name(name.lower())} IS '{text}'")

    def _list_procedures(self, comment: str) -> set[str]:
        rows = self._execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
            " AND prokind = 'p' AND obj_description(oid, 'pg_proc') = ?",
            comment,
        )
        return {str(name) for (name,) in rows}

    def _columns_of(self, table: str) -> tuple[str, ...]:
        rows = self._execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = ?::regclass"
            " AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            quote_name(table),
        )
        return tuple(str(row[0]) for row in rows)

    def _indexes_of(self, table: Table) -> set[str]:
        rows = self._execute(
            "SELECT indexname FROM pg_indexes"
            " WHERE schemaname = current_schema() AND tablename = ?",
            table.name,
        )
        return {str(row[0]) for row in rows}

    def _references_of(self, table: Table) -> set[str]:
        rows = self._execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = to_regclass(?) AND contype = 'f'",
            quote_name(table.name),
        )
        return {str(row[0]) for row in rows}
