"""Rebuilds records and sizing input of finished runs from their results. Pure."""

import hashlib
import os
from collections.abc import Mapping

from plimsoll.limiting.seen import Seen
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunFigures, RunRecord
from plimsoll.sizing.from_run import Measured, prepare_run


def rebuild_record(result: RunResult, *, past: bool = True) -> RunRecord:
    """Rebuild the record of a finished run from its result.

    Args:
        result: The run's result.
        past: Whether the run ended before the process that shows it started.
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


# A finished run as input for `plimsoll size` and the API's sizing.


def list_run_operations(result: RunResult) -> list[str]:
    """List the operations of a run, each of which needs a latency limit."""
    return sorted({name for step in result.steps for name in step.operations})


def find_judged_limits_us(result: RunResult) -> dict[str, float]:
    """Return the limits a run was judged by: the request's, or multiples of its lightest load's."""
    judged = result.capacity.steps if result.capacity else ()
    found = {name: us for load in judged for name, us in load.limit_us.items()}
    return {**found, **result.request.limits.limits_us}


def find_volume_gib(result: RunResult) -> int:
    """Return the size of a run's volume in GiB; 1 if it has no volume."""
    target = result.request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return 1
    return target.volume.size_gib


def extract_measured(
    result: RunResult, statistic: Statistic, limits_us: Mapping[str, float]
) -> Measured:
    """Extract from a run the measurements on which predictions are based.

    Args:
        result: The run's result.
        statistic: The latency statistic that the limits apply to.
        limits_us: The latency limit of each operation, in µs.

    Raises:
        UsageError: The run measured too little, or nothing that applies to AWS.
        NoGroundError: The run's figures are doubtful.
    """
    waits = [Seen(step, None).waits for step in result.steps]
    processors = result.processors or (os.cpu_count() if result.local else None)
    return prepare_run(
        result, waits, statistic=statistic, limits_us=limits_us, processors=processors
    )
