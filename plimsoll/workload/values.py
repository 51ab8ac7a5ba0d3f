"""Values as documents write them: for a column, or for a `?` of a statement."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from plimsoll.complaints import complain_of_unknown
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.expressions import Expression, find_names
from plimsoll.model.engine.values import (
    ColumnValue,
    DecimalValue,
    Distribution,
    ExpressionValue,
    FormatValue,
    HashValue,
    IfValue,
    IntegerValue,
    KeyValue,
    LastNameValue,
    LiteralValue,
    NextKeyValue,
    PatternValue,
    RowValue,
    SumValue,
    TextValue,
    Uniform,
    Value,
    VariableValue,
    WeightedValue,
)
from plimsoll.workload.declared import (
    Bounds,
    Declared,
    Listed,
    ReadBy,
    Text,
    build_workload_error,
    check_in_scope,
    locate_errors,
    read_part,
)
from plimsoll.workload.distributions import read_distribution
from plimsoll.workload.expressions import read_expression

BIGINT_MIN, BIGINT_MAX = -(2**63), 2**63 - 1
MAX_LENGTH_BYTES = 65_535
MAX_WEIGHT = 10**9


@dataclass(frozen=True)
class Scope:
    """The names that a value may refer to.

    Attributes:
        copies: The number of copies by table; None for a table without copies. Empty while a
            dataset is loaded, when no row can be drawn.
        variables: The values of `let` so far, by name.
        row: Whether a row is being created.
        lines: The variables of a line, by the name of its list and their own. They can be used
            where a line is meant alone.
    """

    copies: Mapping[str, int | None] = field(default_factory=dict)
    variables: Mapping[str, Value] = field(default_factory=dict)
    row: bool = False
    lines: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)

    @property
    def line_variables(self) -> Mapping[str, Value]:
        """The variables of all lists' lines, by name."""
        return {name: value for line in self.lines.values() for name, value in line.items()}

    def with_variable(self, name: str, value: Value) -> "Scope":
        """Return a scope with one more variable."""
        return replace(self, variables={**self.variables, name: value})

    def with_line(self, name: str, variables: Mapping[str, Value]) -> "Scope":
        """Return a scope in which a line of this list has these variables."""
        return replace(self, lines={**self.lines, name: variables})

    def in_line(self, name: str) -> "Scope":
        """Return the scope within a line of this list."""
        return replace(self, variables={**self.variables, **self.lines[name]})

    def require_line(self, names: Collection[str]) -> None:
        """Refuse variables of lines where no line is meant.

        Raises:
            WorkloadError: One of the names is such a variable.
        """
        for of, line in self.lines.items():
            for name in sorted(set(names) & set(line) - set(self.variables)):
                raise build_workload_error(
                    f"{name} has a value for each line of {of}, and here one value is meant: use it"
                    f" within {{?, ...}} of a statement with each: {of}, or in a block of each"
                    " line",
                    value=name,
                )


def read_value(value: Any, scope: Scope) -> Value:
    """Read a value: a number, a variable's name, or a mapping such as `{text: 100}`.

    Raises:
        WorkloadError: It is no value, or refers to an unknown name.
    """
    if not isinstance(value, dict):
        return _read_plain_value(value, scope)
    kinds = [name for name in value if name in _FORMS]
    if len(kinds) != 1:
        given = ", ".join(value) or "nothing"
        raise build_workload_error(
            f"a value has exactly one of {', '.join(sorted(_FORMS))}, not {given}"
        )
    return read_part(_FORMS[kinds[0]], value, scope).to_engine(scope)


def is_number(value: Value, scope: Scope) -> bool:
    """Whether a value is always an integer."""
    match value:
        case LiteralValue(value=literal):
            return isinstance(literal, int)
        case VariableValue(name=name):
            return is_number(scope.variables[name], scope)
        case FormatValue() | TextValue() | PatternValue() | DecimalValue() | LastNameValue():
            return False
        case IfValue(then=then, otherwise=otherwise):
            return _are_numbers((then, otherwise), scope)
        case WeightedValue(of=values):
            return _are_numbers(values, scope)
        case ColumnValue(values=values):
            return all(isinstance(each, int) for each in values)
        case _:
            return True


