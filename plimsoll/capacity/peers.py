"""What other load generators print, as steps: YCSB's summary and sysbench 1.0's report.

One file is one step. Text in, steps out; formats as in the tools' sources (YCSB 0.1.4 to 0.17:
`measurements/OneMeasurement*.java`; sysbench 1.0: `src/sysbench.c`, `src/db_driver.c`).
"""

import re
from collections.abc import Callable, Mapping

from plimsoll.errors import UsageError
from plimsoll.model.steps import Statistic, Step

# --- YCSB ---

_YCSB_LINE = re.compile(
    r"^[ \t]*\[(?P<section>[A-Z0-9-]+|Intended-[A-Z0-9-]+)\], (?P<key>[^,]+), (?P<value>\S+)"
)
_YCSB_PERCENTILE = re.compile(
    r"^(?P<p>[\d.]+)(?:st|nd|rd|th)?PercentileLatency\((?P<unit>us|ms)\)$"
)
_YCSB_PERCENTILES: Mapping[str, Statistic] = {"50": "p50", "95": "p95", "99": "p99", "99.9": "p999"}
_YCSB_OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE")
_UNIT_US = {"us": 1.0, "ms": 1000.0}


def is_ycsb(text: str) -> bool:
    """Whether the text holds YCSB's summary."""
    return "[OVERALL], Throughput(ops/sec)," in text


