"""Turns a run's files into points for a metric sink."""

from collections.abc import Iterable, Iterator

from plimsoll.aws.run_files import RunFiles, plan_path, read_file
from plimsoll.metrics import Point
from plimsoll.metrics.points import make_second_points, make_step_points, make_target_points
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.fleet import ClientResult, StepPlan
from plimsoll.model.run.results import StepResult


def list_client_points(result: ClientResult, plan: StepPlan) -> Iterator[Point]:
    """Yield the points of one client's seconds in a step."""
    return make_second_points(
        result.report.seconds,
        run_id=result.run_id,
        step=result.step,
        client=result.client,
        load_start_epoch_ms=plan.start_at_epoch_ms,
    )


def list_step_points(step: StepResult, run_id: str) -> Iterator[Point]:
    """Yield the points of a step, stamped with the end of its window."""
    end = step.window_end_epoch_ms or step.plan.window_end_epoch_ms
    return make_step_points(step.step, run_id=run_id, index=step.plan.index, epoch_ms=end)


def list_run_points(
    files: RunFiles, run_id: str, samples: Iterable[TargetSample]
) -> Iterator[Point]:
    """Yield all points of a run from its files, as its clients and steps would have sent them."""
    paths = files.paths("steps/")
    ended = [path for path in paths if path.endswith("/step.json")]
    ran = [path for path in paths if "/clients/" in path]
    plans: dict[int, StepPlan] = {}
    for path, content in files.read_each(ran):
        result = read_file(path, content, ClientResult)
        if result.step not in plans:
            plans[result.step] = files.get(plan_path(result.step), StepPlan)
        if result.background is None:
            yield from list_client_points(result, plans[result.step])
    for path, content in files.read_each(ended):
        yield from list_step_points(read_file(path, content, StepResult), run_id)
    yield from make_target_points(samples, run_id=run_id)
