"""Clients that failed, in words for people."""

import json
from collections.abc import Iterable, Mapping

from plimsoll.model.fleet import FailedClient


def failed_clients(errors: Iterable[Mapping[str, object]]) -> list[FailedClient]:
    """Read what the workflow caught of clients that failed; their words, not their stack traces."""
    return [
        FailedClient(
            client=int(str(error["client"])),
            error=str(error["error"]),
            cause=plain_cause(str(error["cause"])),
        )
        for error in errors
    ]


def plain_cause(cause: str) -> str:
    """Take the sentence out of what Lambda says of an error, which has a stack trace beside it."""
    try:
        told = json.loads(cause)
    except ValueError:
        start = cause.find('"errorMessage": "')
        return cause if start < 0 else cause[start + 17 :].partition('", "errorType"')[0]
    if isinstance(told, dict) and "errorMessage" in told:
        return str(told["errorMessage"])
    return cause
