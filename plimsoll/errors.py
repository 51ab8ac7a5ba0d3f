"""The errors that reach a user: one clear line each, never a stack trace."""

from typing import ClassVar


class PlimsollError(Exception):
    """Base of every error that Plimsoll shows as one line; ends the command with exit code 1."""

    exit_code: ClassVar[int] = 1


class UsageError(PlimsollError):
    """The input is wrong: names the option, file or field and what is allowed. Exit code 2."""

    exit_code: ClassVar[int] = 2


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
