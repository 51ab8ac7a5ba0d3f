"""The derivation of a workload from a server's statement statistics."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from plimsoll import words
from plimsoll.complaints import complain_of_unknown
from plimsoll.errors import UsageError
from plimsoll.model.databases import find_protocol_facts
from plimsoll.model.run.statements_seen import Digest, StatementsSeen
from plimsoll.workload.derive.binds import Known
from plimsoll.workload.derive.grouping import Group, group_transactions
from plimsoll.workload.derive.making import (
    Maker,
    Text,
    Trial,
    find_key_skew,
    find_pool,
    find_replaced_rows,
    find_usual_rows,
    make_parameters,
)
from plimsoll.workload.derive.notes import write_notes
from plimsoll.workload.derive.shapes import Shape
from plimsoll.workload.derive.skew import Pool, estimate_zipfian_constant
from plimsoll.workload.derive.statements import (
    LeftOut,
    Sorted,
    Taken,
    describe_left_out,
    merge_statements,
    sort_statements,
)
from plimsoll.workload.derive.tables import (
    describe_tables,
    find_plain_names,
    rename_tables,
    write_tables,
)
from plimsoll.workload.library import parse_workload
from plimsoll.workload.operations import MAX_OPERATIONS

TRANSACTION = "transaction"
APART_LEAST = 0.005  # share of a statement's calls outside transactions that makes an operation
_NAME_MOST = 50  # characters of an operation's name

Transactions = Literal["none", "seen"]


@dataclass(frozen=True)
class DerivedOperation:
    """An operation of the workload.

    Attributes:
        name: The name of the operation.
        calls: The number of times that it was executed.
        time_s: The total time in the server.
        statements: The statements, each with its repetitions.
    """

    name: str
    calls: int
    time_s: float
    statements: tuple[Text, ...]


@dataclass(frozen=True)
class Derived:
    """A derived workload.

    Attributes:
        document: The document of the workload.
        operations: The operations, the most frequent first.
        left_out: The statements that are not in it, those with most server time first.
        notes: Notes for the reader: what is guessed, and from what.
        calls: The calls of all counted statements, without transaction control.
        calls_unknown: The calls of statements that the server does not tell apart.
        time_s: The total time of all statements in the server.
    """

    document: dict[str, Any]
    operations: tuple[DerivedOperation, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    calls: int
    calls_unknown: int
    time_s: float

    @property
    def share_of_calls(self) -> float | None:
        """The share of the calls that the workload covers."""
        whole = self.calls + self.calls_unknown
        left_out = sum(one.calls for one in self.left_out)
        return (self.calls - left_out) / whole if whole else None

    @property
    def share_of_time(self) -> float | None:
        """The share of the server's time that the workload covers."""
        lost_s = sum(one.time_s for one in self.left_out)
        return 1 - lost_s / self.time_s if self.time_s else None


def derive(
    seen: StatementsSeen,
    *,
    name: str = "derived",
    writes: bool = False,
    only: Collection[str] = (),
    trial: Trial | None = None,
    transactions: Transactions = "seen",
) -> Derived:
    """Derive a workload from statement statistics.

    Args:
        seen: The statements and the tables.
        name: The name of the workload.
        writes: Whether it includes statements that change or lock rows.
        only: The tables of interest; empty for all.
        trial: A server that tries each statement, which is left out if it is refused; None to try
            none.
        transactions: Whether transactions that were seen become operations; with `none` each
            statement is an operation by itself.

    Raises:
        UsageError: A table does not exist, or no statement can be used.
    """
    language = find_protocol_facts(seen.protocol).language
    plain = find_plain_names(seen.tables, folds=language == "postgres")
    tables = rename_tables(seen.tables, plain)
    only = [plain.get(table, table) for table in only]
    for table in only:
        if table not in tables:
            raise UsageError(
                complain_of_unknown("table", table, tables, ("--tables",), value=table)
            )
    found = sort_statements(
        seen.digests, language, tables, seen.qualifier, only=only, writes=writes, plain=plain
    )
    known = describe_tables(tables, found.taken)
    taken = merge_statements(found.taken, known)
    maker = Maker(seen.protocol, known, find_usual_rows(taken), trial, seen.keys, seen.same_keys)
    sent = sorted(
        _filter_sendable(taken, found, maker),
        key=lambda one: (-one.digest.time_s, -one.digest.calls),
    )
    made = _make_operations(sent, found, maker, seen if transactions == "seen" else None)
    if not made.done:
        raise UsageError(_explain_no_statement(seen, found))
    document, notes = _write_document(seen, found, maker, made, plain)
    parse_workload(document, source=f"{name}.yaml")
    found.left_out.sort(key=lambda one: (-one.time_s, -one.calls))
    sent_digests = [one.digest for one in made.sent]
    return Derived(
        document,
        tuple(sorted(made.done, key=lambda one: -one.calls)),
        tuple(found.left_out),
        notes,
        calls=sum(one.calls for one in found.left_out) + sum(one.calls for one in sent_digests),
        calls_unknown=seen.calls_unknown,
        time_s=found.controls_s
        + sum(one.time_s for one in found.left_out)
        + sum(one.time_s for one in sent_digests),
    )


