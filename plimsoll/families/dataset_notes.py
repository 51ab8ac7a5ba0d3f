"""What is noted of a dataset beside it, in a database of any family."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plimsoll.complaints import Scalar
from plimsoll.errors import PlimsollError
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
