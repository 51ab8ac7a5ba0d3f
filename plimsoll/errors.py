"""The errors that reach a user: what is wrong as data, made into sentences at the edge.

`PlimsollError` ends a command with one clear line, never a stack trace. A `UsageError` holds
complaints: each names the field, its value and what is allowed, and where that was written. The
command line prints them (`str`), the API writes them as fields of a problem document.

    PlimsollError                   exit code 1
    ├── UsageError                  the input is wrong; exit code 2
    │   └── WorkloadError           ... in a workload
    ├── MissingToolError            this machine lacks a program
    ├── PreflightError              a check before a submission failed; exit code 3
    ├── NoGroundError               a run says nothing to predict from; exit code 3
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
    ├── UnreadableFileError         a run's file is damaged
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
    ├── ConnectionsRefusedError     the target has no room for a client's connections
    ├── CassandraTimeoutError       Cassandra gave no answer in time
    └── SinkError                   metrics could not be written

A state machine's `Retry` and `Catch` know some of them by these names.
"""

from typing import ClassVar, Self

from plimsoll.complaints import Complaint, FieldPath, Range, Scalar


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


class PreflightError(PlimsollError):
    """A check of the preflight failed, so that nothing was submitted. Exit code 3."""

    exit_code: ClassVar[int] = 3


class NoGroundError(PlimsollError):
    """A run says nothing that predictions could stand on, such as one that was disturbed."""

    exit_code: ClassVar[int] = 3


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


class UnreadableFileError(PlimsollError):
    """A run's file is damaged: names it, and says how."""


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


class ConnectionsRefusedError(PlimsollError):
    """The target has no room for all connections of a client: what it does, not a defect."""


class CassandraTimeoutError(PlimsollError):
    """The server, or the driver, gave up waiting."""

    def __init__(self, message: str, *, by_server: bool) -> None:
        super().__init__(message)
        self.by_server = by_server  # which answers, then: it may well be quicker the next time


class SinkError(PlimsollError):
    """The sink did not take the points; the message says why, without any secret."""
