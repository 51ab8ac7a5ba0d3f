"""Operations: the weighted mix, and the statements of each.

An operation with logic has branches, loops or rollbacks among its statements, or statements whose
results later ones use. Its statements are numbered, and `steps` says what is done with them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from plimsoll.complaints import complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.databases import Language, find_protocol_facts
from plimsoll.model.engine.asked import (
    Consistency,
    EachStep,
    EngineOperation,
    EngineStatement,
    IfStep,
    Let,
    Protocol,
    RepeatStep,
    RollbackStep,
    SendStep,
    Step,
)
from plimsoll.model.engine.expressions import NumberExpression, find_names
from plimsoll.model.engine.values import IntegerValue, LiteralValue, Value, VariableValue
from plimsoll.workload.declared import (
    Declared,
    Given,
    Listed,
    Name,
    build_workload_error,
    locate_errors,
    read_part,
)
from plimsoll.workload.lists import DrawnList, read_list
from plimsoll.workload.names import Names
from plimsoll.workload.rows import KnownRows, RowKey
from plimsoll.workload.statements import Copies, Statement, require_short
from plimsoll.workload.values import (
    ConditionText,
    Scope,
    WholeNumber,
    find_used_variables,
    is_number,
    read_value,
)

MAX_OPERATIONS = 100
MAX_STATEMENTS = 1000
MAX_TURNS = 10_000
DEEPEST = 8  # blocks within each other
NO_KEYS: Mapping[str, RowKey] = {}
# What stands for a variable whose value only a load knows, by its kind
_UNKNOWN: dict[str, Value] = {"int": LiteralValue(value=0), "text": LiteralValue(value="")}

_BLOCKS = {
    "if": "branches",
    "repeat": "drawn loops",
    "each": "loops over lines",
    "rollback": "rollbacks",
}

Statements = Annotated[Listed[Any], Field(min_length=1, max_length=MAX_STATEMENTS)]


class Branch(Declared):
    """Statements that are sent if a condition is not 0, and others that are sent otherwise."""

    condition: Annotated[ConditionText, Field(alias="if")]
    statements: Statements
    otherwise: Annotated[Given[Statements], Field(alias="else")] = None


class Loop(Declared):
    """Statements that are sent several times.

    Attributes:
        repeat: How often; drawn once, before the first turn.
        turn: The variable with the number of the turn, from 1.
        let: The values that are drawn in each turn.
    """

    repeat: WholeNumber
    turn: Name = "turn"
    let: dict[Name, Any] = Field(default_factory=dict)
    statements: Statements


class LineLoop(Declared):
    """Statements that are sent for each line of a list, with the line's variables."""

    each: Name
    statements: Statements


class Rollback(Declared):
    """Rolls back what the operation has done, and ends it as a success."""

    rollback: Literal[True]


