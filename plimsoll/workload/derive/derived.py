"""A workload made of what a server tells of the statements that it was sent."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from plimsoll import words
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.model.databases import Language, protocol_facts
from plimsoll.model.statements_seen import StatementsSeen, TableSeen
from plimsoll.workload.derive.binds import Known, bound, rows_of_a_call
from plimsoll.workload.derive.grouping import Part, transaction_of
from plimsoll.workload.derive.naming import operation_name
from plimsoll.workload.derive.notes import notes_of
from plimsoll.workload.derive.statements import (
    LeftOut,
    Sorted,
    Taken,
    left_out,
    merged,
    sort_statements,
)
from plimsoll.workload.derive.tables import known_tables, usable, written
from plimsoll.workload.library import parse_workload
from plimsoll.workload.operations import MAX_OPERATIONS

TRANSACTION = "transaction"
_PARAMETERS = {
    "distribution": {
        "about": "how rows are drawn: a guess, for digests do not tell",
        "default": "uniform",
        "kind": "distribution",
    }
}


@dataclass(frozen=True)
class DerivedOperation:
    """An operation of the workload.

    Attributes:
        name: Its name.
        calls: How often it was done.
        time_s: In the server, all of them together.
        statements: Its statements, each with how often it is sent.
    """

    name: str
    calls: int
    time_s: float
    statements: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Derived:
    """What became of what was seen.

    Attributes:
        document: The workload.
        operations: What it does, the most called first.
        left_out: What it does not do, the longest in the server first.
        notes: What a reader has to know: what is guessed, and from what.
        calls: Of all statements that were counted, but those that begin and end transactions.
        time_s: In the server, all statements together.
    """

    document: dict[str, Any]
    operations: tuple[DerivedOperation, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    calls: int
    time_s: float

    @property
    def share_of_calls(self) -> float | None:
        """The share of the calls that the workload stands for."""
        return 1 - sum(one.calls for one in self.left_out) / self.calls if self.calls else None

    @property
    def share_of_time(self) -> float | None:
        """The share of the server's time that the workload stands for."""
        lost_s = sum(one.time_s for one in self.left_out)
        return 1 - lost_s / self.time_s if self.time_s else None


def derive(
    seen: StatementsSeen,
    *,
    name: str = "derived",
    writes: bool = False,
    only: Collection[str] = (),
) -> Derived:
    """Make a workload of what was seen.

    Args:
        seen: Statements, and the tables that there are.
        name: The workload's.
        writes: Whether it has statements that change or lock rows.
        only: The tables that are asked for; none: all.

    Raises:
        UsageError: There is no such table, or no statement of which a workload can be made.
    """
    language = protocol_facts(seen.protocol).language
    tables = usable(seen.tables, folds=language == "postgres")
    if unknown := [table for table in only if table not in tables]:
        known = ", ".join(sorted(tables)) or "none"
        raise UsageError(f"--tables: there is no table {unknown[0]!r} (there are: {known})")
    found = sort_statements(
        seen.digests, language, tables, seen.database, only=only, writes=writes
    )
    return _Deriver(seen, language, tables, found, name).derived()