def find_used_variables(values: Collection[Value]) -> set[str]:
    """Return the names of the variables that values refer to, at any depth."""
    names: set[str] = set()
    for value in values:
        match value:
            case VariableValue(name=name):
                names.add(name)
            case FormatValue(of=parts):
                names |= find_used_variables(parts)
            case SumValue(of=part) | HashValue(of=part):
                names |= find_used_variables([part])
            case DecimalValue(of=part) | LastNameValue(of=part):
                names |= find_used_variables([part])
            case WeightedValue(of=parts):
                names |= find_used_variables(parts)
            case ExpressionValue(of=expression):
                names |= find_names(expression)
            case IfValue(condition=condition, then=then, otherwise=otherwise):
                names |= find_names(condition) | find_used_variables([then, otherwise])
    return names


def read_condition(text: Any, scope: Scope) -> Expression:
    """Read an expression over the names of a scope.

    Raises:
        WorkloadError: It is no expression, or refers to an unknown name.
    """
    known = {**scope.line_variables, **scope.variables}
    within = replace(scope, variables=known)
    numbers = {name: is_number(value, within) for name, value in known.items()}
    expression = read_expression(text, numbers, row=scope.row)
    scope.require_line(find_names(expression))
    return expression


def _are_numbers(values: Collection[Value], scope: Scope) -> bool:
    """Whether values one of which is drawn are whole numbers or null."""
    known = [value for value in values if value != LiteralValue(value=None)]
    return bool(known) and all(is_number(value, scope) for value in known)


def _read_plain_value(value: Any, scope: Scope) -> Value:
    literal = _check_literal(value)
    if not isinstance(literal, str):
        return LiteralValue(value=literal)
    if literal == "row" and scope.row:
        return RowValue()
    scope.require_line({literal})
    if literal not in scope.variables:
        known = [*scope.variables, *(["row"] if scope.row else [])]
        hint = f"text is {{literal: {literal}}}"
        raise WorkloadError(
            complain_of_unknown("variable", literal, known, value=literal, hint=hint)
        )
    return VariableValue(name=literal)


def _check_literal(value: Any) -> int | float | str | None:
    if isinstance(value, list | dict):
        raise build_workload_error("must be a single value")
    if isinstance(value, bool):
        raise build_workload_error(
            "true and false are not values of a database here; use 1 and 0", value=value
        )
    if isinstance(value, int) and not BIGINT_MIN <= value <= BIGINT_MAX:
        raise build_workload_error(f"{value} does not fit 64 bits", value=value)
    if isinstance(value, float) and not math.isfinite(value):
        raise build_workload_error(f"{value} is not a number that a database has")
    return _require_short_text(value) if isinstance(value, str) else value


def _require_short_text(text: str) -> str:
    if len(text.encode()) > MAX_LENGTH_BYTES:
        raise build_workload_error(f"is longer than {MAX_LENGTH_BYTES} bytes")
    return text


def _require_known_table(name: str, scope: Scope) -> str:
    if not scope.copies:
        raise build_workload_error(
            "rows of a table can be drawn in operations only, not in a dataset"
        )
    if name not in scope.copies:
        raise WorkloadError(complain_of_unknown("table", name, scope.copies, value=name))
    return name


def _require_table_with_copies(name: str, scope: Scope) -> str:
    tables = [table for table, copies in scope.copies.items() if copies is not None]
    if name not in tables:
        raise WorkloadError(complain_of_unknown("table with copies", name, tables, value=name))
    return name


def _require_integer(value: Value, scope: Scope) -> Value:
    if not is_number(value, scope):
        raise build_workload_error("must be a whole number, and this is text")
    return value


def _refuse_latest(distribution: Distribution) -> Distribution:
    if distribution.kind == "latest":
        raise build_workload_error("latest is for keys: numbers have no newest one")
    return distribution


AnyValue = Annotated[Value, ReadBy(read_value)]
WholeNumber = Annotated[AnyValue, check_in_scope(_require_integer)]
BigInt = Annotated[int, Field(ge=BIGINT_MIN, le=BIGINT_MAX)]
ShortText = Annotated[Text, AfterValidator(_require_short_text)]
TableName = Annotated[str, check_in_scope(_require_known_table)]
TextLength = Annotated[int, Field(ge=0, le=MAX_LENGTH_BYTES)]
ConditionText = Annotated[Expression, ReadBy(read_condition)]
DistributionText = Annotated[Distribution, ReadBy(lambda text, _: read_distribution(text))]


class _Form(Declared):
    """A value that is written as a mapping and identified by its first field.

    Attributes:
        engine: The engine's model of the value, and its name for the first field.
    """

    engine: ClassVar[tuple[Callable[..., Value], str]]

    def to_engine(self, _: Scope) -> Value:
        """Return the value in the engine's form."""
        model, first = self.engine
        fields = dict(self)
        value = fields.pop(next(iter(fields)))
        return model(**{first: value}, **fields)


