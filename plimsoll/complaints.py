"""What is wrong with an input, as data: the field, its value, what is allowed, and where it stands.

The sentences for people are made from it: by the command line (`str`), and by the API, which
writes a problem document.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Self

FieldPath = tuple[str | int, ...]
Scalar = str | int | float | bool | None
NAME_MOST = 100  # characters of a name that are repeated where it is not known


@dataclass(frozen=True)
class Place:
    """Where something was written.

    Attributes:
        source: What the text is called: a file's name, most often.
        line: Counted from 1; None where no line is known.
    """

    source: str
    line: int | None = None

    def __str__(self) -> str:
        """Write it as compilers do: `r.yaml:12`."""
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True)
class Range:
    """The numbers that are allowed.

    Attributes:
        least: The lowest; None: no bound below.
        most: The highest; None: no bound above.
        open: Whether the bounds themselves are not allowed.
    """

    least: float | Decimal | None = None
    most: float | Decimal | None = None
    open: bool = False

    def __str__(self) -> str:
        """Write it for people: `>= 10`, `< 1`, `1,000 to 5,000`, `12,000 only`."""
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
    """One thing that is wrong with what was given.

    Attributes:
        path: The way to the field, by names and indexes; empty: the whole.
        problem: What is wrong with it, in words; without the field's name and what is allowed.
        value: What stands there; None where that is no single value, or is not to be repeated
            (whatever stands in an unknown field may be a secret that went astray).
        allowed: What may stand there, by name or as a range; None where that cannot be listed.
        place: Where it was written; None where that is not known.
        listed: Whether its sentence ends in what is allowed; False where `problem` says it.
        absent: Whether the field is not there at all: its line then names what lacks it.
    """

    path: FieldPath
    problem: str
    value: Scalar = None
    allowed: tuple[str, ...] | Range | None = None
    place: Place | None = None
    listed: bool = True
    absent: bool = False

    @property
    def field(self) -> str:
        """The way to the field in one word: `search.clients[0]`."""
        return field_of(self.path)

    @property
    def allowed_words(self) -> tuple[str, ...]:
        """What may stand there, each in a word; empty where that cannot be listed."""
        return (str(self.allowed),) if isinstance(self.allowed, Range) else self.allowed or ()

    @property
    def sentence(self) -> str:
        """What is wrong and what is allowed, without the field's name."""
        if self.allowed is None or not self.listed:
            return self.problem
        return f"{self.problem} (allowed: {', '.join(self.allowed_words) or 'none'})"

    def __str__(self) -> str:
        """Write it in a line: `r.yaml:12: target.volume.iops: ...`."""
        place = "" if self.place is None else str(self.place)
        field = field_of(self.path[:-1]) if self.absent else self.field
        return ": ".join(part for part in (place, field, self.sentence) if part)

    def within(self, *names: str | int) -> Self:
        """Give the same complaint about a part of something larger, of which no place is known.

        Args:
            names: The way to that part.
        """
        return replace(self, path=(*names, *self.path), place=None)


def field_of(path: Iterable[str | int]) -> str:
    """Write the way to a field in one word: `search.clients[0]`."""
    parts = (f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    return "".join(parts).removeprefix(".")


def missing(path: FieldPath, place: Place | None = None) -> Complaint:
    """Complain of a field that is not there."""
    return Complaint(path, f"lacks the field {path[-1]!r}", place=place, absent=True)


def unknown(
    what: str,
    name: str,
    allowed: Iterable[str],
    path: FieldPath = (),
    *,
    value: Scalar = None,
    place: Place | None = None,
    hint: str = "",
) -> Complaint:
    """Complain of a name that is not known: what it may have meant, and what there is.

    Args:
        what: The kind of thing that it should name: `field`, `operation`.
        name: The name that was given.
        allowed: The names that there are.
        path: The way to the field.
        value: What stands at the path, where that is the name itself and not what it names.
        place: Where it was written.
        hint: What else may help.
    """
    names = tuple(sorted(allowed))
    short = name[:NAME_MOST]  # to compare long names takes the square of their length
    close = difflib.get_close_matches(short, [each[:NAME_MOST] for each in names], n=1)
    guess = f"did you mean {close[0]!r}?" if close else ""
    shown = repr(short) + ("..." if len(name) > NAME_MOST else "")
    problem = "; ".join(part for part in (f"unknown {what} {shown}", guess, hint) if part)
    return Complaint(path, problem, value, names, place)