def _filter_sendable(taken: Sequence[Taken], found: Sorted, maker: Maker) -> Iterator[Taken]:
    """Yield the statements that can be sent, and record the others."""
    for one in taken:
        problem = maker.problem(one)
        if problem is None:
            yield one
        elif one.shape.verb == "INSERT" and maker.problem(one, replaced=True) is None:
            yield replace(one, unless_replaced=problem)
        else:
            found.left_out.append(describe_left_out(one.digest, _show_statement(one), problem))


@dataclass
class _Made:
    """The operations made so far.

    Attributes:
        operations: The operations as in a document, by name.
        done: The operations with their calls.
        sent: The statements of these operations, each with its calls in one of them.
        groups: The transactions among them.
    """

    operations: dict[str, dict[str, Any]] = field(default_factory=dict)
    done: list[DerivedOperation] = field(default_factory=list)
    sent: list[Taken] = field(default_factory=list)
    groups: tuple[Group, ...] = ()


def _make_operations(
    sent: Sequence[Taken], found: Sorted, maker: Maker, seen: StatementsSeen | None
) -> _Made:
    """Turn statements into operations, and record those beyond the limit.

    Args:
        sent: The statements that can be sent.
        found: The sorted statements.
        maker: The writer of operations.
        seen: The statistics with the transactions that were seen; None to make none.
    """
    groups = _find_groups(sent, seen) if seen else ()
    within = _count_within(sent, groups, seen) if seen else [0.0] * len(sent)
    made = _Made(groups=groups)
    ended = sum(group.calls for group in groups)
    for number, group in enumerate(groups, start=1):
        name = TRANSACTION if number == 1 else f"{TRANSACTION}_{number}"
        made.operations[name], texts = maker.transaction(sent, group.parts)
        portions = [
            _take_portion(
                sent[index], within[index] * calls / sum(one.sent.get(index, 0) for one in groups)
            )
            for index, calls in group.sent.items()
        ]
        time_s = found.controls_s * group.calls / ended
        time_s += sum(one.digest.time_s for one in portions)
        made.done.append(DerivedOperation(name, group.calls, time_s, texts))
        made.sent += portions
    for one, inside in zip(sent, within, strict=True):
        if inside >= one.digest.calls:
            continue
        apart = _take_portion(one, one.digest.calls - inside) if inside else one
        problem = one.unless_replaced
        if len(made.operations) == MAX_OPERATIONS:
            problem = f"{MAX_OPERATIONS} operations take more time"
        if problem:
            found.left_out.append(describe_left_out(apart.digest, _show_statement(one), problem))
            continue
        chosen = _name_operation(one.shape, maker.known, made.operations)
        made.operations[chosen], texts = maker.single(one)
        made.done.append(DerivedOperation(chosen, apart.digest.calls, apart.digest.time_s, texts))
        made.sent.append(apart)
    return made


def _find_groups(sent: Sequence[Taken], seen: StatementsSeen) -> tuple[Group, ...]:
    """Return the transactions that were seen, of the statements that can be sent in them."""
    places = {member: index for index, one in enumerate(sent) for member in one.members}
    groups = []
    for group in group_transactions(seen.transactions, places):
        replaced = find_replaced_rows(sent, group.parts)
        parts = tuple(
            part
            for part in group.parts
            if part.index in replaced or not sent[part.index].unless_replaced
        )
        if parts:
            kept = {part.index: group.sent[part.index] for part in parts}
            groups.append(Group(group.calls, parts, kept))
    return tuple(groups)


def _count_within(
    sent: Sequence[Taken], groups: Sequence[Group], seen: StatementsSeen
) -> list[float]:
    """Return how many calls of each statement are those of the transactions that are operations."""
    whole = [0] * len(sent)
    places = {member: index for index, one in enumerate(sent) for member in one.members}
    for transaction in seen.transactions:
        for digest, times in transaction.statements:
            if digest in places:
                whole[places[digest]] += times * transaction.calls
    within: list[float] = []
    for index, one in enumerate(sent):
        kept, calls = sum(group.sent.get(index, 0) for group in groups), one.digest.calls
        inside = (
            kept if one.digest.within is None else one.digest.within * kept / (whole[index] or 1)
        )
        within.append(calls if inside >= calls * (1 - APART_LEAST) else inside)
    return within


