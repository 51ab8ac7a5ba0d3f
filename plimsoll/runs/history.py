"""The judged steps of a run so far: read at once, and never from the steps' own files again."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from plimsoll.aws.run_files import HISTORY, RunFiles, step_path
from plimsoll.capacity import judge
from plimsoll.capacity.search import axis_of
from plimsoll.errors import UsageError
from plimsoll.fleet.plan import finished
from plimsoll.model.capacity import Capacity
from plimsoll.model.fleet import WARMING_STEP
from plimsoll.model.history import FinishedStep, History
from plimsoll.model.request import Request
from plimsoll.model.results import StepResult
from plimsoll.model.steps import Step


def finished_steps(files: RunFiles) -> list[StepResult]:
    """Read every judged step of the search, in order, with all that its file holds."""
    return [step for step in measured_steps(files) if step.plan.phase is None]


def measured_steps(files: RunFiles) -> list[StepResult]:
    """Read every judged step but the warming one, those of phases first, in order."""
    paths = [path for path in files.paths("steps/") if path.endswith("/step.json")]
    numbers = sorted(int(path.split("/")[1]) for path in paths)
    wanted = [step_path(number) for number in numbers if number != WARMING_STEP]
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda path: files.get(path, StepResult), wanted))


def so_far(files: RunFiles, phase: str | None = None) -> tuple[FinishedStep, ...]:
    """Read what a search needs of its own judged steps, in order: the run's, or a phase's."""
    return tuple(done for done in measured_so_far(files) if done.phase == phase)


def measured_so_far(files: RunFiles) -> tuple[FinishedStep, ...]:
    """Read the same of every judged step but the warming one, those of phases first, in order."""
    history = files.find_model(HISTORY, History)
    if history is None:  # nothing is judged yet, or an older version has judged it
        return tuple(map(finished, measured_steps(files)))
    return history.steps


def judged_so_far(finished: Sequence[Step], request: Request) -> Capacity | None:
    """Judge what has finished; None: it cannot be judged yet, or the run says so at its end."""
    try:
        return judge(finished, request.limits, axis=axis_of(request.search)) if finished else None
    except UsageError:
        return None


def noted(files: RunFiles, step: StepResult) -> tuple[FinishedStep, ...]:
    """Write down a judged step, once however often it is judged; gives all so far, passes too."""
    before = measured_so_far(files)
    if step.plan.index == WARMING_STEP:
        return before
    kept = [done for done in before if done.step.index != step.plan.index]
    steps = (*kept, finished(step))
    files.put_model(HISTORY, History(steps=steps))
    return steps
