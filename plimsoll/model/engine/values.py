"""Values that the engine draws for each operation, and their distributions.

The other half of the contract is `engine/src/spec/values.rs`.
"""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.engine.expressions import Expression

_Inside = Annotated[float, Field(gt=0, lt=1)]  # the formulas are undefined at both ends
_Share = Annotated[float, Field(ge=0, le=1)]
_Percent = Annotated[int, Field(ge=0, le=100)]
_Iterations = Annotated[int, Field(ge=1, le=100)]


class Uniform(Model):
    """All numbers are equally likely."""

    kind: Literal["uniform"] = "uniform"


class Sequential(Model):
    """0, 1, 2 ... and from 0 again; one counter per client."""

    kind: Literal["sequential"] = "sequential"


class Zipfian(Model):
    """YCSB's zipfian (Gray et al. 1994); `scrambled` spreads the popular ones by FNV hash."""

    kind: Literal["zipfian"] = "zipfian"
    constant: _Inside = 0.99
    scrambled: bool = True


class Latest(Model):
    """YCSB's latest: zipfian over the distance from the newest key, following inserts."""

    kind: Literal["latest"] = "latest"
    constant: _Inside = 0.99


class Hotspot(Model):
    """YCSB's hotspot: `hot_operations` of the draws go to the first `hot_set` of the numbers."""

    kind: Literal["hotspot"] = "hotspot"
    hot_set: _Share = 0.2
    hot_operations: _Share = 0.8


class Exponential(Model):
    """YCSB's exponential: `percentile` % of draws lie in the first `fraction`."""

    kind: Literal["exponential"] = "exponential"
    percentile: Annotated[float, Field(gt=0, lt=100)] = 95.0
    fraction: Annotated[float, Field(ge=1e-9, le=1000)] = 0.8571428571


class Gaussian(Model):
    """sysbench's gaussian: the mean of `iterations` uniform draws (rand-type gaussian)."""

    kind: Literal["gaussian"] = "gaussian"
    iterations: _Iterations = 12


class Special(Model):
    """sysbench 1.0's special: `hot_operations` % of draws within `hot_set` % in the middle."""

    kind: Literal["special"] = "special"
    iterations: _Iterations = 12
    hot_set: _Percent = 1
    hot_operations: _Percent = 75


class Pareto(Model):
    """sysbench's pareto with parameter `h`."""

    kind: Literal["pareto"] = "pareto"
    h: _Inside = 0.2


class SysbenchZipfian(Model):
    """sysbench's zipfian (rejection inversion; Hormann and Derflinger 1996), not scrambled."""

    kind: Literal["sysbench_zipfian"] = "sysbench_zipfian"
    exponent: Annotated[float, Field(ge=0, le=100)] = 0.8


class Nurand(Model):
    """TPC-C's NURand(a, low, high) with the constant `c` (clause 2.1.6)."""

    kind: Literal["nurand"] = "nurand"
    a: Annotated[int, Field(ge=0, lt=2**32)]
    c: Annotated[int, Field(ge=0, lt=2**32)]


Distribution = Annotated[
    Uniform
    | Sequential
    | Zipfian
    | Latest
    | Hotspot
    | Exponential
    | Gaussian
    | Special
    | Pareto
    | SysbenchZipfian
    | Nurand,
    Field(discriminator="kind"),
]


class LiteralValue(Model):
    """The same value every time."""

    kind: Literal["literal"] = "literal"
    value: int | float | str | None


class IntegerValue(Model):
    """A whole number from `low` to `high`, both included."""

    kind: Literal["integer"] = "integer"
    low: int
    high: int
    distribution: Distribution = Uniform()


class KeyValue(Model):
    """The number of an existing row of a key space."""

    kind: Literal["key"] = "key"
    key_space: str
    distribution: Distribution = Uniform()


class NextKeyValue(Model):
    """The number of a new row of a key space; see `KeySpace`."""

    kind: Literal["next_key"] = "next_key"
    key_space: str


class RowValue(Model):
    """The number of the row being created, while a dataset is loaded."""

    kind: Literal["row"] = "row"


class VariableValue(Model):
    """A value that the operation's `let` drew once, by its name."""

    kind: Literal["variable"] = "variable"
    name: str


class SumValue(Model):
    """Another whole number plus a constant."""

    kind: Literal["sum"] = "sum"
    of: "Value"
    plus: int


class HashValue(Model):
    """YCSB's `Utils.hash`: the absolute value of the 64-bit FNV-1a hash of a whole number."""

    kind: Literal["fnv_hash"] = "fnv_hash"
    of: "Value"


class FormatValue(Model):
    """Text around other values: each `{}` of the template takes the next one."""

    kind: Literal["format"] = "format"
    template: str
    of: "tuple[Value, ...]"


class TextValue(Model):
    """Random text of a given length in bytes, or of a length drawn up to `most`."""

    kind: Literal["text"] = "text"
    length: Annotated[int, Field(ge=0, le=65_535)]
    most: Annotated[int, Field(ge=0, le=65_535)] | None = None
    alphabet: Literal["printable", "alphanumeric", "digits"] = "printable"


class PatternValue(Model):
    """sysbench's template: each `#` becomes a digit, each `@` a letter a to z."""

    kind: Literal["pattern"] = "pattern"
    pattern: str


class ColumnValue(Model):
    """The values of a list in turn, from the start again at its end; columns advance together."""

    kind: Literal["column"] = "column"
    values: Annotated[tuple[int | str, ...], Field(min_length=1)]


class ExpressionValue(Model):
    """A whole number that an expression computes."""

    kind: Literal["expression"] = "expression"
    of: Expression


class IfValue(Model):
    """One of two values, by whether a condition is 0."""

    kind: Literal["if"] = "if"
    condition: Expression
    then: "Value"
    otherwise: "Value"


class WeightedValue(Model):
    """One of several values, drawn by their weights."""

    kind: Literal["weighted"] = "weighted"
    weights: tuple[float, ...]
    of: "tuple[Value, ...]"


class DecimalValue(Model):
    """A whole number of units of the last digit, with `scale` digits after the point."""

    kind: Literal["decimal"] = "decimal"
    of: "Value"
    scale: Annotated[int, Field(ge=1, le=18)]


class LastNameValue(Model):
    """TPC-C's last name of a number from 0 to 999 (clause 4.3.2.3)."""

    kind: Literal["last_name"] = "last_name"
    of: "Value"


Value = Annotated[
    LiteralValue
    | IntegerValue
    | KeyValue
    | NextKeyValue
    | RowValue
    | VariableValue
    | SumValue
    | HashValue
    | FormatValue
    | TextValue
    | PatternValue
    | ColumnValue
    | ExpressionValue
    | IfValue
    | WeightedValue
    | DecimalValue
    | LastNameValue,
    Field(discriminator="kind"),
]
