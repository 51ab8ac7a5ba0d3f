"""Parses quantities as people write them: `5ms`, `10m`."""

import re

from plimsoll.errors import UsageError

NO_LATENCY = "is not a latency: write 5ms, 800us or 1.5s"
_UNITS_US = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_LATENCY = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?(us|µs|ms|s)", re.ASCII)
_UNITS_S = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_DURATION = re.compile(r"(\d{1,7}(?:\.\d{1,6})?) ?(s|min|m|h|d)", re.ASCII)


def read_latency_us(text: str) -> float | None:
    """Read a latency with its unit. Returns microseconds; None if the text is not a latency."""
    match = _LATENCY.fullmatch(text.strip())
    return float(match[1]) * _UNITS_US[match[2]] or None if match else None


def parse_duration_s(text: str, option: str) -> float:
    """Parse a duration with its unit. Returns seconds.

    Raises:
        UsageError: The text is no duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or not float(match[1]):
        raise UsageError(f"{option}: {text!r} is not a length of time: write 90s, 10m, 2h or 14d")
    return float(match[1]) * _UNITS_S[match[2]]
