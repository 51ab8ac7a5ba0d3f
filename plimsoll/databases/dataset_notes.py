"""What is noted of a dataset beside it, in a database of any family."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.complaints import Scalar
from plimsoll.errors import PlimsollError
from plimsoll.model.datasets import TableLayout
from plimsoll.workload.compiled import Compiled

_ELSEWHERE = "use another database, or drop its tables and {}"


@dataclass(frozen=True)
class DatasetNote:
    """What a database says of a dataset in it.

    Attributes:
        records: What `$records` was.
        parameters: The workload's parameters that it was made with.
        loads: How many loads have inserted rows of their own.
        loaded_rows: By table, how many rows, from the first on, are surely there.
    """

    records: int
    parameters: dict[str, Scalar]
    loads: int
    loaded_rows: dict[str, int]


def check_same_dataset(compiled: Compiled, note: DatasetNote, *, notes_table: str) -> None:
    """Check that the dataset which is there can be completed to the one that is wanted.

    Args:
        compiled: What is wanted.
        note: What is there.
        notes_table: The table that holds the note.

    Raises:
        PlimsollError: It has more records or other parameters.
    """
    elsewhere = _ELSEWHERE.format(notes_table)
    check_same_parameters(compiled, note, notes_table=notes_table)
    if note.records > compiled.records:
        raise PlimsollError(
            f"the dataset {compiled.dataset} is there with {note.records} records, more than "
            f"{compiled.records}: {elsewhere}"
        )


def check_same_parameters(compiled: Compiled, note: DatasetNote, *, notes_table: str) -> None:
    """Check that the dataset which is there was made with the parameters that are wanted.

    Raises:
        PlimsollError: It was made with others.
    """
    if note.parameters != compiled.dataset_parameters:
        raise PlimsollError(
            f"the dataset {compiled.dataset} is there with {_listed(note.parameters)}, not "
            f"{_listed(compiled.dataset_parameters)}: {_ELSEWHERE.format(notes_table)}"
        )


def check_not_there(table: str, *, there: bool) -> None:
    """Check that a table of a dataset that is not noted is not there: it would be another's.

    Raises:
        PlimsollError: It is there.
    """
    if there:
        raise PlimsollError(
            f"a table {table} is there that Plimsoll did not make: use another database"
        )


def check_loaded(compiled: Compiled, note: DatasetNote) -> None:
    """Check that the rows which a load draws from are there: a read of none would count as one.

    Raises:
        PlimsollError: A table was not prepared, or not to its end.
    """
    for table in compiled.tables:
        loaded = note.loaded_rows.get(table.name, 0)
        if loaded < table.rows:
            raise PlimsollError(
                f"--records {compiled.records:,} needs {table.rows:,} rows of {table.name}, and"
                f" {loaded:,} are surely there: complete them (plimsoll prepare --workload"
                f" {compiled.name} --records {max(compiled.records, note.records)}), or name fewer"
            )


def is_complete(compiled: Compiled, note: DatasetNote | None) -> bool:
    """Whether Plimsoll has made a dataset, to its last row, with the parameters that are wanted."""
    if note is None or note.parameters != compiled.dataset_parameters:
        return False
    return all(note.loaded_rows.get(table.name, 0) >= table.rows for table in compiled.tables)


def check_whole(compiled: Compiled, note: DatasetNote | None, where: str) -> None:
    """Check that a dataset is there to its last row.

    Args:
        compiled: The workload whose dataset it is.
        note: What is known of it; None: nothing.
        where: Which server, for the sentence.

    Raises:
        PlimsollError: It is not.
    """
    if not is_complete(compiled, note):
        raise PlimsollError(
            f"{where} has not all rows of {compiled.dataset}: it has to be the same database,"
            f" reached another way, or one with the same rows (plimsoll prepare --workload"
            f" {compiled.name} --records {compiled.records})"
        )


def note_counted(
    compiled: Compiled,
    counts: Mapping[str, int],
    note_progress: Callable[[Compiled, dict[str, int]], None],
) -> None:
    """Note that every row is there, if that is what was counted.

    Args:
        compiled: The workload whose dataset it is.
        counts: Rows by table.
        note_progress: Notes how many rows of each table are surely there.

    Raises:
        PlimsollError: A table has fewer rows than its dataset; none is noted as surely there.
    """
    for table in compiled.tables:
        if counts[table.name] < table.rows:
            note_progress(compiled, {})  # the next prepare goes through all rows again
            raise PlimsollError(
                f"table {table.name} has {counts[table.name]} rows, not {table.rows}: "
                "prepare again completes it"
            )
    note_progress(compiled, {table.name: table.rows for table in compiled.tables})


def _listed(parameters: dict[str, Scalar]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "no parameters"


# How large a dataset's tables lie in a server, of each family by its own means.


Ask = Callable[..., Sequence[Sequence[Any]]]  # a statement and its values; gives the rows
_MIB = 2**20


def mysql_layout(ask: Ask, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
    """Ask InnoDB: pages that its trees hold, from statistics that ANALYZE TABLE has just renewed.

    dev.mysql.com/doc/refman/8.4/en/information-schema-tables-table.html: DATA_LENGTH is the
    clustered index's pages, INDEX_LENGTH those of the others, times the page size.
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
        found.append(_paged(table.name, counts[table.name], data, index, page_bytes))
    return found


def postgres_layout(ask: Ask, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
    """Ask PostgreSQL for the sizes of the files: the table with its TOAST and maps, its indexes."""
    ((page,),) = ask("SELECT current_setting('block_size')")
    found = []
    for table in compiled.tables:
        name = '"' + table.name.replace('"', '""') + '"'
        ((data, index),) = ask(
            "SELECT pg_table_size(?::regclass), pg_indexes_size(?::regclass)", name, name
        )
        found.append(_paged(table.name, counts[table.name], int(data), int(index), int(page)))
    return found


def cassandra_layout(
    ask: Ask, keyspace: str, compiled: Compiled, counts: Mapping[str, int]
) -> list[TableLayout]:
    """Ask Cassandra for the space of SSTables, in whole MiB; it has no pages.

    cassandra.apache.org/doc/5.0/cassandra/managing/operating/virtualtables.html, `disk_usage`.
    """
    rows = ask("SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage")
    used = {str(row[1]): int(row[2]) * _MIB for row in rows if row[0] == keyspace}
    return [
        TableLayout(name=table.name, rows=counts[table.name], data_bytes=used.get(table.name))
        for table in compiled.tables
    ]


def _paged(
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
