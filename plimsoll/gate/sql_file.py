"""The statements of an SQL file, such as a migration."""

import re
from pathlib import Path

from plimsoll.errors import UsageError
from plimsoll.files import read_limited

BYTES_MAX = 4 * 2**20
_PARTS = re.compile(
    r"""
    (?P<quoted>'(?:[^'\\]|''|\\.)*+' | "(?:[^"\\]|""|\\.)*+" | `[^`]*+`
      | (?<![\w$])(?P<tag>\$\w*\$).*?(?P=tag))
  | (?P<comment>--[^\n]*+ | \#[^\n]*+ | /\*(?!!).*?\*/)
  | (?P<unclosed>(?:['"`] | (?<![\w$])\$\w*\$ | /\*(?!!)).*)
  | (?P<end>;)
  | (?P<other>[^'"`$;\-\#/]++ | .)
    """,
    re.VERBOSE | re.DOTALL,
)


def read_statements(path: Path, option: str) -> tuple[str, ...]:
    """Read an SQL file and return its statements.

    Raises:
        UsageError: It cannot be read, is no text, has no statement, or changes the delimiter.
    """
    try:
        statements = split_statements(read_limited(path, bytes_max=BYTES_MAX).decode())
    except UnicodeDecodeError:
        raise UsageError(f"{option} {path}: is not UTF-8 text") from None
    if not statements:
        raise UsageError(f"{option} {path}: has no statement")
    if any(re.match(r"(?i)delimiter\b|\\", statement) for statement in statements):
        raise UsageError(
            f"{option} {path}: has commands of a client (DELIMITER, \\); run that client with"
            f" {option}-cmd"
        )
    return statements


def split_statements(text: str) -> tuple[str, ...]:
    r"""Split SQL at the semicolons outside of quotes, without comments.

    Quotes are '...', "...", `...` and PostgreSQL's $tag$...$tag$. `/*! ... */` of MySQL is kept.
    A `#` begins a comment, as in MySQL; PostgreSQL's operators with it need a program instead.
    Text after a quote or comment that is never closed is split at every semicolon: the server
    refuses it, and looking for further quotes in it would take quadratic time.

    >>> split_statements("ALTER TABLE a ADD b INT; -- why;\nINSERT INTO a VALUES (';');")
    ('ALTER TABLE a ADD b INT', "INSERT INTO a VALUES (';')")
    """
    statements: list[str] = []
    pieces: list[str] = []
    for part in _PARTS.finditer(text):
        if part["end"]:
            statements.append("".join(pieces))
            pieces = []
        elif part["unclosed"]:
            first, *others = part[0].split(";")
            pieces.append(first)
            for other in others:
                statements.append("".join(pieces))
                pieces = [other]
        else:
            pieces.append(" " if part["comment"] else part[0])
    statements.append("".join(pieces))
    return tuple(stripped for statement in statements if (stripped := statement.strip()))
