"""Steps without a usable result: they are void if a repetition may help, else the run ends."""

from collections.abc import Sequence

from plimsoll.errors import StepError
from plimsoll.fleet.background import describe_absent
from plimsoll.fleet.failures import Nothing, explain_nothing
from plimsoll.fleet.fold import Fold
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.model.run.fleet import WARMING_STEP
from plimsoll.model.run.results import StepResult

VOID_MAX = 5  # the run gives up after this many void steps in a row


def mark_void(step: StepResult, reason: str) -> StepResult:
    """Mark a step as void, so that the search asks for it again."""
    problems = (f"it says nothing of the target: {reason}", *step.problems)
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
        raise StepError(f"{VOID_MAX} steps in a row say nothing; the last: {last[-1]}")
