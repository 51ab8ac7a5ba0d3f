r"""Texts that stand within another text's JSON, or with escaped ends of lines. No I/O.

Ansible, cloud services, notebooks and logs keep a program's output as a string (`"stdout": "tps =
320.0\n..."`), as a list of lines, or as a line in each of many objects.
"""

import json
import re
from collections.abc import Iterator

_BEGIN = re.compile(r"(?:^|=> |: )[ \t]*(?=[\[{])", re.MULTILINE)
_NO_JSON_MAX = 20  # so many places may look like the beginning of JSON and be none
_KEYS_MAX = 1_000  # strings under further keys are not looked at
_TRIED_MAX = 5  # so many texts are read, the longest first
_ESCAPES_LEAST = 3  # ends of lines; fewer may be part of a path or a pattern
_ESCAPED_LINE = re.compile(r"^.*\\n.*$", re.MULTILINE)
_ENDS = {"\\n": "\n", "\\r\\n": "\n", "\\t": "\t"}
_ESCAPE = re.compile(r"\\r\\n|\\n|\\t")
_IN_QUOTES = re.compile(r"\A\s*b?(['\"])(.*)\1\s*\Z", re.DOTALL)


def split_texts_within(text: str) -> tuple[str, list[str]]:
    r"""Return what stands outside of JSON in a text, and the texts of several lines within.

    Strings under one key are one text: of `{"stdout": "a\nb", "rc": 0}` and
    `{"stdout": "c", "rc": 0}` it is a, b and c. The longest texts are the first.
    """
    found: dict[str, list[str]] = {}
    outside, at = [], 0
    for begin, end, value in _find_json(text):
        outside.append(text[at:begin])
        at = end
        _collect(value, found)
    outside.append(text[at:])
    joined = ("\n".join(one.removesuffix("\n") for one in texts) for texts in found.values())
    texts = sorted((one for one in joined if "\n" in one), key=len, reverse=True)[:_TRIED_MAX]
    if text.count("\\n") >= _ESCAPES_LEAST:
        quoted = _IN_QUOTES.match(text)
        texts.append(_ESCAPE.sub(lambda end: _ENDS[end[0]], quoted[2] if quoted else text))
    return _ESCAPED_LINE.sub("", "".join(outside)), texts


def _find_json(text: str) -> Iterator[tuple[int, int, object]]:
    """Yield the JSON objects and lists of a text, with their places."""
    decoder, end, failed = json.JSONDecoder(), 0, 0
    for found in _BEGIN.finditer(text):
        begin = found.end()
        if begin < end:
            continue
        try:
            value, end = decoder.raw_decode(text, begin)
            yield begin, end, value
        except (ValueError, RecursionError):
            failed += 1
            if failed == _NO_JSON_MAX:
                return


def _collect(value: object, found: dict[str, list[str]]) -> None:
    """Collect the strings of a value, in their order, by the key under which they stand.

    No recursion: a value may be nested as deep as the parser allows.
    """
    left: list[tuple[str, object]] = [("", value)]
    while left:
        key, one = left.pop()
        if isinstance(one, str):
            if key in found or len(found) < _KEYS_MAX:
                found.setdefault(key, []).append(one)
        elif isinstance(one, list):
            left.extend((key, part) for part in reversed(one))
        elif isinstance(one, dict):
            left.extend(reversed(one.items()))
