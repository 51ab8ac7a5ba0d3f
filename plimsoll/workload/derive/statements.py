"""The statements of a derived workload with their calls, and those that are left out."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plimsoll import words
from plimsoll.errors import WorkloadError
from plimsoll.model.databases import Language
from plimsoll.model.run.statements_seen import Digest, TableSeen
from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.derive.binds import Known
from plimsoll.workload.derive.parts import bind_times, find_first_word, split_parts
from plimsoll.workload.derive.reading import VERBS, read_shape
from plimsoll.workload.derive.shapes import Shape

_COMMITS = {"COMMIT", "END"}
_CONTROLS = _COMMITS | {"BEGIN", "START", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"}
_SERVERS_OWN = re.compile(
    r"information_schema|performance_schema|pg_catalog|pg_stat_\w|plimsoll_datasets", re.IGNORECASE
)
# What MariaDB's digests have in place of a text that they cannot show, and why that is left out
_NOT_SHOWN = {
    "(unknown)": "has a value that the server's counting does not show, such as X'00'",
    "SQL_TSI_": "has an INTERVAL, whose length the server's counting does not show",
}
_SHOWN_MOST = 160  # length of a left-out statement's text
# ratio to the mean calls up to which similar statements count as equally frequent
_ALIKE_MOST = 1.5


@dataclass(frozen=True)
class LeftOut:
    """A statement that is not in the workload.

    Attributes:
        statement: The text without values; only the first word if it cannot be read.
        why: The reason.
        calls: The number of calls.
        time_s: The total time in the server.
    """

    statement: str
    why: str
    calls: int
    time_s: float


@dataclass(frozen=True)
class Taken:
    """A statement of the workload.

    Attributes:
        shape: The shape of the statement.
        digest: The totals of its calls, with those of equal statements.
        members: The indexes of the digests that it stands for.
        columns: The columns, if it stands for statements that differ only in the column that they
            set.
        unless_replaced: The reason why it can be sent only in a transaction that deletes the row
            first.
    """

    shape: Shape
    digest: Digest
    members: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    unless_replaced: str = ""


@dataclass
class Sorted:
    """All statements that a server counted.

    Attributes:
        taken: The statements that can be sent.
        left_out: The statements that cannot or should not be sent.
        commits: The number of committed transactions.
        rollbacks: The number of transactions that were rolled back.
        controls_s: The time of statements that begin and end transactions.
    """

    taken: list[Taken] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    commits: int = 0
    rollbacks: int = 0
    controls_s: float = 0.0


def is_commit(text: str) -> bool:
    """Whether a statement commits a transaction."""
    return find_first_word(text) in _COMMITS


def sort_statements(
    digests: Iterable[Digest],
    language: Language,
    tables: Mapping[str, TableSeen],
    database: str,
    *,
    only: Collection[str] = (),
    writes: bool = True,
    plain: Mapping[str, str] | None = None,
) -> Sorted:
    """Read each digest once, and decide whether it can be sent.

    Args:
        digests: The server's statement statistics.
        language: The dialect of the statements.
        tables: The tables of the database, by name.
        database: The database's name, which may precede a table's.
        only: The tables of interest; empty for all.
        writes: Whether statements that change or lock rows are wanted.
        plain: Other names for those of tables and columns that a workload cannot have.
    """
    found = Sorted()
    for index, digest in enumerate(digests):
        word = find_first_word(digest.text)
        if word in _CONTROLS:
            found.controls_s += digest.time_s
            found.commits += digest.calls if word in _COMMITS else 0
            # ROLLBACK TO a savepoint does not end a transaction
            undone = word in {"ROLLBACK", "ABORT"} and " TO " not in digest.text.upper()
            found.rollbacks += digest.calls if undone else 0
        elif word not in VERBS and "plimsoll_trial" in digest.text:
            continue
        elif word not in VERBS:
            why = f"is none of {', '.join(sorted(VERBS))}"
            found.left_out.append(describe_left_out(digest, word or "a statement", why))
        elif not _SERVERS_OWN.search(digest.text):
            try:
                text = bind_times(digest.text)
                for mark, why in _NOT_SHOWN.items():
                    if mark in text:
                        raise build_workload_error(why)
                shape = read_shape(text, language, tables, database, plain)
                _require_wanted(shape, only, writes=writes)
            except WorkloadError as error:
                found.left_out.append(
                    describe_left_out(digest, _hide_values(digest.text, language), str(error))
                )
            else:
                found.taken.append(Taken(shape, digest, (index,)))
    return found


def _require_wanted(shape: Shape, only: Collection[str], *, writes: bool) -> None:
    if only and not set(shape.tables) & set(only):
        raise build_workload_error("names none of the tables that are asked for")
    if shape.writes and not writes:
        raise build_workload_error("changes or locks rows: --writes takes it")


def describe_left_out(digest: Digest, statement: str, why: str) -> LeftOut:
    """Describe a statement that is not in the workload."""
    line = words.escape_controls(" ".join(statement.split()))
    line = line if len(line) <= _SHOWN_MOST else f"{line[:_SHOWN_MOST]} ..."
    return LeftOut(line, words.escape_controls(why), digest.calls, digest.time_s)


def _hide_values(text: str, language: Language) -> str:
    """Return a statement in one line without its values; its first word if it cannot be read."""
    try:
        parts = split_parts(text, language)
    except WorkloadError:
        return f"{find_first_word(text)} ..."
    return " ".join(part.text for part in parts)


def merge_statements(taken: Sequence[Taken], known: Mapping[str, Known]) -> list[Taken]:
    """Merge statements that differ only in a table's copy, or in the column that they set."""
    by_text: dict[str, list[Taken]] = {}
    for one in taken:
        by_text.setdefault(_write_text(one, known), []).append(one)
    whole = [
        replace(alike[0], digest=_add_digests(alike), members=_join_members(alike))
        for alike in by_text.values()
    ]
    by_column: dict[str, list[Taken]] = {}
    for one in whole:
        by_column.setdefault(
            _write_without_column(one, known) or f"={_write_text(one, known)}", []
        ).append(one)
    found = []
    for alike in by_column.values():
        if len(alike) < 2 or not _are_equally_frequent([one.digest.calls for one in alike]):
            found += alike
            continue
        columns = tuple(one.shape.slots[0].column for one in alike)
        found.append(
            replace(
                alike[0],
                digest=_add_digests(alike),
                members=_join_members(alike),
                columns=columns,
            )
        )
    return found


