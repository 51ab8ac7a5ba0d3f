"""Lists: lines that an operation draws once, and that one statement may send together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from plimsoll.model.engine.asked import EngineList, Let, Returned
from plimsoll.model.engine.values import IntegerValue, LiteralValue, Value, VariableValue
from plimsoll.workload.declared import (
    Declared,
    Given,
    Name,
    build_workload_error,
    locate_errors,
    read_part,
)
from plimsoll.workload.values import Scope, WholeNumber, is_number, read_value

MAX_LINES = 100  # a statement is prepared for each number of lines


class Lines(Declared):
    """A list as a workload declares it.

    Attributes:
        count: How many lines there are; drawn once.
        let: The values that are drawn for each line. The list's own name is the line's number.
        key: The whole number by which lines are sorted, no two alike; None for the line's number.
    """

    count: WholeNumber
    key: Given[Name] = None
    let: dict[Name, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class DrawnList:
    """A list that is read.

    Attributes:
        bounds: The least and the most number of lines.
        drawn: What a line's variables are drawn from.
        variables: All variables of a line: its number, what is drawn, and what is returned to it.
    """

    name: str
    count: Value
    bounds: tuple[int, int]
    key: str | None
    drawn: Mapping[str, Value]
    variables: Mapping[str, Value]

    def to_engine(self, returned: Mapping[str, str]) -> EngineList:
        """Return the list in the engine's form.

        Args:
            returned: The lines' variables that statements return, with their kinds.
        """
        least, most = self.bounds
        return EngineList(
            name=self.name,
            count=self.count,
            least=least,
            most=most,
            let=tuple(Let(name=name, value=value) for name, value in self.drawn.items()),
            key=self.key,
            returned=tuple(
                Returned(name=name, kind="integer" if kind == "int" else "text")
                for name, kind in returned.items()
            ),
        )


def read_list(name: str, declared: Any, scope: Scope) -> DrawnList:
    """Read a list.

    Raises:
        WorkloadError: Something in it is not valid.
    """
    lines = read_part(Lines, declared, scope)
    taken = {**scope.variables, **scope.line_variables}
    if name in taken:
        raise build_workload_error("is a variable of the operation")
    bounds = _find_bounds(lines.count, scope)
    if bounds is None:
        raise build_workload_error("is a number, or drawn by {integer: [5, 15]}", "count")
    if not 1 <= bounds[0] <= bounds[1] <= MAX_LINES:
        raise build_workload_error(
            f"goes from {bounds[0]} to {bounds[1]}: 1 to {MAX_LINES}", "count"
        )
    number = LiteralValue(value=0)  # known in a load alone
    inner, drawn = scope.with_variable(name, number), dict[str, Value]()
    for variable, value in lines.let.items():
        with locate_errors("let", variable):
            if variable in taken or variable in drawn or variable == name:
                raise build_workload_error("is another variable of the operation")
            drawn[variable] = read_value(value, inner)
            inner = inner.with_variable(variable, drawn[variable])
    if lines.key is not None:
        _check_key(lines.key, drawn, bounds[1], inner)
    return DrawnList(name, lines.count, bounds, lines.key, drawn, {name: number, **drawn})


def _check_key(key: str, drawn: Mapping[str, Value], most: int, scope: Scope) -> None:
    if key not in drawn or not is_number(drawn[key], scope):
        raise build_workload_error("is a whole number of the list's let", "key", value=key)
    match scope.variables[key]:
        case IntegerValue(low=low, high=high) if high - low + 1 < most:
            problem = f"has {high - low + 1} values for up to {most} lines, no two of them alike"
            raise build_workload_error(problem, "let", key)


def _find_bounds(count: Value, scope: Scope) -> tuple[int, int] | None:
    """Return the least and the highest value of a count; None if that is not known."""
    match count:
        case VariableValue(name=name):
            return _find_bounds(scope.variables[name], scope)
        case IntegerValue(low=least, high=most):
            return least, most
        case LiteralValue(value=int(number)):
            return number, number
        case _:
            return None
