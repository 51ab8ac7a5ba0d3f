"""Quantities as people write them: `5ms`."""

import re

from plimsoll.errors import UsageError

_UNITS_US = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_LATENCY = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?(us|µs|ms|s)", re.ASCII)


def latency_us(text: str, option: str) -> float:
    """Read a latency with its unit; gives microseconds.

    Raises:
        UsageError: It is none.
    """
    match = _LATENCY.fullmatch(text.strip())
    if match is None or not float(match[1]):
        raise UsageError(f"{option}: {text!r} is no latency: write 5ms, 800us or 1.5s")
    return float(match[1]) * _UNITS_US[match[2]]
