"""Steps that say nothing: void where a repetition may say more, the end of the run where not."""

from collections.abc import Sequence

from plimsoll.errors import StepError
from plimsoll.fleet.background import absent
from plimsoll.fleet.failures import Nothing, nothing_told
from plimsoll.fleet.fold import Fold
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.model.run.fleet import WARMING_STEP
from plimsoll.model.run.results import StepResult

VOID_MAX = 5  # after so many void steps in a row the run gives up


def void(step: StepResult, reason: str) -> StepResult:
    """Mark a step as one that says nothing of the target: the search asks for it again."""
    problems = (f"it says nothing of the target: {reason}", *step.problems)
    void_step = step.step.model_copy(update={"void": reason})
    return step.model_copy(update={"step": void_step, "problems": problems})


def sensible(step: StepResult, fold: Fold) -> tuple[StepResult, Nothing | None]:
    """Say why a step cannot be judged; void where another try may say more.

    A closing step whose connections were refused is no failure of the answer's load. Of a soak it
    is: that is the answer's own.
    """
    nothing, purpose = nothing_told(step, fold), step.plan.purpose
    if nothing is None and (lacking := absent(step)) is not None:
        nothing = Nothing(lacking, passing=True)
    if nothing is not None and (nothing.passing or purpose in CLOSING) and purpose != "warm":
        return void(step, nothing.reason), nothing
    if purpose in CLOSING and purpose != "soak" and step.step.refused is not None:
        return void(step, step.step.refused), nothing
    return step, nothing


def require_sense(
    step: StepResult, nothing: Nothing | None, finished: Sequence[Step], *, answers: bool
) -> None:
    """Let the run go on only if another step can give a result.

    Args:
        step: The last one.
        nothing: Why it says nothing; None: it says something.
        finished: Every step so far, this one among them.
        answers: Whether the target's server answers after it.

    Raises:
        StepError: No further step can.
    """
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
