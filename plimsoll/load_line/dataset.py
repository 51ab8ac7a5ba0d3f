"""The rows that a search uses: a dataset that Plimsoll made, or the user's own rows."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from plimsoll import words
from plimsoll.complaints import Complaint, Scalar
from plimsoll.databases import dataset_notes
from plimsoll.databases.compared_types import find_texts_compared_with_numbers
from plimsoll.databases.dataset_notes import DatasetNote, check_loaded, check_same_dataset
from plimsoll.databases.existing_keys import draw_from_existing, find_missing_keys
from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import Prepared, prepare_dataset
from plimsoll.errors import OptionError, PlimsollError, UsageError
from plimsoll.load_line.clients import cancel_on_interrupt
from plimsoll.load_line.options import PrepareOptions
from plimsoll.model.databases import find_protocol_facts
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Rules
from plimsoll.workload import Compiled, Workload
from plimsoll.workload.pgbench.workload import SCALE, ScriptWorkload

_BRANCHES = "pgbench_branches"

SETTLE_MAX_S = 30.0  # longest wait for the server to finish work that loading left behind
_READS = ("SELECT", "(SELECT", "WITH")
_WRITES = {"UPDATE", "SHARE", "INSERT", "DELETE", "MERGE"}
# What only says where a script's transactions begin and end
_FRAMES = ("BEGIN", "START TRANSACTION", "COMMIT", "END", "ROLLBACK", "ABORT")


@dataclass(frozen=True)
class Found:
    """What a database has for a search.

    Attributes:
        server: The server's own name and version.
        compiled: The workload, compiled for the existing rows.
        given: The workload parameters that differ from their defaults.
        note: The stored facts of the dataset; None if Plimsoll did not make it.
        has_place: Whether the database, or keyspace, for the dataset exists.
    """

    server: str
    compiled: Compiled
    given: dict[str, Scalar]
    note: DatasetNote | None
    has_place: bool = True


@dataclass(frozen=True)
class Made:
    """The result of making a dataset: its rows, and notes for the reader; empty if none made."""

    rows: int | None = None
    notes: tuple[str, ...] = ()


def look(
    target: EngineTarget, workload: Workload, records: int | None, given: Mapping[str, Scalar]
) -> Found:
    """Find out what rows a database has for a workload.

    Raises:
        PlimsollError: The database is unreachable or refuses.
        UsageError: The workload cannot be resolved.
    """
    if isinstance(workload, ScriptWorkload):
        return _look_for_scripts(target, workload, given)
    with find_family(target.protocol).open_datasets(target) as datasets:
        server = datasets.version()
        has_place = datasets.has_place()
        notes = datasets.read_notes() if has_place else {}
        own = workload.dataset in notes
        for name, note in notes.items():
            if own and name != workload.dataset:
                continue
            noted = {k: v for k, v in note.parameters.items() if k in workload.parameters}
            values = {**noted, **given}
            chosen = note.records if records is None else records
            try:
                compiled = workload.compile(chosen, values, target.protocol)
            except UsageError:
                if own:
                    raise
                continue  # the note is of another workload's dataset
            if datasets.find_noted_name(compiled) == name:
                return Found(server, compiled, values, note, has_place)
    compiled = workload.compile(records, given, target.protocol)
    return Found(server, compiled, dict(given), None, has_place)


def _look_for_scripts(
    target: EngineTarget, workload: ScriptWorkload, given: Mapping[str, Scalar]
) -> Found:
    """Compile scripts, which bring no rows; find `:scale` where it is used and not given.

    It is the number of rows in `pgbench_branches`; 1, as in pgbench, if there is no such table.
    """
    workload.require_protocol(target.protocol)
    from plimsoll.databases.postgres.datasets import open_datasets  # noqa: PLC0415 - a driver

    values = dict(given)
    with open_datasets(target) as datasets:
        server = datasets.version()
        if workload.lacks_scale(values):
            there = datasets.read_number(f"SELECT count(to_regclass('{_BRANCHES}'))")
            count = f"SELECT count(*) FROM {_BRANCHES}"  # noqa: S608 - a name of pgbench's
            values[SCALE] = datasets.read_number(count) if there else 1
    return Found(server, workload.compile(None, values, target.protocol), values, None)


def is_complete(found: Found) -> bool:
    """Whether Plimsoll made the dataset completely, with the wanted parameters."""
    return dataset_notes.is_complete(found.compiled, found.note)


def is_ready_to_search(found: Found, *, records: int | None, prepare: bool) -> bool:
    """Whether a search can begin without making rows."""
    own = found.note is None and (records is not None or not found.compiled.tables)
    return is_complete(found) or (own and not prepare)


def require_place(target: EngineTarget, found: Found) -> None:
    """Refuse a database, or keyspace, that does not exist.

    Raises:
        PlimsollError: It does not exist.
    """
    if not found.has_place:
        kind = find_protocol_facts(target.protocol).database_word
        raise PlimsollError(
            f"{target.host}:{target.port}: there is no {kind} {target.database!r}:"
            " `plimsoll prepare` makes it"
        )


def describe_place(target: EngineTarget) -> str:
    """Describe where a target's tables are: `the database shop`, `the keyspace shop`."""
    return f"the {find_protocol_facts(target.protocol).database_word} {target.database}"


def describe_missing_rows(found: Found) -> str:
    """Describe the rows that would be made: `1,000 rows in usertable`."""
    compiled = found.compiled
    tables = ", ".join(table.name for table in compiled.tables[:3])
    more = " ..." if len(compiled.tables) > 3 else ""
    return f"{words.format_count(compiled.rows, 'row')} in {tables}{more}"


