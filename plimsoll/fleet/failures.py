"""Describes failed clients, and steps without any answer, to people."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import errors, words
from plimsoll.model.run.fleet import FailedClient
from plimsoll.model.run.results import StepResult

if TYPE_CHECKING:  # needs the engine, which functions that only describe failures lack
    from plimsoll.fleet.fold import Fold

CAUSES_TOLD = 10  # different causes listed for a step
CLIENTS_NAMED = 10  # clients listed for one cause, or as late
_OF_THE_ENGINE = "EngineError"
PROBLEMS_TOLD = 3  # a hundred clients may have a hundred problems
# a function's own error begins with its message; Lambda's errors, as time-outs, with their type
_MESSAGE = re.compile(r'\{("errorType": ?"[^"]*", ?)?"errorMessage": ?"(?P<text>(\\.|[^"\\])*\\?)')


@dataclass(frozen=True, slots=True)
class Nothing:
    """The reason why a step says nothing about its target."""

    reason: str
    passing: bool  # whether a repetition may give a result


def is_too_late(client: FailedClient) -> bool:
    """Whether a client failed only because it was late."""
    return client.error == errors.ClientTooLateError.__name__


def describe_refusal(failed: Iterable[FailedClient], clients: int) -> str | None:
    """Describe how many clients the target refused; None if it refused none."""
    full = [client for client in failed if client.error == errors.ConnectionsRefusedError.__name__]
    if not full:
        return None
    whose = f"{len(full):,} of {words.plural(clients, 'client')}"
    return f"the target refused connections of {whose}: {full[0].cause}"


def read_failed_clients(files: Iterable[bytes]) -> list[FailedClient]:
    """Read the workflow's files on failed clients: the messages, without stack traces."""
    written = [FailedClient.model_validate_json(file) for file in files]
    read = [failed.model_copy(update={"cause": extract_cause(failed.cause)}) for failed in written]
    return sorted(read, key=lambda failed: failed.client)


def describe_failures(failed: Iterable[FailedClient]) -> list[str]:
    """Describe which clients failed and why, one sentence per cause, the most frequent first.

    It is kept short: a thousand clients may fail at once, and an event holds 256 KiB.
    """
    by_cause: dict[str, list[int]] = defaultdict(list)
    for client in failed:
        by_cause[_failure_cause(client)].append(client.client)
    causes = sorted(by_cause.items(), key=lambda item: -len(item[1]))
    told = [f"{_name_clients(clients)} failed: {cause}" for cause, clients in causes[:CAUSES_TOLD]]
    if others := [client for _, clients in causes[CAUSES_TOLD:] for client in clients]:
        told.append(f"{words.plural(len(others), 'client')} more failed, for other reasons")
    return told


def _failure_cause(client: FailedClient) -> str:
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
    return f"{words.plural(len(clients), 'client')} ({', '.join(named + more)})"


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


def explain_nothing(step: StepResult, fold: "Fold") -> Nothing | None:
    """Return why a step cannot be judged; None if it can, or if connections were refused.

    A repetition may help if the machine stalled or started clients slowly, but not if operations or
    clients fail.
    """
    index, fleet = step.plan.index, step.fleet
    if step.step.refused is not None:
        return None
    if not fold.ran:
        causes = "; ".join(describe_failures(fleet.failed)[:PROBLEMS_TOLD])
        late = bool(fleet.failed) and not fleet.missing and all(map(is_too_late, fleet.failed))
        reason = f"no client of step {index} ran: {causes or 'none of them started'}"
        return Nothing(reason, passing=late)
    if silence := _explain_unanswered(step, fold):
        return silence
    if step.step.throughput_ops_per_second is None:
        reason = f"the clients of step {index} did not run together for a whole second"
        return Nothing(reason, passing=True)
    return None


def _explain_unanswered(step: StepResult, fold: "Fold") -> Nothing | None:
    """Describe which operations have no latency in a step's window, and why.

    A time-out counts as a latency with its full length; other failures have none.
    """
    silent = [name for name, latency in step.step.latency_us.items() if not latency]
    if not silent:
        return None
    every = len(silent) == len(step.step.latency_us)
    who = "operation" if every else " and no ".join(silent)
    failures: Counter[str] = Counter()
    for name in silent:
        failures.update(step.operations[name].errors)
    examples = fold.error_examples
    reasons = [
        f"{words.number(count)} failed with {code}"
        + (f" ({examples[code]})" if code in examples else "")
        for code, count in failures.most_common(3)
    ]
    if fold.unanswered:
        reasons.append(f"{words.number(fold.unanswered)} still waited for their answers at its end")
    reasons.extend(step.problems[:PROBLEMS_TOLD])
    if len(step.problems) > PROBLEMS_TOLD:
        reasons.extend(["...", step.problems[-1]])
    why = "; ".join(reasons) or f"none was sent within its {words.duration(step.plan.duration_s)}"
    reason = f"no {who} was answered in the window of step {step.plan.index}: {why}"
    return Nothing(reason, passing=not failures)
