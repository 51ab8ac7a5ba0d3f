"""Operations: the weighted mix, and what each one sends."""

from dataclasses import dataclass
from typing import get_args

from plimsoll.model.databases import protocol_facts
from plimsoll.model.engine import Consistency, EngineOperation, EngineStatement, Let, Protocol
from plimsoll.workload.items import Item
from plimsoll.workload.statements import Statement, read_statement, used_variables
from plimsoll.workload.tables import TableShape
from plimsoll.workload.values import Scope, read_value

MAX_OPERATIONS = 100
MAX_STATEMENTS = 1000


@dataclass(frozen=True)
class Operation:
    """One operation as the workload declares it."""

    name: str
    weight: float
    transaction: bool
    records: int
    consistency: Consistency
    let: tuple[Let, ...]
    statements: tuple[Statement, ...]

    def resolve(self, protocol: Protocol) -> EngineOperation | None:
        """Resolve it for a protocol; None where a statement has no text in its language."""
        facts = protocol_facts(protocol)
        texts = [statement.in_language(facts.language) for statement in self.statements]
        sent = tuple(text for text in texts if text is not None)
        if len(sent) < len(texts):
            return None
        return EngineOperation(
            name=self.name,
            weight=self.weight,
            let=_still_used(self.let, sent),
            transaction=self.transaction,
            statements=sent,
            records=self.records,
            consistency=self.consistency if facts.has_consistency else "ONE",
        )


def read_operations(item: Item, tables: dict[str, TableShape]) -> tuple[Operation, ...]:
    """Read the operations of a workload.

    Raises:
        WorkloadError: Something in them cannot be, or their weights sum to nothing.
    """
    entries = item.entries()
    if not 1 <= len(entries) <= MAX_OPERATIONS:
        raise item.error(f"must be from 1 to {MAX_OPERATIONS} operations, not {len(entries)}")
    operations = tuple(_read_operation(part, tables) for part in entries.values())
    if sum(operation.weight for operation in operations) <= 0:
        raise item.error("the weights sum to nothing: at least one must be above 0")
    return operations


def _read_operation(item: Item, tables: dict[str, TableShape]) -> Operation:
    fields = item.fields(
        "weight", "statements", optional=("let", "transaction", "records", "consistency")
    )
    scope = Scope(
        key_spaces=frozenset(tables),
        copies={name: shape.copies for name, shape in tables.items() if shape.copies is not None},
    )
    lets: list[tuple[Item, Let]] = []
    for name, part in fields["let"].entries().items() if "let" in fields else ():
        value = read_value(part, scope)
        scope.variables[part.name()] = value
        lets.append((part, Let(name=name, value=value)))
    parts = fields["statements"].sequence()
    if not 1 <= len(parts) <= MAX_STATEMENTS:
        raise fields["statements"].error(f"must be from 1 to {MAX_STATEMENTS}, not {len(parts)}")
    statements = tuple(read_statement(part, tables, scope) for part in parts)
    for part, let in lets:
        if let.name not in scope.used:
            raise part.error("is used nowhere")
    return Operation(
        name=item.name(),
        weight=fields["weight"].number(0, 1e9),
        transaction=fields["transaction"].boolean() if "transaction" in fields else False,
        records=fields["records"].integer(1, 10**9) if "records" in fields else 1,
        consistency=_consistency(fields["consistency"]) if "consistency" in fields else "ONE",
        let=tuple(let for _, let in lets),
        statements=statements,
    )


def _consistency(item: Item) -> Consistency:
    level = item.one_of(get_args(Consistency), "consistency")
    return next(known for known in get_args(Consistency) if known == level)


def _still_used(lets: tuple[Let, ...], statements: tuple[EngineStatement, ...]) -> tuple[Let, ...]:
    """Leave out what nothing asks for any more, such as the copy where a table has but one."""
    used: set[str] = set()
    for statement in statements:
        used |= used_variables(statement.binds)
        if statement.choose is not None:
            used |= used_variables([statement.choose])
    kept: list[Let] = []
    for let in reversed(lets):
        if let.name in used:
            used |= used_variables([let.value])
            kept.append(let)
    return tuple(reversed(kept))
