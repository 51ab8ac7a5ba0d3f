"""Formats figures for people: one rule for each kind of figure, always with the unit.

The command line, the report, verdicts, quotes and messages all use these functions. An unknown
figure is `NOTHING`, never 0. A setting is quoted as in its request, in its own unit:
`warmup_s + duration_s = 1200 s`.
"""

import math
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

# What the 95 % interval beside a figure covers
INTERVAL_COVERS = (
    "it covers repetitions on this one target;"
    " what a restart or another target changes is not in it"
)
NOTHING = "–"  # noqa: RUF001 - the typographic dash of an empty cell

ENGINES = {
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "postgres": "PostgreSQL",
    "aurora-mysql": "Aurora MySQL",
    "aurora-postgresql": "Aurora PostgreSQL",
    "cassandra": "Cassandra",
}
DASHBOARDS = {"grafana": "Grafana", "cloudwatch": "CloudWatch"}
AURORA_STORAGE = {"standard": "Standard", "io-optimized": "I/O-Optimized"}
RESOURCES = {  # resources that may be the limit
    "storage_iops": "storage IOPS",
    "storage_throughput": "storage throughput",
    "storage_latency": "storage latency",
    "cpu": "CPU",
    "row_locks": "row locks",
    "table_locks": "table locks",
    "inner_locks": "locks within the server",
    "buffer_pool": "buffer pool",
    "connections": "connections",
    "log": "redo log",
    "client": "load clients",
    "machine": "this machine",
    "storage": "storage",
    "unknown": "unknown",
}
LOAD_UNITS = {
    "clients": "clients",
    "connections": "connections",
    "rate_ops_per_second": "ops/s offered",
}
# The last are halves of characters, which cannot be printed: JSON may have them, and Python holds
# the bytes of a file's name that is no UTF-8 as such (PEP 383).
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SIGNS = {"=": "", ">=": "≥ ", "<": "< ", "<=": "≤ ", None: ""}


def escape_controls(text: str) -> str:
    r"""Return foreign text with control characters made visible: `\x1b[2J`.

    Line breaks and tabs are kept. C0, DEL and C1 characters (ECMA-48) are replaced, and what cannot
    be printed: bytes of file names that are no UTF-8, and halves of characters.
    """
    return _CONTROLS.sub(_show_code, text)


def _show_code(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100 or 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code % 0x100:02x}"
    return f"\\u{code:04x}"


def escape_values(value: Any) -> Any:
    """Return a JSON value with `escape_controls` of all its texts and names."""
    match value:
        case str():
            return escape_controls(value)
        case list():
            return [escape_values(part) for part in value]
        case dict():
            return {escape_controls(name): escape_values(part) for name, part in value.items()}
        case _:
            return value


def format_latency(us: float | None) -> str:
    """Return a latency with three figures in a suitable unit; below 1 ms whole microseconds.

    `26 µs`, `8.92 ms`, `1.20 s`.
    """
    if us is None:
        return NOTHING
    for unit_us, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= 0.9995 * unit_us:
            return f"{format_three_figures(us / unit_us)} {unit}"
    return f"{us:.0f} µs"


def format_milliseconds(us: float | None) -> str:
    """Return a latency for a column titled ms: three figures, two decimals at most.

    `0.42`, `8.92`, `1,204`.
    """
    return NOTHING if us is None else format_three_figures(us / 1000)


