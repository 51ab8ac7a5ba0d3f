"""Columns of latency: `latency_us.<operation>`, `latency_us.<operation>.<statistic>`."""

import re

from plimsoll.errors import UsageError
from plimsoll.model.steps import STATISTICS, Statistic

PREFIX = "latency_us."
# What a statistic may be called besides its own name.
_NAMES: dict[str, Statistic] = {
    **{name: name for name in STATISTICS},
    "avg": "mean",
    "average": "mean",
    "median": "p50",
    "p99.9": "p999",
    "p99_9": "p999",
    "p100": "max",
}
# What looks like a statistic: `p90`, `99.99th`, `min`. An operation does not end like one.
_LIKE_A_STATISTIC = re.compile(
    r"(?:^|[._ -])(p\(?[0-9]+(?:[._][0-9]+)?\)?|[0-9]+(?:\.[0-9]+)?(?:st|nd|rd|th)"
    r"|mean|avg|average|med|median|min|max|std_?dev)$",
    re.IGNORECASE,
)


def read_column(column: str, where: str, unnamed: Statistic) -> tuple[str, Statistic]:
    """Take a column's name apart.

    Args:
        column: The name, with its prefix.
        where: The row, for errors.
        unnamed: The statistic of a column that names none.

    Raises:
        UsageError: It names no operation, or a statistic that is not judged.
    """
    named = column.removeprefix(PREFIX)
    for name, statistic in _NAMES.items():
        operation = named[: -len(name) - 1]
        if operation and named.lower().endswith("." + name):
            return operation, statistic
    like = _LIKE_A_STATISTIC.search(named)
    if not named or (like and like.start() == 0):
        raise UsageError(f"{where}: column {column!r} names no operation: latency_us.<operation>")
    if like:
        raise UsageError(
            f"{where}: column {column!r}: {like[1]!r} is no statistic that can be judged: leave the"
            " column out, or end it with .mean, .p50, .p95, .p99, .p999 (.p99.9) or .max"
        )
    return named, unnamed
