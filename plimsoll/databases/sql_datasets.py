"""Datasets in SQL databases: created once, completed after an interruption, never duplicated.

The table `plimsoll_datasets` beside the dataset records its progress. From it a load knows how many
rows there are, and a second `prepare` knows where the first one stopped.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, ClassVar
from uuid import UUID

from plimsoll.databases.connecting import shorten_message
from plimsoll.databases.dataset_notes import (
    DatasetNote,
    check_absent,
    check_same_dataset,
    count_no_rows,
    find_noted_name,
    note_counts,
    parse_note,
)
from plimsoll.errors import PlimsollError
from plimsoll.model.datasets import TableLayout
from plimsoll.workload.compiled import Compiled, Table

NOTES = "plimsoll_datasets"
_KEYS_TOGETHER = 200  # keys that one statement looks for
_KEYS_READ = 1_000  # keys that one statement returns
_SEED = 1
_CREATE_NOTES = f"""\
CREATE TABLE IF NOT EXISTS {NOTES} (
  dataset VARCHAR(64) NOT NULL PRIMARY KEY,
  records BIGINT NOT NULL,
  parameters TEXT NOT NULL,
  loads INT NOT NULL DEFAULT 0,
  loaded_rows TEXT NOT NULL
)"""


class SqlDatasets(ABC):
    """The datasets in one database; every method raises `PlimsollError` if the server refuses.

    Attributes:
        notes_options: The SQL after the notes table's column list.
        or_update: The SQL that makes an INSERT of a note replace an existing one.
        drop_reference: The SQL of an ALTER TABLE before the name of a foreign key.
    """

    notes_options: ClassVar[str] = ""
    or_update: ClassVar[str]
    drop_reference: ClassVar[str]

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    def cut_off(self) -> None:
        """Close the connection from another thread; whoever waits for an answer gets an error."""

    @abstractmethod
    def version(self) -> str:
        """Return the server's product and version, as it reports them."""

    @abstractmethod
    def layout(self, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
        """Return the stored size of each table, given its counted rows."""

    @abstractmethod
    def begin_load(self, compiled: Compiled) -> int:
        """Return the number of a new load that inserts; 0 for the first on a fresh dataset."""

    @abstractmethod
    def _execute(self, sql: str, *values: object) -> Sequence[Sequence[Any]]:
        """Execute a statement with `?` placeholders and return its rows."""

    @abstractmethod
    def _read_within(self, query: str, longest_s: float) -> Sequence[Sequence[Any]]:
        """Return a query's rows; the server ends the query after `longest_s` seconds."""

    @abstractmethod
    def _quote(self, name: str) -> str:
        """Quote a name as the dialect does."""

    @abstractmethod
    def _table_exists(self, name: str) -> bool: ...

    @abstractmethod
    def _procedure_exists(self, name: str) -> bool: ...

    @abstractmethod
    def _comment_procedure(self, name: str, comment: str) -> None: ...

    @abstractmethod
    def _list_procedures(self, comment: str) -> set[str]:
        """List the procedures that have a comment, in small letters."""

    @abstractmethod
    def _columns_of(self, table: str) -> tuple[str, ...]:
        """List the existing columns, in their order."""

    @abstractmethod
    def _indexes_of(self, table: Table) -> set[str]:
        """List the existing indexes."""

    @abstractmethod
    def _references_of(self, table: Table) -> set[str]:
        """List the existing foreign keys; none if there is no such table."""

    def _fold_name(self, column: str) -> str:
        """Normalize a column's name so that equal names are equal strings."""
        return column

    @abstractmethod
    def _complete(self, table: Table) -> None:
        """Do what a table still needs once its rows are loaded and its indexes are built."""

    def has_place(self) -> bool:
        """Return True: the connection uses the database, so it exists."""
        return True

    def read_notes(self) -> dict[str, DatasetNote]:
        """Read the notes of all datasets that Plimsoll made, by the dataset's name."""
        if not self._table_exists(NOTES):
            return {}
        rows = self._execute(
            f"SELECT dataset, records, parameters, loads, loaded_rows FROM {NOTES} ORDER BY dataset"  # noqa: S608 - a name of ours
        )
        return {str(name): parse_note(*facts) for name, *facts in rows}

    def find_noted_name(self, compiled: Compiled) -> str:
        """Return the name under which a workload's dataset is noted; its own if it is not."""
        return find_noted_name(compiled, self.read_notes(), self._has_columns)

    def read_note(self, compiled: Compiled) -> DatasetNote | None:
        """Read the note of a workload's dataset; None if Plimsoll did not make the dataset."""
        notes = self.read_notes()
        return notes.get(find_noted_name(compiled, notes, self._has_columns))

    def has_table(self, table: Table) -> bool:
        """Return whether a table exists that has at least the workload's columns."""
        if not self._table_exists(table.name):
            return False
        present = {self._fold_name(name) for name in self._columns_of(table.name)}
        return {self._fold_name(name) for name in table.columns} <= present

    def texts_apart_from_numbers(self, table: Table) -> dict[str, str]:
        """Return no column: PostgreSQL binds a number as the type of the column beside it."""
        del table
        return {}

    def create_tables(self, compiled: Compiled) -> DatasetNote:
        """Create the missing tables, and note the dataset.

        Returns:
            The note of what is present already.

        Raises:
            PlimsollError: A table or a procedure of that name belongs to something else, or the
                dataset has more records or other parameters.
        """
        notes = self.read_notes()
        name = find_noted_name(compiled, notes, self._has_columns)
        note = notes.get(name)
        if note is not None:
            check_same_dataset(compiled, note, notes_table=NOTES)
        else:
            for table in compiled.tables:
                check_absent(table.name, notes, there=self._table_exists(table.name))
        made = self._list_procedures(_comment_on(name))
        for procedure, sql in compiled.procedures.items():
            own = sql is None or procedure.lower() in made
            if not own and self._procedure_exists(procedure):
                raise PlimsollError(
                    f"a procedure {procedure} is there, and Plimsoll did not make it: use another"
                    " database"
                )
        self._execute(f"{_CREATE_NOTES}{self.notes_options}")
        loaded_rows = note.loaded_rows if note else count_no_rows(compiled)
        self._execute(
            f"INSERT INTO {NOTES} (dataset, records, parameters, loaded_rows)"  # noqa: S608 - a name of ours
            f" VALUES (?, ?, ?, ?) {self.or_update}",
            name,
            compiled.records,
            json.dumps(compiled.dataset_parameters),
            json.dumps(loaded_rows),
        )
        for table in compiled.tables:
            self._execute(table.create_sql)
            self._check_columns(table)
            if loaded_rows.get(table.name, 0) < table.rows:
                self._drop_references(table)  # rows may be loaded before those that they refer to
        return DatasetNote(
            compiled.records, compiled.dataset_parameters, note.loads if note else 0, loaded_rows
        )

    def note_progress(self, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
        """Note how many rows of each table are known to be present."""
        self._execute(
            f"UPDATE {NOTES} SET loaded_rows = ? WHERE dataset = ?",  # noqa: S608 - a name of ours
            json.dumps(loaded_rows),
            self.find_noted_name(compiled),
        )

    def finish(self, compiled: Compiled) -> dict[str, int]:
        """Build indexes and foreign keys, create the procedures, and count each table's rows.

        Returns:
            The rows of each table; more than the dataset has if loads have inserted.

        Raises:
            PlimsollError: A table has fewer rows than its dataset.
        """
        counts = {}
        for table in compiled.tables:
            present = self._indexes_of(table)
            for name, sql in table.index_sql.items():
                if name not in present:
                    self._execute(sql)
            self._complete(table)
            counts[table.name] = self._count(table)
        for table in compiled.tables:
            present = self._references_of(table)
            added = [sql for name, sql in table.reference_sql.items() if name not in present]
            if added:  # together: the server reads the table once
                self._execute(f"ALTER TABLE {self._quote(table.name)} {', '.join(added)}")
        for procedure, creation in compiled.procedures.items():
            if creation is not None and not self._procedure_exists(procedure):
                self._execute(creation)
                comment = _comment_on(self.find_noted_name(compiled))
                self._comment_procedure(procedure, comment)
        note_counts(compiled, counts, self.note_progress)
        return counts

    def count_own(self, compiled: Compiled) -> dict[str, int]:
        """Count the rows of tables that Plimsoll did not make, without changing anything.

        Raises:
            PlimsollError: A table does not exist, or lacks a column that the workload names.
        """
        for table in compiled.tables:
            present = {self._fold_name(name) for name in self._columns_of(table.name)}
            if lacking := [name for name in table.columns if self._fold_name(name) not in present]:
                what = f"has no column {', '.join(lacking)}" if present else "does not exist"
                raise PlimsollError(f"the table {table.name} {what}: the workload declares it")
        return {table.name: self._count(table) for table in compiled.tables}

    def _count(self, table: Table) -> int:
        ((count,),) = self._execute(f"SELECT COUNT(*) FROM {self._quote(table.name)}")  # noqa: S608 - a checked name
        return int(count)

    def read_number(self, query: str, longest_s: float | None = None) -> int:
        """Return the first column of a query's first row, a whole number.

        Args:
            query: The query.
            longest_s: The time in seconds after which the server ends it; None for no limit.
        """
        rows = self._execute(query) if longest_s is None else self._read_within(query, longest_s)
        return int(rows[0][0])

    def read_row(self, table: str, column: str, key: int | str) -> tuple[object, ...] | None:
        """Read the row in which a column has a value; None if there is none."""
        all_columns = ", ".join(
            map(self._quote, self._columns_of(table))
        )  # `*` has no INVISIBLE ones
        rows = self._execute(
            f"SELECT {all_columns} FROM {self._quote(table)} WHERE {self._quote(column)} = ?",  # noqa: S608 - quoted
            key,
        )
        return tuple(rows[0]) if rows else None

    def count_keys(self, table: str, column: str, keys: Sequence[int | str]) -> int:
        """Count the keys that a table has."""
        name, key, there = self._quote(table), self._quote(column), 0
        for start in range(0, len(keys), _KEYS_TOGETHER):
            part = keys[start : start + _KEYS_TOGETHER]
            marks = ", ".join("?" * len(part))
            sql = f"SELECT COUNT(*) FROM {name} WHERE {key} IN ({marks})"  # noqa: S608 - checked names
            ((found,),) = self._execute(sql, *part)
            there += int(found)
        return there

    def sample_keys(self, table: str, column: str, most: int) -> tuple[int | str, ...]:
        """Return keys that a table has: all, or if there are more than `most`, a sample.

        Of a larger table they are the first ones at or above random numbers: each is read from its
        own place of the index, so that the time does not grow with the table. A key after a gap is
        therefore likelier than others.

        Raises:
            PlimsollError: The keys are neither whole numbers nor texts, or the table is large and
                they are no whole numbers.
        """
        name, key = self._quote(table), self._quote(column)
        keys: list[Any] = []
        ordered = f"ORDER BY {key} LIMIT {_KEYS_READ}"
        while len(keys) <= most:
            after = f" WHERE {key} > ?" if keys else f" WHERE {key} IS NOT NULL"
            sql = f"SELECT {key} FROM {name}{after} {ordered}"  # noqa: S608 - checked names
            part = [row[0] for row in self._execute(sql, *keys[-1:])]
            keys += part
            if len(part) < _KEYS_READ:
                break
        if len(keys) > most:
            ((low, high),) = self._execute(f"SELECT MIN({key}), MAX({key}) FROM {name}")  # noqa: S608 - the same
            if not isinstance(low, int) or not isinstance(high, int):
                raise PlimsollError(
                    f"the keys of {table} cannot be sampled: it has more than {most:,} rows, and"
                    f" {column} is no whole number"
                )
            chance = Random(_SEED)  # noqa: S311 - not for cryptography
            points = [chance.randint(low, high) for _ in range(most)]
            above = f"(SELECT {key} FROM {name} WHERE {key} >= {{}} ORDER BY {key} LIMIT 1)"  # noqa: S608 - the same
            keys = []
            for start in range(0, most, _KEYS_TOGETHER):
                some = points[start : start + _KEYS_TOGETHER]
                rows = self._execute(" UNION ALL ".join(map(above.format, some)))
                keys += [row[0] for row in rows]
        keys = [str(found) if isinstance(found, UUID) else found for found in keys]
        for found in keys:
            if not isinstance(found, int | str) or (isinstance(found, int) and found >= 2**63):
                raise PlimsollError(
                    f"the keys of {table} cannot be sampled: {column} has values that are neither"
                    " texts nor whole numbers of 64 bits with a sign. If the table has another"
                    " unique column of such values, name it as the workload's primary_key"
                )
        return tuple(dict.fromkeys(keys))

    @abstractmethod
    def scan(
        self, table: Table, index: str | None, start: int | str | None, going_on: Callable[[], bool]
    ) -> int | str | None:
        """Read pages of an index, or of a table and its primary key, while `going_on` allows it."""

    def drop(self, compiled: Compiled) -> None:
        """Drop a dataset that has a note, with its procedures, and its note last.

        Procedures are found by their comment: another workload on the same dataset may have made
        them.
        """
        name = self.find_noted_name(compiled)
        if name not in self.read_notes():
            return
        for procedure in sorted(self._list_procedures(_comment_on(name))):
            self._execute(f"DROP PROCEDURE {self._quote(procedure)}")
        for table in compiled.tables:
            self._drop_references(table)
        for table in compiled.tables:
            self._execute(f"DROP TABLE IF EXISTS {self._quote(table.name)}")
        self._execute(f"DELETE FROM {NOTES} WHERE dataset = ?", name)  # noqa: S608 - a name of ours
        ((noted,),) = self._execute(f"SELECT COUNT(*) FROM {NOTES}")  # noqa: S608 - a name of ours
        if not noted:
            self._execute(f"DROP TABLE {NOTES}")

    def _drop_references(self, table: Table) -> None:
        for name in self._references_of(table):
            named = f"{self.drop_reference} {self._quote(name)}"
            self._execute(f"ALTER TABLE {self._quote(table.name)} {named}")

    def _has_columns(self, table: Table) -> bool:
        """Return whether a table exists with exactly the workload's columns."""
        if not self._table_exists(table.name):
            return False
        present = map(self._fold_name, self._columns_of(table.name))
        return [*present] == [*map(self._fold_name, table.columns)]

    def _check_columns(self, table: Table) -> None:
        if not self._has_columns(table):
            present = self._columns_of(table.name)
            raise PlimsollError(
                f"a table {table.name} exists with other columns"
                f" ({shorten_message(', '.join(present))}): use another database"
            )


def _comment_on(dataset: str) -> str:
    """Return the comment on a dataset's procedures."""
    return f"Plimsoll made it for the dataset {dataset}"