class _Deriver:
    def __init__(
        self,
        seen: StatementsSeen,
        language: Language,
        tables: Mapping[str, TableSeen],
        found: Sorted,
        name: str,
    ) -> None:
        self._seen, self._language, self._name, self._found = seen, language, name, found
        self._taken = merged(found.taken, tables)
        self._known = known_tables(tables, [one.shape for one in self._taken])
        self._guesses: dict[str, None] = {}
        self._usual_rows = _usual_rows(self._taken)
        self._left_out = list(found.left_out)

    def derived(self) -> Derived:
        sent = [one for one in self._taken if self._can_be_sent(one)]
        sent.sort(key=lambda one: -one.digest.time_s)
        parts = transaction_of([one.digest.calls for one in sent], self._found.commits)
        operations: dict[str, dict[str, Any]] = {}
        done: list[DerivedOperation] = []
        if parts:
            together = sorted(parts, key=lambda part: _order(sent[part.index]))
            self._add(operations, done, self._transaction(sent, together), TRANSACTION)
        within = {part.index for part in parts}
        for index, one in enumerate(sent):
            if index in within:
                continue
            if len(operations) == MAX_OPERATIONS:
                self._leave(one, f"more than {MAX_OPERATIONS} operations, and these have less time")
                continue
            chosen = operation_name(one.shape, self._known, operations)
            self._add(operations, done, self._single(one), chosen)
        if not operations:
            raise UsageError(self._nothing())
        return self._whole(operations, done, parts, sent)

    def _add(
        self,
        operations: dict[str, dict[str, Any]],
        done: list[DerivedOperation],
        made: tuple[dict[str, Any], DerivedOperation],
        name: str,
    ) -> None:
        operations[name] = made[0]
        done.append(replace(made[1], name=name))

    def _whole(
        self,
        operations: dict[str, dict[str, Any]],
        done: list[DerivedOperation],
        parts: Sequence[Part],
        sent: Sequence[Taken],
    ) -> Derived:
        total = sum(one.calls for one in done)
        for one in done:
            operations[one.name]["weight"] = round(100 * one.calls / total, 4)
        used = {table for one in sent for table in one.shape.tables}
        tables, records = written([self._known[table] for table in sorted(used)])
        self._left_out.sort(key=lambda one: (-one.time_s, -one.calls))
        notes = notes_of(
            self._seen,
            self._found,
            [self._known[table] for table in sorted(used)],
            TRANSACTION if parts else None,
            tuple(self._guesses),
        )
        document = {
            "about": f"derived from the statements that {self._seen.database} was sent",
            "source": list(notes),
            "default_records": records,
            "parameters": _PARAMETERS,
            "tables": tables,
            "operations": dict(sorted(operations.items(), key=lambda item: -item[1]["weight"])),
        }
        parse_workload(document, source=f"{self._name}.yaml")
        calls = sum(one.calls for one in self._left_out)
        calls += sum(one.digest.calls for one in sent)
        time_s = self._found.controls_s + sum(one.time_s for one in self._left_out)
        time_s += sum(one.digest.time_s for one in sent)
        done.sort(key=lambda one: -one.calls)
        return Derived(document, tuple(done), tuple(self._left_out), notes, calls, time_s)

    def _single(self, one: Taken) -> tuple[dict[str, Any], DerivedOperation]:
        let, statement = self._statement(one)
        made = {"weight": 0.0, **({"let": let} if let else {}), "statements": [statement]}
        sent = ((self._text(statement), 1),)
        return made, DerivedOperation("", one.digest.calls, one.digest.time_s, sent)

    def _transaction(
        self, sent: Sequence[Taken], parts: Sequence[Part]
    ) -> tuple[dict[str, Any], DerivedOperation]:
        let: dict[str, Any] = {}
        statements = []
        replaced = _replaced(sent, parts)
        for number, part in enumerate(parts, start=1):
            one = sent[part.index]
            row = ""
            if part.index in replaced:
                row = "replaced"
                let.setdefault(row, self._known[one.shape.tables[0]].key)
                self._guesses["the row that it inserts is the one that it deletes"] = None
            own, statement = self._statement(one, mark=f"_{number}", replaced=row)
            let |= own
            statements.append(statement | ({"repeat": part.repeat} if part.repeat > 1 else {}))
        made = {
            "weight": 0.0,
            "transaction": True,
            **({"let": let} if let else {}),
            "statements": statements,
        }
        texts = tuple((self._text(one), one.get("repeat", 1)) for one in statements)
        time_s = sum(sent[part.index].digest.time_s for part in parts) + self._found.controls_s
        return made, DerivedOperation("", self._found.commits, time_s, texts)

    def _text(self, statement: Mapping[str, Any]) -> str:
        return str(statement[self._language])

    def _statement(
        self, one: Taken, *, mark: str = "", replaced: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write a statement; gives the values that it shares, and the statement."""
        found = bound(
            one.shape,
            one.digest,
            self._known,
            mark=mark,
            replaced=replaced,
            usual_rows=self._usual_rows,
        )
        self._guesses.update(dict.fromkeys(sorted(found.guesses)))
        names = {name: known.name for name, known in self._known.items()}
        text = one.shape.written(found.many, names)
        chosen = {}
        if one.columns:
            column = one.shape.slots[0].column
            text = text.replace(f" {column} =", " {column} =", 1)
            chosen = {"one_of": {"column": list(one.columns)}}
        statement = {
            self._language: text,
            **({"binds": found.binds} if found.binds else {}),
            **chosen,
            **({"rows_per_statement": found.rows} if found.rows > 1 else {}),
        }
        return found.let, statement

    def _can_be_sent(self, one: Taken) -> bool:
        """Whether the workload's own reader takes a statement; what it does not is left out."""
        try:
            let, statement = self._statement(one)
            tables, records = written([self._known[table] for table in one.shape.tables])
            if not tables:
                self._leave(one, "names no table that is known")
                return False
            parse_workload(
                {
                    "about": "one statement",
                    "default_records": records,
                    "parameters": _PARAMETERS,
                    "tables": tables,
                    "operations": {"one": {"weight": 1, "let": let, "statements": [statement]}},
                }
            ).compile(protocol=self._seen.protocol)
        except WorkloadError as error:
            self._leave(one, "; ".join(about.sentence for about in error.complaints))
            return False
        return True

    def _leave(self, one: Taken, why: str) -> None:
        text = one.shape.written().replace("{", "").replace("}", "")
        self._left_out.append(left_out(one.digest, words.visible(text)[:160], why))

    def _nothing(self) -> str:
        reasons = "; ".join(f"{one.statement}: {one.why}" for one in self._left_out[:3])
        problem = "no statement of which a workload can be made was counted"
        return f"{self._seen.database}: {problem}{f' ({reasons})' if reasons else ''}"


def _order(one: Taken) -> tuple[float, bool]:
    """Where in a transaction a statement is: as it was first seen, reads before writes."""
    return one.digest.order, one.shape.writes


def _replaced(sent: Sequence[Taken], parts: Sequence[Part]) -> set[int]:
    """Name the DELETE and the INSERT of a transaction that are likely of the same row."""
    found: dict[str, dict[str, int]] = {}
    for part in parts:
        shape = sent[part.index].shape
        if shape.verb in {"DELETE", "INSERT"} and part.repeat == 1 and not shape.many_rows:
            found.setdefault(shape.tables[0], {})[shape.verb] = part.index
    return {index for both in found.values() if len(both) == 2 for index in both.values()}


def _usual_rows(taken: Sequence[Taken]) -> float | None:
    """Give the rows that a range has elsewhere, as a median; None: nobody counts any."""
    known = [
        rows
        for one in taken
        if one.shape.has("low") and one.shape.has("high") and not one.shape.has("limit")
        if (rows := rows_of_a_call(one.shape, one.digest)) is not None
        if not one.shape.aggregates or one.digest.rows_examined is not None
    ]
    return median(known) if known else None
