"""Datasets in a MySQL-protocol database: made once, completed when interrupted, never doubled.

What has been made is noted in the table `plimsoll_datasets`, beside the dataset, so that a load
knows how many rows there are, and a second `prepare` knows where the first one stopped.
"""

import json
from contextlib import AbstractContextManager, closing

from plimsoll.errors import PlimsollError
from plimsoll.families.dataset_notes import (
    DatasetNote,
    check_not_there,
    check_same_dataset,
    note_counted,
)
from plimsoll.families.mysql import session
from plimsoll.families.mysql.session import Connection, Rows
from plimsoll.model.engine import EngineTarget
from plimsoll.workload.compiled import Compiled, Table

_NOTES = "plimsoll_datasets"
_CREATE_NOTES = f"""\
CREATE TABLE IF NOT EXISTS {_NOTES} (
  dataset VARCHAR(64) NOT NULL PRIMARY KEY,
  records BIGINT NOT NULL,
  parameters TEXT NOT NULL,
  loads INT NOT NULL DEFAULT 0,
  loaded_rows TEXT NOT NULL
) ENGINE = InnoDB"""


def open_datasets(target: EngineTarget) -> AbstractContextManager["MySqlDatasets"]:
    """Connect to a target's database; leave it at the end of the `with`.

    Raises:
        PlimsollError: The server cannot be reached or refuses; one line, without the password.
    """
    return closing(MySqlDatasets(session.connect(target)))


class MySqlDatasets:
    """The datasets in one database; every method raises `PlimsollError` where it refuses."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def close(self) -> None:
        """Leave the server."""
        self._connection.close()

    def version(self) -> str:
        """Say what server answers, as it calls itself."""
        return session.server_version(self._connection)

    def has_place(self) -> bool:
        """Whether the database is there: it is, since the connection uses it."""
        return True

    def read_note(self, dataset: str) -> DatasetNote | None:
        """Read what is known of a dataset; None if Plimsoll did not make it."""
        if not self._table_exists(_NOTES):
            return None
        rows = self._execute(
            f"SELECT records, parameters, loads, loaded_rows FROM {_NOTES} WHERE dataset = %s",  # noqa: S608 - a name of ours
            dataset,
        )
        if not rows:
            return None
        records, parameters, loads, loaded_rows = rows[0]
        return DatasetNote(
            int(records), json.loads(parameters), int(loads), json.loads(loaded_rows)
        )

    def create_tables(self, compiled: Compiled) -> DatasetNote:
        """Make the tables that are not there, and note the dataset.

        Returns:
            What is there already.

        Raises:
            PlimsollError: A table of that name is there that is not the dataset's, or the dataset
                is there with more records or other parameters.
        """
        note = self.read_note(compiled.dataset)
        if note is not None:
            check_same_dataset(compiled, note, notes_table=_NOTES)
        else:
            for table in compiled.tables:
                check_not_there(table.name, there=self._table_exists(table.name))
        self._execute(_CREATE_NOTES)
        loaded_rows = note.loaded_rows if note else {}
        self._execute(
            f"INSERT INTO {_NOTES} (dataset, records, parameters, loaded_rows)"  # noqa: S608 - a name of ours
            " VALUES (%s, %s, %s, %s) ON DUPLICATE KEY UPDATE"
            " records = VALUES(records), parameters = VALUES(parameters)",
            compiled.dataset,
            compiled.records,
            json.dumps(compiled.dataset_parameters),
            json.dumps(loaded_rows),
        )
        for table in compiled.tables:
            self._execute(table.create_sql)
            self._check_columns(table)
        return DatasetNote(
            compiled.records, compiled.dataset_parameters, note.loads if note else 0, loaded_rows
        )

    def note_progress(self, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
        """Note how many rows of each table are surely there."""
        self._execute(
            f"UPDATE {_NOTES} SET loaded_rows = %s WHERE dataset = %s",  # noqa: S608 - a name of ours
            json.dumps(loaded_rows),
            compiled.dataset,
        )

    def finish(self, compiled: Compiled) -> dict[str, int]:
        """Make the indexes and verify the count of each table.

        Returns:
            Rows by table; more than the dataset's where loads have inserted.

        Raises:
            PlimsollError: A table has fewer rows than its dataset.
        """
        counts = {}
        for table in compiled.tables:
            self._create_indexes(table)
            counts[table.name] = self._count_rows(table)
        note_counted(compiled, counts, self.note_progress)
        return counts

    def drop(self, compiled: Compiled) -> None:
        """Drop a dataset that is noted, its note last; another's tables stay."""
        if self.read_note(compiled.dataset) is None:
            return
        for table in compiled.tables:
            self._execute(f"DROP TABLE IF EXISTS `{table.name}`")
        self._execute(f"DELETE FROM {_NOTES} WHERE dataset = %s", compiled.dataset)  # noqa: S608 - a name of ours
        (row,) = self._execute(f"SELECT COUNT(*) FROM {_NOTES}")  # noqa: S608 - a name of ours
        if not row[0]:
            self._execute(f"DROP TABLE {_NOTES}")

    def begin_load(self, compiled: Compiled) -> int:
        """Number a load that inserts; 0 for the first on a fresh dataset."""
        self._execute(
            f"UPDATE {_NOTES} SET loads = LAST_INSERT_ID(loads + 1) WHERE dataset = %s",  # noqa: S608 - a name of ours
            compiled.dataset,
        )
        (row,) = self._execute("SELECT LAST_INSERT_ID()")
        return max(int(row[0]) - 1, 0)

    def _execute(self, sql: str, *values: object) -> Rows:
        return session.execute(self._connection, sql, values)

    def _create_indexes(self, table: Table) -> None:
        """Make a table's secondary indexes that are not there."""
        rows = self._execute(
            "SELECT DISTINCT index_name FROM information_schema.statistics"
            " WHERE table_schema = DATABASE() AND table_name = %s",
            table.name,
        )
        present = {str(row[0]) for row in rows}
        for name, sql in table.index_sql.items():
            if name not in present:
                self._execute(sql)

    def _count_rows(self, table: Table) -> int:
        (row,) = self._execute(f"SELECT COUNT(*) FROM `{table.name}`")  # noqa: S608 - a checked name
        return int(row[0])

    def _check_columns(self, table: Table) -> None:
        rows = self._execute(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_schema = DATABASE() AND table_name = %s ORDER BY ordinal_position",
            table.name,
        )
        present = tuple(str(row[0]) for row in rows)
        if [name.lower() for name in present] != [name.lower() for name in table.columns]:
            raise PlimsollError(
                f"a table {table.name} is there with other columns ({', '.join(present)}): "
                "use another database"
            )

    def _table_exists(self, name: str) -> bool:
        rows = self._execute(
            "SELECT 1 FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = %s",
            name,
        )
        return bool(rows)
