r"""A pgbench script, cut into commands: SQL, and backslash commands.

The rules are psql's (PostgreSQL's documentation, "Lexical Structure" and pgbench's "Custom
Scripts"): SQL ends at a semicolon outside quotes, comments and parentheses, or at a backslash. `\;`
stands between statements that are sent together. A backslash command ends with its line, unless a
backslash is the line's last character.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from plimsoll.workload.declared import build_workload_error

_NAME = r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*"
_PIECE = re.compile(
    rf"""
    (?P<space>\s+|--[^\n]*)
  | (?P<comment>/\*)
  | (?P<text>[eE]'(?:[^'\\]|\\.|'')*'|(?:[bBnNxX]|[uU]&)?'(?:[^']|'')*')
  | (?P<name>(?:[uU]&)?"(?:[^"]|"")*")
  | (?P<dollars>\$(?:{_NAME})?\$)
  | :(?P<variable>{_NAME})
  | (?P<colons>:+)
  | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
  | (?P<word>{_NAME[:-2]}$]*)
  | (?P<joint>\\;)
  | (?P<backslash>\\)
  | (?P<mark>.)
""",
    re.VERBOSE | re.DOTALL,
)

Kind = Literal["text", "name", "variable", "number", "word", "mark", "comment"]


@dataclass(frozen=True)
class Piece:
    """A part of a statement.

    Attributes:
        kind: `text` in quotes of any kind, a quoted `name`, a `variable`, a `number`, a `word`, a
            `comment` or a `mark`.
        text: The text as written; the name alone if the kind is `variable`.
        start: The position in the script of its first character.
        gap: What stands before it: nothing, a space or a newline (which joins quoted texts).
    """

    kind: Kind
    text: str
    start: int
    gap: str

    def is_mark(self, mark: str) -> bool:
        """Whether it is this mark, outside quotes."""
        return self.kind == "mark" and self.text == mark

    @property
    def unquoted(self) -> str:
        """An unquoted word in capitals; empty for any other piece."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(frozen=True)
class Sql:
    r"""Statements that are sent together: one, or several with `\;` between them.

    Attributes:
        line: The line of the first one.
        statements: The pieces of each that is not empty.
    """

    line: int
    statements: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True)
class Meta:
    """A backslash command.

    Attributes:
        line: The line on which it begins.
        name: The command's name in small letters.
        rest: What stands after the name.
    """

    line: int
    name: str
    rest: str


def scan(script: str) -> Iterator[Sql | Meta]:
    """Yield the commands of a script.

    Raises:
        WorkloadError: A quoted part or a comment has no end; the path is the line.
    """
    scanner = _Scanner(script)
    while scanner.at < len(script):
        yield from scanner.scan_command()


class _Scanner:
    def __init__(self, script: str) -> None:
        self._script = script
        self.at = 0

    def _line(self, at: int) -> int:
        return self._script.count("\n", 0, at) + 1

    def scan_command(self) -> Iterator[Sql | Meta]:
        """Yield the next SQL command, and the backslash command that ends it."""
        statements: list[list[Piece]] = [[]]
        depth, gap = 0, ""
        while self.at < len(self._script):
            found = _PIECE.match(self._script, self.at)
            assert found is not None  # noqa: S101 - any character is a mark
            kind, start, self.at = str(found.lastgroup), self.at, found.end()
            match kind:
                case "space":
                    gap = "\n" if "\n" in f"{gap}{found[0]}" else " "
                    continue
                case "joint":
                    statements.append([])
                    continue
                case "backslash":
                    yield from self._end(statements)
                    yield from self._scan_meta(start)
                    return
                case "mark" if found[kind] == ";" and depth == 0:
                    break
            text = found[kind]
            if kind == "comment":
                text = self._scan_comment(start)
            elif kind == "dollars":
                kind, text = "text", self._scan_dollars(start, text)
            elif kind == "mark" and text in "'\"":
                raise build_workload_error("a quoted part has no end", self._line(start))
            elif kind == "mark":
                depth = max(depth + (text == "(") - (text == ")"), 0)
            known: Kind = "mark" if kind == "colons" else kind  # type: ignore[assignment]
            statements[-1].append(Piece(known, text, start, gap))
            gap = ""
        yield from self._end(statements)

    def _end(self, statements: list[list[Piece]]) -> Iterator[Sql]:
        told = [pieces for pieces in statements if any(each.kind != "comment" for each in pieces)]
        if told:
            line = self._line(next(each.start for each in told[0] if each.kind != "comment"))
            yield Sql(line, tuple(tuple(pieces) for pieces in told))

    def _scan_comment(self, start: int) -> str:
        """Take a comment, which may hold others."""
        depth = 0
        for mark in re.compile(r"/\*|\*/").finditer(self._script, start):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                self.at = mark.end()
                return self._script[start : self.at]
        raise build_workload_error("a comment has no end", self._line(start))

    def _scan_dollars(self, start: int, quote: str) -> str:
        quoted, end, _ = self._script[start + len(quote) :].partition(quote)
        if not end:
            raise build_workload_error(f"a part quoted by {quote} has no end", self._line(start))
        self.at = start + len(quote) + len(quoted) + len(quote)
        return self._script[start : self.at]

    def _scan_meta(self, start: int) -> Iterator[Meta]:
        end = re.compile(r"(?:[^\n\\]|\\\r?\n|\\)*").match(self._script, self.at)
        assert end is not None  # noqa: S101 - it may be empty
        words = end[0].strip().split(None, 1)
        self.at = end.end() + 1
        if words:
            yield Meta(self._line(start), words[0].lower(), words[1] if words[1:] else "")