def from_ycsb(text: str, name: str) -> Step:
    """Read the summary that YCSB prints at its end.

    YCSB's throughput counts failed operations too; they are taken out here. A read-modify-write is
    also counted as its read and its update, so shares are per operation of the throughput. With
    `measurement.interval=both`, the intended latencies are taken: they count from the time at which
    an operation was due.

    Raises:
        UsageError: the summary is cut off, or a value is no number.
    """
    sections: dict[str, dict[str, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := _YCSB_LINE.match(line):
            section, key = match["section"], match["key"]
            known = sections.setdefault(section, {})
            if key in known and not key.strip().isdigit():
                raise UsageError(
                    f"{name} line {number}: [{section}], {key} again: one file is one step"
                )
            known[key] = match["value"]
    overall = _numbers(sections["OVERALL"], name, "OVERALL")
    if "RunTime(ms)" not in overall or overall["RunTime(ms)"] <= 0:
        raise UsageError(f"{name}: [OVERALL], RunTime(ms) is missing: the summary is cut off")
    window_s = overall["RunTime(ms)"] / 1000
    started = round(overall["Throughput(ops/sec)"] * window_s)
    operations = {s: _numbers(v, name, s) for s, v in sections.items() if s in _YCSB_OPERATIONS}
    if not operations:
        raise UsageError(f"{name}: no [READ], [UPDATE] ... section: the summary is cut off")
    errors = sum(_ycsb_errors(sections, section, name) for section in operations)
    succeeded = max(0, started - errors)
    latency_us, shares = {}, {}
    for section, values in operations.items():
        operation = section.lower().replace("-", "_")
        latency_us[operation] = _ycsb_latency(
            _numbers(sections.get(f"Intended-{section}", {}), name, section) or values
        )
        if succeeded and section != "READ-MODIFY-WRITE":
            shares[operation] = values.get("Operations", 0.0) / started
    if "READ-MODIFY-WRITE" in operations:
        shares["read_modify_write"] = 0.0  # its time is that of its read and its update
    intended = any(section.startswith("Intended-") for section in sections)
    threads = _option(text, r"-threads\s+(\d+)|-p\s+threadcount=(\d+)", name)
    target = _option(text, r"-target\s+(\d+)", name)
    return Step(
        source=name,
        connections=threads,
        rate_ops_per_second=target if intended or target else None,
        throughput_ops_per_second=succeeded / window_s,
        operations=succeeded,
        errors=errors,
        window_s=window_s,
        latency_us={operation: values for operation, values in latency_us.items() if values},
        shares=shares,
    )


def _ycsb_latency(values: Mapping[str, float]) -> dict[Statistic, float]:
    """Latencies in microseconds. A percentile of 0 ms says less than a millisecond: not known."""
    latency_us: dict[Statistic, float] = {}
    for key, value in values.items():
        match = _YCSB_PERCENTILE.match(key)
        if match and match["p"] in _YCSB_PERCENTILES and value > 0:
            latency_us[_YCSB_PERCENTILES[match["p"]]] = value * _UNIT_US[match["unit"]]
        for unit, factor in _UNIT_US.items():
            if key == f"AverageLatency({unit})" and value > 0:
                latency_us["mean"] = value * factor
            if key == f"MaxLatency({unit})" and value > 0:
                latency_us["max"] = value * factor
    return latency_us


def _ycsb_errors(sections: Mapping[str, Mapping[str, str]], section: str, name: str) -> int:
    """Operations of a section that did not return OK (0 in YCSB 0.1.4).

    Newer versions count them twice: under the section and in a [...-FAILED] one.
    """
    if section == "READ-MODIFY-WRITE":
        return 0  # counted as a read or an update
    codes = _numbers(sections[section], name, section)
    returned = sum(
        count
        for key, count in codes.items()
        if key.startswith("Return=")
        and key.removeprefix("Return=") not in {"OK", "0", "BATCHED_OK"}
    )
    failed = _numbers(sections.get(f"{section}-FAILED", {}), name, section).get("Operations", 0)
    return round(max(returned, failed))


# --- sysbench ---

# `[ \t]*`, not `\s*`: that would go over all blank lines that follow, from each of them
_SYSBENCH: Mapping[str, str] = {
    "transactions": r"^[ \t]*transactions:\s+(\d+)",
    "errors": r"^[ \t]*ignored errors:\s+(\d+)",
    "time_s": r"^[ \t]*total time:\s+([\d.]+)s",
    "mean": r"^[ \t]*avg:\s+([\d.]+)",
    "max": r"^[ \t]*max:\s+([\d.]+)",
    "threads": r"^Number of threads:\s+(\d+)",
    "rate": r"^Target transaction rate:\s+(\d+)/sec",
}


def is_sysbench(text: str) -> bool:
    """Whether the text holds a report of sysbench 1.0."""
    return "Latency (ms):" in text and "General statistics:" in text


def from_sysbench(text: str, name: str) -> Step:
    """Read the report of sysbench 1.0; its operation is the transaction.

    Raises:
        UsageError: the report is none of a database, or it is cut off.
    """
    values = {key: _only(text, pattern, name) for key, pattern in _SYSBENCH.items()}
    for key, label in (("transactions", "transactions"), ("time_s", "total time")):
        if values[key] is None:
            raise UsageError(f"{name}: no {label!r} line: not a database test, or cut off")
    transactions, time_s = values["transactions"] or 0.0, values["time_s"] or 0.0
    if time_s <= 0:
        raise UsageError(f"{name}: total time is 0")
    percentile = re.findall(r"^[ \t]*(\d+)th percentile:\s+([\d.]+)", text, re.MULTILINE)
    latency: dict[Statistic, float] = {}
    if values["mean"]:
        latency["mean"] = values["mean"] * 1000
    if values["max"]:
        latency["max"] = values["max"] * 1000
    for number, value in percentile:
        if number in _YCSB_PERCENTILES and float(value) > 0:
            latency[_YCSB_PERCENTILES[number]] = float(value) * 1000
    return Step(
        source=name,
        connections=round(values["threads"]) if values["threads"] else None,
        rate_ops_per_second=values["rate"] or None,
        throughput_ops_per_second=transactions / time_s,
        operations=round(transactions),
        errors=round(values["errors"]) if values["errors"] is not None else None,
        window_s=time_s,
        latency_us={"transaction": latency} if latency else {},
    )


def _only(text: str, pattern: str, name: str) -> float | None:
    values = re.findall(pattern, text, re.MULTILINE)
    if len(values) > 1:
        raise UsageError(f"{name}: several reports in one file: one file is one step")
    return float(values[0]) if values else None


# --- both ---

READERS: tuple[tuple[Callable[[str], bool], Callable[[str, str], Step]], ...] = (
    (is_ycsb, from_ycsb),
    (is_sysbench, from_sysbench),
)


def _numbers(values: Mapping[str, str], name: str, section: str) -> dict[str, float]:
    numbers = {}
    for key, value in values.items():
        try:
            numbers[key] = float(value)
        except ValueError:
            raise UsageError(f"{name}: [{section}], {key} is {value!r}, not a number") from None
        if not 0 <= numbers[key] < float("inf"):
            if key.startswith(("Average", "Min", "Max")):
                del numbers[key]  # of no operations: YCSB prints NaN or -1
                continue
            raise UsageError(f"{name}: [{section}], {key} is {value}")
    return numbers


def _option(text: str, pattern: str, name: str) -> int | None:
    """A setting from the command line that YCSB repeats at the top, where the file has it."""
    values = {match[match.lastindex or 0] for match in re.finditer(pattern, text)}
    if len(values) > 1:
        raise UsageError(f"{name}: its command line says {' and '.join(sorted(values))}")
    return int(values.pop()) or None if values else None
