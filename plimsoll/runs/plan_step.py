"""The loop: picking the next step and setting its barrier."""

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from plimsoll.aws.function_settings import Deployment
from plimsoll.aws.run_files import REQUEST, RunFiles, plan_path, step_path
from plimsoll.aws.run_records import deadline_passed, now
from plimsoll.capacity import next_step
from plimsoll.figures import plural
from plimsoll.fleet.plan import barrier_epoch_ms, late_in_a_row, plan_step, warming_step
from plimsoll.model.fleet import WARMING_STEP, ServerCounters, StepPlan
from plimsoll.model.request import Request
from plimsoll.model.results import StepResult
from plimsoll.model.run_record import RunRecord
from plimsoll.model.search_request import Done, NextStep
from plimsoll.quoting.budget import require_step_budget
from plimsoll.requests.request_workload import compiled_workload
from plimsoll.targets.connection import engine_target
from plimsoll.targets.family import overloaded, read_counters
from plimsoll.workload.database import open_database

AFTER_STEP_S = 5.0  # for the clients to write their results and the step to be judged


class Next:
    """What the workflow does next; every field is there, since JSONata knows no absent ones."""

    @staticmethod
    def conclude() -> dict[str, object]:
        """The search is over."""
        return _next("conclude")

    @staticmethod
    def pause(wait_s: int) -> dict[str, object]:
        """The target recovers first."""
        return _next("pause", wait_s=wait_s)

    @staticmethod
    def step(plan: StepPlan) -> dict[str, object]:
        """The fleet does a step."""
        return _next(
            "step",
            step=plan.index,
            clients=list(range(plan.clients)),
            start_at_epoch_ms=plan.start_at_epoch_ms,
        )


def _next(
    kind: str,
    *,
    wait_s: int = 0,
    step: int = 0,
    clients: Iterable[int] = (),
    start_at_epoch_ms: int = 0,
) -> dict[str, object]:
    return {
        "next": kind,
        "wait_s": wait_s,
        "step": step,
        "clients": list(clients),
        "start_at_epoch_ms": start_at_epoch_ms,
    }


def finished_steps(files: RunFiles) -> list[StepResult]:
    """Read every judged step but the warming one, in order."""
    paths = [path for path in files.paths("steps/") if path.endswith("/step.json")]
    numbers = sorted(int(path.split("/")[1]) for path in paths)
    wanted = [step_path(number) for number in numbers if number != WARMING_STEP]
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda path: files.get(path, StepResult), wanted))


def plan_next(deployment: Deployment, run_id: str) -> dict[str, object]:
    """Pick the next step, write its plan, and set its barrier.

    A repeated call, whose first answer was lost, plans the same step again with a new barrier.

    Raises:
        TimeLimitPassedError: The run's time is up, or would be within the step.
        BudgetPassedError: Its budget is spent, or would be within the step.
    """
    record = deployment.records.require_running(run_id)
    files = deployment.files(run_id)
    request = files.get(REQUEST, Request)
    if record.step is None:
        deployment.records.change(run_id, phase="step", step_at=now())
    if _is_to_warm(request, record, files):
        warming = warming_step(request, start_at_epoch_ms=0)
        return _start(deployment, record, request, warming, finished=[])
    finished = finished_steps(files)
    following = next_step(request.search, [done.step for done in finished], request.limits)
    if isinstance(following, Done):
        return Next.conclude()
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    counters = read_counters(engine_target(record.target))
    recovered = _recovered(following, finished, counters)
    if recovered is False and not _waited_enough(finished, request):
        return Next.pause(deployment.poll_seconds)
    plan = plan_step(
        following, request, start_at_epoch_ms=0, recovered=recovered, server_before=counters
    )
    return _start(deployment, record, request, plan, finished)


def _is_to_warm(request: Request, record: RunRecord, files: RunFiles) -> bool:
    if request.prepare.warm_s == 0 or record.step not in (None, WARMING_STEP):
        return False
    return files.find(step_path(WARMING_STEP)) is None


def _recovered(
    following: NextStep, finished: list[StepResult], counters: ServerCounters | None
) -> bool | None:
    """Say whether the target got over the last step; None where there was nothing to get over."""
    if not following.recover_first or not finished:
        return None
    return counters is not None and overloaded(counters) is None


def _waited_enough(finished: list[StepResult], request: Request) -> bool:
    last = max(done.plan.window_end_epoch_ms for done in finished)
    return time.time() * 1000 >= last + request.load.recovery_max_s * 1000


def _start(
    deployment: Deployment,
    record: RunRecord,
    request: Request,
    plan: StepPlan,
    finished: Sequence[StepResult],
) -> dict[str, object]:
    assert record.target is not None  # noqa: S101 - the states before this one have set it
    require_step_budget(deployment.files(record.run_id), record, request, plan)
    with open_database(engine_target(record.target)) as database:
        number = database.begin_load(compiled_workload(request))
    start = barrier_epoch_ms(
        round(time.time() * 1000),
        clients=plan.clients,
        lead_ms=deployment.start_lead_ms,
        per_client_ms=deployment.start_lead_ms_per_client,
        late_before=late_in_a_row(finished),
    )
    plan = plan.model_copy(update={"start_at_epoch_ms": start, "load_number": number})
    ends_s = plan.window_end_epoch_ms / 1000 + AFTER_STEP_S
    if record.expires_at is not None and ends_s > record.expires_at.timestamp():
        raise deadline_passed(
            record,
            f"leaves no time for step {plan.index}"
            f" ({plural(plan.clients, 'client')}, {plan.warmup_s + plan.duration_s:g} s)",
        )
    deployment.files(record.run_id).put_model(plan_path(plan.index), plan)
    deployment.records.change(record.run_id, step=plan.index)
    return Next.step(plan)
