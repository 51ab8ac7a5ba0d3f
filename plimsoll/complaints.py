"""Complaints: what is wrong with an input, as data (field, value, what is allowed, position).

The command line prints them as sentences (`str`), and the API writes them as fields of a problem
document.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Self

FieldPath = tuple[str | int, ...]
Scalar = str | int | float | bool | None
REPEATED_MOST = 100  # characters of a wrong name or value that a message repeats


@dataclass(frozen=True)
class Place:
    """The position of a value in a text.

    Attributes:
        source: name of the text, mostly of a file.
        line: line from 1; None if unknown.
    """

    source: str
    line: int | None = None

    def __str__(self) -> str:
        """Return it as compilers print it: `r.yaml:12`."""
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True)
class Range:
    """A range of allowed numbers.

    Attributes:
        least: lower bound; None if there is none.
        most: upper bound; None if there is none.
        open: whether the bounds themselves are excluded.
    """

    least: float | Decimal | None = None
    most: float | Decimal | None = None
    open: bool = False

    def __str__(self) -> str:
        """Return the range in words: `>= 10`, `< 1`, `1,000 to 5,000`, `12,000 only`."""
        equal = "" if self.open else "="
        if self.most is None:
            return f">{equal} {self.least}"
        if self.least is None:
            return f"<{equal} {self.most}"
        if self.least == self.most:
            return f"{self.least:,.10g} only"
        ends = f"{self.least:,.10g} to {self.most:,.10g}"
        return f"{ends}, both excluded" if self.open else ends


@dataclass(frozen=True)
class Complaint:
    """One problem with an input.

    Attributes:
        path: names and indexes that lead to the field; empty for the whole input.
        problem: the problem in words, without the field's name and what is allowed.
        value: value of the field; None if it is no single value, or must not be repeated (the value
            of an unknown field may be a misplaced secret).
        allowed: allowed names or range; None if they cannot be listed.
        place: position of the value; None if unknown.
        listed: whether the sentence ends with what is allowed; False if `problem` already says it.
        absent: whether the field is missing; the position is then that of its parent.
        remedies: options that help, by key, each with what it does.
    """

    path: FieldPath
    problem: str
    value: Scalar = None
    allowed: tuple[str, ...] | Range | None = None
    place: Place | None = None
    listed: bool = True
    absent: bool = False
    remedies: tuple[tuple[str, str], ...] = ()

    @property
    def field(self) -> str:
        """The path as text: `search.clients[0]`."""
        return format_path(self.path)

    @property
    def allowed_words(self) -> tuple[str, ...]:
        """The allowed values as text; empty if they cannot be listed."""
        return (str(self.allowed),) if isinstance(self.allowed, Range) else self.allowed or ()

    @property
    def sentence(self) -> str:
        """The problem, what is allowed and what helps, without the field's name."""
        listed = self.allowed is not None and self.listed
        allowed = f" (allowed: {', '.join(self.allowed_words) or 'none'})" if listed else ""
        remedies = "; ".join(f"{option} {effect}" for option, effect in self.remedies)
        return f"{self.problem}{allowed}{': ' if remedies else ''}{remedies}"

    def __str__(self) -> str:
        """Return one line: `r.yaml:12: target.volume.iops: ...`."""
        place = "" if self.place is None else str(self.place)
        field = format_path(self.path[:-1]) if self.absent else self.field
        return ": ".join(part for part in (place, field, self.sentence) if part)

    def within(self, *names: str | int) -> Self:
        """Return this complaint about a part of a larger input, without a position.

        Args:
            names: names and indexes that lead to the part.
        """
        return replace(self, path=(*names, *self.path), place=None)

    def name_options(self, names: Mapping[str, str]) -> Self:
        """Return this complaint with other names for the options in it.

        Args:
            names: name of each option, by key. Keys without a name stay.

        >>> print(Complaint(("limits", "read"), "is wrong").name_options({"limits": "--limit"}))
        --limit read: is wrong
        """
        remedies = tuple((names.get(option, option), effect) for option, effect in self.remedies)
        if not self.path:
            return replace(self, remedies=remedies)
        key, *parts = map(str, self.path)
        return replace(self, path=(" ".join((names.get(key, key), *parts)),), remedies=remedies)


def format_path(path: Iterable[str | int]) -> str:
    """Return a path as text: `search.clients[0]`."""
    parts = (f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    return "".join(parts).removeprefix(".")


def repeat_value(value: object) -> str:
    """Return a wrong value as a message repeats it: cut if it is long.

    >>> repeat_value("gp4")
    "'gp4'"
    """
    if isinstance(value, str):
        return repr(value[:REPEATED_MOST]) + ("..." if len(value) > REPEATED_MOST else "")
    if isinstance(value, int) and abs(value) >= 10**REPEATED_MOST:
        return "a number of more than 100 digits"
    return repr(value)


def complain_of_missing(path: FieldPath) -> Complaint:
    """Return the complaint about a missing field."""
    return Complaint(path, f"lacks the field {path[-1]!r}", absent=True)


def complain_of_unknown(
    what: str,
    name: str,
    allowed: Iterable[str],
    path: FieldPath = (),
    *,
    value: Scalar = None,
    hint: str = "",
) -> Complaint:
    """Return the complaint about an unknown name, with similar and all allowed names.

    Args:
        what: kind of name: `field`, `operation`.
        name: name that was given.
        allowed: names that exist.
        path: path of the field.
        value: value at the path, if that is the name itself and not what it names.
        hint: further advice.
    """
    names = tuple(sorted(allowed))
    short = name[:REPEATED_MOST]  # comparing long names takes time quadratic in their length
    close = difflib.get_close_matches(short, [each[:REPEATED_MOST] for each in names], n=1)
    guess = f"did you mean {close[0]!r}?" if close else ""
    unknown = f"unknown {what} {repeat_value(name)}"
    problem = "; ".join(part for part in (unknown, guess, hint) if part)
    return Complaint(path, problem, value, names)
