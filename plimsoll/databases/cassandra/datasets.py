"""Datasets in Cassandra: created once, completed after an interruption, never duplicated.

As in MySQL, the table `plimsoll_datasets` beside the dataset records its progress.
"""

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from plimsoll.databases.cassandra.session import CassandraSession, await_agreement, quote_name
from plimsoll.databases.connecting import shorten_message
from plimsoll.databases.dataset_notes import (
    DatasetNote,
    check_absent,
    check_same_dataset,
    count_no_rows,
    find_noted_name,
    note_counts,
    parse_note,
    read_cassandra_layout,
)
from plimsoll.errors import CassandraTimeoutError, PlimsollError
from plimsoll.model.datasets import TableLayout
from plimsoll.workload.compiled import Compiled, Table

_NOTES = "plimsoll_datasets"
_CREATE_NOTES = f"""\
CREATE TABLE IF NOT EXISTS {_NOTES} (
  dataset text PRIMARY KEY, records bigint, parameters text, loads int, loaded_rows text
)"""
_FIRST_TOKEN, _LAST_TOKEN = -(2**63), 2**63 - 1  # token range of Murmur3Partitioner
_ROWS_OF_A_RANGE = 10_000
_RANGES_AT_ONCE = 8
_KEYS_AT_ONCE = 50
_SMALLEST_RANGE = 2**40
_TRIES = 20

TokenRange = tuple[int, int]  # first and last token, both included


