"""The target's creation: its template filled, its stack made, its address noted."""

from collections.abc import Mapping
from typing import assert_never

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST, TEMPLATE, files_of
from plimsoll.aws.run_records import now, records_of
from plimsoll.complaints import Complaint
from plimsoll.errors import RunStoppedError, UsageError
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.databases import protocol_of_engine
from plimsoll.model.function_settings import CreateTargetSettings, PollSettings
from plimsoll.model.request import EndpointTarget, RdsTarget, Request, Target
from plimsoll.model.run_record import RunRecord, RunState, TargetAddress
from plimsoll.requests.request_workload import protocol_of
from plimsoll.targets.ec2_instance import data_volume_id
from plimsoll.targets.target_stacks import create_stack, outputs_when_created
from plimsoll.targets.template import (
    CASSANDRA_TEMPLATE,
    RDS_TEMPLATE,
    cassandra_parameters,
    rds_parameters,
    read_template,
    with_engine_parameters,
)


def create_target(settings: CreateTargetSettings, run_id: str) -> None:
    """Create the target's stack; take it back at once if the run was stopped meanwhile.

    A stop marks the record before it looks for a stack. So either this sees the mark, or the stop
    sees the stack: none is left behind.

    Raises:
        RunStoppedError: The run was stopped.
        UsageError: The deployment has no targets of this kind.
    """
    record = records_of(settings).require_running(run_id)
    files = files_of(settings, run_id)
    request = files.get(REQUEST, Request)
    assert not isinstance(request.target, EndpointTarget)  # noqa: S101 - none is made for it
    template, own_parameters = _made_for(settings, request.target, record.database_version)
    files.put(TEMPLATE, template)
    stack_id = create_stack(
        name=record.stack_name,
        template_url=template_url(settings.results_bucket, files.key(TEMPLATE)),
        parameters={**_parameters(settings, record), **own_parameters},
        tags=_tags(record),
        role_arn=settings.target_service_role_arn,
        token=run_id,
    )
    if not records_of(settings).change(run_id, states=(RunState.RUNNING,), stack_id=stack_id):
        clients.cloudformation().delete_stack(StackName=stack_id)
        raise RunStoppedError(f"run {run_id} was stopped while its target was being created")


def template_url(bucket: str, key: str) -> str:
    """Give the address under which CloudFormation reads a template from S3."""
    return f"https://{bucket}.s3.{clients.s3().meta.region_name}.amazonaws.com/{key}"


def _made_for(
    settings: CreateTargetSettings, target: RdsTarget | CassandraTarget, version: str | None
) -> tuple[str, dict[str, str]]:
    """Give a target's template, and those of its parameters that depend on its kind."""
    match target:
        case RdsTarget():
            template = with_engine_parameters(read_template(RDS_TEMPLATE), target.parameters)
            place = {
                "SecurityGroupId": settings.target_security_group,
                "SubnetGroupName": settings.target_subnet_group,
            }
            return template, {**place, **rds_parameters(target, version or target.engine_version)}
        case CassandraTarget():
            settings.require_kind(target.kind)
            assert settings.cassandra is not None  # noqa: S101 - the line above has seen it
            place = {
                "ArchiveUrl": settings.cassandra.archive_url,
                "InstanceProfileName": settings.cassandra.instance_profile,
                "SecurityGroupId": settings.cassandra.security_group_id,
                "SubnetId": settings.cassandra.subnet_id,
            }
            return read_template(CASSANDRA_TEMPLATE), {**place, **cassandra_parameters(target)}
        case _:
            assert_never(target)


def _parameters(settings: CreateTargetSettings, record: RunRecord) -> dict[str, str]:
    return {
        "RunId": record.run_id,
        "Team": record.team,
        "ExpiresAt": _expiry(record),
        "AvailabilityZone": settings.target_availability_zone,
    }


def _expiry(record: RunRecord) -> str:
    assert record.expires_at is not None  # noqa: S101 - a running run has a deadline
    return f"{record.expires_at:%Y-%m-%dT%H:%M:%SZ}"


def _tags(record: RunRecord) -> dict[str, str]:
    return {
        "plimsoll:run-id": record.run_id,
        "plimsoll:team": record.team,
        "plimsoll:expires-at": _expiry(record),
    }


def await_target(settings: PollSettings, run_id: str) -> dict[str, object]:
    """Look whether the target is there, and note its address once it is."""
    record = records_of(settings).require_running(run_id)
    request = files_of(settings, run_id).get(REQUEST, Request)
    assert record.stack_id is not None  # noqa: S101 - the state before this one has set it
    outputs = outputs_when_created(record.stack_id)
    if outputs is not None:
        address = TargetAddress(
            host=outputs["Endpoint"],
            port=int(outputs["Port"]),
            database=request.target.database,
            secret_arn=outputs.get("SecretArn"),
            identifier=outputs["InstanceIdentifier"],
            protocol=protocol_of(request),
            tls=request.target.tls,
            volume_id=_volume_id(request.target, outputs["InstanceIdentifier"]),
        )
        records_of(settings).change(run_id, target=address, target_ready_at=now())
    return {"ready": outputs is not None, "wait_s": settings.poll_seconds}


def _volume_id(target: Target, instance_id: str) -> str | None:
    """Find the volume whose metrics are the target's; None where its instance has them."""
    match target:
        case CassandraTarget():
            return None if target.volume.type == "nvme" else data_volume_id(instance_id)
        case RdsTarget() | EndpointTarget():
            return None
        case _:
            assert_never(target)


def endpoint_address(target: EndpointTarget, allowed: Mapping[str, str]) -> TargetAddress:
    """Give the address of an existing database.

    Args:
        target: What is asked for.
        allowed: The secret of each endpoint that the deployment allows, by `host:port`. A secret
            opens its own endpoint alone: another's password is never sent there.

    Raises:
        UsageError: The deployment does not allow load on it, or not with this secret.
    """
    endpoint = f"{target.host}:{target.port}"
    if endpoint not in allowed:
        problem = f"{endpoint} is not among the endpoints that this deployment allows"
        raise UsageError(Complaint(("target", "host"), problem, target.host, tuple(allowed)))
    if target.secret_arn != allowed[endpoint]:
        path, secret = ("target", "secret_arn"), allowed[endpoint]
        problem = f"{endpoint} has another secret"
        raise UsageError(Complaint(path, problem, target.secret_arn, (secret,)))
    return TargetAddress(
        host=target.host,
        port=target.port,
        database=target.database,
        secret_arn=target.secret_arn,
        identifier=None,
        protocol=protocol_of_engine(target.engine),
        tls=target.tls,
    )
