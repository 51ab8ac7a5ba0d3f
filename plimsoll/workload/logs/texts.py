"""A logged statement without its values, as a server's digest has it: `?` for each value.

One pass from left to right finds the values; lists after IN and the rows of an INSERT are shortened
as servers shorten them, so that all lengths are one kind of statement. What the values were is told
only in numbers: the length of a list, LIMIT, the width of a range, and a keyed hash of the first
value compared with `=`.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_bytes
from typing import Literal

from plimsoll.model.databases import Language

Control = Literal["", "begin", "commit", "rollback", "autocommit off", "autocommit on"]
FORMS_MOST = 50_000  # texts without values whose reading is kept
VALUES_MOST = 32  # values of a statement that are told from those of other calls
STATEMENT_MOST = 1 << 20  # characters of a statement that are read
_NUMBER = (
    r"(?<![\w$`.])(?:0x[0-9A-Fa-f]++|(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?)"
)
_COMMENT = r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|--(?=\s)[^\n]*+"
# A quoted part without an end reaches to the end, so that the time stays linear.
_VALUES: dict[Language, re.Pattern[str]] = {
    "sql": re.compile(
        rf"""(?P<kept>`[^`]*+(?:`|\Z))
  | (?P<comment>{_COMMENT}|\#[^\n]*+)
  | (?P<value>(?:(?<![\w$])(?:[NnXxBb]|_[a-z0-9]+[ ]?))?'(?:[^'\\]|\\.|'')*+(?:'|\Z)
    |"(?:[^"\\]|\\.|"")*+(?:"|\Z) | {_NUMBER})""",
        re.VERBOSE | re.DOTALL | re.ASCII,
    ),
    "postgres": re.compile(
        rf"""(?P<kept>"[^"]*+(?:"|\Z))
  | (?P<comment>{_COMMENT})
  | (?P<value>(?<![\w$])[Ee]'(?:[^'\\]|\\.|'')*+(?:'|\Z)
    |(?:(?<![\w$])(?:[NnXxBb]|[Uu]&))?'(?:[^']|'')*+(?:'|\Z)
    |(?<![\w$])\$(?P<tag>[A-Za-z_]\w*+|)\$.*?(?:\$(?P=tag)\$|\Z)
    |(?<![\w$])\$[0-9]++ | {_NUMBER})""",
        re.VERBOSE | re.DOTALL | re.ASCII,
    ),
}
_SIGNED = re.compile(
    r"((?:[=<>(,+*/%-]|\b(?:BETWEEN|AND|THEN|ELSE|LIMIT|IN)) ?)-\s?\?", re.IGNORECASE
)
_IN_LIST = re.compile(r"\bIN ?\( ?\?(?: ?, ?\?)*+ ?\)", re.IGNORECASE)
# PostgreSQL's comparison with an array, which it plans as a list
_ANY_LIST = re.compile(
    r"= ?ANY ?\( ?(?:ARRAY ?\[ ?)?(\?(?: ?, ?\?)*+) ?\]?(?: ?::[\w \[\]]+)? ?\)", re.IGNORECASE
)
_ALL_LIST = re.compile(_ANY_LIST.pattern.replace("= ?ANY", "<> ?ALL"), re.IGNORECASE)
# Stands for a value until all are found: a `?` may be an operator, or within a quoted name
_MARK = "\x00"
# Two values that are compared with each other and with nothing else, or a value
_LITERALS = re.compile(
    rf"((?:\(|\b(?:WHERE|AND|OR|NOT|ON)\b) ?){_MARK} ?= ?{_MARK}(?! ?[^\s\w),;])|{_MARK}",
    re.IGNORECASE,
)
_OPENS_ANY = re.compile(r"\b(?:ANY|ALL) ?\( ?\Z", re.IGNORECASE)
_ROWS = re.compile(
    r"\bVALUES? ?(\((?:[^()]|\([^()]*+\))*+\))((?: ?, ?\((?:[^()]|\([^()]*+\))*+\))++)",
    re.IGNORECASE,
)
_ROW = re.compile(r"\((?:[^()]|\([^()]*+\))*+\)")
_LIMIT = re.compile(r"\bLIMIT \?( ?,)?", re.IGNORECASE)
_EQUAL = re.compile(r"(?<![<>!])= ?\?", re.IGNORECASE)
_WHERE = re.compile(r"\bWHERE\b", re.IGNORECASE)
_CONFLICT = re.compile(r'\bON CONFLICT ?\( ?"?(\w+)', re.IGNORECASE)
_DUPLICATE = re.compile(r"\bON DUPLICATE KEY\b|^INSERT IGNORE\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\bBETWEEN \? AND \?", re.IGNORECASE)
_INTEGER = re.compile(r"'?(-?[0-9]{1,18})'?")
_WORDS = re.compile(r"[A-Za-z]+")
_AUTOCOMMIT = re.compile(
    r"SET\s+(?:SESSION\s+|@@(?:SESSION\.)?)?AUTOCOMMIT\s*:?=\s*(\w+)", re.IGNORECASE
)
_KEY = token_bytes(16)  # new in each process: the hashes mean nothing elsewhere


@dataclass(frozen=True, slots=True)
class Form:
    """What is known of all statements with the same text without values.

    Attributes:
        text: The text, with lists shortened.
        control: What it does to a transaction.
        listed: The number of values of each list after IN, or of rows of its INSERT.
        limit: The position of LIMIT's value among the values; None if it has none.
        equal: The position of the first value that is compared with `=`; of an upsert, of the
            inserted value that finds the row.
        between: The position of the lower end of its first range.
    """

    text: str
    control: Control = ""
    listed: tuple[int, ...] = ()
    limit: int | None = None
    equal: int | None = None
    between: int | None = None


@dataclass(frozen=True, slots=True)
class Stripped:
    """A statement without its values, and what is told of them in numbers."""

    form: Form
    limit: int | None
    span: int | None
    key: int | None
    hashes: tuple[int, ...] = ()


class Stripper:
    """Takes the values out of statements."""

    def __init__(self, language: Language) -> None:
        self._values = _VALUES[language]
        self._forms: dict[str, Form] = {}

    def strip(self, text: str, parameters: dict[str, str] | None = None) -> Stripped:
        """Return a statement without its values, in time linear in its length.

        Args:
            text: The statement as logged.
            parameters: The values of `$1` ... where the log has them apart.
        """
        if text[:4].upper() == "SET " and (found := _AUTOCOMMIT.match(text)):
            on = found[1].upper() in {"1", "ON", "TRUE"}
            control: Control = "autocommit on" if on else "autocommit off"
            return Stripped(Form("SET autocommit", control), None, None, None)
        values: list[str] = []

        def replace(found: re.Match[str]) -> str:
            match found.lastgroup:
                case "kept":
                    return found[0]
                case "comment":
                    return " "
                case _:
                    among = _OPENS_ANY.search(text, max(0, found.start() - 8), found.start())
                    each = _split_array(found[0], parameters) if among else [found[0]]
                    values.extend(each)
                    return ", ".join(_MARK * len(each))

        text = text[:STATEMENT_MOST].replace(_MARK, " ")
        marked, values = _judge_literals(" ".join(self._values.sub(replace, text).split()), values)
        bare = marked.replace(_MARK, "?")
        form = self._forms.get(bare)
        if form is None:
            form = _read_form(bare)
            if len(self._forms) < FORMS_MOST:
                self._forms[bare] = form
        few = len(values) <= VALUES_MOST and not form.control
        # Python keys its hash anew in each process, so that it tells nobody the value
        hashes = (
            tuple(hash(_pick(values, at, parameters)) for at in range(len(values))) if few else ()
        )
        if form.control == "" and form.limit is form.equal is form.between is None:
            return Stripped(form, None, None, None, hashes)
        return Stripped(
            form,
            _read_integer(_pick(values, form.limit, parameters)),
            _find_span(values, form.between, parameters),
            _hash(_pick(values, form.equal, parameters)),
            hashes,
        )


def _judge_literals(marked: str, values: list[str]) -> tuple[str, list[str]]:
    """Write what compares two literals as true or false, and drop their values.

    Programs put conditions such as `1=1` before others that they join by AND.
    """
    left, kept = iter(values), list[str]()

    def judge(found: re.Match[str]) -> str:
        pair = [next(left) for _ in range(found[0].count(_MARK))]
        if found[1] is not None and not any(value.startswith("$") for value in pair):
            return f"{found[1]}{str(pair[0] == pair[1]).upper()}"
        kept.extend(pair)
        return found[0]

    return _LITERALS.sub(judge, marked), kept


def _split_array(value: str, parameters: dict[str, str] | None) -> list[str]:
    """Return the values of an array, PostgreSQL's `{1,2,3}`; the value itself if it is none."""
    if value[:1] == "$" and parameters:
        value = parameters.get(value, value)
    if not (value.startswith("'{") and value.endswith("}'")) or ":" in value:
        return [value]
    return value[2:-2].split(",")


def _pick(values: list[str], at: int | None, parameters: dict[str, str] | None) -> str | None:
    if at is None or at >= len(values):
        return None
    value = values[at]
    if value.startswith("$") and value[1:].isdecimal():
        return parameters.get(value) if parameters else None
    return value


def _read_integer(value: str | None) -> int | None:
    found = _INTEGER.fullmatch(value) if value is not None else None
    return int(found[1]) if found else None


def _find_span(values: list[str], at: int | None, parameters: dict[str, str] | None) -> int | None:
    if at is None:
        return None
    low, high = (_read_integer(_pick(values, place, parameters)) for place in (at, at + 1))
    return high - low + 1 if low is not None and high is not None and high >= low else None


def _hash(value: str | None) -> int | None:
    if value is None:
        return None
    plain = value.strip("'").encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(plain, digest_size=8, key=_KEY).digest(), "big")


def _read_form(bare: str) -> Form:
    bare = bare.rstrip("; ")
    if "-" in bare:
        bare = _SIGNED.sub(r"\1?", bare)
    head = bare[:40].upper()
    control = _read_control(head)
    limit, between = _LIMIT.search(bare), _BETWEEN.search(bare)
    bare = _ANY_LIST.sub(r"IN (\1)", _ALL_LIST.sub(r"NOT IN (\1)", bare))
    text, listed = bare, tuple(one.count("?") for one in _IN_LIST.findall(bare))
    if (rows := _ROWS.search(text)) and _are_alike(rows):
        listed = (1 + len(_ROW.findall(rows[2])),)
        text = f"{text[: rows.start(2)]} /* , ... */{text[rows.end() :]}"
    text = _IN_LIST.sub("IN (...)", text)
    return Form(
        text,
        control,
        listed,
        limit=None if limit is None else bare.count("?", 0, limit.start()) + bool(limit[1]),
        equal=_find_upsert_key(bare)
        if head.startswith(("INSERT", "REPLACE"))
        else _find_equal(bare),
        between=None if between is None else bare.count("?", 0, between.start()),
    )


def _find_equal(bare: str) -> int | None:
    where = _WHERE.search(bare)
    equal = _EQUAL.search(bare, where.end()) if where else None
    return None if equal is None else bare.count("?", 0, equal.end() - 1)


def _find_upsert_key(bare: str) -> int | None:
    """Return the position of the value that finds an upsert's row.

    PostgreSQL names its column; for MySQL and MariaDB it is taken to be the first one.
    """
    conflict = _CONFLICT.search(bare)
    if conflict is None:
        return 0 if _DUPLICATE.search(bare) or bare[:7].upper() == "REPLACE" else None
    columns = re.findall(r"\w+", bare[: bare.upper().find("VALUES")].partition("(")[2])
    return columns.index(conflict[1]) if conflict[1] in columns else None


def _are_alike(rows: re.Match[str]) -> bool:
    first = rows[1].replace(" ", "")
    return all(one.replace(" ", "") == first for one in _ROW.findall(rows[2]))


def _read_control(head: str) -> Control:
    named = _WORDS.findall(head)
    match named[:1]:
        case ["BEGIN"]:
            return "begin"
        case ["START"] if named[1:2] == ["TRANSACTION"]:
            return "begin"
        case ["COMMIT"] | ["END"]:
            return "commit"
        case ["ROLLBACK"] | ["ABORT"] if "TO" not in named:
            return "rollback"
        case _:
            return ""
