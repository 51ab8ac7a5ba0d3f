"""Starting a run: recorded once, started once, however often it is sent."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from datetime import timedelta

from plimsoll.errors import UsageError
from plimsoll.model.request import EndpointTarget, Request
from plimsoll.model.runs import RunRecord, RunState
from plimsoll.runs import services
from plimsoll.runs.deployment import Deployment
from plimsoll.runs.files import QUOTE, REQUEST
from plimsoll.runs.provision import endpoint_address
from plimsoll.runs.record import now
from plimsoll.runs.workloads import compiled_workload
from plimsoll.service.budget import held_budget
from plimsoll.service.quotes import quote
from plimsoll.workload.items import unknown


def run_id_for(team: str, idempotency_key: str | None) -> str:
    """Name a run: by time and chance, or by the key, so that equal keys are one run."""
    if idempotency_key is None:
        return f"{now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
    digest = hashlib.sha256(f"{team}\0{idempotency_key}".encode()).hexdigest()
    return f"key-{digest[:24]}"


def submit(
    deployment: Deployment,
    request: Request,
    *,
    state_machine_arn: str,
    idempotency_key: str | None = None,
    local: bool = False,
    results_days: int | None = None,
) -> str:
    """Record a run and start its workflow; returns its id.

    Args:
        deployment: Where.
        request: What is asked for.
        state_machine_arn: The workflow.
        idempotency_key: The same key with the same request gives the same run.
        local: On one machine; faults on purpose are refused elsewhere.
        results_days: After which the record is forgotten, as S3 forgets the files; None: never.

    Raises:
        UsageError: The workload cannot be, the deployment has no targets of its kind or does not
            allow load on the endpoint, faults are asked for on AWS, or the key was used for another
            request.
    """
    run_id = run_id_for(request.team, idempotency_key)
    record_request(deployment, request, run_id=run_id, local=local, results_days=results_days)
    start_execution(state_machine_arn, run_id)
    return run_id


def record_request(
    deployment: Deployment,
    request: Request,
    *,
    run_id: str,
    local: bool = False,
    results_days: int | None = None,
) -> None:
    """Record a run that something else starts: its workflow, by the run's id.

    Args:
        deployment: Where.
        request: What is asked for.
        run_id: Its name; one that is recorded already stays as it is.
        local: As for `submit`.
        results_days: As for `submit`.

    Raises:
        UsageError: As `submit`.
    """
    _check(deployment, request)
    if request.faults and not local:
        raise UsageError("faults: only a run on one machine (--local) may have them")
    quoted = quote(request, deployment.price_table)
    body = request.model_dump_json()
    digest = hashlib.sha256(body.encode()).hexdigest()
    submitted_at = now()
    forget_at = submitted_at + timedelta(days=results_days) if results_days else None
    record = RunRecord(
        run_id=run_id,
        name=request.name,
        team=request.team,
        state=RunState.PENDING,
        local=local,
        tags=request.tags,
        request_sha256=digest,
        submitted_at=submitted_at,
        forget_at_epoch_s=int(forget_at.timestamp()) if forget_at else None,
        time_limit_s=request.time_limit_s,
        budget=held_budget(request, quoted),
    )
    known = not deployment.records.create(record)
    if known and deployment.records.get(run_id).request_sha256 != digest:
        raise UsageError("Idempotency-Key: was used for another request")
    files = deployment.files(run_id)
    files.put(REQUEST, body)
    files.put_model(QUOTE, quoted)


def _check(deployment: Deployment, request: Request) -> None:
    deployment.require_kind(request.target.kind)
    operations = {operation.name for operation in compiled_workload(request).engine.operations}
    for name in request.limits.limits_us:
        if name not in operations:
            raise UsageError(f"limits.limits_us.{name}: {unknown('operation', name, operations)}")
    known = deployment.allowed_endpoints is not None  # not to everyone; the run asks again
    if known and isinstance(request.target, EndpointTarget):
        endpoint_address(request.target, deployment.allowed_endpoints or ())


def start_execution(state_machine_arn: str, run_id: str) -> None:
    """Start a run's workflow; one that was started before stays as it is."""
    begin_execution(state_machine_arn, run_id, {"run_id": run_id})


def begin_execution(state_machine_arn: str, name: str, given: Mapping[str, str]) -> None:
    """Start a workflow by name; one that was started before stays as it is."""
    client = services.stepfunctions()
    try:
        client.start_execution(
            stateMachineArn=state_machine_arn, name=name, input=json.dumps(given)
        )
    except client.exceptions.ExecutionAlreadyExists:
        return
