"""Until when a load that grows by the same factor each year is carried. Pure."""

import math
import re
from datetime import date, timedelta

from plimsoll.errors import UsageError
from plimsoll.sizing.answer import Growth

_FORM = re.compile(
    r"(?:(\d{1,4}(?:\.\d{1,4})?)x|(\d{1,4}(?:\.\d{1,4})?) ?%)/(year|month)", re.ASCII
)
DAYS_PER_YEAR = 365.25
BEYOND_YEARS = 100.0  # nobody plans for it


def times_per_year(text: str, option: str) -> float:
    """Read a growth: `2x/year`, `1.5x/year`, `30%/year`, `3%/month`; gives the factor of a year.

    Raises:
        UsageError: It is none, or the load would not grow.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{option}: {text!r} is no growth: write 2x/year, 30%/year or 3%/month")
    times, percent, period = found.groups()
    factor = float(times) if times else 1 + float(percent) / 100
    if factor <= 1:
        raise UsageError(f"{option}: {text!r} does not grow: write more than 1x, or more than 0%")
    return factor**12 if period == "month" else factor


def growth(
    line_ops_per_second: float,
    want_ops_per_second: float,
    *,
    headroom: float,
    times_a_year: float,
    today: date,
) -> Growth:
    """Say how long a load line suffices: log(line / load) / log(growth) years."""

    def years(line: float) -> float:
        ratio = line / want_ops_per_second
        return max(0.0, math.log(ratio) / math.log(times_a_year)) if ratio > 0 else 0.0

    lasting = years(line_ops_per_second * (1 - headroom))
    until = today + timedelta(days=lasting * DAYS_PER_YEAR) if lasting < BEYOND_YEARS else None
    return Growth(
        times_per_year=times_a_year,
        years=lasting,
        until=until,
        years_without_headroom=years(line_ops_per_second),
    )
