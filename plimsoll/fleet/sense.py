"""Steps without a usable result: they are void if a repetition may help, else the run ends."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.errors import StepError
from plimsoll.fleet.failures import describe_failures, is_too_late
from plimsoll.fleet.fold import Fold
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.model.run.fleet import WARMING_STEP
from plimsoll.model.run.results import StepResult

VOID_MAX = 5  # the run gives up after this many void steps in a row
PROBLEMS_TOLD = 3  # a hundred clients may have a hundred problems


@dataclass(frozen=True, slots=True)
class Nothing:
    """The reason why a step says nothing about its target."""

    reason: str
    passing: bool  # whether a repetition may give a result


def mark_void(step: StepResult, reason: str) -> StepResult:
    """Mark a step as void, so that the search asks for it again."""
    problems = (f"this step does not count: {reason}", *step.problems)
    void_step = step.step.model_copy(update={"void": reason})
    return step.model_copy(update={"step": void_step, "problems": problems})


def check_sense(step: StepResult, fold: Fold) -> tuple[StepResult, Nothing | None]:
    """Check that a step can be judged. It becomes void if a repetition may help.

    A closing step whose connections were refused does not count against the answer, except in a
    soak, which uses the answer's own load.
    """
    nothing, purpose = explain_nothing(step, fold), step.plan.purpose
    if nothing is None and (lacking := describe_absent(step)) is not None:
        nothing = Nothing(lacking, passing=True)
    if nothing is not None and (nothing.passing or purpose in CLOSING) and purpose != "warm":
        return mark_void(step, nothing.reason), nothing
    if purpose in CLOSING and purpose != "soak" and step.step.refused is not None:
        return mark_void(step, step.step.refused), nothing
    return step, nothing


def require_sense(
    step: StepResult, nothing: Nothing | None, finished: Sequence[Step], *, answers: bool
) -> None:
    """End the run unless another step can give a result, or the answer stands already.

    Args:
        step: The last step.
        nothing: The reason why it has no usable result; None if it has one.
        finished: All steps so far, including this one.
        answers: Whether the target's server still answers.

    Raises:
        StepError: No further step can give a result.
    """
    if step.plan.purpose in CLOSING:  # a failed closing step leaves the answer as it is
        return
    index = step.plan.index
    last = [done.void for done in finished[-VOID_MAX:]]
    if nothing is not None and not step.fleet.ran and not nothing.passing:
        raise StepError(nothing.reason)
    if not answers:
        raise StepError(f"the target does not answer after step {index}")
    if nothing is not None and index != WARMING_STEP and not nothing.passing:
        raise StepError(nothing.reason)
    if len(last) == VOID_MAX and None not in last:
        raise StepError(f"{VOID_MAX} steps in a row had no usable result; the last: {last[-1]}")


def explain_nothing(step: StepResult, fold: Fold) -> Nothing | None:
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


def _explain_unanswered(step: StepResult, fold: Fold) -> Nothing | None:
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
        f"{words.format_number(count)} failed with {code}"
        + (f" ({examples[code]})" if code in examples else "")
        for code, count in failures.most_common(3)
    ]
    if fold.unanswered:
        reasons.append(
            f"{words.format_number(fold.unanswered)} still waited for a reply at its end"
        )
    reasons.extend(step.problems[:PROBLEMS_TOLD])
    if len(step.problems) > PROBLEMS_TOLD:
        reasons.extend(["...", step.problems[-1]])
    why = (
        "; ".join(reasons)
        or f"none was sent within its {words.format_duration(step.plan.duration_s)}"
    )
    reason = f"no {who} was answered in the window of step {step.plan.index}: {why}"
    return Nothing(reason, passing=not failures)


def describe_absent(step: StepResult) -> str | None:
    """Describe which background load did not run as planned; None if all did.

    Without it the step did not measure what was asked for. Operations that only time out still keep
    the target busy, and have a latency.
    """
    for one in step.background:
        if one.clients_ran < one.clients:
            why = "; ".join(describe_failures(one.failed)[:1]) or "they never answered"
            missing = words.format_count(one.clients - one.clients_ran, "client")
            return f"{missing} of the background {one.name} did not run: {why}"
        if one.errors and all(t.latency_us.mean is None for t in one.operations.values()):
            codes: Counter[str] = Counter()
            for totals in one.operations.values():
                codes.update(totals.errors)
            ((code, _),) = codes.most_common(1)
            return f"no operation of the background {one.name} succeeded: most failed with {code}"
    return None
