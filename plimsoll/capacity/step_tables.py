"""Tables of steps, from whatever tool: rows of JSON or CSV into `Step`s. Text in, steps out.

An empty cell and an absent column mean "not known". Everything else that is no number of the right
kind is an error that names the file, the row and the column.
"""

import csv
import difflib
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from plimsoll.capacity import latency_columns
from plimsoll.capacity.json_text import parse_json
from plimsoll.capacity.readers import PROGRAMS
from plimsoll.errors import UsageError
from plimsoll.model.steps import Statistic, Step

WHOLE = ("clients", "connections", "operations", "errors", "clients_ran", "backlog_end")
DECIMAL = (
    "rate_ops_per_second",
    "throughput_ops_per_second",
    "window_s",
    "client_busy",
    "send_lateness_us",
    "clock_skew_ms",
)
# Columns that only Plimsoll's own records have.
RECORDED = frozenset(Step.model_fields) - {*WHOLE, *DECIMAL, "latency_us", "shares"}
POSITIVE = frozenset({"clients", "connections", "rate_ops_per_second", "window_s"})
FAMILIES = (latency_columns.PREFIX, "share.")
SHOWN = 60  # characters of a column's name in an error
Row = Mapping[str, object]


def from_csv(text: str, name: str, unnamed: Statistic) -> list[Step]:
    """Read a table with a header line.

    Args:
        text: the file's text.
        name: what to call it in errors.
        unnamed: the statistic of columns such as `latency_us.update`.

    Raises:
        UsageError: names the row and the column. Rows count from the header, which is row 1.
    """
    lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")), skipinitialspace=True)
    try:
        rows = [(lines.line_num, [cell.strip() for cell in cells]) for cells in lines]
    except csv.Error as error:
        raise UsageError(f"{name} line {lines.line_num}: no CSV: {error}") from None
    rows = [(number, cells) for number, cells in rows if any(cells)]
    if not rows:
        raise UsageError(f"{name}: empty; a table of steps has a header line and a row a step")
    header = rows[0][1]
    if not any(column in (*WHOLE, *DECIMAL) or column.startswith(FAMILIES) for column in header):
        raise UsageError(
            f"{name} row {rows[0][0]}: {_unknown(header[0])}. A table of steps begins with a line"
            f" of columns; of programs, the outputs of {PROGRAMS} are read"
        )
    for column, times in Counter(header).items():
        if times > 1:
            raise UsageError(f"{name} row {rows[0][0]}: column {column!r} occurs twice")
    if len(rows) == 1:
        raise UsageError(f"{name}: a header and no rows")
    steps = []
    for number, cells in rows[1:]:
        if len(cells) != len(header):
            raise UsageError(
                f"{name} row {number}: {len(cells)} cells, but the header has {len(header)} columns"
            )
        row = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
        steps.append(step_of(row, f"{name} row {number}", unnamed))
    return steps


def from_json(text: str, name: str, unnamed: Statistic) -> list[Step]:
    """Read a list of objects, or an object that has such a list in `steps`; rows count from 1.

    The columns are those of CSV; latencies may also be nested: {"latency_us": {"update": 420}} or
    {"latency_us": {"update": {"p99": 900}}}. It also reads what `plimsoll capacity --json` prints.

    Raises:
        UsageError: names the row and the column.
    """
    return from_values(parse_json(text, name), name, unnamed)


def from_values(table: object, name: str, unnamed: Statistic) -> list[Step]:
    """Read the values of such a JSON text.

    Raises:
        UsageError: names the row and the column.
    """
    if isinstance(table, dict) and "steps" in table:
        table = table["steps"]
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
        raise UsageError(
            f"{name}: a table of steps is a list of objects, or has one in 'steps'; of programs,"
            f" the outputs of {PROGRAMS} and plimsoll load --json are read"
        )
    if not table:
        raise UsageError(f"{name}: no steps")
    steps = []
    for number, row in enumerate(_unfolded(table), 1):
        where = f"{name} row {number}"
        if RECORDED & row.keys():
            steps.append(_recorded(row, where))
        else:
            flat = {column: value for column, value in _flat(row) if value is not None}
            steps.append(step_of(flat, where, unnamed))
    return steps


