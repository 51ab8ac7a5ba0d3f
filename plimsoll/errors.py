"""The errors that reach a user: what is wrong as data, made into sentences at the edge.

`PlimsollError` ends a command with one clear line, never a stack trace. A `UsageError` holds
complaints: each names the field, its value and what is allowed, and where that was written. The
command line prints them (`str`), the API writes them as fields of a problem document.

    PlimsollError
    ├── UsageError                  the input is wrong: one complaint or several
    │   └── WorkloadError           ... in a workload
    ├── MissingToolError            this machine lacks something
    └── LimitReachedError           a limit of the team leaves no room
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar, Self

FieldPath = tuple[str | int, ...]
Scalar = str | int | float | bool | None


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
    """

    path: FieldPath
    problem: str
    value: Scalar = None
    allowed: tuple[str, ...] | Range | None = None
    place: Place | None = None
    listed: bool = True

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
        return ": ".join(part for part in (place, self.field, self.sentence) if part)

    def within(self, *names: str | int) -> Self:
        """Give the same complaint about a field that lies deeper, under these names."""
        return replace(self, path=(*names, *self.path))


def field_of(path: Iterable[str | int]) -> str:
    """Write the way to a field in one word: `search.clients[0]`."""
    parts = (f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
    return "".join(parts).removeprefix(".")


def unknown(
    what: str,
    name: str,
    allowed: Iterable[str],
    path: FieldPath = (),
    *,
    value: Scalar = None,
    place: Place | None = None,
) -> Complaint:
    """Complain of a name that is not known: what it may have meant, and what there is.

    Args:
        what: The kind of thing that it should name: `field`, `operation`.
        name: The name that was given.
        allowed: The names that there are.
        path: The way to the field.
        value: What stands at the path, where that is the name itself and not what it names.
        place: Where it was written.
    """
    names = tuple(sorted(allowed))
    close = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    return Complaint(path, f"unknown {what} {name!r}{guess}", value, names, place)


class PlimsollError(Exception):
    """Base of every error that Plimsoll shows as one line; ends the command with exit code 1.

    Attributes:
        complaints: What is wrong with which field, where that is what the error is about.
    """

    exit_code: ClassVar[int] = 1
    complaints: tuple[Complaint, ...] = ()


class UsageError(PlimsollError, ValueError):
    """The input is wrong: names the option, file or field and what is allowed. Exit code 2.

    It is a ValueError so that a pydantic model's validator may raise it: pydantic hands it back
    with the complaints that it holds.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, *complaints: Complaint | str) -> None:
        """Hold what is wrong.

        Args:
            complaints: One for each thing; a text where it is about no field.
        """
        super().__init__(*complaints)
        self.complaints = tuple(
            Complaint((), about) if isinstance(about, str) else about for about in complaints
        )

    def __str__(self) -> str:
        """Write a line for each complaint."""
        return "\n".join(map(str, self.complaints))

    def within(self, *names: str | int) -> Self:
        """Give the same error about fields that lie deeper, under these names."""
        return type(self)(*(about.within(*names) for about in self.complaints))


class WorkloadError(UsageError):
    """A workload that cannot be: names the file, the line, the field and what is allowed."""


class MissingToolError(PlimsollError):
    """Something that this machine lacks: says what, and the one command that brings it."""


class LimitReachedError(PlimsollError):
    """A limit of the team leaves no room: names it, what is in use, and what was asked for.

    Attributes:
        waiting_helps: Whether there will be room once other runs have ended.
        field: The field of the request that asks for it; None: any run would be refused.
        value: What it asks for; None: see the message.
        most: What may stand there now, or ever where no waiting helps; None: nothing.
    """

    def __init__(
        self,
        message: str,
        *,
        waiting_helps: bool = True,
        field: str | None = None,
        value: str | float | None = None,
        most: float | None = None,
    ) -> None:
        super().__init__(message)
        self.waiting_helps = waiting_helps
        self.field = field
        self.value = value
        self.most = most