def format_duration(seconds: float | None) -> str:
    """Return a duration: at most two units; below a minute, three figures.

    `0.05 s`, `2.5 s`, `45 s`, `2 min 5 s`, `3 min`, `1 h 5 min`.
    """
    if seconds is None:
        return NOTHING
    whole_s = round(seconds)
    if whole_s < 60:
        return f"{seconds:.3g} s"
    parts = [(whole_s // 60, "min"), (whole_s % 60, "s")]
    if whole_s >= 3600:
        whole_min = round(seconds / 60)
        parts = [(whole_min // 60, "h"), (whole_min % 60, "min")]
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount)


def format_rate(value: float | None) -> str:
    """Return a rate or a mean without its unit: whole from 100 on, below with one decimal.

    `5,600` (ops/s, IOPS), `99.9` (MiB/s), `2.5` (I/Os waiting), `0`.
    """
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 99.95 or value == 0 else f"{value:,.1f}"


def format_throughput(ops_per_second: float | None) -> str:
    """Return a throughput as `format_rate` does, with its unit: `5,600 ops/s`."""
    return NOTHING if ops_per_second is None else f"{format_rate(ops_per_second)} ops/s"


def format_three_figures(value: float) -> str:
    """Return a mean to compare with a limit, two decimals at most: `9.85`, `46.4`, `1,204`."""
    size = abs(value)
    return f"{value:,.{2 if size < 9.995 else 1 if size < 99.95 else 0}f}"


def format_number(value: float | None) -> str:
    """Return a count or a setting: six figures, never with an exponent.

    `3`, `0.5`, `12.34`, `1,000,000`.
    """
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 99_999.5 else f"{value:,.6g}"


def join_names(names: Iterable[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`; an empty text if there are none."""
    *before, last = list(names) or [""]
    return f"{', '.join(before)} and {last}" if before else last


def format_count(value: int, noun: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 client`, `1,234 clients`.

    Args:
        value: the count.
        noun: the noun in the singular.
        many: the plural, if it does not just add an `s`.
    """
    return f"{value:,} {noun if value == 1 else many or noun + 's'}"


def format_load(value: float | None, axis: str) -> str:
    """Return a load on the axis of a search: `3 clients`, `1 connection`, `600 ops/s offered`."""
    if value is None:
        return NOTHING
    unit = LOAD_UNITS[axis]
    return (
        f"{format_number(value)} {unit.removesuffix('s') if value == 1 and unit == axis else unit}"
    )


def format_bracket(ends: tuple[float | None, float | None], axis: str) -> str:
    """Return the heaviest load that passes and the lightest that fails, if they exist."""
    passes, fails = ends
    low = "nothing passes" if passes is None else f"passes at {format_load(passes, axis)}"
    high = "nothing failed" if fails is None else f"fails at {format_load(fails, axis)}"
    return f"{low}, {high}"


def format_load_range(low: float, high: float, confidence: float, axis: str) -> str:
    """Return the range of the edge with its coverage: `46.1 to 55.2 connections, 90 %`."""
    ends = f"{format_number(float(f'{low:.3g}'))} to {format_load(float(f'{high:.3g}'), axis)}"
    return f"{ends}, {format_percent(confidence)}"


def prepend_bound(text: str, bound: str | None) -> str:
    """Return a figure with the sign of its bound: `5,600`, `≥ 5,600`, `< 5,600`, `≤ 5,600`.

    Args:
        text: the figure.
        bound: `=`, `>=`, `<`, `<=`, or None, which means `=`.
    """
    return _SIGNS[bound] + text


def format_ratio(value: float, bound: str = "=") -> str:
    """Return a ratio with two decimals: `1.70`; as a bound: `≥ 2.00`, `≤ 0.20`.

    Args:
        value: the ratio.
        bound: `=`; `>=` for at least; `<` for at most (printed as `≤`).
    """
    return prepend_bound(f"{value:.2f}", "<=" if bound == "<" else bound)


def format_ratio_interval(low: float | None, high: float | None) -> str:
    """Return the confidence interval of a ratio: `1.69 to 1.72`."""
    return (
        NOTHING if low is None or high is None else f"{format_ratio(low)} to {format_ratio(high)}"
    )


def format_percent(share: float | None) -> str:
    """Return a share as a percentage: three figures, two decimals at most, none if whole.

    `44 %`, `15.2 %`, `2.53 %`, `0.1 %`.
    """
    if share is None:
        return NOTHING
    text = format_three_figures(100 * share)
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def describe_change(share: float) -> str:
    """Return a change, given as a share of the value before: `fell by 15.2 %`, `rose by 3 %`."""
    return f"{'fell' if share < 0 else 'rose'} by {format_percent(abs(share))}"


def format_in_unit(value: float, unit: str) -> str:
    """Return a figure in the unit of its metric: `us` as a latency, else as a rate with the unit.

    `8.92 ms`, `1,000 ops/s`.
    """
    return format_latency(value) if unit == "us" else f"{format_rate(value)} {unit}"


def format_usd(dollars: float) -> str:
    """Return an amount of money in cents: `$0.19`, `$1,234.50`."""
    return f"${dollars:,.2f}"


def format_monthly_usd(dollars: float) -> str:
    """Return a monthly price in three figures: `$3,690`, `$12.5`.

    More are not known: months differ by a tenth in length, and a list price is not a bill.
    """
    if dollars < 100:
        return f"${dollars:.3g}" if dollars >= 1 else f"${dollars:.2f}"
    return f"${float(f'{dollars:.3g}'):,.0f}"


def format_unit_usd(dollars: float, figures: int = 3) -> str:
    """Return a unit price: three figures, but at least in cents.

    `$0.0123`, `$0.10`, `$12.50`.

    Args:
        dollars: the price.
        figures: significant figures; 10 show a list price in full: `$0.0000133334`.
    """
    decimals = figures - 1 - math.floor(math.log10(dollars)) if dollars else 0
    whole, _, fraction = f"{dollars:,.{max(2, decimals)}f}".partition(".")
    return f"${whole}.{fraction.rstrip('0').ljust(2, '0')}"


def name_statistic(name: str) -> str:
    """Return the usual name of a latency statistic: `p99.9` for `p999`."""
    return "p99.9" if name == "p999" else name


def format_moment(at: datetime | None) -> str:
    """Return a time: `2026-03-02 10:00:00 UTC`."""
    return NOTHING if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def format_time_of_day(at: datetime) -> str:
    """Return the time of day: `10:00:00 UTC`."""
    return f"{at:%H:%M:%S} UTC"
