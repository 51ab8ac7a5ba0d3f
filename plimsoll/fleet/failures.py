"""Clients that failed, in words for people."""

import json
import re
from collections.abc import Iterable, Mapping

from plimsoll.model.fleet import FailedClient

_MESSAGE = re.compile(r'\{"errorMessage": ?"(?P<text>(\\.|[^"\\])*\\?)')


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
    """Take the sentence out of what Lambda says of an error, which has a stack trace beside it.

    The workflow carries the beginning alone, so what is read may end anywhere.
    """
    found = _MESSAGE.match(cause)
    if found is None:
        return cause
    text = found["text"].rstrip("\\") if found.end() == len(cause) else found["text"]
    try:
        message = str(json.loads(f'"{text}"'))
    except ValueError:
        message = text
    return " ".join(message.split())
