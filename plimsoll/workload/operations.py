"""Operations: the weighted mix, and the statements of each."""

from collections.abc import Mapping
from typing import Annotated, Any, Self, get_args

from pydantic import Field, model_validator

from plimsoll.model.databases import Language, protocol_facts
from plimsoll.model.engine.asked import (
    Consistency,
    EngineOperation,
    EngineStatement,
    Let,
    Protocol,
)
from plimsoll.model.engine.values import Value
from plimsoll.workload.declared import (
    Declared,
    Listed,
    Name,
    locate_errors,
    read_part,
    workload_error,
)
from plimsoll.workload.names import Names
from plimsoll.workload.rows import KnownRows, RowKey
from plimsoll.workload.statements import Copies, Statement, require_short
from plimsoll.workload.values import Scope, find_used_variables, read_value

MAX_OPERATIONS = 100
MAX_STATEMENTS = 1000
NO_KEYS: Mapping[str, RowKey] = {}


class Operation(Declared):
    """An operation as a workload declares it.

    Attributes:
        let: The values that are drawn once per operation, by name. Each may use the ones before it,
            and the statements use them; `resolve` reads both, in this order.
    """

    weight: Annotated[float, Field(ge=0, le=1e9)]
    transaction: bool = False
    records: Annotated[int, Field(ge=1, le=10**9)] = 1
    consistency: Consistency = "ONE"
    let: dict[Name, Any] = Field(default_factory=dict)
    statements: Annotated[Listed[Any], Field(min_length=1, max_length=MAX_STATEMENTS)]

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
        known = KnownRows(keys, scope.variables)
        texts: list[dict[Language, EngineStatement]] = []
        characters = 0
        drawn: list[Value] = list(scope.variables.values())
        for index, declared in enumerate(self.statements):
            with locate_errors("statements", index):
                statement = read_part(Statement, declared, scope)
                texts.append(statement.resolve(tables, names, wanted, known))
                require_short(characters := characters + _count_characters(texts[-1]))
                drawn += statement.values
        used = find_used_variables(drawn)
        for variable in scope.variables:
            if variable not in used:
                raise workload_error("is used nowhere", "let", variable)
        resolved: dict[Protocol, EngineOperation] = {}
        for protocol in get_args(Protocol):
            facts = protocol_facts(protocol)
            sent = tuple(text[facts.language] for text in texts if facts.language in text)
            if len(sent) == len(texts):
                resolved[protocol] = EngineOperation(
                    name=name,
                    weight=self.weight,
                    let=_keep_used_variables(scope.variables, sent),
                    transaction=self.transaction,
                    statements=sent,
                    records=self.records,
                    consistency=self.consistency if facts.has_consistency else "ONE",
                )
        return resolved


class Operations(Declared):
    """The operations of a workload, by name."""

    operations: Annotated[dict[Name, Operation], Field(min_length=1, max_length=MAX_OPERATIONS)]

    @model_validator(mode="after")
    def _weights_sum_to_something(self) -> Self:
        if not any(operation.weight for operation in self.operations.values()):
            problem = "the weights sum to nothing: at least one must be above 0"
            raise workload_error(problem, "operations")
        return self


def _count_characters(texts: Mapping[Language, EngineStatement]) -> int:
    """Return the highest number of characters for one target, which gets one language only."""
    return max((sum(map(len, statement.sql)) for statement in texts.values()), default=0)


def _keep_used_variables(
    variables: Mapping[str, Value], statements: tuple[EngineStatement, ...]
) -> tuple[Let, ...]:
    """Drop variables that are no longer used, such as the choice of a copy if there is only one."""
    used: set[str] = set()
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
