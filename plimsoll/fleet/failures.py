"""Clients that failed, and steps that nothing answered, in words for people."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import errors, words
from plimsoll.model.run.fleet import FailedClient
from plimsoll.model.run.results import StepResult

if TYPE_CHECKING:  # it needs the engine, which functions that only name failures do not have
    from plimsoll.fleet.fold import Fold

CAUSES_TOLD = 10  # of the clients' failures in a step
CLIENTS_NAMED = 10  # of those that failed for the same cause, or were late
_OF_THE_ENGINE = "EngineError"
PROBLEMS_TOLD = 3  # shown for a step: a hundred clients may have a hundred problems
# a function's own error begins with its message, one of Lambda's (a time-out, say) with its type
_MESSAGE = re.compile(r'\{("errorType": ?"[^"]*", ?)?"errorMessage": ?"(?P<text>(\\.|[^"\\])*\\?)')


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why a step says nothing of its target."""

    reason: str
    passing: bool  # whether a repetition of the step may give a result


def too_late(client: FailedClient) -> bool:
    """Say whether a client failed for coming too late, and for nothing else."""
    return client.error == errors.ClientTooLateError.__name__


def refusal(failed: Iterable[FailedClient], clients: int) -> str | None:
    """Say how many of a step's clients the target had no room for; None where it had for all."""
    full = [client for client in failed if client.error == errors.ConnectionsRefusedError.__name__]
    if not full:
        return None
    whose = f"{len(full):,} of {words.plural(clients, 'client')}"
    return f"the target refused connections of {whose}: {full[0].cause}"


def failed_clients(files: Iterable[bytes]) -> list[FailedClient]:
    """Read what the workflow wrote of clients that failed: the messages, without stack traces."""
    written = [FailedClient.model_validate_json(file) for file in files]
    read = [failed.model_copy(update={"cause": plain_cause(failed.cause)}) for failed in written]
    return sorted(read, key=lambda failed: failed.client)


def told_together(failed: Iterable[FailedClient]) -> list[str]:
    """Say which clients failed and why, a sentence for each cause, the most frequent first.

    A thousand clients may fail at once, and what is told goes into an event of 256 KiB.
    """
    by_cause: dict[str, list[int]] = defaultdict(list)
    for client in failed:
        by_cause[_why(client)].append(client.client)
    causes = sorted(by_cause.items(), key=lambda item: -len(item[1]))
    told = [f"{_who(clients)} failed: {cause}" for cause, clients in causes[:CAUSES_TOLD]]
    if others := [client for _, clients in causes[CAUSES_TOLD:] for client in clients]:
        told.append(f"{words.plural(len(others), 'client')} more failed, for other reasons")
    return told


def _why(client: FailedClient) -> str:
    """Say why a client failed: our own errors are sentences, others' need their names."""
    kind = getattr(errors, client.error, None)
    ours = isinstance(kind, type) and issubclass(kind, errors.PlimsollError)
    if client.cause and (ours or client.error == _OF_THE_ENGINE):
        return client.cause
    return f"{client.error}: {client.cause}"


def _who(clients: Sequence[int]) -> str:
    if len(clients) == 1:
        return f"client {clients[0]}"
    named = [str(client) for client in clients[:CLIENTS_NAMED]]
    more = ["..."] if len(clients) > CLIENTS_NAMED else []
    return f"{words.plural(len(clients), 'client')} ({', '.join(named + more)})"


def plain_cause(cause: str) -> str:
    """Take the sentence out of what Lambda says of an error, which has a stack trace beside it.

    The workflow carries the beginning alone, so what is read may end anywhere.
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


def nothing_told(step: StepResult, fold: "Fold") -> Nothing | None:
    """Say why a step cannot be judged; None where it can, or where the target refused connections.

    A machine that stood still, or was slow to start the clients, may be quicker the next time; an
    operation that fails, or a client, will fail again.
    """
    index, fleet = step.plan.index, step.fleet
    if step.step.refused is not None:
        return None
    if not fold.ran:
        causes = "; ".join(told_together(fleet.failed)[:PROBLEMS_TOLD])
        late = bool(fleet.failed) and not fleet.missing and all(map(too_late, fleet.failed))
        reason = f"no client of step {index} ran: {causes or 'none of them started'}"
        return Nothing(reason, passing=late)
    if silence := _unanswered(step, fold):
        return silence
    if step.step.throughput_ops_per_second is None:
        reason = f"the clients of step {index} did not run together for a whole second"
        return Nothing(reason, passing=True)
    return None


def _unanswered(step: StepResult, fold: "Fold") -> Nothing | None:
    """Say which operations have no latency in a step's window, and why.

    A time-out counts as a latency, at its full length; any other failure has none.
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
