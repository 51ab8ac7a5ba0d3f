"""Creates, awaits and deletes a run's target: its template, its stack, its address."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import assert_never

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST, TEMPLATE, files_of
from plimsoll.aws.run_records import now, records_of
from plimsoll.errors import RunStoppedError, TargetCreationError, TeardownError
from plimsoll.model.deployment.function_settings import (
    AwaitTargetSettings,
    CreateTargetSettings,
    DeleteTargetSettings,
    Zone,
)
from plimsoll.model.request.cassandra_target import DATA_DEVICE, CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Request, Target
from plimsoll.model.run.run_record import NodeAddress, RunRecord, RunState, TargetAddress
from plimsoll.requests.checked_request import find_request_protocol
from plimsoll.targets.cluster_template import add_nodes
from plimsoll.targets.deletion_schedule import disarm_deletion
from plimsoll.targets.target_stacks import (
    Deletion,
    create_stack,
    delete_stack,
    read_outputs_when_created,
)
from plimsoll.targets.template import (
    AURORA_TEMPLATE,
    CASSANDRA_TEMPLATE,
    RDS_TEMPLATE,
    add_tags,
    encrypt_with,
    fill_aurora_parameters,
    fill_cassandra_parameters,
    fill_rds_parameters,
    merge_engine_parameters,
    name_emulated_volume,
    read_template,
    restore_from_snapshot,
    write_engine_parameters,
)
from plimsoll.targets.zones import choose_zones, find_full_zone, is_zone_full


def create_target(settings: CreateTargetSettings, run_id: str) -> dict[str, object]:
    """Create the target's stack; delete it at once if the run was stopped meanwhile.

    The stack goes into the first zone that offers the target and has not refused it; a cluster
    spans several zones.

    A stop marks the record before it looks for a stack. So either this function sees the mark, or
    the stop sees the stack, and none is left behind.

    Returns:
        `clients_in`: the load clients' functions in the target's zone.

    Raises:
        RunStoppedError: The run was stopped.
        TargetCreationError: No zone is left.
        UsageError: The deployment has no targets of this kind.
    """
    record = records_of(settings).require_running(run_id)
    files = files_of(settings, run_id)
    request = files.get(REQUEST, Request)
    assert not isinstance(request.target, EndpointTarget)  # noqa: S101 - none is made for it
    version = record.database_version
    zones = choose_zones(settings.zones, request.target, version, refused=record.zones_refused)
    zone = zones[0]
    toggled = request.toggle.states[0].parameters if request.toggle else {}
    template, own_parameters = _fill_template(settings, request.target, version, zones, toggled)
    snapshot = record.restores.snapshot if record.restores else request.target.snapshot
    if snapshot is not None:
        template = restore_from_snapshot(template, snapshot)
    template = encrypt_with(add_tags(template, settings.tags), settings.kms_key_arn)
    files.put(TEMPLATE, template)
    stack_id = create_stack(
        name=record.stack_name,
        template_url=build_template_url(settings.results_bucket, files.key(TEMPLATE)),
        parameters={**_build_stack_parameters(record, zone), **own_parameters},
        tags={**settings.tags, **_build_stack_tags(record)},
        role_arn=settings.target_service_role_arn,
        token=f"{run_id}-{len(record.zones_refused)}",
    )
    changes = {"stack_id": stack_id, "zone": zone.name}
    if not records_of(settings).change(run_id, states=(RunState.RUNNING,), **changes):
        clients.cloudformation().delete_stack(StackName=stack_id)
        raise RunStoppedError(f"run {run_id} was stopped while its target was being created")
    return {"clients_in": zone.clients}


def build_template_url(bucket: str, key: str) -> str:
    """Return the URL at which CloudFormation reads a template from S3."""
    place = clients.s3().meta
    domain = "amazonaws.com.cn" if place.partition == "aws-cn" else "amazonaws.com"
    return f"https://{bucket}.s3.{place.region_name}.{domain}/{key}"


def _fill_template(
    settings: CreateTargetSettings,
    target: RdsTarget | AuroraTarget | CassandraTarget,
    version: str | None,
    zones: Sequence[Zone],
    toggled: Mapping[str, str | int],
) -> tuple[str, dict[str, str]]:
    """Return a target's template, and the parameters that depend on its kind.

    The target starts in the first state of its toggle.
    """
    on_rds = {
        "SecurityGroupId": settings.target_security_group,
        "SubnetGroupName": settings.target_subnet_group,
    }
    match target:
        case RdsTarget():
            own = {**merge_engine_parameters(target), **toggled}
            named = name_emulated_volume(read_template(RDS_TEMPLATE), target.volume)
            return (
                write_engine_parameters(named, own),
                {**on_rds, **fill_rds_parameters(target, version or target.engine_version)},
            )
        case AuroraTarget():
            return (
                write_engine_parameters(
                    read_template(AURORA_TEMPLATE), merge_engine_parameters(target)
                ),
                {**on_rds, **fill_aurora_parameters(target, version or target.engine_version)},
            )
        case CassandraTarget():
            settings.require_kind(target.kind)
            assert settings.cassandra is not None  # noqa: S101 - the line above has seen it
            place = {
                "ArchiveUrl": settings.cassandra.archive_url,
                "InstanceProfileName": settings.cassandra.instance_profile,
                "SecurityGroupId": settings.cassandra.security_group_id,
                "SubnetId": zones[0].subnet_id,
            }
            named = name_emulated_volume(read_template(CASSANDRA_TEMPLATE), target.volume)
            template = add_nodes(named, target.nodes, zones)
            return template, {**place, **fill_cassandra_parameters(target)}
        case _:
            assert_never(target)


def _build_stack_parameters(record: RunRecord, zone: Zone) -> dict[str, str]:
    return {
        "RunId": record.run_id,
        "Team": record.team,
        "ExpiresAt": _compute_expiry(record),
        "AvailabilityZone": zone.name,
    }


def _compute_expiry(record: RunRecord) -> str:
    assert record.expires_at is not None  # noqa: S101 - a running run has a deadline
    return f"{record.expires_at:%Y-%m-%dT%H:%M:%SZ}"


def _build_stack_tags(record: RunRecord) -> dict[str, str]:
    return {
        "plimsoll:run-id": record.run_id,
        "plimsoll:team": record.team,
        "plimsoll:expires-at": _compute_expiry(record),
    }


def await_target(settings: AwaitTargetSettings, run_id: str) -> dict[str, object]:
    """Check whether the target is ready, and note its address once it is.

    If the zone has no room for it, the stack is deleted so that another zone can be tried, each
    zone of the deployment at most once.

    Returns:
        `ready`, or `again` if the target has to be created in another zone; if neither, call again
        after `wait_s` seconds.

    Raises:
        TargetCreationError: The target could not be created.
    """
    record = records_of(settings).require_running(run_id)
    request = files_of(settings, run_id).get(REQUEST, Request)
    if record.zone is None:
        return _await_answer(settings, again=_delete_refused_stack(settings, record))
    assert record.stack_id is not None  # noqa: S101 - the state before this one has set it
    try:
        outputs = read_outputs_when_created(record.stack_id)
    except TargetCreationError as error:
        full = find_full_zone(str(error), settings.zones) or record.zone
        refused = (*record.zones_refused, full)
        if not is_zone_full(str(error)) or len(refused) >= len(settings.zones):
            raise
        records_of(settings).change(run_id, zone=None, zones_refused=refused)
        return _await_answer(settings, again=_delete_refused_stack(settings, record))
    if outputs is not None:
        address = TargetAddress(
            host=outputs["Endpoint"],
            port=int(outputs["Port"]),
            database=request.target.database,
            secret_arn=outputs.get("SecretArn"),
            identifier=outputs["InstanceIdentifier"],
            protocol=find_request_protocol(request),
            tls=request.target.tls,
            volume_id=_find_volume_id(request.target, outputs["InstanceIdentifier"]),
            nodes=_list_further_nodes(request.target, outputs),
            replication=_count_copies(request.target),
        )
        records_of(settings).change(run_id, target=address, target_ready_at=now())
    return _await_answer(settings, ready=outputs is not None)


def _await_answer(
    settings: AwaitTargetSettings, *, ready: bool = False, again: bool = False
) -> dict[str, object]:
    return {"ready": ready, "again": again, "wait_s": settings.poll_seconds}


def _delete_refused_stack(settings: AwaitTargetSettings, record: RunRecord) -> bool:
    """Delete the stack in a zone that has no room; return whether it is gone."""
    gone = delete_stack(name=record.stack_name, stack_id=record.stack_id) is not Deletion.UNDER_WAY
    if gone:  # with its id forgotten, the next stack is found by name
        records_of(settings).change(record.run_id, stack_id=None)
    return gone


def _find_volume_id(target: Target, instance_id: str) -> str | None:
    """Return the id of the volume that has the target's metrics; None if the instance has them."""
    match target:
        case CassandraTarget():
            return None if target.volume.type == "nvme" else find_data_volume_id(instance_id)
        case RdsTarget() | AuroraTarget() | EndpointTarget():
            return None
        case _:
            assert_never(target)


