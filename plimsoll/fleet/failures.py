"""Describes failed clients to people."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from plimsoll import errors, words
from plimsoll.model.run.fleet import FailedClient

CAUSES_TOLD = 10  # different causes listed for a step
CLIENTS_NAMED = 10  # clients listed for one cause, or as late
_OF_THE_ENGINE = "EngineError"
# a function's own error begins with its message; Lambda's errors, as time-outs, with their type
_MESSAGE = re.compile(r'\{("errorType": ?"[^"]*", ?)?"errorMessage": ?"(?P<text>(\\.|[^"\\])*\\?)')


def is_too_late(client: FailedClient) -> bool:
    """Whether a client failed only because it was late."""
    return client.error == errors.ClientTooLateError.__name__


def describe_refusal(failed: Iterable[FailedClient], clients: int) -> str | None:
    """Describe how many clients the target refused; None if it refused none."""
    full = [client for client in failed if client.error == errors.ConnectionsRefusedError.__name__]
    if not full:
        return None
    whose = f"{len(full):,} of {words.format_count(clients, 'client')}"
    return f"the target refused connections of {whose}: {full[0].cause}"


def extract_causes(written: Iterable[FailedClient]) -> list[FailedClient]:
    """Return what the workflow wrote of failed clients, with messages and no stack traces."""
    read = [failed.model_copy(update={"cause": extract_cause(failed.cause)}) for failed in written]
    return sorted(read, key=lambda failed: failed.client)


def describe_failures(failed: Iterable[FailedClient]) -> list[str]:
    """Describe which clients failed and why, one sentence per cause, the most frequent first.

    It is kept short: a thousand clients may fail at once, and an event holds 256 KiB.
    """
    by_cause: dict[str, list[int]] = defaultdict(list)
    for client in failed:
        by_cause[_find_failure_cause(client)].append(client.client)
    causes = sorted(by_cause.items(), key=lambda item: -len(item[1]))
    told = [f"{_name_clients(clients)} failed: {cause}" for cause, clients in causes[:CAUSES_TOLD]]
    if others := [client for _, clients in causes[CAUSES_TOLD:] for client in clients]:
        told.append(f"{words.format_count(len(others), 'more client')} failed for other reasons")
    return told


def _find_failure_cause(client: FailedClient) -> str:
    """Return why a client failed. Our own errors are sentences; others need their type too."""
    kind = getattr(errors, client.error, None)
    ours = isinstance(kind, type) and issubclass(kind, errors.PlimsollError)
    if client.cause and (ours or client.error == _OF_THE_ENGINE):
        return client.cause
    return f"{client.error}: {client.cause}"


def _name_clients(clients: Sequence[int]) -> str:
    if len(clients) == 1:
        return f"client {clients[0]}"
    named = [str(client) for client in clients[:CLIENTS_NAMED]]
    more = ["..."] if len(clients) > CLIENTS_NAMED else []
    return f"{words.format_count(len(clients), 'client')} ({', '.join(named + more)})"


def extract_cause(cause: str) -> str:
    """Extract the message from a Lambda error, which also holds a stack trace.

    The workflow keeps only the beginning, so the text may be cut anywhere.
    """
    match = _MESSAGE.match(cause)
    if match is None:
        return cause
    text = match["text"].rstrip("\\") if match.end() == len(cause) else match["text"]
    try:
        message = str(json.loads(f'"{text}"'))
    except ValueError:
        message = text
    return " ".join(message.split())
