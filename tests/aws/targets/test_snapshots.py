"""Snapshots of datasets on AWS: taken, seen, deleted, and none forgotten."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from plimsoll.aws import clients
from plimsoll.errors import PlimsollError
from plimsoll.targets import janitor, snapshots
from plimsoll.targets.janitor import sweep_snapshots
from plimsoll.targets.snapshots import (
    Kind,
    SeenSnapshot,
    arm_snapshot_deletion,
    delete_snapshot,
    find_snapshot,
    list_snapshots,
    take_snapshot,
)
from plimsoll.targets.target_stacks import Deletion
from tests.support.aws_resources import role_arn

pytestmark = pytest.mark.usefixtures("account")
KINDS: tuple[Kind, ...] = ("rds", "cassandra")
RUN = "20260101-000000-abcdef-d01"
PASSED, NEVER = "2026-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
AT = datetime(2026, 1, 1, 0, 15, tzinfo=UTC)
BUS = "plimsoll"


@pytest.fixture
def source(account: None) -> Callable[[Kind], str]:
    """Something to take a snapshot of."""
    del account

    def make(kind: Kind) -> str:
        if kind == "cassandra":
            zone = f"{clients.ec2().meta.region_name}a"
            return clients.ec2().create_volume(AvailabilityZone=zone, Size=10)["VolumeId"]
        clients.rds().create_db_instance(
            DBInstanceIdentifier="plimsoll-x",
            Engine="mysql",
            DBInstanceClass="db.m5.large",
            AllocatedStorage=20,
            MasterUsername="plimsoll",
            ManageMasterUserPassword=True,
        )
        return "plimsoll-x"

    return make


def tags(run_id: str, expires_at: str | None = NEVER) -> dict[str, str]:
    own = {} if expires_at is None else {"plimsoll:expires-at": expires_at}
    return {"plimsoll:run-id": run_id, "plimsoll:team": "dba", **own}


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_is_taken_once_seen_and_deleted(
    kind: Kind, source: Callable[[Kind], str]
) -> None:
    made_of = source(kind)
    assert find_snapshot(kind, RUN) is None
    for _ in range(2):
        take_snapshot(kind, RUN, source=made_of, tags=tags(RUN))
    (seen,) = list_snapshots(kind)
    assert seen == find_snapshot(kind, RUN)
    assert seen.name == f"plimsoll-dataset-{RUN}"
    assert seen.whole
    assert seen.tags["plimsoll:team"] == "dba"
    assert delete_snapshot(kind, RUN) is Deletion.UNDER_WAY
    assert delete_snapshot(kind, RUN) is Deletion.SEEN
    assert list(list_snapshots(kind)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_its_schedule_names_what_deletes_it(kind: Kind, source: Callable[[Kind], str]) -> None:
    clients.scheduler().create_schedule_group(Name="deletions")
    take_snapshot(kind, RUN, source=source(kind), tags=tags(RUN))
    seen = find_snapshot(kind, RUN)
    assert seen is not None
    for _ in range(2):
        arm_snapshot_deletion(seen, at=AT, group="deletions", role_arn=role_arn("deletion"))
    made = clients.scheduler().get_schedule(Name=seen.name, GroupName="deletions")
    assert made["ScheduleExpression"] == "at(2026-01-01T00:15:00)"
    action, named = {
        "rds": ("rds:deleteDBSnapshot", "DbSnapshotIdentifier"),
        "cassandra": ("ec2:deleteSnapshot", "SnapshotId"),
    }[kind]
    assert made["Target"]["Arn"] == f"arn:aws:scheduler:::aws-sdk:{action}"
    assert json.loads(made["Target"]["Input"]) == {named: seen.id}


def test_a_snapshot_of_anybody_else_is_none_of_ours(source: Callable[[Kind], str]) -> None:
    clients.rds().create_db_snapshot(
        DBSnapshotIdentifier="orders-2026", DBInstanceIdentifier=source("rds")
    )
    clients.ec2().create_snapshot(VolumeId=source("cassandra"))
    assert [one.name for kind in KINDS for one in list_snapshots(kind)] == []


@pytest.fixture
def topic(account: None) -> str:
    del account
    clients.events().create_event_bus(Name=BUS)
    return clients.sns().create_topic(Name="alarms")["TopicArn"]


def test_the_janitor_deletes_those_whose_time_has_passed_and_no_others(
    topic: str, source: Callable[[Kind], str]
) -> None:
    of_rds, of_ebs = source("rds"), source("cassandra")
    for kind, made_of in (("rds", of_rds), ("cassandra", of_ebs)):
        for run_id, expires_at in (("over", PASSED), ("goes-on", NEVER), ("of-nobody", None)):
            take_snapshot(kind, run_id, source=made_of, tags=tags(run_id, expires_at))  # type: ignore[arg-type] # both are kinds
    assert sweep_snapshots(topic, BUS, at=AT) == ["plimsoll-dataset-over"] * 2
    left = {one.name for kind in KINDS for one in list_snapshots(kind)}
    assert left == {"plimsoll-dataset-goes-on", "plimsoll-dataset-of-nobody"}
    assert sweep_snapshots(topic, BUS, at=AT) == []


def test_one_that_cannot_be_told_of_is_deleted_all_the_same(
    source: Callable[[Kind], str],
) -> None:
    clients.events().create_event_bus(Name=BUS)
    take_snapshot("rds", RUN, source=source("rds"), tags=tags(RUN, PASSED))
    with pytest.raises(PlimsollError, match=f"plimsoll-dataset-{RUN}: "):
        sweep_snapshots("arn:aws:sns:eu-west-1:123456789012:gone", BUS, at=AT)
    assert list(list_snapshots("rds")) == []


def test_one_that_is_still_being_taken_is_left_until_it_is_whole(
    source: Callable[[Kind], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """AWS refuses to delete it before."""
    take_snapshot("rds", RUN, source=source("rds"), tags=tags(RUN, PASSED))
    look = snapshots.list_snapshots

    def creating(kind: Kind, **asked: str) -> list[SeenSnapshot]:
        return [replace(one, state="creating") for one in look(kind, **asked)]

    for module in (snapshots, janitor):
        monkeypatch.setattr(module, "list_snapshots", creating)
    assert delete_snapshot("rds", RUN) is Deletion.UNDER_WAY
    assert sweep_snapshots("unused", BUS, at=AT) == []
    monkeypatch.undo()
    assert find_snapshot("rds", RUN) is not None
