"""Expressions over whole numbers, which the engine computes for each operation.

The other half of the contract is `engine/src/spec/values.rs`.
"""

from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model

Function = Literal[
    "add",
    "subtract",
    "multiply",
    "divide",  # rounded down; 0 by 0
    "remainder",
    "equal",
    "different",
    "less",
    "at_most",
    "and",
    "or",
    "not",
    "is_null",
    "if",  # the second if the first is not 0, else the third
    "random",  # drawn between two numbers, both included
    "hash",  # YCSB's
    "bit",  # the bit of the first number at the place that the second names, from 1
    "bits",  # random bits: how many there are, and that one in how many is set
]


class NumberExpression(Model):
    """A whole number."""

    kind: Literal["number"] = "number"
    value: int


class TextExpression(Model):
    """A text, which a variable is compared with."""

    kind: Literal["text"] = "text"
    value: str


class RowExpression(Model):
    """The number of the row being created, while a dataset is loaded."""

    kind: Literal["row"] = "row"


class VariableExpression(Model):
    """A value that the operation's `let` drew or a statement returned; a null counts as 0."""

    kind: Literal["variable"] = "variable"
    name: str


class CallExpression(Model):
    """A function of other expressions; a condition is 1 or 0."""

    kind: Literal["call"] = "call"
    function: Function
    of: "tuple[Expression, ...]"


Expression = Annotated[
    NumberExpression | TextExpression | RowExpression | VariableExpression | CallExpression,
    Field(discriminator="kind"),
]


def find_names(expression: Expression) -> set[str]:
    """Return the names of the variables that an expression uses."""
    match expression:
        case VariableExpression(name=name):
            return {name}
        case CallExpression(of=parts):
            return set().union(*map(find_names, parts))
        case _:
            return set()
