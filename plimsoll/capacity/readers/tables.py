"""Tables of steps from any tool: reads rows of JSON or CSV as `Step`s and judges them. No I/O.

An empty cell or a missing column means "unknown". Any other value that is not a number of the right
kind is an error that names the file, the row and the column.
"""

import csv
import difflib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from plimsoll import words
from plimsoll.capacity.credits import judge_sustained
from plimsoll.capacity.readers import PROGRAMS
from plimsoll.capacity.steps import step_figures
from plimsoll.capacity.steps.littles_law import compute_concurrent_operations
from plimsoll.capacity.steps.step_figures import PREFIX, name_step
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import AuditName, Axis, Capacity, Rules
from plimsoll.model.judging.steps import Statistic, Step
from plimsoll.model.validation import describe_first_error

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
FAMILIES = (step_figures.PREFIX, "share.")
SHOWN = 60  # characters of a column's name that an error shows
_AGREES = 0.1  # most by which a throughput differs from operations / window, as of a longer window
_SHARES_MOST = 1.02  # sum of the shares of a row, each of them rounded
Row = Mapping[str, object]


def read_csv(text: str, name: str, unnamed: Statistic) -> list[Step]:
    """Read a table with a header line.

    Args:
        text: text of the file.
        name: name of the file in errors.
        unnamed: statistic of columns such as `latency_us.update`.

    Raises:
        UsageError: Names the row and the column. The header is row 1.
    """
    text = "\n".join(map(_strip_comment, text.removeprefix("\ufeff").split("\n")))
    skipped, separator = _find_header(text)
    rows = _split_rows(text, name, separator)
    rows = [(number, cells) for number, cells in rows if number > skipped]
    if not rows:
        raise UsageError(f"{name}: empty; a table of steps has a header line and one row per step")
    _check_header(rows, name)
    header = rows[0][1]
    rows = [
        row for row in rows if row is rows[0] or not _is_other_text(row[1], len(header), separator)
    ]
    if all(_has_known_column(cells) for _, cells in rows):
        raise UsageError(f"{name}: a header and no rows")
    if separator == ";":
        _refuse_points(rows[1:], name)
    steps = []
    for number, cells in _read_decimal_commas(rows[1:], name):
        if _has_known_column(cells):  # the header of a second table
            if sorted(cells) != sorted(header):
                raise UsageError(
                    f"{name} row {number}: a second table with other columns: give it a file of its"
                    " own"
                )
            header = cells
            continue
        if len(cells) != len(header):
            raise UsageError(
                f"{name} row {number}: {words.format_count(len(cells), 'cell')}, but the header has"
                f" {words.format_count(len(header), 'column')}"
                + (_MORE_CELLS.get(separator, "") if len(cells) > len(header) else "")
            )
        if any(cell and not column for column, cell in zip(header, cells, strict=True)):
            raise UsageError(
                f"{name} row {number}: a cell of a column without a name: give the column one, or"
                " leave it out"
            )
        row = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
        steps.append(make_step(row, f"{name} row {number}", unnamed))
    return steps


def _is_other_text(cells: Sequence[str], columns: int, separator: str) -> bool:
    """Whether a line is no row, such as a prompt: it has no number, and not a cell a column."""
    return (
        (len(cells) != columns or separator == " ")
        and not _has_known_column(cells)
        and not any(_FIGURE.match(cell) for cell in cells)
    )


def _check_header(rows: Sequence[tuple[int, list[str]]], name: str) -> None:
    """Refuse a table whose first row has no column that is read, or one of them twice."""
    header = rows[0][1]
    if not _has_known_column(header):
        if len(header) < 2 or any(len(cells) != len(header) for _, cells in rows):
            raise UsageError(
                f"{name}: neither a table of steps nor an output of a known program ({PROGRAMS})."
                " A table begins with a line of columns, such as"
                " clients,throughput_ops_per_second,latency_us.read.p99"
            )
        if all(re.fullmatch(r"[\d.,]*", cell) for cell in header):
            raise UsageError(
                f"{name} row {rows[0][0]} has numbers alone: the line of columns above it is"
                " missing, such as clients,throughput_ops_per_second,latency_us.read.p99"
            )
        raise UsageError(
            f"{name} row {rows[0][0]}: {_describe_unknown(header[0])}. A table of steps"
            f" begins with a line of columns; the outputs of {PROGRAMS} are read too"
        )
    for column, times in Counter(header).items():
        if times > 1 and column:
            raise UsageError(f"{name} row {rows[0][0]}: column {column!r} occurs twice")


