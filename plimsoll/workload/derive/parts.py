"""The text of a statement's digest as parts, in which no value is left.

Servers write `?` (PostgreSQL: `$1`) where a value stood, but not all of them everywhere: whatever
number or text is left is taken for a value too. MySQL and MariaDB shorten lists
(dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-digests.html): `(...)` is a list of
values in parentheses, `?, ...` one without, and `/* , ... */` behind a list says that there were
several; PostgreSQL 18 writes `$1 /*, ... */` for a list.
"""

import re
from dataclasses import dataclass
from typing import Literal

from plimsoll.model.databases import Language
from plimsoll.workload.declared import refusal
from plimsoll.workload.tokens import Token, tokens_of

CHARACTERS_MOST = 8192  # of a digest's text; MySQL and MariaDB keep 1,024 bytes of one by default
Kind = Literal["word", "name", "mark", "value", "list", "more"]

_PARAMETER = re.compile(r"\$[0-9]++")
_CAST = re.compile(r"::[A-Za-z_][A-Za-z0-9_]*+(?:\([0-9]++\))?")  # the server finds types itself
_LIST_GOES_ON = re.compile(r"\? /\*, \.\.\. \*/")  # as PostgreSQL 18 has it
_COMMENT = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/")
_MORE_LISTS = "/* , ... */"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a statement: `value` is a single one, `list` so many, `more` that lists go on.

    Attributes:
        kind: What it is.
        text: As it is written; a name without its quotes.
        glued: Whether nothing stands between it and what comes before.
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
        """Whether it may name a table or a column."""
        return self.kind in {"word", "name"}


def parts_of(text: str, language: Language) -> tuple[Part, ...]:
    """Read the text of a digest, in time that is linear in its length.

    Raises:
        WorkloadError: It is too long, cut short, or cannot be read; says which, and quotes none of
            its values.
    """
    if len(text) > CHARACTERS_MOST:
        raise refusal(f"is longer than {CHARACTERS_MOST} characters")
    text = text.strip().rstrip(";")
    if text.endswith("...") and not text.endswith(("(...)", "?, ...")):
        raise refusal("was cut short by the server (it keeps no more of a statement)")
    if language == "postgres":
        text = _LIST_GOES_ON.sub("...", _PARAMETER.sub("?", text))
        text = _CAST.sub("", _COMMENT.sub(" ", text))
    else:
        text = text.replace(_MORE_LISTS, "...")
    return tuple(_parts(tokens_of(text, language)))


def first_word(text: str) -> str:
    """Name what kind of statement it is by its first word; empty where there is none."""
    found = re.match(r"[\s(]*+([A-Za-z]{1,20}+)\b", text)
    return found[1].upper() if found else ""


def _parts(tokens: tuple[Token, ...]) -> list[Part]:
    parts: list[Part] = []
    at, end = 0, 0
    while at < len(tokens):
        token = tokens[at]
        glued = token.start == end and at > 0
        if _dots(tokens, at):
            at, end = at + 3, tokens[at + 2].end
            if parts and parts[-1].is_mark("(") and at < len(tokens) and tokens[at].is_mark(")"):
                parts[-1] = Part("list", "(...)", parts[-1].glued)
                at, end = at + 1, tokens[at].end
            else:
                parts.append(Part("more", "...", glued))
            continue
        parts.append(_part(token, glued))
        at, end = at + 1, token.end
    return parts


def _dots(tokens: tuple[Token, ...], at: int) -> bool:
    return len(tokens) - at >= 3 and all(token.is_mark(".") for token in tokens[at : at + 3])


def _part(token: Token, glued: bool) -> Part:
    match token.kind:
        case "text" | "number":
            return Part("value", "?", glued)
        case "mark" if token.is_mark("?"):
            return Part("value", "?", glued)
        case "word":
            # NULL, TRUE and FALSE are values that say nothing of anybody
            return Part("word", token.text, glued)
        case kind:
            return Part(kind, token.text, glued)
