"""Notes for the reader of a derived workload: what it was counted from, and what is guessed."""

from collections.abc import Iterable, Mapping, Sequence

from plimsoll import words
from plimsoll.model.run.statements_seen import StatementsSeen
from plimsoll.workload.derive.binds import Known
from plimsoll.workload.derive.grouping import Group
from plimsoll.workload.derive.statements import Sorted
from plimsoll.workload.derive.tables import ROW_COLUMN

_NAMED_MOST = 20  # columns


def write_notes(
    seen: StatementsSeen,
    found: Sorted,
    tables: Sequence[Known],
    groups: Sequence[Group],
    guesses: Iterable[str],
    *,
    plain: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the notes, one sentence each.

    Args:
        seen: The statistics of the server.
        found: The sorted statements.
        tables: The tables of the workload.
        groups: The transactions that are operations.
        guesses: The conclusions that are guesses.
        plain: Other names for those of tables and columns that a workload cannot have.
    """
    time = "since its counting began"
    if seen.interval_s is not None:
        time = f"within {words.format_duration(seen.interval_s)}"
    by = f"read from {seen.counted_by}" if seen.counted_by else f"counted by {seen.server}"
    notes = [
        f"{by}, {time}",
        *seen.notes,
        *_note_transactions(seen, found, groups),
        *(f"guessed: {guess}" for guess in guesses),
        *_note_tables(tables),
        *_note_names(tables, plain),
        *(
            f"the index {name} of {table.seen.name} is left out: it {index.why}; writes cost less"
            for table in tables
            for name, index in table.seen.indexes_left.items()
        ),
    ]
    if seen.calls_unknown:
        unknown = words.format_count(seen.calls_unknown, "call")
        by = f"the {seen.counted_by}" if seen.counted_by else "the server"
        notes.append(f"{by} did not tell apart {unknown} of further statements")
    return tuple(words.escape_controls(note) for note in notes)


def _note_transactions(seen: StatementsSeen, found: Sorted, groups: Sequence[Group]) -> list[str]:
    commits = words.format_count(found.commits, "COMMIT")
    notes = []
    if groups:
        kinds = words.format_count(len(groups), "kind")
        notes.append(f"transactions of {kinds}, as {seen.transactions_by} has them")
    elif found.commits:
        why = (
            f"none of them is whole in {seen.transactions_by}"
            if seen.transactions_by and not seen.transactions
            else "nothing tells which statements were sent together"
            if not seen.transactions
            else "as --transactions none asks"
        )
        notes.append(
            f"{commits} ended transactions, whose statements stand apart, each an operation with"
            f" its own rate: {why}"
        )
    if found.rollbacks:
        notes.append(f"{words.format_count(found.rollbacks, 'ROLLBACK')} left out")
    return notes


def _note_tables(tables: Sequence[Known]) -> list[str]:
    ranges, others, made_up = [], [], []
    for known in tables:
        name = known.seen.name
        ranges += [f"{name}.{c.name}" for c in known.seen.columns if c.lowest is not None]
        others += [f"{name}.{c}" for c, filled in known.columns.items() if not filled.same_type]
        if any(filled.template for filled in known.columns.values()):
            made_up.append(known.name)
    notes = ["numbers of rows, and of different values, are as the server estimates them"]
    if ranges:
        notes.append(f"taken of your data: the lowest and highest {_list_columns(ranges)}")
    if made_up:
        notes.append(
            f"keys of {_list_columns(made_up)} are made up, since no value of yours is"
            " taken: tables that"
            " --prepare makes have them, and yours have not"
        )
    if others:
        notes.append(f"of another type than yours: {_list_columns(others)}")
    return notes


def _note_names(tables: Sequence[Known], plain: Mapping[str, str]) -> list[str]:
    used = {known.name for known in tables} | {
        column.name for known in tables for column in known.seen.columns
    }
    others = [f"{name} as {other}" for name, other in plain.items() if other in used]
    notes = [f"names that a workload cannot have: {_list_columns(others)}"] if others else []
    return notes + [
        f"{known.name} has no primary key: the column {ROW_COLUMN} is added, by which its rows are"
        " made"
        for known in tables
        if ROW_COLUMN in known.seen.primary_key
    ]


def _list_columns(names: Iterable[str]) -> str:
    chosen = list(dict.fromkeys(names))
    more = f" and {len(chosen) - _NAMED_MOST} more" if len(chosen) > _NAMED_MOST else ""
    return ", ".join(chosen[:_NAMED_MOST]) + more
