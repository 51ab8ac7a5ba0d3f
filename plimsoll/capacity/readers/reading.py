"""What a reader makes of one output, and the figures that all readers take in the same way."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll import words
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

# By percent; what is not here (90, 75, 99.99) is left out.
PERCENTILES: Mapping[float, Statistic] = {
    50: "p50",
    95: "p95",
    99: "p99",
    99.9: "p999",
    100: "max",
}
MS = 1_000.0  # microseconds
S = 1_000_000.0
SENT = (
    "latencies count from when an operation was sent, not from when it was due: waiting behind a"
    " slow one is missing from them, and the target looks better than it is"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One output of a load generator.

    Attributes:
        step: Its step.
        rate_unknown: Why it was a constant rate and which is not known; None: known, or no rate.
        notes: What a reader has to know besides.
    """

    step: Step
    rate_unknown: str | None = None
    notes: tuple[str, ...] = ()


def number(text: str, where: str) -> float:
    """Read a number that is finite and not below 0.

    Raises:
        UsageError: It is none; `where` names the file and the field.
    """
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{where} is {text[:40]!r}, not a number") from None
    if not 0 <= value < math.inf:
        raise UsageError(f"{where} is {text[:40]}")
    return value


def only(pattern: re.Pattern[str], text: str, name: str) -> str | None:
    """Find what a pattern's group holds; None where the text has it not.

    Raises:
        UsageError: The text has it more than once: several outputs in one file.
    """
    found = pattern.findall(text)
    if len(found) > 1:
        raise UsageError(f"{name}: several reports in one file: one file is one step")
    return found[0] if found else None


def latencies(
    known: Iterable[tuple[Statistic, float | None]], unit_us: float
) -> dict[Statistic, float]:
    """Bring latencies into microseconds. One of 0 is below what the program prints: not known."""
    return {statistic: value * unit_us for statistic, value in known if value}


def field(value: object, path: str, name: str) -> object:
    """Go down a path of JSON objects, `a.b.c`; None where there is nothing.

    Raises:
        UsageError: Something on the way is no object.
    """
    for key in path.split("."):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise UsageError(f"{name}: {path} is in no object")
        value = value.get(key)
    return value


def number_at(value: object, path: str, name: str) -> float | None:
    """Read a number of JSON that is finite and not below 0; None where there is none.

    Raises:
        UsageError: It is something else.
    """
    return number_of(field(value, path, name), f"{name}: {path}")


def number_of(value: object, where: str) -> float | None:
    """Read a value of JSON as `number_at` does."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{where} is no number")
    return number(repr(value), where)


def needed(value: object, path: str, name: str) -> float:
    """Read a number of JSON above 0.

    Raises:
        UsageError: There is none, or it is 0.
    """
    found = number_at(value, path, name)
    if not found:
        raise UsageError(f"{name}: {path} is {'missing' if found is None else '0'}")
    return found


# JSON that others wrote: its values, or one sentence that says what is wrong with it.


def parse_json(text: str, name: str) -> object:
    """Parse a text; names in it cannot control a terminal.

    Raises:
        UsageError: It is not JSON, nested too deeply, or an object has a key twice.
    """
    if is_deeper(text):
        raise UsageError(f"{name}: nested too deeply")
    try:
        value: object = json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise UsageError(f"{name} line {error.lineno}: no JSON: {error.msg}") from None
    except ValueError:  # a number of thousands of digits
        raise UsageError(f"{name}: no JSON: a number is too long") from None
    except _DuplicateError as error:
        raise UsageError(f"{name}: key {str(error)!r} occurs twice in one object") from None
    return value


class _DuplicateError(Exception):
    """A key that occurs twice in one JSON object; the message is the key."""


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    by_key: dict[str, object] = {}
    for key, value in pairs:
        name = words.visible(key)
        if name in by_key:
            raise _DuplicateError(name)
        by_key[name] = value
    return by_key
