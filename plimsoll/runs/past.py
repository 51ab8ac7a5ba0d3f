"""The record of a run that is over, made from its results. Pure."""

import hashlib

from plimsoll.model.descriptions import describe_target
from plimsoll.model.results import RunResult
from plimsoll.model.run_record import RunFigures, RunRecord


def record_of_result(result: RunResult, *, past: bool = True) -> RunRecord:
    """Say of a finished run what its record would.

    Args:
        result: What it came to.
        past: Whether it ended before whoever shows it began.
    """
    capacity, moments, request = result.capacity, result.moments, result.request
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    cost = result.cost.usd if result.cost else None
    return RunRecord(
        run_id=result.run_id,
        name=result.name,
        team=result.team,
        state=result.state,
        phase=(result.failure.phase if result.failure else None) or "conclude",
        local=result.local,
        past=past,
        tags=request.tags,
        target_words=describe_target(request.target, version=result.versions.database),
        request_sha256=hashlib.sha256(request.model_dump_json().encode()).hexdigest(),
        submitted_at=moments.submitted,
        time_limit_s=request.time_limit_s,
        started_at=moments.record,
        provision_at=moments.provision,
        target_ready_at=moments.target_ready,
        prepare_at=moments.prepare,
        step_at=moments.step,
        conclude_at=moments.conclude,
        teardown_asked_at=moments.teardown,
        deleted_at=moments.deleted,
        ended_at=moments.ended or moments.deleted or moments.submitted,
        server_version=result.versions.server,
        database_version=result.versions.database,
        zone=result.zone,
        rows=result.rows,
        step=max((done.plan.index for done in result.steps), default=None),
        steps_finished=len(result.steps),
        failure=result.failure,
        verdict=capacity.verdict if capacity else None,
        figures=RunFigures.of(capacity, final=True) if capacity else None,
        capacity_ops_per_second=None if figure is None else str(figure),
        cost_usd=None if cost is None else f"{cost:.6f}",
    )
