"""The input of a phase: a file of records, which its clients go through one after another. Pure.

A workload names a column of it as `{input: NAME}`. All columns of a record are those of one line:
each is a sequence of its own, and all of them go on by one line at a time.
"""

import csv
import io
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from plimsoll.complaints import Complaint, unknown
from plimsoll.errors import UsageError
from plimsoll.model.base import Model

CSV_MOST = 200_000  # characters: a request with it has to fit into a body of the API
BIGINT = range(-(2**63), 2**63)
_WHOLE = re.compile(r"-?\d{1,19}")

Column = list[int] | list[str]


class PhaseInput(Model):
    """A table of records."""

    csv: Annotated[str, Field(min_length=1, max_length=CSV_MOST)] = Field(
        description="CSV, its first line the columns' names. In a request's file: `{file: PATH}`,"
        " beside that file."
    )

    def columns(self) -> dict[str, Column]:
        """Give the cells of each column: whole numbers where all of them are, else text.

        Lines without anything are no records.

        Raises:
            UsageError: It is no table, or has no records.
        """
        try:
            names, *lines = filter(None, csv.reader(io.StringIO(self.csv, newline=""), strict=True))
        except (csv.Error, ValueError) as error:
            raise UsageError(Complaint(("csv",), f"no CSV: {error}")) from None
        if not lines or len(set(names)) < len(names):
            problem = "needs a line of different names, and at least one record"
            raise UsageError(Complaint(("csv",), problem))
        for number, line in enumerate(lines, 2):
            if len(line) != len(names):
                problem = f"line {number} has {len(line)} cells for {len(names)} columns"
                raise UsageError(Complaint(("csv",), problem))
        return {name: _column(list(cells)) for name, *cells in zip(names, *lines, strict=True)}


def _column(cells: list[str]) -> Column:
    if all(_WHOLE.fullmatch(cell) and int(cell) in BIGINT for cell in cells):
        return [int(cell) for cell in cells]
    return cells


def filled(definition: Any, columns: Mapping[str, Column]) -> Any:
    """Replace each `{input: NAME}` of a workload's definition by the cells of that column.

    Raises:
        UsageError: There is no such column.
    """
    if isinstance(definition, list | tuple):
        return [filled(part, columns) for part in definition]
    if not isinstance(definition, Mapping):
        return definition
    if set(definition) == {"input"}:
        name = definition["input"]
        if name not in columns:
            path = ("workload", "definition")
            raise UsageError(unknown("column of the input", str(name), columns, path, value=name))
        return {"column": columns[name]}
    return {name: filled(part, columns) for name, part in definition.items()}
