"""Snapshots of prepared datasets: create, find, delete. Every call is safe to repeat.

RDS snapshots are found by name, EBS snapshots by tag. Either can be deleted only when complete
(docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBSnapshot.html).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from botocore.exceptions import ClientError

from plimsoll.aws import clients
from plimsoll.errors import DatasetError
from plimsoll.model.datasets import PREFIX, snapshot_name
from plimsoll.targets.deletion_schedule import schedule_call
from plimsoll.targets.target_stacks import Deletion

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import TagTypeDef as Ec2Tag
    from mypy_boto3_rds.type_defs import TagTypeDef

Kind = Literal["rds", "cassandra"]  # the kind of target: RDS or EBS snapshots
RUN_ID = "plimsoll:run-id"
EXPIRES_AT = "plimsoll:expires-at"
# Scheduler's actions and the argument that names the snapshot. RDS's arguments are spelled as in
# AWS's SDK for Java (`stopDBInstance` takes `DbInstanceIdentifier`, as in schedules in use).
DELETE_ACTIONS: Mapping[Kind, tuple[str, str]] = {
    "rds": ("rds:deleteDBSnapshot", "DbSnapshotIdentifier"),
    "cassandra": ("ec2:deleteSnapshot", "SnapshotId"),
}
_WHOLE = {"available", "completed"}
_BROKEN = {"failed", "error", "incompatible-restore"}


@dataclass(frozen=True)
class SeenSnapshot:
    """A snapshot as AWS describes it.

    Attributes:
        kind: The kind of target that it belongs to.
        id: The identifier with which it is restored or deleted.
        name: The name for people, which contains the id of the run that prepared it.
        state: The state in AWS's words.
        tags: The tags by key.
        made_at: The time at which it was requested.
    """

    kind: Kind
    id: str
    name: str
    state: str
    tags: Mapping[str, str]
    made_at: datetime | None

    @property
    def whole(self) -> bool:
        """Whether a target can be restored from it."""
        return self.state in _WHOLE


def find_snapshot(kind: Kind, run_id: str) -> SeenSnapshot | None:
    """Return the snapshot that a run has taken; None if there is none."""
    name = snapshot_name(run_id)
    return next((one for one in list_snapshots(kind, run_id=run_id) if one.name == name), None)


def list_snapshots(kind: Kind, *, run_id: str | None = None) -> Iterator[SeenSnapshot]:
    """Yield Plimsoll's snapshots in the account: all, or those of one run."""
    match kind:
        case "rds":
            yield from _list_rds_snapshots(run_id)
        case "cassandra":
            yield from _list_ebs_snapshots(run_id)


def _list_rds_snapshots(run_id: str | None) -> Iterator[SeenSnapshot]:
    pages = clients.rds().get_paginator("describe_db_snapshots")
    name = None if run_id is None else snapshot_name(run_id)
    try:
        for page in (
            pages.paginate(SnapshotType="manual")
            if name is None
            else pages.paginate(SnapshotType="manual", DBSnapshotIdentifier=name)
        ):
            for found in page["DBSnapshots"]:
                if found["DBSnapshotIdentifier"].startswith(PREFIX):
                    yield SeenSnapshot(
                        kind="rds",
                        id=found["DBSnapshotIdentifier"],
                        name=found["DBSnapshotIdentifier"],
                        state=found["Status"],
                        tags={tag["Key"]: tag["Value"] for tag in found.get("TagList", [])},
                        made_at=found.get("SnapshotCreateTime"),
                    )
    except ClientError as error:
        if not error.response["Error"]["Code"].startswith("DBSnapshotNotFound"):
            raise


def _list_ebs_snapshots(run_id: str | None) -> Iterator[SeenSnapshot]:
    wanted = "*" if run_id is None else run_id
    pages = clients.ec2().get_paginator("describe_snapshots")
    for page in pages.paginate(
        OwnerIds=["self"], Filters=[{"Name": f"tag:{RUN_ID}", "Values": [wanted]}]
    ):
        for found in page["Snapshots"]:
            tags = {tag["Key"]: tag["Value"] for tag in found.get("Tags", [])}
            yield SeenSnapshot(
                kind="cassandra",
                id=found["SnapshotId"],
                name=tags.get("Name", found["SnapshotId"]),
                state=found["State"],
                tags=tags,
                made_at=found.get("StartTime"),
            )


def take_snapshot(kind: Kind, run_id: str, *, source: str, tags: Mapping[str, str]) -> None:
    """Request a snapshot; one that the run has already taken is kept.

    Args:
        kind: The kind of target.
        run_id: The run that has prepared the dataset.
        source: The RDS instance, or the EBS volume.
        tags: The tags by key.
    """
    if find_snapshot(kind, run_id) is not None:
        return
    name = snapshot_name(run_id)
    listed: list[TagTypeDef] = [{"Key": key, "Value": value} for key, value in tags.items()]
    match kind:
        case "rds":
            clients.rds().create_db_snapshot(
                DBSnapshotIdentifier=name, DBInstanceIdentifier=source, Tags=listed
            )
        case "cassandra":
            named: list[Ec2Tag] = [
                {"Key": key, "Value": value} for key, value in {**tags, "Name": name}.items()
            ]
            clients.ec2().create_snapshot(
                VolumeId=source,
                Description=f"Plimsoll: the dataset of {run_id}",
                TagSpecifications=[{"ResourceType": "snapshot", "Tags": named}],
            )


def require_sound(snapshot: SeenSnapshot) -> None:
    """Refuse a snapshot that will never be complete.

    Raises:
        DatasetError: AWS reports the snapshot as failed.
    """
    if snapshot.state in _BROKEN:
        raise DatasetError(f"the snapshot {snapshot.name} could not be taken: {snapshot.state}")


def delete_snapshot(kind: Kind, run_id: str) -> Deletion:
    """Request the deletion of a run's snapshot, and return its progress: SEEN if it is gone."""
    found = find_snapshot(kind, run_id)
    if found is None:
        return Deletion.SEEN
    if found.whole or found.state in _BROKEN:
        request_deletion(found)
    return Deletion.UNDER_WAY


def request_deletion(snapshot: SeenSnapshot) -> None:
    """Have AWS delete a snapshot."""
    match snapshot.kind:
        case "rds":
            clients.rds().delete_db_snapshot(DBSnapshotIdentifier=snapshot.id)
        case "cassandra":
            clients.ec2().delete_snapshot(SnapshotId=snapshot.id)


def arm_snapshot_deletion(
    snapshot: SeenSnapshot, *, at: datetime, group: str, role_arn: str
) -> None:
    """Create the schedule that deletes a snapshot; an existing one is kept.

    Args:
        snapshot: The snapshot, whose name the schedule gets.
        at: The time of the deletion, in UTC.
        group: The schedule group.
        role_arn: The role with which Scheduler deletes it.
    """
    action, named = DELETE_ACTIONS[snapshot.kind]
    arguments = {named: snapshot.id}
    schedule_call(snapshot.name, action, arguments, at=at, group=group, role_arn=role_arn)
