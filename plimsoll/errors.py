"""The errors that reach a user: what is wrong as data, made into sentences at the edge.

`PlimsollError` ends a command with one clear line, never a stack trace. A `UsageError` holds
complaints: each names the field, its value and what is allowed, and where that was written. The
command line prints them (`str`), the API writes them as fields of a problem document.

    PlimsollError                   exit code 1
    ├── UsageError                  the input is wrong; exit code 2
    │   └── WorkloadError           ... in a workload
    ├── MissingToolError            this machine lacks a program
    ├── NotDeployedError            there is no such stack in this account and region
    ├── ServiceError                the service refused or failed (client/refusals.py)
    ├── ApiError                    the API's answer is a refusal (api/problems.py)
    ├── UnknownPrincipalError       the caller belongs to no team
    ├── OtherTeamError              the caller names a team that is not its own
    ├── LimitReachedError           a limit of the team leaves no room
    ├── NoRoomYetError              ... for a run of an experiment, which waits
    ├── NotFoundError               nothing has this name
    │   ├── RunNotFoundError
    │   ├── ExperimentNotFoundError
    │   └── CheckNotFoundError
    ├── UnreadableRecordError       another version has written it
    ├── RunStoppedError             a run ends: it was told to stop
    ├── TimeLimitPassedError        ... its time limit has passed
    ├── BudgetPassedError           ... its budget would not pay for more
    ├── TargetCreationError         ... its target could not be created
    ├── TeardownError               its target could not be deleted
    ├── TargetsAliveError           the deployment still has targets, so it must not be deleted
    ├── DatasetError                a run ends: its dataset is not what it should be
    ├── StepError                   ... a step says nothing of its target
    ├── ClientRefusedError          a client of a step was refused
    ├── ClientTooLateError          a client of a step came too late to send anything
    ├── CassandraTimeoutError       Cassandra gave no answer in time
    └── SinkError                   metrics could not be written

A state machine's `Retry` and `Catch` know some of them by these names.
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
    close = difflib.get_close_matches(name, names, n=1)
    guess = f"did you mean {close[0]!r}?" if close else ""
    problem = "; ".join(part for part in (f"unknown {what} {name!r}", guess, hint) if part)
    return Complaint(path, problem, value, names, place)


class PlimsollError(Exception):
    """Base of every error that Plimsoll shows as one line; ends the command with exit code 1.

    Attributes:
        complaints: What is wrong with which field, where the error is about fields.
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
        """Give the same error about a part of something larger, to which these names lead."""
        return type(self)(*(about.within(*names) for about in self.complaints))


class WorkloadError(UsageError):
    """A workload that cannot be: names the file, the line, the field and what is allowed."""


class MissingToolError(PlimsollError):
    """Something that this machine lacks: says what, and the one command that brings it."""


class NotDeployedError(PlimsollError):
    """No such stack is deployed in this account and region."""


class UnknownPrincipalError(PlimsollError):
    """The caller belongs to no team of this deployment."""


class OtherTeamError(PlimsollError):
    """The caller names a team that is not its own."""

    def __init__(self, principal: str, path: FieldPath, *, named: str, own: str) -> None:
        """Say which team the caller belongs to.

        Args:
            principal: The caller's ARN.
            path: The way to the field that names a team.
            named: The team that it names.
            own: The team that the caller belongs to.
        """
        text = f"{principal} belongs to team {own}"
        super().__init__(text)
        self.complaints = (Complaint(path, text, named, (own,), listed=False),)


class LimitReachedError(PlimsollError):
    """A limit of the team leaves no room: names it, what is in use, and what was asked for.

    Attributes:
        waiting_helps: Whether there will be room once other runs have ended.
    """

    def __init__(
        self,
        message: str,
        *,
        waiting_helps: bool = True,
        path: FieldPath | None = None,
        value: Scalar = None,
        allowed: Range | None = None,
    ) -> None:
        """Say which limit it is.

        Args:
            message: The limit, what is in use, and what was asked for.
            waiting_helps: Whether there will be room once other runs have ended.
            path: The way to the field of the request that asks for it; None: no field does.
            value: What that asks for; None: see the message.
            allowed: What may stand there now, or ever where no waiting helps; None: nothing.
        """
        super().__init__(message)
        self.waiting_helps = waiting_helps
        if path is not None:
            self.complaints = (Complaint(path, message, value, allowed, listed=False),)


class NoRoomYetError(PlimsollError):
    """The team has no room for the run now; the workflow tries again, by this class's name."""


class NotFoundError(PlimsollError):
    """Nothing has this name, or nothing that the caller's team may see."""


class RunNotFoundError(NotFoundError):
    """No run has this id."""


class CheckNotFoundError(NotFoundError):
    """The team has no check of this name."""


class ExperimentNotFoundError(NotFoundError):
    """No experiment of this team has this id."""


class UnreadableRecordError(PlimsollError):
    """Something in a table that this version cannot read: written by another one, say."""


class RunStoppedError(PlimsollError):
    """The run is being stopped: nothing new is made for it."""


class TimeLimitPassedError(PlimsollError):
    """The run's time limit has passed."""


class BudgetPassedError(PlimsollError):
    """To go on would pass the run's budget."""


class TargetCreationError(PlimsollError):
    """The target could not be created; says CloudFormation's own reason."""


class TeardownError(PlimsollError):
    """The target could not be deleted; says CloudFormation's own reason."""


class TargetsAliveError(PlimsollError):
    """Targets are alive, or runs that may make some: names them."""


class DatasetError(PlimsollError):
    """The dataset is not what the workload asks for."""


class StepError(PlimsollError):
    """A step that says nothing about the target, and would not if it were done again."""


class ClientRefusedError(PlimsollError):
    """A client that must not send: another one does."""


class ClientTooLateError(PlimsollError):
    """A client that was called when half of its window was over, and sent nothing."""


class CassandraTimeoutError(PlimsollError):
    """The server, or the driver, gave up waiting."""

    def __init__(self, message: str, *, by_server: bool) -> None:
        super().__init__(message)
        self.by_server = by_server  # which answers, then: it may well be quicker the next time


class SinkError(PlimsollError):
    """The sink did not take the points; the message says why, without any secret."""
