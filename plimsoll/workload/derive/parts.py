"""The text of a digest as parts, without any values.

Servers write `?` (PostgreSQL: `$1`) in place of most values; any number or text that is left counts
as a value too. MySQL and MariaDB shorten lists
(dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-digests.html): `(...)` is a list of
values in parentheses, `?, ...` one without them, and `/* , ... */` after a list means that there
were several. PostgreSQL 18 writes `$1 /*, ... */` for a list.
"""

import re
from dataclasses import dataclass
from typing import Literal

from plimsoll.model.databases import Language
from plimsoll.workload.declared import build_workload_error
from plimsoll.workload.tokens import Token, tokenize

CHARACTERS_MOST = 8192  # longest digest text; MySQL and MariaDB keep 1,024 bytes by default
Kind = Literal["word", "name", "mark", "value", "list", "more"]

_PARAMETER = re.compile(r"\$[0-9]++")
# casts are dropped: the server infers the types
_CAST = re.compile(r"::[A-Za-z_][A-Za-z0-9_]*+(?:\([0-9]++\))?(?: ?\[ ?\])*")
# PostgreSQL plans both alike: an array and a list
_ANY = re.compile(r"= ?ANY ?\( ?(?:ARRAY ?\[[^][()]*+\]|\?(?: ?, ?\?)*+|\.\.\.) ?\)", re.IGNORECASE)
_ALL = re.compile(_ANY.pattern.replace("= ?ANY", "<> ?ALL"), re.IGNORECASE)
_OF_DOCUMENTS = re.compile(r"@>|<@|&&|#>>?|@@|@\?")
_NOT_ASCII = re.compile(r"`[^`]*+`|[A-Za-z0-9_$]*+[^\x00-\x7f][^\x00-\x7f\w$]*+[\w$]*+")
_NOW = (
    r"(?:NOW|CURRENT_TIMESTAMP|LOCALTIMESTAMP|SYSDATE|UTC_TIMESTAMP|CURDATE|CURRENT_DATE"
    r"|CLOCK_TIMESTAMP)(?: ?\( ?\?? ?\))?"
)
_LENGTH = r"(?:INTERVAL ?\(? ?\? ?\)?(?: ?[A-Z_]+)?|\?)"
_FROM_NOW = re.compile(
    rf"([<>]=?) ?(?:{_NOW}(?: ?[-+] ?{_LENGTH})?|(?:DATE_SUB|DATE_ADD|SUBDATE|ADDDATE) ?\( ?{_NOW}"
    rf" ?, ?{_LENGTH} ?\))(?=\s*(?:$|\)|;|AND\b|OR\b|GROUP\b|ORDER\b|LIMIT\b|FOR\b|RETURNING\b))",
    re.IGNORECASE,
)
_LIST_GOES_ON = re.compile(r"\? /\*, \.\.\. \*/")  # the form of PostgreSQL 18
_COMMENT = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/")
_MORE_LISTS = "/* , ... */"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a statement. `value` is one value, `list` a list of them, `more` continues a list.

    Attributes:
        kind: The kind of part.
        text: The text as written; a name without its quotes.
        glued: Whether no space separates it from the part before.
    """

    kind: Kind
    text: str
    glued: bool = False

    @property
    def word(self) -> str:
        """An unquoted word in capitals; empty for any other part."""
        return self.text.upper() if self.kind == "word" else ""

    def is_mark(self, *marks: str) -> bool:
        """Whether it is one of these marks."""
        return self.kind == "mark" and self.text in marks

    @property
    def is_name(self) -> bool:
        """Whether it may be the name of a table or column."""
        return self.kind in {"word", "name"}


def split_parts(text: str, language: Language) -> tuple[Part, ...]:
    """Split the text of a digest, in time linear in its length.

    Raises:
        WorkloadError: The text is too long, cut short or unreadable. The message quotes no values.
    """
    if len(text) > CHARACTERS_MOST:
        raise build_workload_error(f"is longer than {CHARACTERS_MOST} characters")
    text = text.strip().rstrip(";")
    if text.endswith("...") and not text.endswith(("(...)", "?, ...")):
        raise build_workload_error("was cut short by the server (it keeps no more of a statement)")
    if language == "postgres":
        text = _LIST_GOES_ON.sub("...", _PARAMETER.sub("?", text))
        text = _CAST.sub("", _COMMENT.sub(" ", text))
        if found := _OF_DOCUMENTS.search(text):
            raise build_workload_error(
                f"uses {found[0]}, an operator of arrays or JSON documents, whose values cannot be"
                " made up"
            )
        text = _ALL.sub("NOT IN (...)", _ANY.sub("IN (...)", text))
    else:
        text = _NOT_ASCII.sub(_quote_word, text.replace(_MORE_LISTS, "..."))
    return tuple(_merge_dots(tokenize(text, language)))


def bind_times(text: str) -> str:
    """Return a statement that compares with `?` where it compared with a time relative to now.

    The times in a workload's tables do not move: what lies beyond is told by the rows of a call.
    """
    return _FROM_NOW.sub(r"\1 ?", _CAST.sub("", _PARAMETER.sub("?", text)))


def _quote_word(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("`") else f"`{found[0]}`"


def find_first_word(text: str) -> str:
    """Return the first word, which tells the kind of statement; empty if there is none."""
    found = re.match(r"[\s(]*+([A-Za-z]{1,20}+)\b", text)
    return found[1].upper() if found else ""


def _merge_dots(tokens: tuple[Token, ...]) -> list[Part]:
    parts: list[Part] = []
    at, end = 0, 0
    while at < len(tokens):
        token = tokens[at]
        glued = token.start == end and at > 0
        if _is_ellipsis(tokens, at):
            at, end = at + 3, tokens[at + 2].end
            if parts and parts[-1].is_mark("(") and at < len(tokens) and tokens[at].is_mark(")"):
                parts[-1] = Part("list", "(...)", parts[-1].glued)
                at, end = at + 1, tokens[at].end
            else:
                parts.append(Part("more", "...", glued))
            continue
        parts.append(_make_part(token, glued))
        at, end = at + 1, token.end
    return parts


def _is_ellipsis(tokens: tuple[Token, ...], at: int) -> bool:
    return len(tokens) - at >= 3 and all(token.is_mark(".") for token in tokens[at : at + 3])


def _make_part(token: Token, glued: bool) -> Part:
    match token.kind:
        case "text" | "number":
            return Part("value", "?", glued)
        case "mark" if token.is_mark("?"):
            return Part("value", "?", glued)
        case "word":
            # NULL, TRUE and FALSE may stay: they reveal nothing
            return Part("word", token.text, glued)
        case kind:
            return Part(kind, token.text, glued)
