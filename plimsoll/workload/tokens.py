"""Tokens of a statement, found in one pass from left to right.

What servers read differently depending on version or settings is no token, so that a statement
means the same everywhere: comments (some are executed), backslashes in text (`sql_mode`), `;`, `@`,
`{`, and non-ASCII letters outside quotes. In SQL, `"` quotes text or a name depending on
`sql_mode`, so its content is treated as neither. PostgreSQL has prefixed quotes (E'', U&"") and
dollar quotes, which end differently. Patterns use possessive quantifiers, so that the time is
linear in the statement's length.
"""

import re
from typing import Literal, NamedTuple, get_args

from plimsoll.model.databases import Language
from plimsoll.workload.declared import build_workload_error

Kind = Literal["name", "text", "number", "word", "mark"]
# keyed by the name of a pattern's group
KINDS: dict[str | None, Kind] = {kind: kind for kind in get_args(Kind)}


class Token(NamedTuple):
    """A token of a statement.

    Attributes:
        kind: `name` for a quoted name, `text`, `number`, `word`, or `mark` for an operator, a
            parenthesis ...
        text: The text as written; a name without its quotes.
        start: The position of its first character.
        end: The position after its last character.
    """

    kind: Kind
    text: str
    start: int
    end: int

    def is_mark(self, mark: str) -> bool:
        """Whether it is this mark, outside quotes."""
        return self.kind == "mark" and self.text == mark


_COMMON = r"""
    (?P<space>[ \t\r\n]++)
  | (?P<comment>--|/\*|\*/)
  | (?P<number>(?:0x[0-9A-Fa-f]++|[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?![\w$.]))
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*+)
"""
PATTERNS = {
    "sql": re.compile(
        rf"""{_COMMON}
  | (?P<hash>\#)
  | (?P<text>'(?:[^'\\\0]|'')*+'|"(?:[^"\\\0]|"")*+")
  | `(?P<name>[^`\\\0]++)`(?!`)
  | (?P<mark>[-+*/%=<>!&|^~(),.?])
""",
        re.VERBOSE | re.ASCII,
    ),
    "cql": re.compile(
        rf"""{_COMMON}
  | (?P<hash>//)
  | (?P<text>'(?:[^'\\\0]|'')*+')
  | "(?P<name>[^"\\\0]++)"(?!")
  | (?P<mark>[-+*/%=<>!(),.?])
""",
        re.VERBOSE | re.ASCII,
    ),
    "postgres": re.compile(
        r"""
    (?P<space>[ \t\r\n]++)
  | (?P<comment>--|/\*|\*/)
  | (?P<prefixed>(?:[bBeEnNxX]|[uU]&)['"])
  | (?P<number>[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?(?![\w$.]))
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*+)
  | (?P<text>'(?:[^'\\\0]|'')*+')
  | "(?P<name>[^"\\\0]++)"(?!")
  | (?P<mark>[-+*/%=<>!&|^~(),.?])
""",
        re.VERBOSE | re.ASCII,
    ),
}


def tokenize(text: str, language: Language) -> tuple[Token, ...]:
    """Split a statement into tokens.

    Raises:
        WorkloadError: A part is no token; the message says which.
    """
    tokens: list[Token] = []
    match, at = PATTERNS[language].match, 0
    while at < len(text):
        found = match(text, at)
        if found is None:
            raise build_workload_error(_explain_unreadable(text[at]))
        group, end = found.lastgroup, found.end()
        kind = KINDS.get(group)
        if kind is not None:
            tokens.append(Token(kind, found[kind], at, end))
        elif group in {"comment", "hash"}:
            raise build_workload_error(
                f"holds a comment ({found[0]}); YAML's own, after #, are not sent"
            )
        elif group == "prefixed":
            raise build_workload_error(f"has {found[0]}, a quoted part with a prefix")
        at = end
    return tuple(tokens)


def _explain_unreadable(character: str) -> str:
    match character:
        case ";":
            return "holds more than one statement"
        case "$":
            return "holds a $: parameters are written ?, and text is in single quotes"
        case "'" | '"' | "`":
            return f"a quoted part ({character}) has no end, or holds a backslash or a quoted quote"
        case _:
            return f"cannot be read from {character!r} on: text is in quotes, values are binds"
