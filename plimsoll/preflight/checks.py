"""A check of the preflight, and what becomes of one that AWS does not answer."""

from collections.abc import Callable, Iterable
from typing import Literal

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.model.base import Model

# `unknown`: these credentials cannot find out; `not applicable`: there is nothing to find out
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
    """One thing that was looked at.

    Attributes:
        name: What.
        state: How it came out.
        detail: What was found, or why it cannot be known.
        to_do: What helps, where it failed or is not known.
        runs: Of a request with several runs: whose targets it is about; empty: all.
    """

    name: str
    state: CheckState
    detail: str
    to_do: str | None = None
    runs: tuple[str, ...] = ()


class Preflight(Model):
    """All checks, in the order in which they are worth reading."""

    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that would let the run fail."""
        return tuple(check for check in self.checks if check.state == "failed")


def passed(name: str, detail: str) -> Check:
    """Say that nothing is in the way."""
    return Check(name=name, state="passed", detail=detail)


def failed(name: str, detail: str, to_do: str) -> Check:
    """Say what is in the way, and what helps."""
    return Check(name=name, state="failed", detail=detail, to_do=to_do)


def unknown(name: str, why: str, to_do: str | None = None) -> Check:
    """Say why it is not to be known."""
    return Check(name=name, state="unknown", detail=why, to_do=to_do)


def asked(names: Iterable[str], ask: Callable[[], Iterable[Check]]) -> tuple[Check, ...]:
    """Ask AWS; where it does not answer, each of the checks is unknown.

    Args:
        names: Of the checks that depend on the answer.
        ask: Makes them.
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
    return tuple(unknown(name, why) for name in names)
