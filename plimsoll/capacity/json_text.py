"""JSON that others wrote: its values, or one sentence that says what is wrong with it."""

import json

from plimsoll import words
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError


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
