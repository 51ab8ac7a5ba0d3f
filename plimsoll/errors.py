"""Errors that reach a user: the problem as data, turned into sentences where it is shown.

`PlimsollError` ends a command with one clear line, never a stack trace. A `UsageError` holds
complaints, each with the field, its value, what is allowed and its position. The command line
prints them (`str`), the API writes them as fields of a problem document.

    PlimsollError                   exit code 1
    ├── UsageError                  the input is wrong; exit code 2
    │   ├── WorkloadError           ... in a workload
    │   └── OptionError             ... in an option
    ├── MissingToolError            this machine lacks a program
    │   └── UnusableToolError       ... or has one that cannot be used
    ├── PreflightError              a check before a submission failed; exit code 3
    ├── NoGroundError               a run says nothing to predict from; exit code 3
    ├── NotDeployedError            there is no such stack in this account and region
    ├── ServiceError                the service refused or failed (client/refusals.py)
    ├── ApiError                    the API's answer is a refusal (api/problems.py)
    ├── UnknownPrincipalError       the caller belongs to no team
    ├── OtherTeamError              the caller names a team that is not its own
    ├── LimitReachedError           a limit of the team leaves no room
    ├── NoRoomYetError              ... for a run of an experiment, which waits
    ├── DrainingError               the deployment starts no new runs for a while
    ├── NotFoundError               nothing has this name
    │   ├── RunNotFoundError
    │   ├── ExperimentNotFoundError
    │   └── CheckNotFoundError
    ├── UnreadableRecordError       another version has written it
    ├── UnreadableFileError         a run's file is damaged
    ├── RunStoppedError             a run ends: it was told to stop
    ├── TimeLimitPassedError        ... its time limit has passed
    ├── BudgetPassedError           ... its budget would not pay for more
    ├── TargetCreationError         ... its target could not be created
    ├── TeardownError               its target could not be deleted
    ├── TargetsAliveError           the deployment still has targets, so it must not be deleted
    ├── DatasetError                a run ends: its dataset is not what it should be
    ├── StepError                   ... a step has no usable result
    ├── ClientRefusedError          a client of a step was refused
    ├── ClientTooLateError          a client of a step came too late to send anything
    ├── ConnectionsRefusedError     the target has no room for a client's connections
    ├── CassandraTimeoutError       Cassandra gave no answer in time
    └── SinkError                   metrics could not be written

A state machine's `Retry` and `Catch` refer to some of them by these names.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import ClassVar, Self

from plimsoll.complaints import Complaint, FieldPath, Range, Scalar


class PlimsollError(Exception):
    """Base of every error that Plimsoll shows as one line; ends the command with exit code 1.

    Attributes:
        complaints: problems with single fields; empty if the error is not about fields.
    """

    exit_code: ClassVar[int] = 1
    complaints: tuple[Complaint, ...] = ()


class UsageError(PlimsollError, ValueError):
    """The input is wrong: names the option, file or field and what is allowed. Exit code 2.

    It is also a ValueError, so a pydantic validator can raise it; pydantic then passes it on with
    its complaints.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, *complaints: Complaint | str) -> None:
        """Create the error.

        Args:
            complaints: one for each problem; a text if the problem is not about a field.
        """
        super().__init__(*complaints)
        self.complaints = tuple(
            Complaint((), about) if isinstance(about, str) else about for about in complaints
        )

    def __str__(self) -> str:
        """Return one line for each complaint."""
        return "\n".join(map(str, self.complaints))

    def within(self, *names: str | int) -> Self:
        """Return the same error about a part of a larger input, to which the names lead."""
        return type(self)(*(about.within(*names) for about in self.complaints))


class WorkloadError(UsageError):
    """A workload is invalid: names the file, the line, the field and what is allowed."""


class OptionError(UsageError):
    """The value of an option is wrong: each complaint's path begins with the option's key.

    A key is the argument's name in Python. The command line names options as they are typed there.
    """

    def name_options(self, names: Mapping[str, str]) -> Self:
        """Return the same error with other names for its options, by key."""
        return type(self)(*(about.name_options(names) for about in self.complaints))


class MissingToolError(PlimsollError):
    """This machine lacks a program: names it, and the one command that installs it."""


class UnusableToolError(MissingToolError):
    """This machine has a program that cannot be used: names it, and says why."""


class PreflightError(PlimsollError):
    """A preflight check failed, so nothing was submitted. Exit code 3."""

    exit_code: ClassVar[int] = 3


class NoGroundError(PlimsollError):
    """A run is no basis for predictions, for example because it was disturbed."""

    exit_code: ClassVar[int] = 3