# Separators of cells, in the order in which they are tried on the header; a blank stands for any
# number of them, as in tables that people align.
_SEPARATORS = (",", ";", "\t", "|", " ")
# Why a row may have more cells than the header, by the separator
_MORE_CELLS = {
    ",": " (with decimal commas, separate cells by ;)",
    " ": " (leave out what numbers the rows)",
}
_TITLE_LINES = 20  # in which a header is looked for
# Lines between the rows of a table that psql, mysql or Markdown drew, and its last line
_RULE = re.compile(r"\s*|[-+|:=\s\u2500-\u257f]+|\(\d+ rows?\)|\d+ rows? in set.*")
_BARS = str.maketrans("│┃║", "|||")
_PARTS = ".' \u00a0\u2009\u202f"  # between thousands, if the comma is the decimal point
_THOUSANDS = re.compile(rf"\d{{1,3}}(?:[{_PARTS}]\d{{3}})+,\d+")  # 1.300,4
_COMMA = re.compile(r"\d*,\d+")
_EITHER_POINT = re.compile(r"[1-9]\d{0,2}\.\d{3}")  # 1.300 where commas may be decimal
# A number, also with a unit; `0:10.1` of a time and `50%` of a progress bar are none
_FIGURE = re.compile(r"[-+<>~=]?[ .,'_]*+\d[ \d.,'_]*+(?:[a-zA-Zµ]{1,2}|e[-+]?\d+)?;?$")
_EITHER = re.compile(r"[1-9]\d{0,2},\d{3}")  # 1,300: a decimal comma, or one between thousands


def _find_header(text: str) -> tuple[int, str]:
    """Return the lines above the header, such as a title, and the separator of its columns.

    The header is the first line that has columns of a table; if there is none, the first line is,
    with commas. A line `sep=;`, which spreadsheets write, is asked first.
    """
    lines = text.translate(_BARS).split("\n")
    first = lines[0].rstrip("\r")
    if first.startswith("sep=") and first.removeprefix("sep=") in _SEPARATORS:
        return 0, first[-1]
    for number, line in enumerate(lines[:_TITLE_LINES]):
        for separator in _SEPARATORS:
            cells = [cell.strip(" \t\"'") for cell in line.split(separator)]
            if len([cell for cell in cells if cell]) > 1 and _has_known_column(cells):
                return number, separator
    return 0, ","


def _strip_comment(line: str) -> str:
    """Return a line without the comment that it is; gnuplot's `# clients ...` is a header."""
    if not line.startswith("#"):
        return line
    columns = line.strip("# \t")
    return columns if _has_known_column(re.split(r"[,;|\s]+", columns)) else ""


def _has_known_column(header: Iterable[str]) -> bool:
    return any(column in (*WHOLE, *DECIMAL) or column.startswith(FAMILIES) for column in header)


def _split_rows(text: str, name: str, separator: str) -> list[tuple[int, list[str]]]:
    """Split a table into rows, each with its line number; lines without cells are left out."""
    if separator == " ":
        lines_and_numbers = enumerate(text.split("\n"), 1)
        return [(n, line.split()) for n, line in lines_and_numbers if not _RULE.fullmatch(line)]
    if separator == "|":
        text = text.translate(_BARS)
    lines = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        rows = [(lines.line_num, [cell.strip() for cell in cells]) for cells in lines]
    except csv.Error as error:
        raise UsageError(f"{name} line {lines.line_num}: no CSV: {error}") from None
    if separator == "|":  # a query's or Markdown's: | a | b |
        rows = [
            (number, cells[1:-1] if len(cells) > 2 and not cells[0] and not cells[-1] else cells)
            for number, cells in rows
            if not _RULE.fullmatch("|".join(cells))
        ]
    return [
        (number, cells)
        for number, cells in rows
        if any(cells) and not (number == 1 and "".join(cells) in {"sep=", f"sep={separator}"})
    ]


