"""The result of reading one output, and helpers that all readers use."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll import words
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

# Percentiles that are read; others (90, 75, 99.99) are left out.
PERCENTILES: Mapping[float, Statistic] = {
    50: "p50",
    95: "p95",
    99: "p99",
    99.9: "p999",
    100: "max",
}
MS = 1_000.0  # microseconds
S = 1_000_000.0
_NOT_BLANK = re.compile(r"\S")
_SHOWN = 160  # characters of a program's own line that an error shows
SENT = (
    "latencies count from when an operation was sent, not from when it was due: waiting behind a"
    " slow one is missing from them, and the target looks better than it is"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One output of a load generator.

    Attributes:
        step: step that the output describes.
        rate_unknown: why its constant rate is unknown; None if known, or not a constant rate.
        notes: remarks for the reader.
        program: the program that wrote it; whoever has its reader read sets this.
    """

    step: Step
    rate_unknown: str | None = None
    notes: tuple[str, ...] = ()
    program: str = ""


def parse_number(text: str, where: str) -> float:
    """Parse a finite number that is not negative.

    Raises:
        UsageError: The text is no such number; `where` names the file and the field.
    """
    try:
        value = float(text)
    except ValueError:
        raise UsageError(f"{where} is {text[:40]!r}, not a number") from None
    if not 0 <= value < math.inf:
        raise UsageError(f"{where} is {text[:40]}")
    return value


def match_once(pattern: re.Pattern[str], text: str, name: str) -> str | None:
    """Return what a pattern's group matches; None if the text has no match.

    Raises:
        UsageError: The text has several matches: it holds several outputs.
    """
    found = pattern.findall(text)
    if len(found) > 1:
        raise UsageError(f"{name}: several reports in one file: one file is one step")
    return found[0] if found else None


def refuse_aborted(pattern: re.Pattern[str], text: str, name: str) -> None:
    """Refuse an output in which its program says that it ended early, or lost clients.

    Raises:
        UsageError: The pattern matches; the message repeats the program's line.
    """
    if found := pattern.search(text):
        line = found[0].strip()[:_SHOWN]
        raise UsageError(f"{name}: not a whole run: {line}")


def convert_latencies_us(
    known: Iterable[tuple[Statistic, float | None]], unit_us: float
) -> dict[Statistic, float]:
    """Convert latencies to microseconds. A latency of 0 is below the precision: unknown."""
    return {statistic: value * unit_us for statistic, value in known if value}


def find_value(value: object, path: str, name: str) -> object:
    """Return the value at a path of JSON objects, `a.b.c`; None if it is missing.

    Raises:
        UsageError: A value on the path is not an object.
    """
    for key in path.split("."):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise UsageError(f"{name}: {path} is in no object")
        value = value.get(key)
    return value


def find_number(value: object, path: str, name: str) -> float | None:
    """Return the finite, not negative JSON number at a path; None if it is missing.

    Raises:
        UsageError: The value is something else.
    """
    return to_number(find_value(value, path, name), f"{name}: {path}")


def to_number(value: object, where: str) -> float | None:
    """Return a JSON value as a number, as `find_number` does."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{where} is not a number")
    return parse_number(repr(value), where)


def find_positive_number(value: object, path: str, name: str) -> float:
    """Return the JSON number above 0 at a path.

    Raises:
        UsageError: It is missing, or 0.
    """
    found = find_number(value, path, name)
    if not found:
        raise UsageError(f"{name}: {path} is {'missing' if found is None else '0'}")
    return found


# --- JSON from other programs: its values, or one sentence that says what is wrong ---


def split_json(text: str) -> list[str]:
    """Split JSON values that stand one after the other; the whole text if it cannot be split."""
    if is_deeper(text):
        return [text]
    decoder, values, at = json.JSONDecoder(), [], 0
    while rest := _NOT_BLANK.search(text, at):
        try:
            _, end = decoder.raw_decode(text, rest.start())
        except ValueError:
            return [text]
        values.append(text[rest.start() : end])
        at = end
    return values or [text]


def parse_json(text: str, name: str) -> object:
    """Parse JSON. Control characters in names are replaced, so they cannot control a terminal.

    Raises:
        UsageError: The text is no JSON, is nested too deeply, or repeats a key in an object.
    """
    if is_deeper(text):
        raise UsageError(f"{name}: nested too deeply")
    try:
        value: object = json.loads(text, object_pairs_hook=_refuse_duplicates)
    except json.JSONDecodeError as error:
        raise UsageError(f"{name} line {error.lineno}: no JSON: {error.msg}") from None
    except ValueError:  # such as a number with thousands of digits
        raise UsageError(f"{name}: no JSON: a number is too long") from None
    except _DuplicateError as error:
        raise UsageError(f"{name}: key {str(error)!r} occurs twice in one object") from None
    return value


class _DuplicateError(Exception):
    """A key that occurs twice in one JSON object; the message is the key."""


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    by_key: dict[str, object] = {}
    for key, value in pairs:
        name = words.escape_controls(key)
        if name in by_key:
            raise _DuplicateError(name)
        by_key[name] = value
    return by_key