def _unfolded(table: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Take the measured steps out of judged loads, or out of the steps of a run's `result.json`."""
    for row in table:
        if "passed" in row and "steps" in row:
            yield from row["steps"]
        elif "plan" in row and "step" in row:
            yield {"recovered": None, **row["step"]}
        else:
            yield row


def _recorded(row: Mapping[str, Any], where: str) -> Step:
    """Read a step as Plimsoll itself wrote it, with what its audits need."""
    try:
        return Step.model_validate({"source": where, **row})
    except ValidationError as error:
        first = error.errors()[0]
        column = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{where}: {column}: {first['msg']}") from None


def step_of(row: Row, where: str, unnamed: Statistic) -> Step:
    """Make a step from a row's columns.

    Raises:
        UsageError: an unknown column, or a value that is no number or out of range.
    """
    values: dict[str, Any] = {"source": where}
    latency_us: dict[str, dict[Statistic, float]] = {}
    shares: dict[str, float] = {}
    for column, value in row.items():
        if column in WHOLE:
            values[column] = int(_number(value, where, column, whole=True))
        elif column in DECIMAL:
            values[column] = _number(value, where, column)
        elif column.startswith(latency_columns.PREFIX):
            operation, statistic = latency_columns.read_column(column, where, unnamed)
            known = latency_us.setdefault(operation, {})
            if statistic in known:
                raise UsageError(f"{where}: {column} gives the {statistic} of {operation} again")
            known[statistic] = _number(value, where, column)
        elif column.startswith("share."):
            shares[column.removeprefix("share.")] = _number(value, where, column)
        else:
            raise UsageError(f"{where}: {_unknown(column)}")
    if values.get("client_busy", 0) > 1:
        raise UsageError(f"{where}: client_busy is {row['client_busy']}, a share from 0 to 1")
    values.setdefault("throughput_ops_per_second", _throughput(values))
    if values["throughput_ops_per_second"] is None:
        raise UsageError(
            f"{where}: throughput_ops_per_second is missing (or give operations and window_s)"
        )
    return Step(**values, latency_us=latency_us, shares=shares)


def _throughput(values: Mapping[str, Any]) -> float | None:
    """Successful operations over the window, where a table gives only these."""
    if "operations" in values and "window_s" in values:
        return float(values["operations"]) / float(values["window_s"])
    return None


def _unknown(column: str) -> str:
    allowed = [*WHOLE, *DECIMAL, "latency_us.<operation>[.<statistic>]", "share.<operation>"]
    near = difflib.get_close_matches(column, allowed, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown column {column[:SHOWN]!r}{hint} (columns: {', '.join(allowed)})"


def _number(value: object, where: str, column: str, *, whole: bool = False) -> float:
    """Read a finite number of the column's range."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UsageError(f"{where}: {column} is {json.dumps(value)[:SHOWN]}, not a number")
    try:
        number = float(value)
    except ValueError:
        raise UsageError(f"{where}: {column} is {str(value)[:SHOWN]!r}, not a number") from None
    if not math.isfinite(number):
        raise UsageError(f"{where}: {column} is {value}; leave unknown values out")
    if number < 0:
        raise UsageError(f"{where}: {column} is {value}, below 0")
    if number == 0 and (column in POSITIVE or column.startswith(latency_columns.PREFIX)):
        raise UsageError(f"{where}: {column} is 0; leave unknown values out")
    if whole and number != int(number):
        raise UsageError(f"{where}: {column} is {value}, not a whole number")
    return number


def _flat(row: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    """Unfold nested latencies and shares into columns."""
    for column, value in row.items():
        if column == "latency_us" and isinstance(value, dict):
            for operation, known in value.items():
                if isinstance(known, dict):
                    yield from ((f"latency_us.{operation}.{s}", us) for s, us in known.items())
                else:
                    yield f"latency_us.{operation}", known
        elif column == "shares" and isinstance(value, dict):
            yield from ((f"share.{operation}", share) for operation, share in value.items())
        else:
            yield column, value