def _refuse_points(rows: Iterable[tuple[int, list[str]]], name: str) -> None:
    """Refuse points that may separate thousands, in a table whose cells are separated by `;`.

    Raises:
        UsageError: All numbers with a point are like `1.300`.
    """
    cells = [cell for _, row in rows for cell in row if "." in cell]
    if cells and all(_EITHER_POINT.fullmatch(cell) for cell in cells):
        whole, thousand = cells[0].split(".")
        raise UsageError(
            f"{name}: {cells[0]!r}: is this a decimal point, or does it separate thousands? Write"
            f" {whole},{thousand}0 or {whole}{thousand}"
        )


def _read_decimal_commas(
    rows: Sequence[tuple[int, list[str]]], name: str
) -> list[tuple[int, list[str]]]:
    """Return rows whose decimal commas are points.

    Raises:
        UsageError: A comma may be decimal or separate thousands.
    """
    cells = [cell for _, row in rows for cell in row if "," in cell]
    decimal = [c for c in cells if _THOUSANDS.fullmatch(c) or _COMMA.fullmatch(c)]
    certain = [cell for cell in decimal if not _EITHER.fullmatch(cell)]
    if decimal and not certain:
        whole, fraction = decimal[0].split(",")
        raise UsageError(
            f"{name}: {decimal[0]!r}: is this a decimal comma, or does it separate thousands? Write"
            f" {whole}.{fraction} or {whole}{fraction}"
        )
    if not certain:
        return list(rows)
    return [(number, [_to_point(cell, name, number) for cell in row]) for number, row in rows]


def _to_point(cell: str, name: str, number: int) -> str:
    """Return a cell of a table with decimal commas: `1.300,4` is 1300.4."""
    if _THOUSANDS.fullmatch(cell):
        return re.sub(f"[{_PARTS}]", "", cell).replace(",", ".")
    if re.fullmatch(r"\d+\.\d+", cell):
        raise UsageError(
            f"{name} row {number}: {cell!r} has a point, but other numbers have decimal commas:"
            " does the point separate thousands? Write all numbers in one way"
        )
    return cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell


def read_table(table: object, name: str, unnamed: Statistic) -> list[Step]:
    """Read a list of objects, or an object that has such a list in `steps`; rows count from 1.

    The columns are those of CSV. Latencies may also be nested: {"latency_us": {"update": 420}} or
    {"latency_us": {"update": {"p99": 900}}}. The output of `plimsoll capacity --json` is read too.

    Raises:
        UsageError: Names the row and the column.
    """
    if isinstance(table, dict) and "steps" in table:
        table = table["steps"]
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
        raise UsageError(
            f"{name}: a table of steps is a list of objects, or has one in 'steps'; the"
            f" outputs of {PROGRAMS} and plimsoll load --json are read too"
        )
    if not table:
        raise UsageError(f"{name}: no steps")
    steps = []
    for number, row in enumerate(_unfold_loads(table), 1):
        where = f"{name} row {number}"
        if RECORDED & row.keys():
            steps.append(_read_recorded(row, where))
        else:
            flat = {column: value for column, value in _flatten_row(row) if value is not None}
            steps.append(make_step(flat, where, unnamed))
    return steps