def _take_portion(one: Taken, calls: float) -> Taken:
    """Return a statement with a portion of its calls, and of all that they did."""
    share = calls / one.digest.calls if one.digest.calls else 0.0

    def part(count: int | None) -> int | None:
        return None if count is None else round(count * share)

    digest: Digest = one.digest.model_copy(
        update={
            "calls": round(calls),
            "time_s": one.digest.time_s * share,
            "rows_sent": part(one.digest.rows_sent),
            "rows_examined": part(one.digest.rows_examined),
            "rows_affected": part(one.digest.rows_affected),
        }
    )
    return replace(one, digest=digest)


def _write_document(
    seen: StatementsSeen, found: Sorted, maker: Maker, made: _Made, plain: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Write the workload; returns the notes too."""
    operations, done, sent = made.operations, made.done, made.sent
    total = sum(one.calls for one in done)
    for one in done:
        operations[one.name]["weight"] = round(100 * one.calls / total, 4)
    used = sorted({table for one in sent for table in one.shape.tables})
    known = [maker.known[table] for table in used]
    tables, records = write_tables(known)
    pool = find_pool(seen, sent)
    constant = estimate_zipfian_constant(pool) if pool else None
    drawn = _describe_skew(pool, constant)
    if (by_keys := find_key_skew(seen, sent, maker.known)) is not None:
        constant, calls = by_keys
        how = f"by zipfian(constant={constant:g})" if constant else "alike"
        drawn = (
            f"rows are asked for {how}: with that as many of {calls:,} calls have a key of another"
            " call as in the log"
        )
    notes = write_notes(seen, found, known, made.groups, [drawn, *maker.guesses], plain=plain)
    if maker.untried is not None:
        notes = (*notes, f"the statements were not tried on the server: {maker.untried}")
    heaviest_first = sorted(operations.items(), key=lambda item: -float(item[1]["weight"]))
    document = {
        "about": f"derived from the statements that {seen.database} was sent",
        "source": list(notes),
        "default_records": records,
        "parameters": make_parameters(f"zipfian(constant={constant:g})" if constant else "uniform"),
        "tables": tables,
        "operations": dict(heaviest_first),
    }
    return document, notes


def _describe_skew(pool: Pool | None, constant: float | None) -> str:
    """Describe how rows are drawn, and why."""
    otherwise = "(--set distribution=zipfian asks otherwise)"
    if pool is None or constant is None:
        return (
            "every row is asked for as often as any other, for digests do not tell which, nor do"
            f" pages that miss the buffer pool here {otherwise}"
        )
    drawn = f"by zipfian(constant={constant:g})" if constant else "alike"
    return (
        f"rows are asked for {drawn}: with that as many pages miss a buffer pool of"
        f" {pool.pages:,} pages as the server had to read ({words.format_percent(pool.missed)} of"
        " the"
        f" accesses; of rows asked for alike {words.format_percent(pool.missed_if_even)})"
        f" {otherwise}"
    )


def _show_statement(one: Taken) -> str:
    """Return a statement for people, without its values."""
    return one.shape.write_text(tables={table: table for table in one.shape.tables})


def _explain_no_statement(seen: StatementsSeen, found: Sorted) -> str:
    own = [one for one in found.left_out if not one.why.startswith("is none of")]
    most = sorted(own or found.left_out, key=lambda one: one.calls, reverse=True)
    reasons = "; ".join(f"{one.statement}: {one.why}" for one in most[:3])
    problem = "no statement of which a workload can be made was counted"
    return f"{seen.database}: {problem}{f' ({reasons})' if reasons else ''}"


def _name_operation(shape: Shape, known: Mapping[str, Known], taken: Collection[str]) -> str:
    """Return an unused name: `select_orders_by_id`, `update_item_by_sku_2`."""
    table = known[shape.tables[0]].name if shape.tables else ""
    compared = [
        slot.column
        for slot in shape.slots
        if slot.role in {"equal", "member", "low", "high"} and slot.column
    ]
    by = ["by", *dict.fromkeys(compared)] if compared else []
    name = "_".join(filter(None, [shape.verb, table, *by])).lower()[:_NAME_MOST]
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name}_{number}"
    return chosen
