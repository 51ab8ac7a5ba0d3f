"""go-ycsb: its output after "Run finished", in plain style or as JSON.

Format: go-ycsb 1.0 and master of 2024, `cmd/go-ycsb/client.go`, `pkg/measurement/histogram*.go`,
`pkg/client/dbwrapper.go`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from plimsoll.capacity.readers.reading import (
    SENT,
    Reading,
    convert_latencies_us,
    parse_json,
    parse_number,
    refuse_aborted,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

BEGIN = re.compile(r"\*+ properties \*+")
END = re.compile(r"Run finished, takes ")
MARKS = ("Run finished, takes ", '"threadcount"="', "[{", "READ   - ", "UPDATE - ", "INSERT - ")
_FINISHED = re.compile(r"^Run finished, takes ", re.MULTILINE)
# It prints figures after a signal, too: those of the time until then.
_ABORTED = re.compile(r"^.*(?:Got signal \[|panic: |fatal error: ).*$", re.MULTILINE)
_PROPERTY = re.compile(r'^"(threadcount|target)"="([0-9]+)"$', re.MULTILINE)
_ROW = re.compile(r"^(?P<operation>[A-Z_]+) *- (?P<figures>Takes\(s\): .*)$", re.MULTILINE)
# A part of a row, in a copy whose lines were broken at some column
_WRAPPED = re.compile(r"^(?![A-Z_]+ *- ).*s\): \d.*$", re.MULTILINE)
_WHOLE = 0.9  # least share of TOTAL that the operations of a whole output have
_COLUMNS: Mapping[str, Statistic] = {
    "Avg(us)": "mean",
    "50th(us)": "p50",
    "95th(us)": "p95",
    "99th(us)": "p99",
    "99.9th(us)": "p999",
    "Max(us)": "max",
}


def is_go_ycsb(text: str) -> bool:
    """Return whether the text holds go-ycsb's output, or what follows its properties."""
    properties = "**** properties ****" in text and '"dotransactions"="' in text
    return properties or ("Run finished, takes " in text and "Takes(s)" in text)


def is_run(text: str) -> bool:
    """Return whether an output is not of the phase that fills the table (`go-ycsb load`)."""
    return '"dotransactions"="false"' not in text


def read_go_ycsb(text: str, name: str) -> Reading:
    """Read the final figures. Earlier interval figures are cumulative and are skipped.

    `TOTAL` counts all successful operations, `READ_ERROR` and so on the failed ones. A
    read-modify-write counts as its read, its update and itself.

    Raises:
        UsageError: The output is cut off, or a value is not a number.
    """
    ends = [match.end() for match in _FINISHED.finditer(text)]
    if len(ends) != 1:
        what = "several outputs: one file is one step" if ends else "cut off: no 'Run finished'"
        raise UsageError(f"{name}: {what}")
    refuse_aborted(_ABORTED, text, name)
    if wrapped := _WRAPPED.search(text, ends[0]):
        raise UsageError(
            f"{name}: its lines are broken: copy them whole: {wrapped[0].strip()[:40]!r}"
        )
    rows: dict[str, dict[str, float]] = {}
    for operation, row in _read_rows(text[ends[0] :], name):
        if operation in rows:
            raise UsageError(f"{name}: {operation} again after 'Run finished': several outputs")
        rows[operation] = row
    rows = {operation: row for operation, row in rows.items() if row["Count"]}
    operations = {
        operation: row
        for operation, row in rows.items()
        if operation != "TOTAL" and not operation.endswith("_ERROR")
    }
    if not operations:
        raise UsageError(
            f"{name}: no figures after 'Run finished' (measurementtype=histogram, and outputstyle"
            " plain or json, are read)"
        )
    _check_whole(rows, operations, text[: ends[0]], name)
    window_s = max(row["Takes(s)"] for row in rows.values())
    if not window_s:
        raise UsageError(f"{name}: Takes(s) is 0")
    counts = {
        operation: round(row["Count"])
        for operation, row in operations.items()
        if operation != "READ_MODIFY_WRITE"
    }
    succeeded = sum(counts.values())
    settings = dict(_PROPERTY.findall(text[: ends[0]]))
    target = int(settings.get("target", "0")) or None
    step = Step(
        source=name,
        connections=int(settings.get("threadcount", "0")) or None,
        rate_ops_per_second=target,
        throughput_ops_per_second=succeeded / window_s,
        operations=succeeded,
        errors=round(sum(row["Count"] for o, row in rows.items() if o.endswith("_ERROR"))),
        window_s=window_s,
        latency_us={
            operation.lower(): convert_latencies_us(
                ((s, row.get(c)) for c, s in _COLUMNS.items()), 1
            )
            for operation, row in operations.items()
        },
        shares={
            operation.lower(): counts.get(operation, 0) / succeeded
            for operation in operations
            if succeeded
        },
    )
    return Reading(step, notes=(SENT,) if target else ())


def _check_whole(
    rows: Mapping[str, Mapping[str, float]], operations: Iterable[str], before: str, name: str
) -> None:
    """Refuse figures of which a row is missing, or is shorter than others.

    Raises:
        UsageError: They are cut off.
    """
    columns = max(map(len, rows.values()))
    for operation, row in rows.items():
        if len(row) < columns:
            raise UsageError(f"{name}: the figures of {operation} are cut off")
    if missing := {match["operation"] for match in _ROW.finditer(before)} - {*rows}:
        raise UsageError(f"{name}: cut off: no {min(missing)} after 'Run finished'")
    counted = sum(rows[operation]["Count"] for operation in operations)
    total = rows["TOTAL"]["Count"] if "TOTAL" in rows else 0.0
    if counted < _WHOLE * total:
        raise UsageError(
            f"{name}: cut off: its operations are {counted:.0f}, and TOTAL is {total:.0f}"
        )


def _read_rows(text: str, name: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield name and figures of each operation."""
    for match in _ROW.finditer(text):
        pairs = (pair.partition(": ") for pair in match["figures"].split(", "))
        yield (
            match["operation"],
            _read_figures(
                match["operation"], {key: value.strip() for key, _, value in pairs}, name
            ),
        )
    for line in text.splitlines():
        if line.startswith("[{"):
            rows = parse_json(line, name)
            for row in rows if isinstance(rows, list) else []:
                if isinstance(row, dict) and isinstance(row.get("Operation"), str):
                    yield row["Operation"], _read_figures(row["Operation"], row, name)


def _read_figures(operation: str, values: Mapping[str, object], name: str) -> dict[str, float]:
    wanted = ("Takes(s)", "Count", *_COLUMNS)
    figures = {
        key: parse_number(str(values[key]), f"{name}: {operation}, {key}")
        for key in wanted
        if key in values
    }
    for key in ("Takes(s)", "Count"):
        if key not in figures:
            raise UsageError(f"{name}: {operation} has no {key}: cut off")
    return figures