def _unfold_loads(table: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Yield the measured steps from judged loads, or from the steps of a run's `result.json`."""
    for row in table:
        if "passed" in row and "steps" in row:
            yield from row["steps"]
        elif "plan" in row and "step" in row:
            yield {"recovered": None, **row["step"]}
        else:
            yield row


def _read_recorded(row: Mapping[str, Any], where: str) -> Step:
    """Read a step that Plimsoll itself recorded, with the figures for its audits."""
    try:
        return Step.model_validate({"source": where, **row})
    except ValidationError as error:
        raise UsageError(f"{where}: {describe_first_error(error)}") from None


def make_step(row: Row, where: str, unnamed: Statistic) -> Step:
    """Convert the columns of a row into a step.

    Raises:
        UsageError: A column is unknown, or a value is not a number or out of range.
    """
    values: dict[str, Any] = {"source": where}
    latency_us: dict[str, dict[Statistic, float]] = {}
    shares: dict[str, float] = {}
    for column, value in row.items():
        if column in WHOLE:
            values[column] = int(_parse_number(value, where, column, whole=True))
        elif column in DECIMAL:
            values[column] = _parse_number(value, where, column)
        elif column.startswith(step_figures.PREFIX):
            operation, statistic = step_figures.read_column(column, where, unnamed)
            known = latency_us.setdefault(operation, {})
            if statistic in known:
                raise UsageError(f"{where}: {column} gives the {statistic} of {operation} again")
            known[statistic] = _parse_number(value, where, column)
        elif column.startswith("share."):
            shares[column.removeprefix("share.")] = _parse_number(value, where, column)
        else:
            raise UsageError(f"{where}: {_describe_unknown(column)}")
    values.setdefault("throughput_ops_per_second", _compute_throughput(values))
    if values["throughput_ops_per_second"] is None:
        raise UsageError(
            f"{where}: throughput_ops_per_second is missing (or give operations and window_s)"
        )
    _check_figures(values, shares, where)
    return Step(**values, latency_us=latency_us, shares=shares)


def _check_figures(values: Mapping[str, Any], shares: Mapping[str, float], where: str) -> None:
    """Refuse shares above 1, and a throughput that the counted operations deny."""
    if sum(shares.values()) > _SHARES_MOST:
        raise UsageError(
            f"{where}: the share columns add up to {sum(shares.values()):g}: each is a share of the"
            " operations from 0 to 1"
        )
    if values.get("client_busy", 0) > 1:
        raise UsageError(f"{where}: client_busy is {values['client_busy']:g}, a share from 0 to 1")
    counted = _compute_throughput(values)
    if counted and abs(values["throughput_ops_per_second"] / counted - 1) > _AGREES:
        raise UsageError(
            f"{where}: throughput_ops_per_second is {values['throughput_ops_per_second']:g}, but"
            f" operations / window_s is {counted:g}: leave out what is wrong"
        )


def _compute_throughput(values: Mapping[str, Any]) -> float | None:
    """Return successful operations / window, for tables without a throughput."""
    if "operations" in values and "window_s" in values:
        return float(values["operations"]) / float(values["window_s"])
    return None


# Columns as other programs name them
_MEANT: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("threads", "users", "vus", "concurrency"), ("connections",)),
    **dict.fromkeys(("tps", "qps", "ops", "ops/s", "throughput"), ("throughput_ops_per_second",)),
    **dict.fromkeys(("rate", "target"), ("rate_ops_per_second",)),
    **dict.fromkeys(
        ("latency", "lat", "p99", "p95", "p50", "mean", "avg"), ("latency_us.read.p99",)
    ),
}


def _describe_unknown(column: str) -> str:
    allowed = [*WHOLE, *DECIMAL, "latency_us.<operation>[.<statistic>]", "share.<operation>"]
    near = _MEANT.get(column.lower()) or difflib.get_close_matches(
        column.lower(), allowed, n=1, cutoff=0.6
    )
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown column {column[:SHOWN]!r}{hint} (columns: {', '.join(allowed)})"