class NotDeployedError(PlimsollError):
    """The stack is not deployed in this account and region."""


class UnknownPrincipalError(PlimsollError):
    """The caller belongs to no team of this deployment."""


class OtherTeamError(PlimsollError):
    """The caller names a team that is not its own."""

    def __init__(self, principal: str, path: FieldPath, *, named: str, own: str) -> None:
        """Create the error, which names the caller's own team.

        Args:
            principal: ARN of the caller.
            path: path of the field that names a team.
            named: team that the field names.
            own: team that the caller belongs to.
        """
        text = f"{principal} belongs to team {own}"
        super().__init__(text)
        self.complaints = (Complaint(path, text, named, (own,), listed=False),)


class LimitReachedError(PlimsollError):
    """A limit of the team is reached: names the limit, the amount in use and the requested amount.

    Attributes:
        waiting_helps: whether there will be room at some time.
        runs_make_room: whether there may be room once other runs have ended; False for a monthly
            limit that is spent.
    """

    def __init__(
        self,
        message: str,
        *,
        waiting_helps: bool = True,
        runs_make_room: bool = True,
        path: FieldPath | None = None,
        value: Scalar = None,
        allowed: Range | None = None,
    ) -> None:
        """Create the error.

        Args:
            message: the limit, the amount in use and the requested amount.
            waiting_helps: whether there will be room at some time.
            runs_make_room: whether there may be room once other runs have ended.
            path: path of the request's field that exceeds the limit; None if there is none.
            value: value of that field; None if the message says it.
            allowed: values allowed now, or at all if waiting does not help; None if there are none.
        """
        super().__init__(message)
        self.waiting_helps = waiting_helps
        self.runs_make_room = waiting_helps and runs_make_room
        if path is not None:
            self.complaints = (Complaint(path, message, value, allowed, listed=False),)

    def move(self, place: Callable[[Complaint], Complaint]) -> Self:
        """Return this error about the same field of a larger input, which `place` finds."""
        self.complaints = tuple(map(place, self.complaints))
        return self


class DrainingError(PlimsollError):
    """The deployment is about to be updated and starts nothing new until a time.

    Attributes:
        after_s: seconds from now until that time.
    """

    def __init__(self, until: datetime, *, after_s: int) -> None:
        super().__init__(
            "this deployment is about to be updated: it starts no runs until"
            f" {until:%Y-%m-%d %H:%M} UTC"
        )
        self.after_s = after_s


class NoRoomYetError(PlimsollError):
    """The team has no room for the run yet. The workflow retries on this class's name."""


class NotFoundError(PlimsollError):
    """Nothing that the caller's team may see has this name."""


class RunNotFoundError(NotFoundError):
    """No run has this id."""


class CheckNotFoundError(NotFoundError):
    """The team has no check of this name."""


class ExperimentNotFoundError(NotFoundError):
    """No experiment of this team has this id."""


class UnreadableFileError(PlimsollError):
    """A run's file is damaged: names the file and the damage."""


class UnreadableRecordError(PlimsollError):
    """This version cannot read a table item, for example because another version wrote it."""


class RunStoppedError(PlimsollError):
    """The run is being stopped, so nothing new is created for it."""


class TimeLimitPassedError(PlimsollError):
    """The run's time limit has passed."""


class BudgetPassedError(PlimsollError):
    """Continuing would exceed the run's budget."""


class TargetCreationError(PlimsollError):
    """The target could not be created; gives CloudFormation's reason."""


class TeardownError(PlimsollError):
    """The target could not be deleted; gives CloudFormation's reason."""


class TargetsAliveError(PlimsollError):
    """Targets exist, or runs that may create some: names them."""


class DatasetError(PlimsollError):
    """The dataset does not match the workload."""


class StepError(PlimsollError):
    """A step says nothing about the target, and would not if it were repeated."""


class ClientRefusedError(PlimsollError):
    """A client must not send because another one does."""


class ClientTooLateError(PlimsollError):
    """A client started after half of its window had passed, and sent nothing."""


class ConnectionsRefusedError(PlimsollError):
    """The target refused some of a client's connections: a result, not a defect."""


class CassandraTimeoutError(PlimsollError):
    """Cassandra's server or driver timed out."""

    def __init__(self, message: str, *, by_server: bool) -> None:
        super().__init__(message)
        self.by_server = by_server  # the server replied, so a retry may succeed


class SinkError(PlimsollError):
    """The metrics store refused the points; the message says why, without secrets."""
