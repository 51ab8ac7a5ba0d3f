"""Writes the operations of a derived workload."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from statistics import median
from typing import Any, Protocol, get_args

from plimsoll.complaints import Scalar
from plimsoll.errors import WorkloadError
from plimsoll.model.databases import Language, find_protocol_facts
from plimsoll.model.engine.asked import Protocol as WireProtocol
from plimsoll.model.run.statements_seen import KeysSeen, StatementsSeen
from plimsoll.workload.compiled import Table
from plimsoll.workload.ddl import define_tables
from plimsoll.workload.declared import read_part
from plimsoll.workload.derive.binds import FEW_LEAST, Known, compute_rows_per_call, find_binds
from plimsoll.workload.derive.columns import find_row_numbers
from plimsoll.workload.derive.grouping import Part
from plimsoll.workload.derive.shapes import Shape
from plimsoll.workload.derive.skew import Pool, fit_zipfian_constant
from plimsoll.workload.derive.statements import Taken
from plimsoll.workload.derive.tables import write_tables
from plimsoll.workload.names import Names
from plimsoll.workload.operations import Operation
from plimsoll.workload.parameters import substitute
from plimsoll.workload.tables import Tables, TableShape, parse_indexed
from plimsoll.workload.values import Scope

_REPLACED = "replaced"
_VALUES: dict[str, Scalar] = {"records": 1000, "distribution": "uniform"}  # values used in checks
Text = tuple[str, int]  # text of a statement, and how often it is sent


def make_parameters(distribution: str = "uniform") -> dict[str, Any]:
    """Return the parameters of a derived workload: the distribution of row accesses, a guess."""
    about = "how rows are drawn: a guess"
    return {"distribution": {"about": about, "default": distribution, "kind": "distribution"}}


@dataclass(frozen=True)
class _Checked:
    """Tables that were checked.

    Attributes:
        problems: The problems of tables that are not possible, by name.
        copies: The number of copies of the other tables.
        names: The names that statements may use.
        tables: One copy of each table, as it is created.
    """

    problems: Mapping[str, str]
    copies: Mapping[str, int | None]
    names: Mapping[Language, Names]
    tables: Sequence[Table]


class Trial(Protocol):
    """A server that says which statements it would take, on tables as they were derived."""

    def create(self, tables: Sequence[Table]) -> str | None:
        """Create the tables; return why they cannot be made, None if they are."""

    def refuse(self, sql: str) -> str | None:
        """Return what the server says against a statement; None if it prepares it."""


@dataclass
class Maker:
    """Writes statements as operations.

    Attributes:
        protocol: The wire protocol of the databases.
        known: The tables by the names in the server.
        usual_rows: The rows of a usual range, for ranges whose rows are not counted.
        trial: A server that tries each statement; None to try none.
        keys: How the keys of statements repeat, by the indexes of their digests.
        same_keys: The digests that compare the same key within a transaction.
        guesses: The guesses made so far.
    """

    protocol: WireProtocol
    known: Mapping[str, Known]
    usual_rows: float | None
    trial: Trial | None = None
    keys: Sequence[KeysSeen] = ()
    same_keys: Sequence[tuple[int, int]] = ()
    guesses: dict[str, None] = field(default_factory=dict)

    @property
    def language(self) -> Language:
        """The field of a statement that has its text."""
        return find_protocol_facts(self.protocol).language

    def problem(self, one: Taken, *, replaced: bool = False) -> str | None:
        """Return why a statement cannot be sent, as the workload's reader says; None if it can.

        Args:
            one: The statement.
            replaced: Whether it inserts a row that was deleted before.
        """
        if not one.shape.tables:
            return "names no table that is known"
        if (why := self._find_lacking_index(one.shape)) is not None:
            return why
        for table in one.shape.tables:
            if self.known[table].name in self._checked.problems:
                return self._checked.problems[self.known[table].name]
        try:
            operation, _ = self.single(one, kept=False, replaced=replaced)
            declared = substitute({**operation, "weight": 1}, _VALUES)
            found = read_part(Operation, declared).resolve(
                "one", self._checked.copies, self._checked.names, self.language
            )
        except WorkloadError as error:
            return "; ".join(about.sentence for about in error.complaints)
        if self.protocol not in found:
            return "has no form for this database"
        return self._try(found[self.protocol].statements[0].sql[0])

    def _try(self, sql: str) -> str | None:
        """Return what the server says against a statement; None if it takes it, or is not asked."""
        if self.trial is None or self.untried is not None:
            return None
        refused = self.trial.refuse(sql)
        return None if refused is None else f"the server refuses it: {refused}"

    @cached_property
    def untried(self) -> str | None:
        """Why the server cannot try statements; None if it can, or is not asked."""
        return None if self.trial is None else self.trial.create(self._checked.tables)

    def _find_lacking_index(self, shape: Shape) -> str | None:
        """Return why an index that a statement may use is not in the workload; None if all are."""
        for table in shape.tables:
            seen = self.known[table].seen
            leading = {parse_indexed(names[0]).column for names in seen.indexes.values() if names}
            leading |= set(seen.primary_key[:1])
            compared = {
                slot.column
                for slot in shape.slots
                if slot.table == table and slot.role in {"equal", "member", "low", "high"}
            }
            computes = shape.has("same") or shape.has("path")
            for name, index in seen.indexes_left.items():
                of_expression = computes and "expression" in index.why
                if of_expression or compared & set(index.columns[:1]) - leading:
                    return f"may use the index {name} of {table}, which {index.why}"
        return None

    @cached_property
    def _checked(self) -> "_Checked":
        """The tables as the workload's reader checks them."""
        tables, _ = write_tables(list(self.known.values()))
        shapes: dict[str, TableShape] = {}
        problems: dict[str, str] = {}
        defined: list[Table] = []
        for name, table in tables.items():
            try:
                part = substitute({"tables": {name: table}}, _VALUES)
                shapes |= read_part(Tables, part, Scope(row=True)).tables
                defined.append(define_tables(name, shapes, self.protocol)[0])
            except WorkloadError as error:
                shapes.pop(name, None)
                problems[name] = "; ".join(about.sentence for about in error.complaints)
        copies = {name: shape.copies for name, shape in shapes.items()}
        names = {language: Names.of(shapes, language) for language in get_args(Language)}
        return _Checked(problems, copies, names, defined)

    def single(
        self, one: Taken, *, kept: bool = True, replaced: bool = False
    ) -> tuple[dict[str, Any], tuple[Text, ...]]:
        """Write one statement as an operation; returns its texts too.

        Args:
            one: The statement.
            kept: Whether to record its guesses.
            replaced: Whether it inserts a row that was deleted before.
        """
        row = _REPLACED if replaced else ""
        let, statement = self._statement(one, kept=kept, replaced=row)
        if replaced:
            let = {row: self.known[one.shape.tables[0]].key, **let}
        return _make_operation(let, [statement]), self._texts([statement])

    def transaction(
        self, taken: Sequence[Taken], parts: Sequence[Part]
    ) -> tuple[dict[str, Any], tuple[Text, ...]]:
        """Write the statements of a transaction as one operation; returns their texts too."""
        let: dict[str, Any] = {}
        statements = []
        replaced = find_replaced_rows(taken, parts)
        shared = self._find_shared_rows(
            {at: taken[part.index] for at, part in enumerate(parts, start=1) if part.repeat == 1}
        )
        for number, part in enumerate(parts, start=1):
            one, row = taken[part.index], ""
            if part.index in replaced:
                row = f"{_REPLACED}_{self.known[one.shape.tables[0]].name}"[:50].lower()
                let.setdefault(row, self.known[one.shape.tables[0]].key)
                self.guesses["the row that a transaction inserts is the one that it deletes"] = None
            elif number in shared:
                row = shared[number]
                let.setdefault(row, self.known[one.shape.tables[0]].key)
            own, statement = self._statement(one, mark=f"_{number}", replaced=row)
            let |= own
            statements.append(statement | ({"repeat": part.repeat} if part.repeat > 1 else {}))
        operation = _make_operation(let, statements) | {"transaction": True}
        return operation, self._texts(statements)

    def _find_shared_rows(self, taken: Mapping[int, Taken]) -> dict[int, str]:
        """Return the names of the rows that several statements of a transaction are about.

        Both are by the place of the statement. Few rows that are asked for again and again are left
        to the statement itself.
        """
        names: dict[int, str] = {}
        for (place, one), (later, other) in combinations(taken.items(), 2):
            pairs = {(a, b) for a in one.members for b in other.members}
            if pairs & set(self.same_keys) and self._may_share(one) == self._may_share(other) != "":
                names.setdefault(place, f"row_of_{place}")
                names.setdefault(later, names[place])
        return names

    def _may_share(self, one: Taken) -> str:
        """Return the table whose key a statement names; empty if it names none, or few rows."""
        first = next((slot for slot in one.shape.slots if slot.role == "equal"), None)
        keys = self._find_keys(one)
        if first is None or (keys and keys.distinct * FEW_LEAST <= keys.calls):
            return ""
        return first.table if self.known[first.table].columns[first.column].by_row else ""

    def _texts(self, statements: Sequence[Mapping[str, Any]]) -> tuple[Text, ...]:
        return tuple((str(one[self.language]), int(one.get("repeat", 1))) for one in statements)

    def _find_keys(self, one: Taken) -> KeysSeen | None:
        """Return how the keys of a statement repeat; None if that is not known of all its calls."""
        found = [keys for keys in self.keys if keys.digest in one.members]
        if not found or len(found) < len(one.members):
            return None
        most = max(found, key=lambda keys: keys.distinct)
        return most.model_copy(update={"calls": sum(keys.calls for keys in found)})

    def _statement(
        self, one: Taken, *, mark: str = "", replaced: str = "", kept: bool = True
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write a statement; returns the shared values and the statement."""
        found = find_binds(
            one.shape,
            one.digest,
            self.known,
            mark=mark,
            replaced=replaced,
            usual_rows=self.usual_rows,
            keys=self._find_keys(one),
        )
        if kept:
            self.guesses.update(dict.fromkeys(sorted(found.guesses)))
        text = one.shape.write_text(found.many, {name: k.name for name, k in self.known.items()})
        statement: dict[str, Any] = {self.language: text}
        if one.columns:
            statement[self.language] = text.replace(f" {one.columns[0]} =", " {column} =", 1)
            statement["one_of"] = {"column": list(one.columns)}
        if found.binds:
            statement["binds"] = found.binds
        if found.rows > 1:
            statement["rows_per_statement"] = found.rows
        return found.let, statement


def find_pool(seen: StatementsSeen, taken: Sequence[Taken]) -> Pool | None:
    """Return the buffer pool's figures for these statements; None if the server lacks them.

    A call is assumed to access one page, and one more for each page that its rows fill.
    """
    used = {table for one in taken for table in one.shape.tables}
    tables = [table for table in seen.tables if table.name in used]
    pages = [table.pages for table in tables if table.pages is not None]
    rows = sum(find_row_numbers(table)[1] for table in tables)
    if seen.pool_pages is None or seen.pages_missed is None or len(pages) < len(tables):
        return None
    each = rows / max(sum(pages), 1)
    accesses = 0.0
    for one in taken:
        met = compute_rows_per_call(one.shape, one.digest) or 1.0
        accesses += one.digest.calls * (1 + max(0.0, met - 1) / max(each, 1))
    if not accesses or not rows:
        return None
    return Pool(seen.pool_pages, max(sum(pages), 1), rows, seen.pages_missed / accesses)


def find_key_skew(
    seen: StatementsSeen, sent: Sequence[Taken], known: Mapping[str, Known]
) -> tuple[float, int] | None:
    """Return the zipfian constant of the keys that rows are asked for by, and the calls of it.

    It is the mean over all statements that compare a column of the key, by their calls; None if no
    log tells their keys.
    """
    keys = {one.digest: one for one in seen.keys}
    total, calls = 0.0, 0
    for one in sent:
        first = next((slot for slot in one.shape.slots if slot.role == "equal"), None)
        if first is None or not known[first.table].columns[first.column].by_row:
            continue
        rows = find_row_numbers(known[first.table].seen)[1]
        for member in set(one.members) & set(keys):
            if keys[member].distinct * FEW_LEAST <= keys[member].calls:
                continue  # it is about few rows, which its own values say
            constant = fit_zipfian_constant(keys[member], rows)
            if constant is not None:
                total += constant * keys[member].calls
                calls += keys[member].calls
    return (round(total / calls, 3), calls) if calls else None


def find_usual_rows(taken: Sequence[Taken]) -> float | None:
    """Return the median number of rows of ranges; None if no rows are counted."""
    known = [
        rows
        for one in taken
        if one.shape.has("low") and one.shape.has("high") and not one.shape.has("limit")
        if not one.shape.aggregates or one.digest.rows_examined is not None
        if (rows := compute_rows_per_call(one.shape, one.digest)) is not None
    ]
    return median(known) if known else None


def _make_operation(let: Mapping[str, Any], statements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"weight": 0.0, **({"let": dict(let)} if let else {}), "statements": statements}


def find_replaced_rows(taken: Sequence[Taken], parts: Sequence[Part]) -> set[int]:
    """Return the indexes of a transaction's DELETE and INSERT that probably affect the same row."""
    found: dict[str, dict[str, int]] = {}
    for part in parts:
        shape = taken[part.index].shape
        if shape.verb in {"DELETE", "INSERT"} and part.repeat == 1 and not shape.many_rows:
            found.setdefault(shape.tables[0], {})[shape.verb] = part.index
    return {index for both in found.values() if len(both) == 2 for index in both.values()}
