"""A check of the preflight, and its state if AWS does not answer."""

from collections.abc import Callable, Iterable
from typing import Literal

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.model.base import Model

# `unknown`: these credentials cannot tell; `not applicable`: there is nothing to check
CheckState = Literal["passed", "failed", "unknown", "not applicable"]
_DENIED = {
    "AccessDenied",
    "AccessDeniedException",
    "UnauthorizedOperation",
    "AuthFailure",
    "ExpiredToken",
    "InvalidClientTokenId",
    "UnrecognizedClientException",
}


class Check(Model):
    """A check and its outcome.

    Attributes:
        name: The name of the check.
        state: The outcome.
        detail: The finding, or the reason why it is unknown.
        to_do: What helps if it failed or is unknown; None otherwise.
        runs: The runs whose targets it concerns, if a request has several; empty for all.
    """

    name: str
    state: CheckState
    detail: str
    to_do: str | None = None
    runs: tuple[str, ...] = ()


class Preflight(Model):
    """All checks, in reading order."""

    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that would make the run fail."""
        return tuple(check for check in self.checks if check.state == "failed")


def make_passed(name: str, detail: str) -> Check:
    """Return a check that passed."""
    return Check(name=name, state="passed", detail=detail)


def make_failed(name: str, detail: str, to_do: str) -> Check:
    """Return a check that failed, with what helps."""
    return Check(name=name, state="failed", detail=detail, to_do=to_do)


def make_unknown(name: str, why: str, to_do: str | None = None) -> Check:
    """Return a check whose outcome is unknown, with the reason."""
    return Check(name=name, state="unknown", detail=why, to_do=to_do)


def ask_aws(names: Iterable[str], ask: Callable[[], Iterable[Check]]) -> tuple[Check, ...]:
    """Ask AWS. If it does not answer, all of the checks are unknown.

    Args:
        names: The names of the checks that depend on the answer.
        ask: The function that asks AWS and returns the checks.
    """
    try:
        return tuple(ask())
    except ClientError as error:
        told = error.response["Error"]
        why = f"{error.operation_name}: {told.get('Message') or told['Code']}"
        if told["Code"] in _DENIED:
            why = f"these credentials may not call {error.operation_name}"
    except BotoCoreError as error:
        why = f"AWS: {error}"
    return tuple(make_unknown(name, why) for name in names)
