"""The judged steps so far, kept in one file, so that no call reads every step's file again."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from plimsoll.aws.run_files import (
    HISTORY,
    RunFiles,
    step_path,
)
from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import find_axis
from plimsoll.errors import UsageError
from plimsoll.fleet.plan import reduce_step
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.steps import FinishedStep, History, Step
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP
from plimsoll.model.run.results import StepResult


def read_search_steps(files: RunFiles) -> list[StepResult]:
    """Read the judged steps of the search in full, in order."""
    return [step for step in read_judged_steps(files) if step.plan.phase is None]


def read_judged_steps(files: RunFiles) -> list[StepResult]:
    """Read the judged steps in full, in order: those of phases first, without the warming step."""
    paths = [path for path in files.paths("steps/") if path.endswith("/step.json")]
    numbers = sorted(int(path.split("/")[1]) for path in paths)
    wanted = [step_path(number) for number in numbers if number != WARMING_STEP]
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda path: files.get(path, StepResult), wanted))


def read_steps_so_far(files: RunFiles, phase: str | None = None) -> tuple[FinishedStep, ...]:
    """Read what a search needs of its judged steps, in order.

    Args:
        files: The run's files.
        phase: The phase whose search it is; None if it is the run's own.
    """
    return tuple(done for done in read_finished_steps(files) if done.phase == phase)


def read_finished_steps(files: RunFiles) -> tuple[FinishedStep, ...]:
    """Read what a search needs of all judged steps, phases first, without the warming step."""
    history = files.find_model(HISTORY, History)
    if history is None:  # nothing is judged yet, or an older version judged it
        return tuple(map(reduce_step, read_judged_steps(files)))
    return history.steps


def judge_so_far(finished: Sequence[Step], request: Request) -> Capacity | None:
    """Judge the finished steps; None if that is not possible yet, or not at all.

    In the latter case the end of the run reports it.
    """
    try:
        return judge(finished, request.limits, axis=find_axis(request.search)) if finished else None
    except UsageError:
        return None


def note_step(files: RunFiles, step: StepResult) -> tuple[FinishedStep, ...]:
    """Add a judged step to the history, replacing an earlier entry; return all steps so far."""
    before = read_finished_steps(files)
    if step.plan.index == WARMING_STEP:
        return before
    kept = [done for done in before if done.step.index != step.plan.index]
    steps = (*kept, reduce_step(step))
    files.put_model(HISTORY, History(steps=steps))
    return steps