def _parse_number(value: object, where: str, column: str, *, whole: bool = False) -> float:
    """Parse a finite number within the range of its column."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UsageError(f"{where}: {column} is {json.dumps(value)[:SHOWN]}, not a number")
    try:
        number = float(value)
    except ValueError:
        cure = _describe_cure(str(value).strip())
        raise UsageError(
            f"{where}: {column} is {str(value)[:SHOWN]!r}, not a number{cure}"
        ) from None
    if not math.isfinite(number):
        raise UsageError(f"{where}: {column} is {value}; leave unknown values out")
    if number < 0:
        raise UsageError(f"{where}: {column} is {value}, below 0")
    if number == 0 and (column in POSITIVE or column.startswith(step_figures.PREFIX)):
        raise UsageError(f"{where}: {column} is 0; leave unknown values out")
    if whole and number != int(number):
        raise UsageError(f"{where}: {column} is {value}, not a whole number")
    return number


# What stands in place of a number, and what to write
_CURES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"[-\u2013\u2014?]+|(?i:n/?a|nil|none|null|unknown|#.*|\(null\))"),
        "leave it empty",
    ),
    (re.compile(r"[\d.]+ ?%"), "write 45 % as 0.45"),
    (re.compile(rf"\d{{1,3}}(?:[,\u2019{_PARTS}]\d{{3}})+(?:\.\d+)?"), "write 1,300 as 1300"),
    (
        re.compile(r"[\d.]+ ?[a-zA-Z\u00b5\u03bc/]+"),
        "leave the unit out; latencies are microseconds",
    ),
)


def _describe_cure(value: str) -> str:
    return next((f": {cure}" for like, cure in _CURES if like.fullmatch(value)), "")


def _flatten_row(row: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    """Yield nested latencies and shares as columns."""
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


# --- the verdict on a table of steps ---


FALLBACKS: tuple[Statistic, ...] = ("p99", "p95", "p999", "mean", "p50", "max")


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Options for judging a table.

    Attributes:
        rules: rules of the run that the table is from; None for the defaults.
        axis: axis of that run; None to determine it from the steps.
        limits_us: latency limits by operation, in addition to those of the rules.
        deterioration: limit of the other operations, as a multiple of their latency in the lightest
            step; None for the one of the rules.
        statistic: statistic to judge; None for the run's, or the highest that the table has.
        connections_per_client: used if the table has no connections; None leaves them unknown.
        audits_off: audits that are not run.
    """

    rules: Rules | None = None
    axis: Axis | None = None
    limits_us: dict[str, float] = field(default_factory=dict)
    deterioration: float | None = None
    statistic: Statistic | None = None
    connections_per_client: int | None = None
    audits_off: frozenset[AuditName] = frozenset()


def judge_table(steps: Sequence[Step], told: Sequence[str], judging: Judging) -> Capacity:
    """Judge a table of steps, without requiring repetitions.

    Args:
        steps: steps of the table.
        told: remarks on the steps for the reader.
        judging: options.

    Raises:
        UsageError: The steps cannot be judged.
    """
    steps, rules = list(steps), judging.rules or Rules(confirmation=None)
    if judging.connections_per_client is not None:
        steps = [_add_connections(step, judging.connections_per_client) for step in steps]
    wanted = judging.statistic or (rules.statistic if judging.axis else None)
    statistic, notes = _choose_statistic(steps, wanted)
    audits_off = rules.audits_off | judging.audits_off
    changes: dict[str, Any] = {"statistic": statistic, "audits_off": audits_off}
    if judging.deterioration is not None:
        changes["deterioration"] = judging.deterioration
    changes["limits_us"] = {**rules.limits_us, **judging.limits_us}
    capacity = judge_sustained(steps, rules.model_copy(update=changes), judging.axis)
    known = (*capacity.notes, *notes, *told, *_note_unchecked(steps), *_note_undecided(capacity))
    return capacity.model_copy(update={"notes": known})


def _add_connections(step: Step, per_client: int) -> Step:
    if step.connections is not None or step.clients is None:
        return step
    return step.model_copy(update={"connections": step.clients * per_client})


