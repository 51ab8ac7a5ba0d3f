"""Arguments as programs give them: names that are known, numbers within their range, limits."""

from collections.abc import Collection, Mapping
from typing import TypeVar, cast

from plimsoll.complaints import Complaint, Range, unknown
from plimsoll.errors import UsageError
from plimsoll.model.quantities import latency_us

Limit = str | float  # "5ms", or microseconds
Limits = Mapping[str, Limit] | Limit | None
Name = TypeVar("Name", bound=str)


def limits_of(limits: Limits, operations: Collection[str]) -> dict[str, float]:
    """Read limits: one for all operations, or by name; gives microseconds.

    Raises:
        UsageError: One is no latency, or names an operation that there is not.
    """
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        return dict.fromkeys(operations, _latency_us(limits, "limits"))
    for name in limits:
        if name not in operations:
            raise UsageError(unknown("operation", str(name), operations, ("limits",), value=name))
    return {name: _latency_us(limit, f"limits[{name!r}]") for name, limit in limits.items()}


def _latency_us(limit: Limit, name: str) -> float:
    if isinstance(limit, str):
        return latency_us(limit, name)
    return number(limit, name, Range(0, 300e6, open=True))


def number(value: float, name: str, allowed: Range, *, whole: bool = False) -> float:
    """Give a number that is within its range.

    Raises:
        UsageError: It is not, or it is no number.
    """
    kind = int if whole else (int, float)
    problem = "is no whole number" if whole else "is no number"
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageError(Complaint((name,), f"{value!r} {problem}", None, allowed))
    least, most = allowed.least, allowed.most
    assert least is not None and most is not None  # noqa: S101, PT018 - each range here has both
    below = value <= least if allowed.open else value < least
    if below or not value <= most:  # not a number is neither
        raise UsageError(Complaint((name,), f"{value} is out of range", value, allowed))
    return value


def known(value: str, names: Collection[Name], name: str) -> Name:
    """Give a name that is one of those that there are.

    Raises:
        UsageError: It is none of them.
    """
    if value not in names:
        raise UsageError(unknown(name, str(value), names, (name,), value=str(value)))
    return cast("Name", value)
