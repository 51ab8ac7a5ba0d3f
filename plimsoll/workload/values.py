"""Values: what fills a column or a statement's `?`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from plimsoll.model.values import (
    Distribution,
    FormatValue,
    HashValue,
    IntegerValue,
    KeyValue,
    LiteralValue,
    NextKeyValue,
    PatternValue,
    RowValue,
    SumValue,
    TextValue,
    Uniform,
    Value,
    VariableValue,
)
from plimsoll.workload.distributions import read_distribution
from plimsoll.workload.items import Item

BIGINT_MIN, BIGINT_MAX = -(2**63), 2**63 - 1
MAX_LENGTH = 65_535


@dataclass
class Scope:
    """What a value may refer to where it stands.

    Attributes:
        key_spaces: Tables whose rows can be drawn by number; empty while a dataset is made.
        copies: Number of copies by table.
        variables: Values of `let` by name, so far.
        row: Whether there is a row being made.
        used: Variables that something referred to.
    """

    key_spaces: frozenset[str] = frozenset()
    copies: Mapping[str, int] = field(default_factory=dict)
    variables: dict[str, Value] = field(default_factory=dict)
    row: bool = False
    used: set[str] = field(default_factory=set)


def read_value(item: Item, scope: Scope) -> Value:
    """Read a value: a number, a variable's name, or a mapping such as `{text: 100}`.

    Raises:
        WorkloadError: Not a value, or it refers to what is not there.
    """
    if item.kind != "a mapping":
        return _plain(item, scope)
    names = list(item.entries())
    kinds = [name for name in names if name in _READERS]
    if len(kinds) != 1:
        given = ", ".join(names) or "nothing"
        raise item.error(f"a value has exactly one of {', '.join(sorted(_READERS))}, not {given}")
    optional, reader = _READERS[kinds[0]]
    return reader(item.fields(kinds[0], optional=optional), scope)


def is_number(value: Value, scope: Scope) -> bool:
    """Whether a value is always a whole number."""
    match value:
        case LiteralValue(value=literal):
            return isinstance(literal, int) and not isinstance(literal, bool)
        case VariableValue(name=name):
            return is_number(scope.variables[name], scope)
        case FormatValue() | TextValue() | PatternValue():
            return False
        case _:
            return True


def _plain(item: Item, scope: Scope) -> Value:
    value = _literal_of(item)
    if not isinstance(value, str):
        return LiteralValue(value=value)
    if value == "row" and scope.row:
        return RowValue()
    if value not in scope.variables:
        known = [*scope.variables, *(["row"] if scope.row else [])]
        hint = f"text is {{literal: {value}}}"
        raise item.unknown("variable", value, known, value=value, hint=hint)
    scope.used.add(value)
    return VariableValue(name=value)


def _literal_of(item: Item) -> int | float | str | None:
    value = item.scalar()
    if isinstance(value, bool):
        raise item.error("true and false are no values of a database here; use 1 and 0")
    if isinstance(value, int) and not BIGINT_MIN <= value <= BIGINT_MAX:
        raise item.error(f"{value} does not fit 64 bits")
    if isinstance(value, float) and not abs(value) < float("inf"):
        raise item.error(f"{value} is no number that a database has")
    if isinstance(value, str) and len(value.encode()) > MAX_LENGTH:
        raise item.error(f"text is longer than {MAX_LENGTH} bytes")
    return value


def _number(item: Item, scope: Scope) -> Value:
    value = read_value(item, scope)
    if not is_number(value, scope):
        raise item.error("must be a whole number, and this is text")
    return value


def _key_space(item: Item, scope: Scope) -> str:
    if not scope.key_spaces:
        raise item.error("rows of a table can be drawn in operations only, not in a dataset")
    return item.one_of(scope.key_spaces, "table")


def _distribution(fields: dict[str, Item]) -> Distribution:
    return read_distribution(fields["distribution"]) if "distribution" in fields else Uniform()


def _literal(fields: dict[str, Item], _: Scope) -> Value:
    return LiteralValue(value=_literal_of(fields["literal"]))


def _integer(fields: dict[str, Item], _: Scope) -> Value:
    bounds = fields["integer"].sequence()
    if len(bounds) != 2:
        raise fields["integer"].error("must be [lowest, highest]")
    low, high = (bound.integer(BIGINT_MIN, BIGINT_MAX) for bound in bounds)
    if low > high:
        raise fields["integer"].error(f"the lowest, {low}, is above the highest, {high}")
    distribution = _distribution(fields)
    if distribution.kind == "latest":
        raise fields["distribution"].error("latest is for keys: numbers have no newest one")
    return IntegerValue(low=low, high=high, distribution=distribution)


def _key(fields: dict[str, Item], scope: Scope) -> Value:
    return KeyValue(key_space=_key_space(fields["key"], scope), distribution=_distribution(fields))


def _next_key(fields: dict[str, Item], scope: Scope) -> Value:
    return NextKeyValue(key_space=_key_space(fields["next_key"], scope))


def _copy_of(fields: dict[str, Item], scope: Scope) -> Value:
    table = fields["copy_of"].one_of(scope.copies, "table with copies")
    return IntegerValue(low=0, high=scope.copies[table] - 1, distribution=_distribution(fields))


def _sum(fields: dict[str, Item], scope: Scope) -> Value:
    plus = fields["plus"].integer(BIGINT_MIN, BIGINT_MAX) if "plus" in fields else 0
    return SumValue(of=_number(fields["sum"], scope), plus=plus)


def _hash(fields: dict[str, Item], scope: Scope) -> Value:
    return HashValue(of=_number(fields["fnv_hash"], scope))


def _format(fields: dict[str, Item], scope: Scope) -> Value:
    template = fields["format"].text()
    of = (
        tuple(read_value(part, scope) for part in fields["of"].sequence()) if "of" in fields else ()
    )
    holes = template.count("{}")
    if holes != len(of):
        raise fields["format"].error(f"has {holes} {{}} for {len(of)} values in `of`")
    if len(template.encode()) > MAX_LENGTH:
        raise fields["format"].error(f"is longer than {MAX_LENGTH} bytes")
    return FormatValue(template=template, of=of)


def _text(fields: dict[str, Item], _: Scope) -> Value:
    length = fields["text"].integer(0, MAX_LENGTH)
    if "alphabet" not in fields:
        return TextValue(length=length)
    alphabet = fields["alphabet"].one_of(("printable", "alphanumeric", "digits"), "alphabet")
    return TextValue.model_validate({"length": length, "alphabet": alphabet})


def _pattern(fields: dict[str, Item], _: Scope) -> Value:
    pattern = fields["pattern"].text()
    if len(pattern.encode()) > MAX_LENGTH:
        raise fields["pattern"].error(f"is longer than {MAX_LENGTH} bytes")
    return PatternValue(pattern=pattern)


_Reader = Callable[[dict[str, Item], Scope], Value]
_READERS: dict[str, tuple[tuple[str, ...], _Reader]] = {
    "literal": ((), _literal),
    "integer": (("distribution",), _integer),
    "key": (("distribution",), _key),
    "next_key": ((), _next_key),
    "copy_of": (("distribution",), _copy_of),
    "sum": (("plus",), _sum),
    "fnv_hash": ((), _hash),
    "format": (("of",), _format),
    "text": (("alphabet",), _text),
    "pattern": ((), _pattern),
}
