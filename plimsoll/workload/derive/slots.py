"""The role of each value in a statement, concluded from its surroundings."""

from dataclasses import dataclass

from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.derive.shapes import Role, Slot
from plimsoll.workload.derive.sight import ARITHMETIC, Column, Sight

_COMPARES: dict[str, Role] = {
    "=": "equal",
    "<=>": "equal",
    "<>": "equal",
    "!=": "equal",
    "<": "high",
    "<=": "high",
    ">": "low",
    ">=": "low",
}
JSON_PATHS = {"JSON_EXTRACT", "JSON_VALUE"}
_SAME = {"LOWER", "LCASE"}  # what they return of a text that is made up, is that text
_UNKNOWN = "has a value where it is not known what it is for"


@dataclass
class Level:
    """The state between a pair of parentheses.

    Attributes:
        clause: The clause of the statement.
        tables: Whether a comma is followed by a table.
        compared: The column before IN, if these are its parentheses.
        position: The index of a value within an inserted row.
        call: The function whose parentheses these are; empty if they are none's.
    """

    clause: str = "other"
    tables: bool = False
    compared: Column | None = None
    position: int = 0
    call: str = ""


class Slots:
    """Finds the role of each value in turn."""

    def __init__(self, sight: Sight) -> None:
        """Start with a statement.

        Attributes:
            inserted: The columns that an INSERT names; empty for all columns.
        """
        self.inserted: list[str] = []
        self._sight = sight
        self._between: Column | None = None
        self._assigned: Column | None = None

    def of(self, at: int, level: Level) -> Slot:
        """Return the role of the value at a position.

        Raises:
            WorkloadError: The role is not clear.
        """
        before = self._sight.at(at - 1).word
        if level.call in JSON_PATHS or self._sight.is_arrow(at - 1):
            return Slot("path")
        if before in {"THEN", "ELSE"} and level.clause in {"where", "other"}:
            return Slot("constant")
        match level.clause:
            case "other" if before == "LIKE":  # ORDER BY CASE WHEN title LIKE ? THEN ...
                return self._condition(at, level)
            case "select":
                return Slot("constant")
            case "set":
                return self._set(at)
            case "values":
                return self.of_row(level.position)
            case "limit":
                return Slot("offset" if self._sight.at(at + 1).is_mark(",") else "limit")
            case "offset":
                return Slot("offset")
            case "where":
                return self._condition(at, level)
            case _:
                raise build_workload_error(_UNKNOWN)

    def of_row(self, position: int) -> Slot:
        """Return the role of a value in an inserted row, by its index.

        Raises:
            WorkloadError: There is no column at this index.
        """
        columns = self.row()
        found = self._sight.column(columns[position]) if position < len(columns) else None
        if found is None:
            raise build_workload_error("inserts more values than columns that are known")
        return Slot("set", *found)

    def row(self) -> list[str]:
        """Return the columns of an inserted row."""
        return self.inserted or self._sight.columns_of_first()

    def of_list(self, at: int) -> Slot:
        """Return the role of a list of unknown length after IN.

        Raises:
            WorkloadError: The compared expression is no column.
        """
        back = 2 if self._sight.at(at - 2).word == "NOT" else 1
        return Slot("member", *self._compared(at - back), many=True)

    def pass_and(self, at: int) -> None:
        """Record an AND that does not belong to a BETWEEN."""
        if self._sight.at(at + 1).kind != "value":
            self._between = None

    def _set(self, at: int) -> Slot:
        before = self._sight.at(at - 1)
        if before.is_mark("="):
            self._assigned = self._sight.column_before(at - 1)
        if before.is_mark(*ARITHMETIC) or self._assigned is None:
            return Slot("constant")
        return Slot("set", *self._assigned)

    def _condition(self, at: int, level: Level) -> Slot:  # noqa: C901 - an arm for each comparison
        sight, before = self._sight, self._sight.at(at - 1)
        if level.compared is not None:
            return Slot("member", *level.compared)
        if before.is_mark(*ARITHMETIC) or before.word == "INTERVAL":
            return Slot("constant")
        if sight.at(at + 1).is_mark(*ARITHMETIC):
            raise build_workload_error("compares with an expression, whose values cannot be known")
        if before.word == "LIKE":
            back = 2 if sight.at(at - 2).word == "NOT" else 1
            return Slot("like", *self._compared(at - back))
        if before.word == "BETWEEN":
            back = 2 if sight.at(at - 2).word == "NOT" else 1
            self._between = self._compared(at - back)
            return Slot("low", *self._between)
        if before.word == "AND" and self._between is not None:
            found, self._between = self._between, None
            return Slot("high", *found)
        start = at
        while sight.at(start - 1).is_mark("<", ">", "=", "!"):
            start -= 1
        operator = "".join(part.text for part in sight.parts[start:at])
        if self._is_literal(at, start) or before.word == "ON":  # 1 = 1, ON true
            return Slot("constant")
        if operator not in _COMPARES:
            raise build_workload_error(_UNKNOWN)
        if call := sight.call_before(start):
            return self._compare_call(*call, start, operator)
        return Slot(_COMPARES[operator], *self._compared(start))

    def _compare_call(self, name: str, first: int, end: int, operator: str) -> Slot:
        """Return the role of a value that a function's result is compared with.

        Raises:
            WorkloadError: What the function returns of made-up values is not known.
        """
        if name in JSON_PATHS:
            return Slot("constant")
        column = self._sight.column_before(end - 1)
        alone = end - first in {3, 5}  # (column), (table.column)
        if name in _SAME and alone and column is not None and operator == "=":
            return Slot("same", *column)
        raise build_workload_error(
            f"compares {name.lower()}(...), and what that is of made-up values is not known"
        )

    def _is_literal(self, at: int, start: int) -> bool:
        """Whether a value is compared with another one: `1 = 1`, which programs put first.

        Args:
            at: The position of the value.
            start: The position of the operator before it; its own without one.
        """
        after, sight = at + 1, self._sight
        while sight.at(after).is_mark("<", ">", "=", "!"):
            after += 1
        beyond = sight.at(after).kind if after > at + 1 else ""
        return "value" in {sight.at(start - 1).kind if start < at else "", beyond}

    def _compared(self, at: int) -> Column:
        """Return the column that ends right before a position.

        Raises:
            WorkloadError: There is none, or a workload cannot have it.
        """
        found = self._sight.column_before(at)
        if found is not None:
            return found
        name, before = self._sight.at(at - 1), self._sight.at(at - 2)
        if not name.is_name or before.is_mark(*ARITHMETIC):
            why = "compares something with a value that is not a column by itself"
        elif not self._sight.tables:
            why = (
                "names no table of the database that is seen: a view, perhaps, which a workload"
                " cannot have"
            )
        else:
            why = (
                f"compares {name.text.lower()}, which is no column of a table that it names, such"
                " as one that it computes"
            )
        raise build_workload_error(why)