def _choose_statistic(steps: list[Step], wanted: Statistic | None) -> tuple[Statistic, list[str]]:
    """Return the statistic to judge, with a note if it is not the usual one.

    It is the wanted one, otherwise the first of p99, p95, ... that every latency has.
    """
    latencies = [values for step in steps for values in step.latency_us.values()]
    if wanted is not None or not latencies:
        return wanted or "p99", []
    for statistic in FALLBACKS:
        if all(statistic in values for values in latencies):
            if statistic == "p99":
                return statistic, []
            unnamed = ""
            if statistic == "mean":
                unnamed = " (in a table, a latency without a statistic is a mean)"
            name = words.name_statistic(statistic)
            return statistic, [f"judged by the {name}{unnamed}: not every step has a p99"]
    return "p99", []


def _note_unchecked(steps: list[Step]) -> list[str]:
    """Return a note if Little's law was not checked only for lack of connections."""
    closed = all(step.rate_ops_per_second is None for step in steps)
    means = any("mean" in values for step in steps for values in step.latency_us.values())
    if closed and means and all(step.connections is None for step in steps):
        return ["Little's law is not checked without connections (--connections-per-client N)"]
    return []


def _note_undecided(capacity: Capacity) -> list[str]:
    """Return a note if Little's law could not decide because the operations' shares are unknown."""
    for judged in capacity.steps:
        for audit in judged.audits:
            if audit.name == "littles_law" and "shares" in audit.detail and audit.passed is None:
                load = words.format_load(judged.load, capacity.axis)
                return [
                    f"Little's law decides nothing at {load}: it {audit.detail} (share.<operation>)"
                ]
    return []


# --- are latencies in microseconds, or in milliseconds or seconds? ---


# Connections / concurrent operations. It is 1 if connections never wait for the client, and 1,000
# if milliseconds are taken for microseconds. Clients that wait between operations can give any
# factor, so every step has to show it.
_THOUSANDFOLD = (300.0, 3_000.0)
_MILLIONFOLD = (300_000.0, 3_000_000.0)


def check_units(steps: Sequence[Step], *, by_littles_law: bool = True) -> None:
    """Refuse a table whose `latency_us` columns are certainly not in microseconds.

    Args:
        steps: steps of one table.
        by_littles_law: whether to refuse also what is possible only if clients wait between
            operations.

    Raises:
        UsageError: Names the row and the column.
    """
    for number, step in enumerate(steps, 1):
        for operation, values in step.latency_us.items():
            for statistic, us in values.items():
                if 0 < us < 1:
                    raise UsageError(
                        f"{name_step(step, number)}: {PREFIX}{operation} ({statistic}) is {us:g},"
                        " under"
                        " a microsecond: is it in milliseconds? It has to be in microseconds"
                    )
    idle = [_compute_idle_factor(step) for step in steps if step.rate_ops_per_second is None]
    known = [factor for factor in idle if factor is not None]
    if not by_littles_law or not known:
        return
    for unit, (low, high) in (("milliseconds", _THOUSANDFOLD), ("seconds", _MILLIONFOLD)):
        if low <= min(known) and max(known) <= high:
            raise _build_unit_error(
                next(step for step in steps if _compute_idle_factor(step)), unit
            )


def _compute_idle_factor(step: Step) -> float | None:
    """Return connections (at least one per client) / concurrent operations; None if unknown.

    Failing operations occupy connections too, and no figure of a table says for how long.
    """
    found, connections = compute_concurrent_operations(step), step.connections or step.clients
    failing = 10 * (step.errors or 0) > (step.operations or 0)
    if found is None or connections is None or not found.most or failing:
        return None
    return connections / found.most


def _build_unit_error(step: Step, unit: str) -> UsageError:
    columns = ", ".join(PREFIX + operation for operation in step.latency_us)
    kind = "connection" if step.connections else "client"
    throughput = words.format_throughput(step.throughput_ops_per_second)
    found = compute_concurrent_operations(step)
    busy = found.most if found else 0.0
    return UsageError(
        f"{name_step(step, 1)}: {columns}: {unit}, not microseconds? {throughput} would keep"
        f" {busy:.2g}"
        " operations under way on"
        f" {words.format_count(step.connections or step.clients or 0, kind)},"
        " and so in every row. If the clients do wait between operations: --without-audit"
        " littles_law"
    )
