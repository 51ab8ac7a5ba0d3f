"""The note that a database keeps of each dataset, its checks, and the stored size of tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from plimsoll import words
from plimsoll.complaints import Scalar
from plimsoll.databases.connecting import escape_value, shorten_message
from plimsoll.errors import PlimsollError
from plimsoll.model.datasets import TableLayout
from plimsoll.workload.compiled import Compiled, Table

_PARAMETERS: TypeAdapter[dict[str, Scalar]] = TypeAdapter(dict[str, Scalar])
_LOADED_ROWS: TypeAdapter[dict[str, int]] = TypeAdapter(dict[str, int])
_ELSEWHERE = "use another database, or drop its tables and {}"


@dataclass(frozen=True)
class DatasetNote:
    """What a database records about a dataset in it.

    Attributes:
        records: The value of `$records`.
        parameters: The workload parameters with which it was made.
        loads: The number of loads that have inserted rows of their own.
        loaded_rows: The number of rows of each table, counted from the first, known to be
            present.
    """

    records: int
    parameters: dict[str, Scalar]
    loads: int
    loaded_rows: dict[str, int]


def parse_note(records: Any, parameters: Any, loads: Any, loaded_rows: Any) -> DatasetNote:
    """Return the note that a row of `plimsoll_datasets` holds.

    Raises:
        ValueError: It holds something else; whoever can write into the database can change it.
        TypeError: Likewise.
    """
    return DatasetNote(
        int(records),
        {
            name: escape_value(value)
            for name, value in _PARAMETERS.validate_json(parameters).items()
        },
        int(loads),
        _LOADED_ROWS.validate_json(loaded_rows),
    )


def check_same_dataset(compiled: Compiled, note: DatasetNote, *, notes_table: str) -> None:
    """Check that the dataset in the database can be extended to the requested one.

    Args:
        compiled: The requested workload.
        note: The note of the dataset in the database.
        notes_table: The table that holds the note.

    Raises:
        PlimsollError: The dataset has more records or other parameters.
    """
    elsewhere = _ELSEWHERE.format(notes_table)
    check_same_parameters(compiled, note, notes_table=notes_table)
    if note.records > compiled.records:
        raise PlimsollError(
            f"the dataset {compiled.dataset} exists with {note.records} records, more than "
            f"{compiled.records}: {elsewhere}"
        )


def check_same_parameters(compiled: Compiled, note: DatasetNote, *, notes_table: str) -> None:
    """Check that the dataset in the database was made with the requested parameters.

    Raises:
        PlimsollError: It was made with others.
    """
    if note.parameters != compiled.dataset_parameters:
        raise PlimsollError(
            f"the dataset {compiled.dataset} exists with"
            f" {_list_parameters(note.parameters)}, not "
            f"{_list_parameters(compiled.dataset_parameters)}: {_ELSEWHERE.format(notes_table)}"
        )


def find_noted_name(
    compiled: Compiled, notes: Mapping[str, DatasetNote], has_columns: Callable[[Table], bool]
) -> str:
    """Return the name under which a database has noted a workload's dataset.

    A workload takes its name from its file, so a renamed file, or a second one for the same tables,
    means the dataset that is noted under another name: one with the same tables, columns and
    parameters.

    Args:
        compiled: The workload.
        notes: The database's notes, by the dataset's name.
        has_columns: The function that tells whether a table exists with the workload's columns.
    """
    if compiled.dataset in notes:
        return compiled.dataset
    tables = {table.name for table in compiled.tables}
    for name, note in notes.items():
        same = note.parameters == compiled.dataset_parameters and set(note.loaded_rows) == tables
        if same and all(map(has_columns, compiled.tables)):
            return name
    return compiled.dataset


def check_absent(table: str, notes: Mapping[str, DatasetNote], *, there: bool) -> None:
    """Check that no table of a dataset without a note exists: it would belong to something else.

    Raises:
        PlimsollError: It exists.
    """
    if not there:
        return
    for name, note in notes.items():
        if table in note.loaded_rows:
            raise PlimsollError(
                f"the table {table} belongs to the dataset {shorten_message(name)}, which Plimsoll"
                " made with other tables, columns or parameters: use another database, or give the"
                " workload's tables other names"
            )
    raise PlimsollError(
        f"a table {table} exists that Plimsoll did not create: use another database"
    )


def check_loaded(compiled: Compiled, note: DatasetNote) -> None:
    """Check that the rows from which a load draws keys are present.

    A read of a missing row would count as a success.

    Raises:
        PlimsollError: A table was not prepared, or not completely.
    """
    for table in compiled.tables:
        loaded = note.loaded_rows.get(table.name, 0)
        if loaded < table.rows:
            records = words.format_count(compiled.records, "record")
            wanted = max(compiled.records, note.records)
            raise PlimsollError(
                f"{records} need {table.rows:,} rows of {table.name}, of which only {loaded:,} are"
                f" known to exist: complete them (plimsoll prepare --workload {compiled.name}"
                f" --records {wanted}), or use fewer records"
            )


def is_complete(compiled: Compiled, note: DatasetNote | None) -> bool:
    """Return whether Plimsoll made the whole dataset, with the requested parameters."""
    if note is None or note.parameters != compiled.dataset_parameters:
        return False
    return all(note.loaded_rows.get(table.name, 0) >= table.rows for table in compiled.tables)


def check_complete(compiled: Compiled, note: DatasetNote | None, where: str) -> None:
    """Check that a dataset is complete.

    Args:
        compiled: The workload whose dataset it is.
        note: The dataset's note; None if there is none.
        where: The server, as the error message names it.

    Raises:
        PlimsollError: The dataset is missing or incomplete.
    """
    if not is_complete(compiled, note):
        raise PlimsollError(
            f"{where} does not have all rows of {compiled.dataset}: it has to be the same database,"
            f" reached another way, or one with the same rows (plimsoll prepare --workload"
            f" {compiled.name} --records {compiled.records})"
        )


def note_counts(
    compiled: Compiled,
    counts: Mapping[str, int],
    note_progress: Callable[[Compiled, dict[str, int]], None],
) -> None:
    """Note that all rows are present, if the count confirms it.

    Args:
        compiled: The workload whose dataset it is.
        counts: The counted rows of each table.
        note_progress: The function that notes how many rows of each table are known to be present.

    Raises:
        PlimsollError: A table has fewer rows than its dataset; the note then claims none.
    """
    for table in compiled.tables:
        # new orders that are delivered are deleted: they are not missing, and would be wrong again
        if counts[table.name] < table.rows and not table.loses_rows:
            note_progress(
                compiled, count_no_rows(compiled)
            )  # so that the next prepare checks all rows again
            raise PlimsollError(
                f"table {table.name} has {counts[table.name]} rows, not {table.rows}: "
                "run prepare again to complete it"
            )
    note_progress(compiled, {table.name: table.rows for table in compiled.tables})


def count_no_rows(compiled: Compiled) -> dict[str, int]:
    """Return no rows for each table: what a note says of a dataset that has just begun."""
    return {table.name: 0 for table in compiled.tables}


def _list_parameters(parameters: dict[str, Scalar]) -> str:
    listed = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return shorten_message(listed) or "no parameters"


# The stored size of a dataset's tables.


# executes a statement with its values and returns the rows
Ask = Callable[..., Sequence[Sequence[Any]]]
_MIB = 2**20


def read_mysql_layout(ask: Ask, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
    """Read the sizes of InnoDB's trees, from statistics that ANALYZE TABLE has just renewed.

    dev.mysql.com/doc/refman/8.4/en/information-schema-tables-table.html: DATA_LENGTH is the number
    of pages of the clustered index, INDEX_LENGTH that of the others, times the page size.
    """
    ((page,),) = ask("SELECT @@innodb_page_size")
    page_bytes = int(page)
    found = []
    for table in compiled.tables:
        ask(f"ANALYZE TABLE `{table.name}`")
        rows = ask(
            "SELECT data_length, index_length FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = ?",
            table.name,
        )
        data, index = (None if value is None else int(value) for value in rows[0])
        found.append(_build_layout(table.name, counts[table.name], data, index, page_bytes))
    return found


def read_postgres_layout(
    ask: Ask, compiled: Compiled, counts: Mapping[str, int]
) -> list[TableLayout]:
    """Read the sizes of PostgreSQL's files: the table with its TOAST and maps, and its indexes."""
    ((page,),) = ask("SELECT current_setting('block_size')")
    found = []
    for table in compiled.tables:
        name = '"' + table.name.replace('"', '""') + '"'
        ((data, index),) = ask(
            "SELECT pg_table_size(?::regclass), pg_indexes_size(?::regclass)", name, name
        )
        found.append(
            _build_layout(table.name, counts[table.name], int(data), int(index), int(page))
        )
    return found


def read_cassandra_layout(
    ask: Ask, keyspace: str, compiled: Compiled, counts: Mapping[str, int]
) -> list[TableLayout]:
    """Read the disk space of Cassandra's SSTables, in whole MiB; Cassandra has no pages.

    cassandra.apache.org/doc/5.0/cassandra/managing/operating/virtualtables.html, `disk_usage`.
    """
    rows = ask("SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage")
    used = {str(row[1]): int(row[2]) * _MIB for row in rows if row[0] == keyspace}
    return [
        TableLayout(name=table.name, rows=counts[table.name], data_bytes=used.get(table.name))
        for table in compiled.tables
    ]


def _build_layout(
    name: str, rows: int, data: int | None, index: int | None, page_bytes: int
) -> TableLayout:
    pages = None if data is None else (data + (index or 0)) // page_bytes
    return TableLayout(
        name=name,
        rows=rows,
        data_bytes=data,
        index_bytes=index,
        pages=pages,
        page_bytes=page_bytes,
    )
