"""Figures as text, each with its unit. What was not measured is a dash."""

from plimsoll import figures
from plimsoll.model.steps import Statistic

NOTHING = "–"  # noqa: RUF001 - the typographic dash of an empty cell

STATISTIC_NAMES: dict[Statistic, str] = {
    "mean": "mean",
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
    "max": "max",
}


def number(value: float | None, digits: int = 0) -> str:
    """A number with thousands separated."""
    return NOTHING if value is None else f"{value:,.{digits}f}"


def throughput(value: float | None) -> str:
    """Operations per second; with a decimal below 100."""
    return NOTHING if value is None else figures.rate(value)


def latency(value_us: float | None) -> str:
    """A latency with its unit, three significant digits: `420 µs`, `8.92 ms`, `1.20 s`."""
    if value_us is None:
        return NOTHING
    return figures.latency(value_us)


def percent(share: float | None, digits: int = 0) -> str:
    """A share as a percentage."""
    return NOTHING if share is None else f"{100 * share:.{digits}f} %"


def load(value: float | None, axis: str) -> str:
    """A load on the axis of a capacity: `3 clients`, `1 connection`, `500 ops/s offered`."""
    if value is None:
        return NOTHING
    if axis == "rate_ops_per_second":
        return f"{value:,.0f} ops/s offered"
    return f"{value:,.0f} {axis if value != 1 else axis.removesuffix('s')}"


def duration(seconds: float | None) -> str:
    """A length of time: `45 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds is None:
        return NOTHING
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
