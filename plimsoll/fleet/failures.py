"""Clients that failed, and steps that nothing answered, in words for people."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from plimsoll.model.fleet import ClientResult, FailedClient
from plimsoll.model.results import StepResult

PROBLEMS_TOLD = 3  # of a step: with a hundred clients there may be a hundred
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


def unanswered(step: StepResult, results: Sequence[ClientResult]) -> str | None:
    """Say which operations have no latency in a step's window, and why; None where all have one.

    A time-out counts as a latency, at its full length; any other failure has none.
    """
    silent = [name for name, latency in step.step.latency_us.items() if not latency]
    if not silent:
        return None
    every = len(silent) == len(step.step.latency_us)
    who = "operation" if every else " and no ".join(silent)
    errors: Counter[str] = Counter()
    for name in silent:
        errors.update(step.operations[name].errors)
    examples = {code: text for one in results for code, text in one.report.error_examples.items()}
    reasons = [
        f"{count} failed with {code}" + (f" ({examples[code]})" if code in examples else "")
        for code, count in errors.most_common(3)
    ]
    waiting = sum(one.report.client.unanswered for one in results)
    if waiting:
        reasons.append(f"{waiting} still waited for their answers at its end")
    reasons.extend(step.problems[:PROBLEMS_TOLD])
    if len(step.problems) > PROBLEMS_TOLD:
        reasons.extend(["...", step.problems[-1]])
    told = "; ".join(reasons) or f"none was sent within its {step.plan.duration_s:g} s"
    return f"no {who} was answered in the window of step {step.plan.index}: {told}"