def require_no_partial_dataset(found: Found) -> None:
    """Refuse an existing dataset of Plimsoll that is incomplete or has other parameters.

    Raises:
        PlimsollError: There is such a dataset.
    """
    if found.note is not None:
        check_same_dataset(found.compiled, found.note, notes_table="plimsoll_datasets")
        check_loaded(found.compiled, found.note)


def build_missing_rows_error(found: Found, target: EngineTarget) -> OptionError:
    """Return the error that says that rows are missing, and how to make them."""
    problem = f"{describe_place(target)} has no dataset of {found.compiled.name} that Plimsoll made"
    remedies = (
        ("prepare", f"makes one ({describe_missing_rows(found)})"),
        ("records", "says how many records you made yourself"),
    )
    return OptionError(Complaint(("workload",), problem, remedies=remedies))


def wait_until_settled(target: EngineTarget, prepared: Prepared) -> Made:
    """Wait until the server has worked off the loading, at most `SETTLE_MAX_S`."""
    rows = sum(prepared.counted_rows.values())
    if find_family(target.protocol).settle(target, longest_s=SETTLE_MAX_S):
        return Made(rows)
    limit = words.format_duration(SETTLE_MAX_S)
    return Made(rows, (f"the server had not worked off the loading after {limit}",))


def drop(target: EngineTarget, found: Found) -> None:
    """Drop the dataset, if Plimsoll made it."""
    with find_family(target.protocol).open_datasets(target) as datasets:
        datasets.drop(found.compiled)


def reserve_load_number(target: EngineTarget, found: Found) -> int:
    """Reserve the number of a load that inserts; 0 if the workload does not insert."""
    if not found.compiled.inserts:
        return 0
    with find_family(target.protocol).open_datasets(target) as datasets:
        return datasets.begin_load(found.compiled)


def use_existing_keys(target: EngineTarget, found: Found) -> tuple[Found, tuple[str, ...]]:
    """Have a workload draw the keys that exist, where its tables ask for that.

    In tables of the user's own, the other keys that it draws are looked for, and texts that it
    compares with numbers are told.

    Returns:
        What the database has, with the workload that draws these keys; and notes for the reader.

    Raises:
        OptionError: More keys are missing than operations may fail, and the workload means to meet
            their rows.
        PlimsollError: The database refuses.
    """
    found = replace(found, compiled=draw_from_existing(target, found.compiled))
    if found.note is not None:
        return found, ()
    notes = [*find_texts_compared_with_numbers(target, found.compiled)]
    for lack in find_missing_keys(target, found.compiled):
        if lack.share > Rules().errors_max_share and lack.rows_meant:
            problem = (
                f"{lack}: `keys: sampled` in the workload's table {lack.key_space} draws from those"
                " that exist; `rows: 0..1` of a statement says that its row may be missing"
            )
            raise OptionError(Complaint(("records",), problem))
        notes.append(f"{lack}: operations that draw them meet no row")
    return found, tuple(notes)


def has_own_tables(target: EngineTarget, found: Found) -> bool:
    """Return whether a database has all tables of a workload, with the columns that it names."""
    if not found.has_place:
        return False
    with find_family(target.protocol).open_datasets(target) as datasets:
        return all(map(datasets.has_table, found.compiled.tables))


def require_harmless(found: Found, *, allow_writes: bool) -> None:
    """Refuse a workload that would change rows which Plimsoll did not make.

    Raises:
        OptionError: The workload writes without permission, or inserts rows that Plimsoll numbers.
    """
    if found.note is not None:
        return
    if found.compiled.inserts:
        place = find_protocol_facts(found.compiled.protocol).database_word
        problem = (
            f"{found.compiled.name} inserts rows that Plimsoll numbers, and this {place} has no"
            " dataset that Plimsoll made"
        )
        remedies = (("prepare", "makes one"),)
        raise OptionError(Complaint(("workload",), problem, remedies=remedies))
    writing = [
        operation.name
        for operation in found.compiled.engine.operations
        if any(
            not _is_plain_read(sql) for statement in operation.statements for sql in statement.sql
        )
    ]
    if writing and not allow_writes:
        operations = ", ".join(writing)
        problem = f"{operations} would change rows that Plimsoll did not make"
        remedies = (("allow_writes", "permits that"),)
        raise OptionError(Complaint(("workload",), problem, remedies=remedies))


def _is_plain_read(sql: str) -> bool:
    """Whether a statement reads and locks nothing (FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE)."""
    found = set(re.findall(r"\w+", sql.upper()))
    return sql.upper().startswith((*_READS, *_FRAMES)) and not found & _WRITES


def insert_rows(
    target: EngineTarget,
    compiled: Compiled,
    options: PrepareOptions,
    on_progress: Callable[[int], None],
) -> Prepared:
    """Make a workload's tables and rows; Ctrl-C ends it.

    Args:
        target: The database.
        compiled: The workload, compiled for its number of rows.
        options: How it is prepared.
        on_progress: Called now and then with the number of rows inserted so far.

    Raises:
        PlimsollError: The database refuses, or one of the tables is not Plimsoll's.
    """
    with cancel_on_interrupt() as token:
        return prepare_dataset(
            target,
            compiled,
            connections=options.connections,
            load_order=options.load_order,
            on_progress=on_progress,
            cancel=token,
        )
