"""Datasets in a database that speaks MySQL's protocol."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.dataset_notes import read_mysql_layout
from plimsoll.databases.mysql import session
from plimsoll.databases.mysql.session import Connection, Rows
from plimsoll.databases.mysql.table_facts import BYTES, TEXTS
from plimsoll.databases.sql_datasets import NOTES, SqlDatasets
from plimsoll.model.datasets import TableLayout
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload.compiled import Compiled, Table


def open_datasets(target: EngineTarget) -> AbstractContextManager["MySqlDatasets"]:
    """Connect to a target's database; disconnect at the end of the `with`.

    Raises:
        PlimsollError: The server is unreachable or refuses; one line, without the password.
    """
    return use_connection(MySqlDatasets(session.connect(target)))


_ROWS_READ = 200_000  # rows of a table to read at a time
_VIEWED = re.compile(r"`((?:[^`]|``)+)`\.`((?:[^`]|``)+)`")  # a table, as servers write views


def _describe_engine(engine: str, row_format: str, options: str) -> str:
    """Say what writes to a table wait for, if its engine has no transactions.

    Aria flushes its log after each statement, as its Aria_transaction_log_syncs shows.
    """
    loses = (
        "do not wait for the storage: a crash loses the last of them, nothing is rolled back, and"
        " a table whose COMMITs wait (InnoDB) is slower"
    )
    match engine.upper():
        case "ARIA" if row_format.upper() == "PAGE" and "transactional=0" not in options.lower():
            return (
                "an Aria table has no transactions: each statement waits for the storage by itself,"
                " and nothing is rolled back"
            )
        case "ARIA":
            return f"writes to an Aria table without TRANSACTIONAL {loses}"
        case "MYISAM" | "MRG_MYISAM" | "CSV" | "ARCHIVE":
            return f"writes to a {engine} table {loses}"
        case "MEMORY":
            return (
                "a MEMORY table is never on the storage: no write to it waits, a restart empties"
                " it, and a table whose COMMITs wait (InnoDB) is slower"
            )
        case "BLACKHOLE":
            return "a BLACKHOLE table keeps no row: nothing that is written to it is stored"
        case _:
            return f"a table of {engine} has no transactions: no COMMIT waits for its writes"


class MySqlDatasets(SqlDatasets):
    """The datasets in one database."""

    notes_options = " ENGINE = InnoDB"
    drop_reference = "DROP FOREIGN KEY"
    or_update = "ON DUPLICATE KEY UPDATE records = VALUES(records), parameters = VALUES(parameters)"

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
        return read_mysql_layout(self._execute, compiled, counts)

    def scan(
        self, table: Table, index: str | None, start: int | str | None, going_on: Callable[[], bool]
    ) -> int | str | None:
        """Read pages of an index, or of a table with its primary key: one tree in InnoDB.

        A table is read in key order, `_ROWS_READ` rows at a time. An index, or a table whose key
        has several columns, is read in one piece.
        """
        if index is not None or len(table.key) != 1:
            chosen = index or "PRIMARY"  # otherwise the server counts in its smallest index
            self._execute(f"SELECT COUNT(*) FROM `{table.name}` FORCE INDEX (`{chosen}`)")  # noqa: S608 - checked names
            return None
        key = f"`{table.key[0]}`"
        while going_on():
            after = "" if start is None else f" WHERE {key} > %s"
            part = f"SELECT {key} FROM `{table.name}` FORCE INDEX (PRIMARY){after}"  # noqa: S608 - checked names
            ((last,),) = session.execute(
                self._connection,
                f"SELECT MAX({key}) FROM ({part} ORDER BY {key} LIMIT {_ROWS_READ}) AS part",  # noqa: S608 - the same
                [] if start is None else [start],
                escaped=False,
            )
            if last is None:
                return None
            start = last if isinstance(last, int) else str(last)
        return start

    def begin_load(self, compiled: Compiled) -> int:
        """Return the number of a new load that inserts; 0 for the first on a fresh dataset."""
        self._execute(
            f"UPDATE {NOTES} SET loads = LAST_INSERT_ID(loads + 1) WHERE dataset = ?",  # noqa: S608 - a name of ours
            self.find_noted_name(compiled),
        )
        (row,) = self._execute("SELECT LAST_INSERT_ID()")
        return max(int(row[0]) - 1, 0)

    def texts_apart_from_numbers(self, table: Table) -> dict[str, str]:
        """Return the columns of texts and bytes, in small letters, with their types.

        A text is compared with a number as a number, which an index of texts has in no order
        (dev.mysql.com/doc/refman/8.4/en/type-conversion.html).
        """
        kinds = ", ".join(f"'{kind}'" for kind in (*TEXTS, *BYTES, "enum", "set"))
        rows = self._execute(
            "SELECT column_name, column_type FROM information_schema.columns"  # noqa: S608 - names of ours
            f" WHERE table_schema = DATABASE() AND table_name = ? AND data_type IN ({kinds})",
            table.name,
        )
        return {str(column).lower(): str(kind) for column, kind in rows}

    def describe_early_writes(self, names: Sequence[str]) -> dict[str, str]:
        """Say of tables without transactions what their writes wait for."""
        told: dict[str, str] = {}
        seen: set[str] = set()
        asked = {name.strip("`").replace("``", "`") for name in names}
        while asked := asked - seen:
            seen |= asked
            places = f"({', '.join('?' * len(asked))})"
            tables = self._execute(
                "SELECT t.table_name, t.engine, COALESCE(t.row_format, ''),"  # noqa: S608 - placeholders
                " COALESCE(t.create_options, '') FROM information_schema.tables t"
                " JOIN information_schema.engines e ON e.engine = t.engine"
                f" WHERE t.table_schema = DATABASE() AND t.table_name IN {places}"
                " AND COALESCE(e.transactions, 'NO') <> 'YES'",
                *asked,
            )
            for name, *facts in tables:
                told[str(name)] = _describe_engine(*map(str, facts))
            views = self._execute(
                "SELECT DATABASE(), view_definition FROM information_schema.views"  # noqa: S608 - placeholders
                f" WHERE table_schema = DATABASE() AND table_name IN {places}",
                *asked,
            )
            asked = {
                table.replace("``", "`")
                for database, text in views
                for place, table in _VIEWED.findall(str(text))
                if place.replace("``", "`") == database
            }
        return told

    def _execute(self, sql: str, *values: object) -> Rows:
        return session.execute(self._connection, sql.replace("?", "%s") if values else sql, values)

    def _read_within(self, query: str, longest_s: float) -> Rows:
        if "mariadb" in self.version().lower():
            return self._execute(f"SET STATEMENT max_statement_time = {longest_s:.3f} FOR {query}")
        self._execute(f"SET SESSION max_execution_time = {max(1, round(1000 * longest_s))}")
        return self._execute(query)

    def _quote(self, name: str) -> str:
        return f"`{name.replace('`', '``')}`"

    def _fold_name(self, column: str) -> str:
        return column.lower()

    def _complete(self, table: Table) -> None:
        """Do nothing: InnoDB numbers its rows and updates its statistics by itself."""

    def _table_exists(self, name: str) -> bool:
        rows = self._execute(
            "SELECT 1 FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = ?",
            name,
        )
        return bool(rows)

    def _procedure_exists(self, name: str) -> bool:
        rows = self._execute(
            "SELECT 1 FROM information_schema.routines WHERE routine_schema = DATABASE()"
            " AND routine_type = 'PROCEDURE' AND routine_name = ?",
            name,
        )
        return bool(rows)

    def _comment_procedure(self, name: str, comment: str) -> None:
        self._execute(f"ALTER PROCEDURE {self._quote(name)} COMMENT ?", comment)

    def _list_procedures(self, comment: str) -> set[str]:
        rows = self._execute(
            "SELECT routine_name FROM information_schema.routines"
            " WHERE routine_schema = DATABASE() AND routine_type = 'PROCEDURE'"
            " AND routine_comment = ?",
            comment,
        )
        return {str(name).lower() for (name,) in rows}

    def _columns_of(self, table: str) -> tuple[str, ...]:
        rows = self._execute(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position",
            table,
        )
        return tuple(str(row[0]) for row in rows)

    def _indexes_of(self, table: Table) -> set[str]:
        rows = self._execute(
            "SELECT DISTINCT index_name FROM information_schema.statistics"
            " WHERE table_schema = DATABASE() AND table_name = ?",
            table.name,
        )
        return {str(row[0]) for row in rows}

    def _references_of(self, table: Table) -> set[str]:
        rows = self._execute(
            "SELECT constraint_name FROM information_schema.referential_constraints"
            " WHERE constraint_schema = DATABASE() AND table_name = ?",
            table.name,
        )
        return {str(row[0]) for row in rows}