def _list_further_nodes(target: Target, outputs: Mapping[str, str]) -> tuple[NodeAddress, ...]:
    """List the nodes of a cluster except the first."""
    if not isinstance(target, CassandraTarget):
        return ()
    return tuple(
        NodeAddress(
            host=outputs[f"Endpoint{number}"],
            identifier=outputs[f"InstanceIdentifier{number}"],
            volume_id=_find_volume_id(target, outputs[f"InstanceIdentifier{number}"]),
        )
        for number in range(2, target.nodes + 1)
    )


def _count_copies(target: Target) -> int:
    return target.copies if isinstance(target, CassandraTarget) else 1


# Deletion, on every way out of a run.


def delete_target(settings: DeleteTargetSettings, run_id: str) -> dict[str, object]:
    """Mark the run as stopping, delete its target, and check how far the deletion is.

    The mark comes first: from then on `create_target` deletes what it has just made. A deletion
    that fails is requested again until the patience, counted from the first request, is over: RDS
    refuses to delete an instance that it is still creating. The record says why the last one
    failed.

    Raises:
        TeardownError: The deletion failed and the patience is over; it has been requested again.
    """
    records = records_of(settings)
    running = (RunState.PENDING, RunState.RUNNING)
    records.change(run_id, states=running, state=RunState.STOPPING)
    record = records.get(run_id)
    asked_at = record.teardown_asked_at
    if asked_at is None:
        asked_at = now()
        records.change(run_id, teardown_asked_at=asked_at)
    try:
        deletion = delete_stack(name=record.stack_name, stack_id=record.stack_id)
    except TeardownError as error:
        records.change(run_id, teardown_error=str(error))
        if now() - asked_at >= timedelta(seconds=settings.teardown_patience_seconds):
            raise
        deletion = Deletion.UNDER_WAY
    if deletion is Deletion.SEEN:
        if record.deleted_at is None:
            records.change(run_id, deleted_at=now(), teardown_error=None)
        disarm_deletion(stack_name=record.stack_name, group=settings.schedule_group)
    return {"gone": deletion is not Deletion.UNDER_WAY, "wait_s": settings.poll_seconds}


def find_data_volume_id(instance_id: str) -> str | None:
    """Return the id of an EC2 instance's data volume; None if it has none.

    CloudWatch's EBS metrics need the volume, which CloudFormation does not name.
    """
    volumes = clients.ec2().describe_volumes(
        Filters=[
            {"Name": "attachment.instance-id", "Values": [instance_id]},
            {"Name": "attachment.device", "Values": [DATA_DEVICE]},
        ]
    )["Volumes"]
    return volumes[0]["VolumeId"] if volumes else None
