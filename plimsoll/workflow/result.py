"""Assembles the conclusion and the result of a run, and of a search by `plimsoll find`. Pure."""

from collections.abc import Sequence

import plimsoll
from plimsoll.model.aws.volumes import VolumeLimits, limits
from plimsoll.model.base import Model
from plimsoll.model.datasets import DatasetLayout
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import ToggleResult
from plimsoll.model.run.dashboards import Links
from plimsoll.model.run.quote import BilledIo, RunCost
from plimsoll.model.run.results import (
    CheckedCondition,
    LimitingResource,
    Moments,
    PhaseResult,
    RunResult,
    StepResult,
    Versions,
    note_no_rows,
)
from plimsoll.model.run.run_record import RunRecord
from plimsoll.requests.checked_request import hash_workload
from plimsoll.search_steps import compare_toggle_states, conclude_search


class Conclusion(Model):
    """The verdict on a run's steps; `conclude` writes it, and `end-run` adds it to the result."""

    capacity: Capacity
    limiting: LimitingResource
    notes: tuple[str, ...] = ()
    billed_io: BilledIo | None = None  # Aurora only
    toggle: ToggleResult | None = None
    phases: tuple[PhaseResult, ...] = ()
    conditions: tuple[CheckedCondition, ...] = ()


def find_volume_limits(request: Request) -> VolumeLimits | None:
    """Return the limits of the target's volume; None for Aurora, or if an endpoint names none."""
    target = request.target
    if isinstance(target, AuroraTarget) or target.volume is None:
        return None
    return limits(target.volume, service=target.service)


def conclude_steps(
    request: Request,
    steps: Sequence[StepResult],
    conditions: tuple[CheckedCondition, ...] = (),
) -> Conclusion:
    """Judge the steps of a search, name what set the limit, and compare the states of its toggle.

    A broken condition of the rows disputes the answer.

    Raises:
        UsageError: The steps cannot be judged.
    """
    capacity, limiting = conclude_search(request, steps, find_volume_limits(request), conditions)
    toggle = compare_toggle_states(request, steps, collect_readings(steps))
    return Conclusion(
        capacity=capacity,
        limiting=limiting,
        toggle=toggle,
        conditions=conditions,
    )


def collect_readings(steps: Sequence[StepResult]) -> dict[str, dict[str, str]]:
    """Collect the parameters that the server reported in each state."""
    return {
        done.plan.state: done.plan.parameters
        for done in steps
        if done.plan.state is not None and done.plan.parameters
    }


def assemble_result(
    record: RunRecord,
    request: Request,
    steps: Sequence[StepResult],
    conclusion: Conclusion | None,
    *,
    engine_version: str | None,
    links: Links,
    notes: Sequence[str] = (),
    phases: tuple[PhaseResult, ...] = (),
    dataset: DatasetLayout | None = None,
    cost: RunCost | None = None,
    processors: int | None = None,
) -> RunResult:
    """Assemble a result from the record of what has ended.

    Args:
        record: The final record.
        request: The request.
        steps: The judged steps of the search.
        conclusion: The verdict on them; None if the run did not get that far.
        engine_version: The version of the load engine; None if no step ran.
        links: Links to dashboards that show the run.
        notes: Further facts for the reader.
        phases: The phases before the search.
        dataset: The dataset as stored before the load; None if unknown.
        cost: The cost; None if it cannot be estimated.
        processors: The CPUs of the machine that stood in for AWS; None if none did.
    """
    return RunResult(
        run_id=record.run_id,
        name=record.name,
        team=record.team,
        local=record.local,
        processors=processors,
        state=record.state,
        failure=record.failure,
        capacity=conclusion.capacity if conclusion else None,
        limiting=conclusion.limiting if conclusion else None,
        toggle=conclusion.toggle if conclusion else None,
        conditions=conclusion.conditions if conclusion else (),
        steps=tuple(step.without_seconds for step in steps),
        phases=phases,
        rows=record.rows,
        dataset=dataset,
        volume_limits=find_volume_limits(request),
        cost=cost,
        moments=Moments(
            submitted=record.submitted_at,
            record=record.started_at,
            provision=record.provision_at,
            target_ready=record.target_ready_at,
            prepare=record.prepare_at,
            step=record.step_at,
            conclude=record.conclude_at,
            teardown=record.teardown_asked_at,
            deleted=record.deleted_at,
            ended=record.ended_at,
        ),
        zone=record.zone,
        versions=Versions(
            plimsoll=plimsoll.__version__,
            engine=engine_version,
            database=record.database_version,
            server=record.server_version,
            workload_sha256=hash_workload(request),
        ),
        notes=(*notes, *note_no_rows(step.operations for step in steps)),
        links=links,
        request=request,
    )