@dataclass
class _Found:
    """What is found in an operation with logic, statement by statement.

    Attributes:
        lists: The operation's lists, by name.
        texts: Each statement in the languages that it has a text for.
        returned: The kinds of the variables that statements return to lines, by list and name.
        used: The names of the variables that are used.
        logic: Whether there is more than statements that are sent in turn.
    """

    tables: Copies
    names: Mapping[Language, Names]
    wanted: Language | None
    keys: Mapping[str, RowKey]
    lists: Mapping[str, DrawnList]
    returned: dict[str, dict[str, str]] = field(default_factory=dict)
    texts: list[dict[Language, EngineStatement]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    logic: bool = False
    characters: int = 0

    def read_steps(self, declared: tuple[Any, ...], scope: Scope, depth: int = 0) -> list[Step]:
        """Read a list of statements and blocks."""
        steps, _ = self._read_steps(declared, scope, depth, None)
        return steps

    def _read_steps(
        self, declared: tuple[Any, ...], scope: Scope, depth: int, line_of: str | None
    ) -> tuple[list[Step], Scope]:
        """Read a list of statements and blocks, and return the scope after them.

        Args:
            declared: The statements and blocks.
            scope: What they may refer to.
            depth: How many blocks are around them.
            line_of: The list of whose lines they are sent for one; None if they are not.
        """
        if depth > DEEPEST:
            raise build_workload_error(f"has more than {DEEPEST} blocks within each other")
        steps: list[Step] = []
        for index, one in enumerate(declared):
            with locate_errors(index):
                if steps and isinstance(steps[-1], RollbackStep):
                    raise build_workload_error(
                        "can never run: a rollback ends the operation before it"
                    )
                kind = _find_kind(one)
                self.logic |= kind is not Statement
                match read_part(kind, one, self._enter_line(one, scope, line_of)):
                    case Branch() as branch:
                        steps.append(self._read_branch(branch, scope, depth, line_of))
                    case Loop() as loop:
                        steps.append(self._read_loop(loop, scope, depth, line_of))
                    case LineLoop() as loop:
                        inner = scope.in_line(loop.each)
                        with locate_errors("statements"):
                            sent, inner = self._read_steps(
                                loop.statements, inner, depth + 1, loop.each
                            )
                        scope = scope.with_line(loop.each, inner.lines[loop.each])
                        steps.append(EachStep(list=loop.each, steps=tuple(sent)))
                    case Statement() as statement:
                        scope = self._read_statement(statement, scope, line_of)
                        steps.append(SendStep(statement=len(self.texts) - 1))
                    case _:
                        steps.append(RollbackStep())
        return steps, scope

    def _enter_line(self, declared: object, scope: Scope, line_of: str | None) -> Scope:
        """Return the scope of a statement or block: one with `each` knows the list's lines."""
        name = declared.get("each") if isinstance(declared, dict) else None
        if not isinstance(name, str):
            return scope
        if name not in self.lists:
            known = list(self.lists)
            raise WorkloadError(complain_of_unknown("list", name, known, ("each",), value=name))
        if line_of is not None:
            raise build_workload_error(f"stands in a block for each line of {line_of}", "each")
        return scope.in_line(name)

    def _read_branch(self, branch: Branch, scope: Scope, depth: int, line_of: str | None) -> IfStep:
        if isinstance(branch.condition, NumberExpression):
            raise build_workload_error("is always the same: one side can never run", "if")
        self.used |= find_names(branch.condition)
        with locate_errors("statements"):
            then, _ = self._read_steps(branch.statements, scope, depth + 1, line_of)
        with locate_errors("else"):
            otherwise, _ = self._read_steps(branch.otherwise or (), scope, depth + 1, line_of)
        return IfStep(condition=branch.condition, then=tuple(then), otherwise=tuple(otherwise))

    def _read_loop(self, loop: Loop, scope: Scope, depth: int, line_of: str | None) -> RepeatStep:
        most = _find_most_turns(loop.repeat, scope)
        if most is not None and not 1 <= most <= MAX_TURNS:
            problem = "can never run: it has no turn" if most < 1 else f"is {MAX_TURNS} at most"
            raise build_workload_error(problem, "repeat")
        if loop.turn in scope.variables:
            raise build_workload_error(f"{loop.turn} is another variable", "turn", value=loop.turn)
        self.used |= find_used_variables([loop.repeat])
        inner = scope.with_variable(loop.turn, _UNKNOWN["int"])
        drawn: dict[str, Value] = {}
        for name, value in loop.let.items():
            with locate_errors("let", name):
                if name in inner.variables:
                    raise build_workload_error("is another variable of the operation")
                drawn[name] = read_value(value, inner)
                inner = inner.with_variable(name, drawn[name])
        with locate_errors("statements"):
            steps, _ = self._read_steps(loop.statements, inner, depth + 1, line_of)
        self.used |= find_used_variables(list(drawn.values()))
        for name in drawn:
            if name not in self.used:
                raise build_workload_error("is used nowhere", "let", name)
        let = tuple(Let(name=name, value=value) for name, value in drawn.items())
        return RepeatStep(times=loop.repeat, turn=loop.turn, let=let, steps=tuple(steps))

    def _read_statement(self, statement: Statement, scope: Scope, line_of: str | None) -> Scope:
        """Write a statement, and return the scope with what it returns."""
        known = KnownRows(self.keys, scope.variables)
        drawn = None
        if statement.each is not None:
            self.logic = True
            drawn = self.lists[statement.each]
            drawn = replace(drawn, variables=scope.lines[drawn.name])
            key = drawn.key or drawn.name
            if statement.returns and next(iter(statement.returns)) != key:
                problem = f"the first column that is returned to lines is their key, {key}"
                raise build_workload_error(problem, "returns")
        written = statement.resolve(self.tables, self.names, self.wanted, known, drawn)
        self.texts.append(written)
        if len(self.texts) > MAX_STATEMENTS:
            raise build_workload_error(f"is one of more than {MAX_STATEMENTS} statements")
        require_short(characters := self.characters + _count_characters(written))
        self.characters = characters
        self.used |= find_used_variables(statement.values)
        for name, kind in statement.returns.items():
            self.logic = True
            line = statement.each or line_of
            within = scope if line is None else scope.in_line(line)
            if name in within.variables and is_number(within.variables[name], within) != (
                kind == "int"
            ):
                raise build_workload_error("is another kind of value before", "returns", name)
            with locate_errors("returns", name):
                within.require_line({name})
            if line is None:
                scope = scope.with_variable(name, _UNKNOWN[kind])
                continue
            if name in scope.variables and name not in scope.lines[line]:
                raise build_workload_error("is a variable of the operation before", "returns", name)
            self.returned.setdefault(line, {}).setdefault(name, kind)
            scope = scope.with_line(line, {**scope.lines[line], name: _UNKNOWN[kind]})
            scope = scope.in_line(line) if line_of else scope
        return scope


class Operation(Declared):
    """An operation as a workload declares it.

    Attributes:
        let: The values that are drawn once per operation, by name. Each may use the ones before it,
            and the statements use them; `resolve` reads both, in this order.
        lists: Lines with values of their own that are drawn after these, by name.
        max_tries: How often it is tried if it meets deadlocks or serialization failures.
        keying_s: In a closed loop, the time before it is sent.
        think_s: In a closed loop, the mean of the exponential time after it.
    """

    weight: Annotated[float, Field(ge=0, le=1e9)]
    transaction: bool = False
    records: Annotated[int, Field(ge=1, le=10**9)] = 1
    consistency: Consistency = "ONE"
    max_tries: Annotated[int, Field(ge=1, le=1000)] = 1
    keying_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    think_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    let: dict[Name, Any] = Field(default_factory=dict)
    lists: dict[Name, Any] = Field(default_factory=dict)
    statements: Statements

    def resolve(
        self,
        name: str,
        tables: Copies,
        names: Mapping[Language, Names],
        wanted: Language | None = None,
        keys: Mapping[str, RowKey] = NO_KEYS,
    ) -> dict[Protocol, EngineOperation]:
        """Compile it for each protocol in whose language every statement has a text.

        Args:
            name: The name of the operation.
            tables: The number of copies of each table.
            names: The names that its statements may use.
            wanted: The required language; None if any language will do.
            keys: The keys of the tables whose rows are there throughout a load.

        Raises:
            WorkloadError: Something in it is not valid.
        """
        scope = Scope(copies=tables)
        for variable, declared in self.let.items():
            with locate_errors("let", variable):
                scope = scope.with_variable(variable, read_value(declared, scope))
        drawn = scope.variables
        lists = dict[str, DrawnList]()
        for name_of_list, declared in self.lists.items():
            with locate_errors("lists", name_of_list):
                lists[name_of_list] = read = read_list(name_of_list, declared, scope)
                scope = scope.with_line(name_of_list, read.variables)
        found = _Found(tables, names, wanted, keys, lists)
        found.used |= find_used_variables([*drawn.values(), *_list_drawn(lists)])
        found.used |= {one.key for one in lists.values() if one.key is not None}
        with locate_errors("statements"):
            steps = found.read_steps(self.statements, _forget_returned(scope, self.statements))
        for variable in drawn:
            if variable not in found.used:
                raise build_workload_error("is used nowhere", "let", variable)
        for one in lists.values():
            for variable in one.drawn:
                if variable not in found.used:
                    raise build_workload_error(
                        "is used nowhere", "lists", one.name, "let", variable
                    )
        sent_lists = tuple(
            one.to_engine(found.returned.get(one.name, {})) for one in lists.values()
        )
        self._require_certain_start(steps, found)
        resolved: dict[Protocol, EngineOperation] = {}
        for protocol in get_args(Protocol):
            facts = find_protocol_facts(protocol)
            sent = tuple(text[facts.language] for text in found.texts if facts.language in text)
            if len(sent) == len(found.texts):
                resolved[protocol] = EngineOperation(
                    name=name,
                    weight=self.weight,
                    let=_keep_used_variables(drawn, sent, steps, _list_drawn(lists)),
                    lists=sent_lists,
                    transaction=self.transaction,
                    statements=sent,
                    steps=tuple(steps) if found.logic else (),
                    max_tries=self.max_tries,
                    keying_s=self.keying_s,
                    think_s=self.think_s,
                    records=self.records,
                    consistency=self.consistency if facts.has_consistency else "ONE",
                )
        return resolved

    def _require_certain_start(self, steps: list[Step], found: _Found) -> None:
        """Refuse logic whose first request is not certain, and a rollback of nothing.

        A stored procedure may begin a transaction, or have rolled one back.
        """
        if self.transaction or not found.logic:
            return
        texts = [text.sql[0] for written in found.texts for text in written.values()]
        calls = any(text[:4].upper() == "CALL" for text in texts)
        if not calls and any(_rolls_back(step) for step in steps):
            raise build_workload_error("a rollback needs a transaction", "transaction")
        if not isinstance(steps[0], SendStep):
            raise build_workload_error(
                "without a transaction the first is a statement, which is sent in any case",
                "statements",
                0,
            )


class Operations(Declared):
    """The operations of a workload, by name."""

    operations: Annotated[dict[Name, Operation], Field(min_length=1, max_length=MAX_OPERATIONS)]

    @model_validator(mode="after")
    def _weights_sum_to_something(self) -> Self:
        if not any(operation.weight for operation in self.operations.values()):
            problem = "the weights sum to nothing: at least one must be above 0"
            raise build_workload_error(problem, "operations")
        return self


def describe_logic(operation: EngineOperation) -> str:
    """Describe what an operation needs that CQL does not have; empty if it needs nothing."""
    needs = []
    if any(statement.returns for statement in operation.statements):
        needs.append("results that later statements use (returns)")
    kinds = {step.kind for step in operation.steps}
    if operation.lists:
        needs.append("statements for several lines at once (lists)")
    needs += [f"{what} ({kind})" for kind, what in _BLOCKS.items() if kind in kinds]
    if operation.max_tries > 1:
        needs.append("deadlocks to try again after (max_tries)")
    return ", ".join(needs)


def list_texts(declared: object) -> Iterator[object]:
    """List the fields of all statements of an operation, at any depth."""
    for one in declared if isinstance(declared, list | tuple) else ():
        if isinstance(one, dict):
            yield from one.values()
            yield from list_texts(one.get("statements"))
            yield from list_texts(one.get("else"))


def _find_most_turns(times: Value, scope: Scope) -> int | None:
    """Return the most turns that a loop has; None if that is not known."""
    match times:
        case VariableValue(name=name) if scope.variables[name] not in _UNKNOWN.values():
            return _find_most_turns(scope.variables[name], scope)
        case IntegerValue(high=most) | LiteralValue(value=int(most)):
            return most
        case _:
            return None


def _find_kind(declared: object) -> type[Declared]:
    """Return what an entry among the statements is."""
    fields = declared if isinstance(declared, dict) else {}
    if "if" in fields:
        return Branch
    if "rollback" in fields:
        return Rollback
    if "each" in fields and "statements" in fields:
        return LineLoop
    return Loop if "statements" in fields else Statement


def _forget_returned(scope: Scope, statements: tuple[Any, ...]) -> Scope:
    """Return a scope in which a variable that a statement sets is of no known row."""
    for returned in list_texts(statements):
        for name in returned if isinstance(returned, dict) else ():
            if name in scope.variables and not isinstance(scope.variables[name], LiteralValue):
                kind = "int" if is_number(scope.variables[name], scope) else "text"
                scope = scope.with_variable(name, _UNKNOWN[kind])
    return scope


def _rolls_back(step: Step) -> bool:
    match step:
        case RollbackStep():
            return True
        case IfStep(then=then, otherwise=otherwise):
            return any(map(_rolls_back, (*then, *otherwise)))
        case RepeatStep(steps=steps) | EachStep(steps=steps):
            return any(map(_rolls_back, steps))
        case _:
            return False


def _count_characters(texts: Mapping[Language, EngineStatement]) -> int:
    """Return the highest number of characters for one target, which gets one language only."""
    return max((sum(map(len, statement.sql)) for statement in texts.values()), default=0)


def _keep_used_variables(
    variables: Mapping[str, Value],
    statements: tuple[EngineStatement, ...],
    steps: list[Step],
    of_lines: list[Value],
) -> tuple[Let, ...]:
    """Drop variables that are no longer used, such as the choice of a copy if there is only one."""
    used = _find_used_by_steps(steps) | find_used_variables(of_lines)
    for statement in statements:
        used |= find_used_variables(statement.binds)
        if statement.choose is not None:
            used |= find_used_variables([statement.choose])
    kept: list[Let] = []
    for name, value in reversed(list(variables.items())):
        if name in used:
            used |= find_used_variables([value])
            kept.append(Let(name=name, value=value))
    return tuple(reversed(kept))


def _find_used_by_steps(steps: tuple[Step, ...] | list[Step]) -> set[str]:
    used: set[str] = set()
    for step in steps:
        match step:
            case IfStep(condition=condition, then=then, otherwise=otherwise):
                used |= find_names(condition)
                used |= _find_used_by_steps(then) | _find_used_by_steps(otherwise)
            case RepeatStep(times=times, let=let, steps=inner):
                used |= find_used_variables([times, *(each.value for each in let)])
                used |= _find_used_by_steps(inner)
            case EachStep(steps=inner):
                used |= _find_used_by_steps(inner)
    return used


def _list_drawn(lists: Mapping[str, DrawnList]) -> list[Value]:
    """List what lists are drawn from: their numbers of lines, and their lines' values."""
    return [value for one in lists.values() for value in (one.count, *one.drawn.values())]