class _Literal(_Form):
    engine = LiteralValue, "value"
    literal: Annotated[int | float | str | None, ReadBy(lambda value, _: _check_literal(value))]


class _Integer(_Form):
    integer: Bounds[BigInt]
    distribution: Annotated[DistributionText, AfterValidator(_refuse_latest)] = Uniform()

    def to_engine(self, _: Scope) -> Value:
        low, high = self.integer
        return IntegerValue(low=low, high=high, distribution=self.distribution)


class _Key(_Form):
    engine = KeyValue, "key_space"
    key: TableName
    distribution: DistributionText = Uniform()


class _NextKey(_Form):
    engine = NextKeyValue, "key_space"
    next_key: TableName


class _CopyOf(_Form):
    copy_of: Annotated[str, check_in_scope(_require_table_with_copies)]
    distribution: DistributionText = Uniform()

    def to_engine(self, scope: Scope) -> Value:
        copies = scope.copies[self.copy_of] or 1
        return IntegerValue(low=0, high=copies - 1, distribution=self.distribution)


class _Sum(_Form):
    engine = SumValue, "of"
    sum: WholeNumber
    plus: BigInt = 0


class _Hash(_Form):
    engine = HashValue, "of"
    fnv_hash: WholeNumber


class _Format(_Form):
    engine = FormatValue, "template"
    format: ShortText
    of: Listed[AnyValue] = ()

    @model_validator(mode="after")
    def _require_value_for_each_hole(self) -> Self:
        holes = self.format.count("{}")
        if holes != len(self.of):
            raise build_workload_error(
                f"has {holes} {{}} for {len(self.of)} values in `of`", "format"
            )
        return self


class _Text(_Form):
    text: TextLength | Bounds[TextLength]
    alphabet: Literal["printable", "alphanumeric", "digits"] = "printable"

    def to_engine(self, _: Scope) -> Value:
        if isinstance(self.text, int):
            return TextValue(length=self.text, alphabet=self.alphabet)
        least, most = self.text
        return TextValue(length=least, most=most, alphabet=self.alphabet)


class _Pattern(_Form):
    engine = PatternValue, "pattern"
    pattern: ShortText


class _Column(_Form):
    engine = ColumnValue, "values"
    column: Annotated[Listed[BigInt | ShortText], Field(min_length=1)]


class _Expression(_Form):
    engine = ExpressionValue, "of"
    expr: ConditionText


class _If(_Form):
    """The first field is `if`, which is a word of Python's."""

    condition: Annotated[ConditionText, Field(alias="if")]
    then: AnyValue
    otherwise: Annotated[AnyValue, Field(alias="else")]

    def to_engine(self, scope: Scope) -> Value:
        values = (self.then, self.otherwise)
        _require_same_kind(values, scope)
        return IfValue(condition=self.condition, then=self.then, otherwise=self.otherwise)


class _Weighted(_Form):
    weighted: Annotated[Listed[Listed[Any]], Field(min_length=1)]

    def to_engine(self, scope: Scope) -> Value:
        weights, values = [], []
        for index, pair in enumerate(self.weighted):
            with locate_errors("weighted", index):
                if len(pair) != 2 or isinstance(pair[0], bool):
                    raise build_workload_error("must be [weight, value]")
                if not isinstance(pair[0], int | float) or not 0 <= pair[0] <= MAX_WEIGHT:
                    raise build_workload_error(f"a weight is a number from 0 to {MAX_WEIGHT}")
                weights.append(float(pair[0]))
                values.append(read_value(pair[1], scope))
        if not any(weights):
            raise build_workload_error("the weights sum to nothing", "weighted")
        _require_same_kind(values, scope)
        return WeightedValue(weights=tuple(weights), of=tuple(values))


class _Decimal(_Form):
    engine = DecimalValue, "of"
    decimal: WholeNumber
    scale: Annotated[int, Field(ge=1, le=18)]


class _LastName(_Form):
    engine = LastNameValue, "of"
    last_name: WholeNumber


def _require_same_kind(values: Collection[Value], scope: Scope) -> None:
    known = [value for value in values if value != LiteralValue(value=None)]
    if len({is_number(value, scope) for value in known}) > 1:
        raise build_workload_error("chooses among whole numbers and texts: either all or none")


_FORMS = {
    field.alias or name: form
    for form in _Form.__subclasses__()
    for name, field in [next(iter(form.model_fields.items()))]
}
