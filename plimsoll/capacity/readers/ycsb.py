"""YCSB: its final summary.

Format: YCSB 0.1.4 to 0.17, `measurements/OneMeasurement*.java`,
`measurements/exporter/TextMeasurementsExporter.java`.
"""

import re
from collections.abc import Mapping

from plimsoll.capacity.readers.reading import (
    MS,
    PERCENTILES,
    SENT,
    Reading,
    parse_number,
    refuse_aborted,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

# Between the parts of a line: YCSB prints a comma and a blank; copies often have one of the two.
_COMMA = r"[ \t]*(?:[,;][ \t]*|(?<=\t))"
_LINE = re.compile(
    r"^[ \t]*\[(?P<section>[A-Z0-9-]+|Intended-[A-Z0-9-]+)\]"
    rf"{_COMMA}(?P<key>[^,;\t]+){_COMMA}(?P<value>\S+)"
)
BEGIN = re.compile(
    rf"YCSB Client|Command line:|(?:\S*/)?java\b|[ \t]*\[OVERALL\]{_COMMA}RunTime\(ms\)"
)
END = re.compile(rf"[ \t]*\[OVERALL\]{_COMMA}Throughput\(ops/sec\)")
MARKS = ("[OVERALL]", "[READ]", "[UPDATE]", "[INSERT]", "[SCAN]", "[CLEANUP]")
_SUMMARY = re.compile(rf"\[OVERALL\]{_COMMA}Throughput\(ops/sec\)")
# A thread whose connection or insert fails ends, and YCSB goes on with fewer.
_ABORTED = re.compile(
    r"^.*(?:^Exception in thread|ycsb\.DBException|not retrying any more|OutOfMemoryError).*$",
    re.MULTILINE,
)
_PERCENTILE = re.compile(r"^(?P<p>[\d.]+)(?:st|nd|rd|th)?PercentileLatency\((?P<unit>us|ms)\)$")
_THREADS = re.compile(r"-threads\s+(\d+)|-p\s+threadcount=(\d+)")
_TARGET = re.compile(r"-target\s+(\d+)|-p\s+target=(\d+)")
_LOAD = re.compile(r"^(?=Command line:|.*\bycsb\.Client\b).*[ \t]-load\b", re.MULTILINE)
_INTENDED = "-p measurement.interval=intended"
_OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE")
_WHOLE = 0.9  # least share of the operations that the sections of a whole summary have
_UNIT_US = {"us": 1.0, "ms": MS}
Sections = Mapping[str, Mapping[str, str]]


def is_ycsb(text: str) -> bool:
    """Return whether the text holds YCSB's summary."""
    return bool(_SUMMARY.search(text))


def is_run(text: str) -> bool:
    """Return whether an output is not of the phase that fills the table (`ycsb load`)."""
    return not _LOAD.search(text)


def read_ycsb(text: str, name: str) -> Reading:
    """Read the summary.

    YCSB's throughput includes failed operations, which are subtracted here. A read-modify-write
    also counts as its read and its update, so shares are relative to the operations of the
    throughput. With `measurement.interval=both`, the intended latencies are used, which count from
    the time at which an operation was due; with `intended`, they have the operations' own names.

    Raises:
        UsageError: The summary is cut off, or a value is not a number.
    """
    sections = _read_sections(text, name)
    refuse_aborted(_ABORTED, text, name)
    overall = _parse_numbers(sections["OVERALL"], name, "OVERALL")
    if "RunTime(ms)" not in overall or overall["RunTime(ms)"] <= 0:
        raise UsageError(f"{name}: [OVERALL], RunTime(ms) is missing: the summary is cut off")
    window_s = overall["RunTime(ms)"] / 1000
    started = round(overall["Throughput(ops/sec)"] * window_s)
    operations = {s: sections[s] for s in _OPERATIONS if s in sections}
    intended = _INTENDED in text or any(f"Intended-{s}" in sections for s in operations)
    if not operations and any(f"{one}-FAILED" in sections for one in _OPERATIONS):
        raise UsageError(f"{name}: no operation succeeded: it has [...-FAILED] sections alone")
    if not operations:
        raise UsageError(f"{name}: no [READ], [UPDATE] ... section: the summary is cut off")
    errors = sum(
        _count_errors(sections, section, values, name) for section, values in operations.items()
    )
    _check_whole(sections, operations, started, name)
    succeeded = max(0, started - errors)
    latency_us, shares = {}, {}
    for section, values in operations.items():
        operation = section.lower().replace("-", "_")
        timed = sections.get(f"Intended-{section}", values)
        latency_us[operation] = _read_latency(_parse_numbers(timed, name, section))
        if succeeded and section != "READ-MODIFY-WRITE":
            count = _parse_numbers(values, name, section).get("Operations", 0.0)
            shares[operation] = count / started
    if "READ-MODIFY-WRITE" in operations:
        shares["read_modify_write"] = 0.0  # the latency is that of the read and the update
    target, threads = _read_option(text, _TARGET, name), _read_option(text, _THREADS, name)
    ended = _parse_numbers(sections.get("CLEANUP", {}), name, "CLEANUP").get("Operations")
    if threads and ended is not None and ended < threads:  # each thread that could begin ends so
        raise UsageError(
            f"{name}: not a whole run: {ended:.0f} of {threads} threads came to its end"
        )
    step = Step(
        source=name,
        connections=threads,
        rate_ops_per_second=target,
        throughput_ops_per_second=succeeded / window_s,
        operations=succeeded,
        errors=errors,
        window_s=window_s,
        latency_us={operation: values for operation, values in latency_us.items() if values},
        shares=shares,
    )
    if target and not intended:
        return Reading(step, notes=(f"{SENT} (give YCSB -p measurement.interval=both)",))
    unknown = "YCSB's -target is not in it" if intended and not target else None
    return Reading(step, rate_unknown=unknown)


def _read_sections(text: str, name: str) -> Sections:
    sections: dict[str, dict[str, str]] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        if match := _LINE.match(line):
            section, key = match["section"], match["key"].strip()
            known = sections.setdefault(section, {})
            if key in known and not key.isdigit():
                raise UsageError(
                    f"{name} line {line_number}: [{section}], {key} again: one file is one step"
                )
            known[key] = match["value"]
    if "Throughput(ops/sec)" not in sections.get("OVERALL", {}):
        raise UsageError(f"{name}: [OVERALL], Throughput(ops/sec) stands on no line of its own")
    return sections


def _check_whole(
    sections: Sections, operations: Mapping[str, Mapping[str, str]], started: int, name: str
) -> None:
    """Refuse a summary from which sections are missing.

    Raises:
        UsageError: The sections have fewer operations than were run, or one has no end.
    """
    told = 0.0
    for section in _OPERATIONS[:-1]:  # a read-modify-write is a read and an update
        for one in (section, f"{section}-FAILED"):
            values = _parse_numbers(sections.get(one, {}), name, one)
            told += values.get("Operations", 0.0)
    if told < _WHOLE * started:
        raise UsageError(
            f"{name}: the summary is cut off: its sections have {told:.0f} operations, and"
            f" {started} were run"
        )
    ended = {
        section: any(key.startswith("Return=") for key in operations[section])
        for section in _OPERATIONS[:-1]
        if section in operations
    }
    for section, has_end in ended.items():
        if any(ended.values()) and not has_end:
            raise UsageError(
                f"{name}: the summary is cut off: [{section}] has no Return= at its end"
            )
    if "READ-MODIFY-WRITE" in operations and not {"UPDATE", "UPDATE-FAILED"} & sections.keys():
        raise UsageError(f"{name}: the summary is cut off: it has no [UPDATE] section")


def _read_latency(values: Mapping[str, float]) -> dict[Statistic, float]:
    """Return latencies in microseconds. A percentile of 0 ms is below the precision: unknown."""
    latency_us: dict[Statistic, float] = {}
    for key, value in values.items():
        match = _PERCENTILE.match(key)
        if match and value > 0:
            percent = parse_number(match["p"], key)
            if percent in PERCENTILES:
                latency_us[PERCENTILES[percent]] = value * _UNIT_US[match["unit"]]
        for unit, factor in _UNIT_US.items():
            if key == f"AverageLatency({unit})" and value > 0:
                latency_us["mean"] = value * factor
            if key == f"MaxLatency({unit})" and value > 0:
                latency_us["max"] = value * factor
    return latency_us


def _count_errors(sections: Sections, section: str, values: Mapping[str, str], name: str) -> int:
    """Return the operations of a section that did not return OK (0 in YCSB 0.1.4).

    Newer versions count them twice: in the section and in a [...-FAILED] section.
    """
    if section == "READ-MODIFY-WRITE":
        return 0  # already counted as a read or an update
    returned = sum(
        count
        for key, count in _parse_numbers(values, name, section).items()
        if key.startswith("Return=")
        and key.removeprefix("Return=") not in {"OK", "0", "BATCHED_OK"}
    )
    failed = _parse_numbers(sections.get(f"{section}-FAILED", {}), name, section).get(
        "Operations", 0
    )
    return round(max(returned, failed))


def _parse_numbers(values: Mapping[str, str], name: str, section: str) -> dict[str, float]:
    """Parse a section's values; YCSB prints NaN or -1 as the latency of no operations."""
    return {
        key: parse_number(value, f"{name}: [{section}], {key}")
        for key, value in values.items()
        if not (key.startswith(("Average", "Min", "Max")) and value in {"NaN", "-1", "-1.0"})
    }


def _read_option(text: str, pattern: re.Pattern[str], name: str) -> int | None:
    """Return an option of the command line, which YCSB prints first; None if it is missing."""
    values = {match[match.lastindex or 0] for match in pattern.finditer(text)}
    if len(values) > 1:
        raise UsageError(f"{name}: its command line says {' and '.join(sorted(values))}")
    return int(values.pop()) or None if values else None
