"""What pgbench's scripts need of the engine: formulas, and the variables that a connection keeps.

The other half of the contract is `engine/src/spec/scripts.rs`.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model

FormulaFunction = Literal[
    "add",
    "subtract",
    "multiply",
    "divide",  # the quotient of two whole numbers is rounded toward zero
    "remainder",
    "bit_and",
    "bit_or",
    "bit_xor",
    "shift_left",
    "shift_right",
    "less",
    "at_most",
    "equal",
    "different",
    "and",
    "or",
    "not",
    "is",  # whether the first is the second, which is true, false or null
    "case",  # conditions and results in turn, then the result if no condition is true
    "abs",
    "double",
    "exp",
    "greatest",
    "hash_fnv1a",
    "hash_murmur2",
    "int",
    "least",
    "ln",
    "permute",  # a number's place in a permutation of 0 to size - 1, by a seed
    "pi",
    "power",
    "random",
    "random_exponential",
    "random_gaussian",
    "random_zipfian",
    "sqrt",
]


class ConstantFormula(Model):
    """A constant: a 64-bit whole number, a double, a boolean or null."""

    kind: Literal["constant"] = "constant"
    value: bool | int | float | None


class VariableFormula(Model):
    """What a variable of the connection holds."""

    kind: Literal["variable"] = "variable"
    name: str


class CallFormula(Model):
    """A function or operator of other formulas."""

    kind: Literal["call"] = "call"
    function: FormulaFunction
    of: "tuple[Formula, ...]"


Formula = Annotated[
    ConstantFormula | VariableFormula | CallFormula,
    Field(discriminator="kind"),
]


def find_variables(formula: Formula) -> Iterator[str]:
    """Yield the names of the variables that a formula uses, in their order."""
    match formula:
        case VariableFormula(name=name):
            yield name
        case CallFormula(of=parts):
            for part in parts:
                yield from find_variables(part)


class UndefinedStart(Model):
    """Nothing: a formula may not use the variable before it is set."""

    kind: Literal["undefined"] = "undefined"


class TextStart(Model):
    """A text, which a formula reads as the value that it looks like."""

    kind: Literal["text"] = "text"
    value: str


class ClientStart(Model):
    """The number of the connection, from 0."""

    kind: Literal["client"] = "client"


class SeedStart(Model):
    """The load's random seed."""

    kind: Literal["seed"] = "seed"


class SessionVariable(Model):
    """A variable that each connection keeps, whatever operation it carries out."""

    name: str
    starts: Annotated[
        UndefinedStart | TextStart | ClientStart | SeedStart, Field(discriminator="kind")
    ]