class CassandraDatasets:
    """The datasets in one keyspace; every method raises `PlimsollError` if the server refuses."""

    def __init__(self, session: CassandraSession) -> None:
        self._session = session
        self._keyspace = session.target.database

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def version(self) -> str:
        """Return the server's product and version."""
        return self._session.version()

    def has_place(self) -> bool:
        """Return whether the keyspace exists; `create_tables` creates it."""
        return self._session.keyspace_exists(self._keyspace)

    def read_notes(self) -> dict[str, DatasetNote]:
        """Read the notes of all datasets that Plimsoll made, by the dataset's name.

        Raises:
            PlimsollError: The keyspace does not exist, or the database refuses.
        """
        self._session.use(self._keyspace)
        if not self._columns(_NOTES):
            return {}
        rows = self._session.execute(
            f"SELECT dataset, records, parameters, loads, loaded_rows FROM {_NOTES}"  # noqa: S608 - a name of ours
        )
        return {
            str(name): parse_note(records, parameters, loads or 0, loaded_rows)
            for name, records, parameters, loads, loaded_rows in rows
        }

    def find_noted_name(self, compiled: Compiled) -> str:
        """Return the name under which a workload's dataset is noted; its own if it is not."""
        return find_noted_name(compiled, self.read_notes(), self._has_columns)

    def read_note(self, compiled: Compiled) -> DatasetNote | None:
        """Read the note of a workload's dataset; None if Plimsoll did not make the dataset."""
        return self.read_notes().get(self.find_noted_name(compiled))

    def has_table(self, table: Table) -> bool:
        """Return whether a table exists that has at least the workload's columns."""
        return set(table.columns) <= self._columns(table.name)

    def texts_apart_from_numbers(self, table: Table) -> dict[str, str]:
        """Return no column: Cassandra refuses a number in place of a text."""
        del table
        return {}

    def describe_early_writes(self, names: Sequence[str]) -> dict[str, str]:
        """Say that the keyspace is not in the commit log; that this is flushed late is no news."""
        del names
        durable = "SELECT durable_writes FROM system_schema.keyspaces WHERE keyspace_name = %s"
        if self._session.execute(durable, [self._keyspace]) != [(False,)]:
            return {}
        told = (
            "its writes are not in the commit log (durable_writes = false): a crash loses those in"
            " memory, and a keyspace that is in the log is slower"
        )
        return {f"keyspace {self._keyspace}": told}

    def create_tables(self, compiled: Compiled) -> DatasetNote:
        """Create the keyspace and the missing tables, and note the dataset.

        On an existing cluster the keyspace gets one replica. For another number, create it yourself
        beforehand.

        Returns:
            The note of what is present already.

        Raises:
            PlimsollError: A table of that name belongs to something else, or the dataset has more
                records or other parameters.
        """
        session = self._session
        if not session.keyspace_exists(self._keyspace):
            copies = session.target.replication  # more than one only on a cluster made for a run
            strategy = "NetworkTopologyStrategy" if copies > 1 else "SimpleStrategy"
            replication = f"{{'class': '{strategy}', 'replication_factor': {copies}}}"
            session.execute(
                f"CREATE KEYSPACE IF NOT EXISTS {quote_name(self._keyspace)}"
                f" WITH replication = {replication}"
            )
        session.use(self._keyspace)
        notes = self.read_notes()
        name = find_noted_name(compiled, notes, self._has_columns)
        note = notes.get(name)
        if note is not None:
            check_same_dataset(compiled, note, notes_table=_NOTES)
        else:
            for table in compiled.tables:
                check_absent(table.name, notes, there=bool(self._columns(table.name)))
        session.execute(_CREATE_NOTES)
        made = DatasetNote(
            compiled.records,
            compiled.dataset_parameters,
            note.loads if note else 0,
            note.loaded_rows if note else count_no_rows(compiled),
        )
        session.execute(
            f"INSERT INTO {_NOTES} (dataset, records, parameters, loads, loaded_rows)"  # noqa: S608 - a name of ours
            " VALUES (%s, %s, %s, %s, %s)",
            [
                name,
                made.records,
                json.dumps(made.parameters),
                made.loads,
                json.dumps(made.loaded_rows),
            ],
        )
        for table in compiled.tables:
            session.execute(table.create_sql)
            self._check_columns(table)
        if session.target.nodes:
            await_agreement(session)
        return made

    def note_progress(self, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
        """Note how many rows of each table are known to be present.

        Raises:
            PlimsollError: The database refuses.
        """
        self._session.use(self._keyspace)
        self._session.execute(
            f"UPDATE {_NOTES} SET loaded_rows = %s WHERE dataset = %s",  # noqa: S608 - a name of ours
            [json.dumps(loaded_rows), self.find_noted_name(compiled)],
        )

    def finish(self, compiled: Compiled) -> dict[str, int]:
        """Verify the row count of each table.

        Returns:
            The rows of each table; more than the dataset has if loads have inserted.

        Raises:
            PlimsollError: A table has fewer rows than its dataset.
        """
        counts = {table.name: self.count_rows(table) for table in compiled.tables}
        note_counts(compiled, counts, self.note_progress)
        return counts

    def count_rows(self, table: Table) -> int:
        """Count a table's rows range by range of tokens: a single count would time out.

        Raises:
            PlimsollError: The database refuses, or a small range times out.
        """
        self._session.use(self._keyspace)
        token = f"token({', '.join(quote_name(name) for name in table.key)})"
        cql = (
            f"SELECT COUNT(*) FROM {quote_name(table.name)}"  # noqa: S608 - a checked name
            f" WHERE {token} >= %s AND {token} <= %s"
        )
        waiting = deque(divide_tokens(table.rows // _ROWS_OF_A_RANGE + 1))
        counted = 0
        while waiting:
            part = [waiting.popleft() for _ in range(min(_RANGES_AT_ONCE, len(waiting)))]
            for span, future in [(span, self._session.start(cql, span)) for span in part]:
                try:
                    (row,) = self._session.result(future, cql)
                    counted += int(row[0])
                except CassandraTimeoutError:
                    if span[1] - span[0] < _SMALLEST_RANGE:
                        raise
                    waiting.extend(divide_tokens(2, span))
        return counted

    def read_row(self, table: str, column: str, key: int | str) -> tuple[object, ...] | None:
        """Read the row in which a column has a value; None if there is none."""
        self._session.use(self._keyspace)
        rows = self._session.execute(
            f"SELECT * FROM {quote_name(table)} WHERE {quote_name(column)} = %s",  # noqa: S608 - checked names
            [key],
        )
        return tuple(rows[0]) if rows else None

    def count_keys(self, table: str, column: str, keys: Sequence[int | str]) -> int:
        """Count the keys that a table has."""
        self._session.use(self._keyspace)
        cql = f"SELECT {quote_name(column)} FROM {quote_name(table)}"  # noqa: S608 - checked names
        cql += f" WHERE {quote_name(column)} = %s"
        there = 0
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            part = keys[start : start + _KEYS_AT_ONCE]
            asked = [self._session.start(cql, [key]) for key in part]
            there += sum(bool(self._session.result(one, cql)) for one in asked)
        return there

    def sample_keys(self, table: str, column: str, most: int) -> tuple[int | str, ...]:
        """Refuse: rows lie by their tokens, and a read of `most` keys is no sample.

        Raises:
            PlimsollError: Always.
        """
        raise PlimsollError(f"{table}.{column}: Cassandra has no way to sample {most:,} keys")

    def drop(self, compiled: Compiled) -> None:
        """Drop a dataset that has a note, and its note last; other tables and the keyspace stay."""
        name = self.find_noted_name(compiled)
        if name not in self.read_notes():
            return
        for table in compiled.tables:
            self._session.execute(f"DROP TABLE IF EXISTS {quote_name(table.name)}")
        self._session.execute(f"DELETE FROM {_NOTES} WHERE dataset = %s", [name])  # noqa: S608 - a name of ours
        if not self._session.execute(f"SELECT dataset FROM {_NOTES} LIMIT 1"):  # noqa: S608 - a name of ours
            self._session.execute(f"DROP TABLE {_NOTES}")

    def scan(
        self, table: Table, index: str | None, start: int | str | None, going_on: Callable[[], bool]
    ) -> None:
        """Read all rows of a table in one call; it has no index."""
        del index, start, going_on
        self.count_rows(table)

    def layout(self, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
        """Return the stored size of each table, given its counted rows."""
        return read_cassandra_layout(self._session.execute, self._keyspace, compiled, counts)

    def count_own(self, compiled: Compiled) -> dict[str, int]:
        """Count the rows of tables that Plimsoll did not make."""
        return {table.name: self.count_rows(table) for table in compiled.tables}

    def begin_load(self, compiled: Compiled) -> int:
        """Return the number of a new load that inserts; 0 for the first on a fresh dataset.

        Raises:
            PlimsollError: The database refuses, or too many loads begin at once.
        """
        self._session.use(self._keyspace)
        for _ in range(_TRIES):
            notes = self.read_notes()
            name = find_noted_name(compiled, notes, self._has_columns)
            note = notes.get(name)
            if note is None:
                return 0
            (row,) = self._session.execute(
                f"UPDATE {_NOTES} SET loads = %s WHERE dataset = %s IF loads = %s",  # noqa: S608 - a name of ours
                [note.loads + 1, name, note.loads],
            )
            if row[0]:
                return note.loads
        raise PlimsollError(f"the load cannot be numbered: others keep changing {_NOTES}")

    def _columns(self, table: str) -> set[str]:
        rows = self._session.execute(
            "SELECT column_name FROM system_schema.columns"
            " WHERE keyspace_name = %s AND table_name = %s",
            [self._keyspace, table],
        )
        return {str(row[0]) for row in rows}

    def _has_columns(self, table: Table) -> bool:
        return self._columns(table.name) == set(table.columns)

    def _check_columns(self, table: Table) -> None:
        present = self._columns(table.name)
        if present != set(table.columns):
            raise PlimsollError(
                f"a table {table.name} is there with other columns"
                f" ({shorten_message(', '.join(sorted(present)))}): use another keyspace"
            )


def divide_tokens(
    parts: int, span: TokenRange = (_FIRST_TOKEN, _LAST_TOKEN)
) -> Iterable[TokenRange]:
    """Cut a range of tokens into parts of equal length that do not overlap."""
    first, last = span
    length = last - first + 1
    edges = [first + length * part // parts for part in range(parts + 1)]
    return [(low, high - 1) for low, high in pairwise(edges)]
