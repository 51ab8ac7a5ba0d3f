"""sysbench: its final report; the operation is the transaction.

Format: sysbench 1.0 and 1.1 (which says "Throughput:" for "General statistics:"), `src/sysbench.c`,
`src/db_driver.c`, `src/sb_histogram.c`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from plimsoll.capacity.readers.lines import describe_grouped, read_decimal_commas
from plimsoll.capacity.readers.reading import (
    MS,
    PERCENTILES,
    Reading,
    convert_latencies_us,
    match_once,
    parse_number,
    refuse_aborted,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

# `[ \t]*` instead of `\s*`, which would rescan all following blank lines from each of them
_LINES: Mapping[str, re.Pattern[str]] = {
    key: re.compile(pattern, re.MULTILINE)
    for key, pattern in {
        "transactions": r"^[ \t]*transactions:[ \t]+(\d+)\b(?![.,]\d)",
        "errors": r"^[ \t]*ignored errors:[ \t]+(\d+)\b(?![.,]\d)",
        "reconnects": r"^[ \t]*reconnects:[ \t]+(\d+)\b(?![.,]\d)",
        "time_s": r"^[ \t]*(?:total time|time elapsed):[ \t]+([\d.]+)s",
        "mean": r"^[ \t]*avg:[ \t]+([\d.]+)",
        "sum": r"^[ \t]*sum:[ \t]+([\d.]+)",
        "events": r"^[ \t]*total number of events:[ \t]+(\d+)\b(?![.,]\d)",
        "max": r"^[ \t]*max:[ \t]+([\d.]+)",
        "threads": r"^Number of threads:[ \t]+(\d+)\b(?![.,]\d)",
        "rate": r"^Target transaction rate:[ \t]+(\d+)/sec",
    }.items()
}
BEGIN = re.compile(r"sysbench \d|Running the test with|Number of threads:|SQL statistics:")
END = re.compile(r"Threads fairness:")
FIRST = re.compile(r"sysbench \d+\.\d+\.\d+\S* \(")
MARKS = ("Number of threads:", "SQL statistics:", "Latency (ms):", "Threads fairness:")
_RECONNECTED = (
    "connections were lost and opened again (reconnects): the window has times with fewer of them"
)
_ABORTED = re.compile(  # on stderr, so a log may have put another prefix before it
    r"^.*(?:\b(?:FATAL|ALERT|PANIC): |forcing shutdown|Number of unfinished threads: [1-9]).*$",
    re.MULTILINE,
)
_CHECKPOINT = re.compile(r"^\[ *\d+s ?\] Checkpoint report:", re.MULTILINE)
_RUNNING = re.compile(r"^\[ (\d+)s ?\] thds: (\d+)\b", re.MULTILINE)
_PERCENTILE = re.compile(r"^[ \t]*(\d{1,3})th percentile:[ \t]+([\d.]+)", re.MULTILINE)
_BUCKET = re.compile(r"^[ \t]*(\d+\.\d+)[ \t]\|\**[ \t]+(\d+)[ \t]*$", re.MULTILINE)


def is_sysbench(text: str) -> bool:
    """Return whether the text holds a report of sysbench 1.0 or 1.1."""
    return "Latency (ms):" in text and "Threads fairness:" in text


def is_run(text: str) -> bool:
    """Return whether an output is that of `run`: `prepare` and `cleanup` have no report."""
    return "Number of threads:" in text or is_sysbench(text)


def read_sysbench(text: str, name: str) -> Reading:
    """Read the report. With `--histogram`, its percentiles are those of all transactions.

    With `--rate`, latencies include the wait in sysbench's queue: they count from the due time.

    Raises:
        UsageError: The report is not of a database test, or is cut off.
    """
    refuse_aborted(_ABORTED, text, name)
    if _CHECKPOINT.search(text):
        raise UsageError(
            f"{name}: checkpoint reports: sysbench counts from 0 after each of them, and the report"
            " at the end is of the last part alone: run it without --report-checkpoints"
        )
    text = read_decimal_commas(text)
    found = {key: match_once(pattern, text, name) for key, pattern in _LINES.items()}
    values = {k: None if v is None else parse_number(v, f"{name}: {k}") for k, v in found.items()}
    transactions, time_s = values["transactions"], values["time_s"]
    if transactions is None:
        raise UsageError(
            f"{name}: no 'transactions' line: not a database test, or cut off"
            f"{describe_grouped(text)}"
        )
    if not time_s:
        raise UsageError(f"{name}: total time is {'missing: cut off' if time_s is None else '0'}")
    if "Latency (ms):" not in text:
        raise UsageError(f"{name}: no 'Latency (ms):': sysbench 0.5's report, or cut off")
    # The report ends with this part. Without it, the last figure may have lost digits
    if "Threads fairness:" not in text:
        raise UsageError(f"{name}: no 'Threads fairness:': the report is cut off")
    _check_running(text, values["threads"], time_s, name)
    mean_ms = values["mean"]
    if values["sum"] and values["events"]:  # `avg` is rounded to 10 us
        mean_ms = values["sum"] / values["events"]
    latency = convert_latencies_us((("mean", mean_ms), ("max", values["max"])), MS)
    for percent, value in _PERCENTILE.findall(text):
        if int(percent) in PERCENTILES:
            statistic = PERCENTILES[int(percent)]
            latency |= convert_latencies_us(
                [(statistic, parse_number(value, f"{name}: {statistic}"))], MS
            )
    latency = _read_histogram(_BUCKET.findall(text), name) | latency
    return Reading(
        Step(
            source=name,
            connections=round(values["threads"]) if values["threads"] else None,
            rate_ops_per_second=values["rate"] or None,
            throughput_ops_per_second=transactions / time_s,
            operations=round(transactions),
            errors=None if values["errors"] is None else round(values["errors"]),
            window_s=time_s,
            latency_us={"transaction": latency} if latency else {},
        ),
        notes=(_RECONNECTED,) if values["reconnects"] else (),
    )


def _check_running(text: str, threads: float | None, time_s: float, name: str) -> None:
    """Refuse a run in which threads ended early, as its interval lines show.

    At the very end of a run they are fewer in any run: each thread finishes its last transaction.

    Raises:
        UsageError: Fewer threads ran than were started.
    """
    for second, running in _RUNNING.findall(text):
        if threads and int(running) < threads and int(second) <= time_s - 1:
            raise UsageError(
                f"{name}: not a whole run: {running} of {threads:.0f} threads ran at {second} s"
            )


def _read_histogram(rows: Sequence[tuple[str, str]], name: str) -> dict[Statistic, float]:
    """Return percentiles as sysbench computes them: the first bucket that reaches the share.

    Buckets are 1.8 % wide (1,024 from 1 us to 100 s), so a percentile is accurate to 0.9 %.
    """
    counts = list(accumulate(int(count) for _, count in rows))
    if not counts or not counts[-1]:
        return {}
    known: dict[Statistic, float] = {}
    for percent, statistic in PERCENTILES.items():
        if statistic != "max":
            wanted = counts[-1] * percent / 100
            place = next(i for i, count in enumerate(counts) if count >= wanted)
            known[statistic] = parse_number(rows[place][0], f"{name}: histogram") * MS
    return known