def _join_members(alike: Sequence[Taken]) -> tuple[int, ...]:
    return tuple(index for one in alike for index in one.members)


def _are_equally_frequent(calls: Sequence[int]) -> bool:
    """Whether statements are about equally frequent, within four standard deviations of counts."""
    mean = sum(calls) / len(calls)
    chance = 4 * math.sqrt(mean)
    low, high = mean / _ALIKE_MOST - chance, mean * _ALIKE_MOST + chance
    return low <= min(calls) and max(calls) <= high


def _write_text(one: Taken, known: Mapping[str, Known]) -> str:
    return one.shape.write_text(tables={name: table.name for name, table in known.items()})


def _write_without_column(one: Taken, known: Mapping[str, Known]) -> str | None:
    """Return an UPDATE of one column without the column's name; None for other statements."""
    shape = one.shape
    sets = [slot for slot in shape.slots if slot.role == "set"]
    if shape.verb != "UPDATE" or len(sets) != 1 or shape.slots[0].role != "set":
        return None
    column = sets[0].column
    value = known[sets[0].table].columns[column]
    head, found, tail = _write_text(one, known).partition(f" {column} =")
    if not found or column in tail.split():
        return None
    return f"{head} =={tail} {value.type} {value.value}"


def _compute_mean_lists(digests: Sequence[Digest]) -> tuple[float, ...]:
    """Return the mean length of each list; none if some digests lack them."""
    calls = sum(digest.calls for digest in digests)
    if not calls or len({len(digest.listed) for digest in digests}) != 1:
        return ()
    places = range(len(digests[0].listed))
    return tuple(sum(one.listed[at] * one.calls for one in digests) / calls for at in places)


def _add_digests(alike: Sequence[Taken]) -> Digest:
    """Add up several digests; a total is None if one of them lacks the figure."""
    digests = [one.digest for one in alike]

    def total(name: str) -> int | None:
        counts = [getattr(digest, name) for digest in digests]
        return None if None in counts else sum(counts)

    def mean(name: str) -> float | None:
        known = [(getattr(digest, name), digest.calls) for digest in digests]
        known = [(value, calls) for value, calls in known if value is not None and calls]
        calls = sum(calls for _, calls in known)
        return sum(value * calls for value, calls in known) / calls if known else None

    return Digest(
        text=digests[0].text,
        calls=sum(digest.calls for digest in digests),
        time_s=sum(digest.time_s for digest in digests),
        rows_sent=total("rows_sent"),
        rows_examined=total("rows_examined"),
        rows_affected=total("rows_affected"),
        order=min(digest.order for digest in digests),
        within=total("within"),
        listed=_compute_mean_lists(digests),
        limit=mean("limit"),
        span=mean("span"),
        fixed=digests[0].fixed if len(digests) == 1 else (),
    )
