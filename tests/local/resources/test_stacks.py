"""A target's stack: a real server on its emulated volume, and nothing of it afterwards."""

import datetime as dt
import json
import socket
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import psutil
import pymysql
import pytest
from botocore.exceptions import ClientError

from plimsoll.volumes.places import state_path
from tests.local.workflow.conftest import wait_until

TEMPLATE = (files("plimsoll.targets") / "templates/rds.template.json").read_text()


RDS = {
    "SubnetGroupName": "targets",
    "ParameterGroupFamily": "mysql8.4",
    "Engine": "mysql",
    "EngineVersion": "8.4.6",
    "InstanceClass": "db.m5.large",
    "StorageType": "io1",
    "AllocatedStorageGib": "100",
    "Iops": "1000",
}


def parameters(run_id: str, kind: Mapping[str, str]) -> list[dict[str, str]]:
    """What every target's stack is given, and what its kind is given besides."""
    values = {
        "RunId": run_id,
        "Team": "storage",
        "ExpiresAt": "2030-01-01T00:00:00Z",
        "AvailabilityZone": "us-east-1a",
        "SecurityGroupId": "sg-1",
        **kind,
    }
    return [{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()]


class Stacks:
    def __init__(self, twin: Any) -> None:
        self.twin = twin
        self.client = twin.client("cloudformation")

    def create(
        self, run_id: str, template: str = TEMPLATE, fail: str = "ROLLBACK", **changed: str
    ) -> dict[str, Any]:
        stack = self.client.create_stack(
            StackName=f"plimsoll-run-{run_id}",
            TemplateBody=template,
            Parameters=parameters(run_id, {**RDS, **changed}),
            OnFailure=fail,
        )["StackId"]
        return self.wait(stack)

    def wait(self, stack: str) -> dict[str, Any]:
        told: dict[str, Any] = {}

        def done() -> bool:
            told.update(self.client.describe_stacks(StackName=stack)["Stacks"][0])
            under_way: bool = told["StackStatus"].endswith("IN_PROGRESS")
            assert not (under_way and "Outputs" in told)
            return not under_way

        wait_until(done, f"{stack} is done", 0.02)
        return told

    def delete(self, stack: str) -> dict[str, Any]:
        made = self.client.describe_stacks(StackName=stack)["Stacks"][0]["StackId"]
        self.client.delete_stack(StackName=stack)
        return self.wait(made)  # a deleted stack is found by its id alone

    def reasons(self, stack: str) -> dict[tuple[str, str], str]:
        events = self.client.describe_stack_events(StackName=stack)["StackEvents"]
        return {
            (event["LogicalResourceId"], event["ResourceStatus"]): event.get(
                "ResourceStatusReason", ""
            )
            for event in events
        }


def outputs(stack: dict[str, Any]) -> dict[str, str]:
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


@pytest.fixture(scope="module")
def stacks(twin: Any) -> Stacks:
    return Stacks(twin)


@pytest.fixture(scope="module")
def target(stacks: Stacks) -> Iterator[dict[str, Any]]:
    """One stack that the tests look at; its deletion is a test of its own."""
    body = json.loads(TEMPLATE)
    group = body["Resources"]["ParameterGroup"]["Properties"]
    group["Parameters"] = {"innodb_buffer_pool_size": "{DBInstanceClassMemory/4}"}
    yield stacks.create("shared", json.dumps(body))
    stacks.delete("plimsoll-run-shared")


def connect(twin: Any, stack: dict[str, Any]) -> "pymysql.Connection[Any]":
    told = outputs(stack)
    secret = twin.client("secretsmanager").get_secret_value(SecretId=told["SecretArn"])
    account = json.loads(secret["SecretString"])
    return pymysql.connect(
        host=told["Endpoint"],
        port=int(told["Port"]),
        user=account["username"],
        password=account["password"],
        database="plimsoll",
        autocommit=True,
    )


def test_the_outputs_lead_to_a_real_server(twin: Any, target: dict[str, Any]) -> None:
    assert target["StackStatus"] == "CREATE_COMPLETE"
    with connect(twin, target) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION()")
        assert "MariaDB" in str(cursor.fetchall())


def test_class_volume_and_parameters_reach_the_server(twin: Any, target: dict[str, Any]) -> None:
    with connect(twin, target) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@innodb_buffer_pool_size, @@innodb_io_capacity_max")
        assert cursor.fetchall() == ((16 * 2**20, 1000),)  # a quarter of 8 GiB / 128


def test_its_data_is_on_the_volume_that_was_asked_for(twin: Any, target: dict[str, Any]) -> None:
    with twin.databases["plimsoll-shared"].volume as volume:
        assert (volume.volume.type, volume.volume.size_gib) == ("io1", 100)
        assert volume.limits.baseline_iops == 1000
        before = volume.sample()
        with connect(twin, target) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE OR REPLACE TABLE t (a INT PRIMARY KEY)")
            cursor.execute("INSERT INTO t VALUES (1)")
        assert volume.sample().write_ios > before.write_ios


def test_its_figures_are_in_cloudwatch_every_second(twin: Any, target: dict[str, Any]) -> None:
    del target
    names = ("ReadIOPS", "WriteIOPS", "WriteThroughput", "DiskQueueDepth", "CPUUtilization")
    dimension = {"Name": "DBInstanceIdentifier", "Value": "plimsoll-shared"}
    queries = [
        {
            "Id": name.lower(),
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/RDS",
                    "MetricName": name,
                    "Dimensions": [dimension],
                },
                "Period": 1,
                "Stat": "Average",
            },
        }
        for name in names
    ]
    now = dt.datetime.now(dt.UTC)
    around = {"StartTime": now - dt.timedelta(hours=1), "EndTime": now + dt.timedelta(hours=1)}
    cloudwatch = twin.client("cloudwatch")

    def found() -> dict[str, list[float]]:
        results = cloudwatch.get_metric_data(MetricDataQueries=queries, **around)
        return {one["Id"]: one["Values"] for one in results["MetricDataResults"]}

    wait_until(lambda: all(len(values) >= 2 for values in found().values()), "two of each")
    assert set(found()) == {name.lower() for name in names}
    assert all(value >= 0 for values in found().values() for value in values)


def test_nothing_is_left_of_a_deleted_stack(twin: Any, stacks: Stacks) -> None:
    made = stacks.create("gone")
    database = twin.databases["plimsoll-gone"]
    state = state_path(database.directory)
    assert state.exists()
    deleted = stacks.delete(made["StackId"])
    assert deleted["StackStatus"] == "DELETE_COMPLETE"
    assert not psutil.pid_exists(database.pid)
    assert not database.directory.exists()
    assert not state.exists()
    with socket.socket() as probe:
        assert probe.connect_ex((database.host, database.port)) != 0
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        twin.client("secretsmanager").describe_secret(SecretId=outputs(made)["SecretArn"])
    with pytest.raises(ClientError, match="does not exist"):
        stacks.client.describe_stacks(StackName="plimsoll-run-gone")
    assert "plimsoll-gone" not in twin.databases


def test_deletion_during_creation_leaves_nothing(twin: Any, stacks: Stacks) -> None:
    stack = stacks.client.create_stack(
        StackName="plimsoll-run-early", TemplateBody=TEMPLATE, Parameters=parameters("early", RDS)
    )["StackId"]
    assert stacks.delete(stack)["StackStatus"] == "DELETE_COMPLETE"
    assert "plimsoll-early" not in twin.databases


def test_two_stacks_do_not_share_a_server_a_port_or_a_volume(
    twin: Any, stacks: Stacks, target: dict[str, Any]
) -> None:
    del target
    stacks.create("other", Iops="2000")
    one, other = twin.databases["plimsoll-shared"], twin.databases["plimsoll-other"]
    assert one.port != other.port
    assert one.pid != other.pid
    with one.volume as first, other.volume as second:
        assert (first.limits.baseline_iops, second.limits.baseline_iops) == (1000, 2000)
    stacks.delete("plimsoll-run-other")
    assert psutil.pid_exists(one.pid)


@pytest.mark.parametrize(
    ("fail", "status"), [("ROLLBACK", "ROLLBACK_COMPLETE"), ("DO_NOTHING", "CREATE_FAILED")]
)
def test_a_failing_resource_ends_the_creation_as_asked(
    stacks: Stacks, fail: str, status: str
) -> None:
    stack = stacks.create(f"failed-{fail[:2].lower()}", fail=fail, EngineVersion="99.1")
    assert stack["StackStatus"] == status
    told = stacks.reasons(stack["StackId"])[("Instance", "CREATE_FAILED")]
    assert told == "Cannot find version 99.1 for mysql"
    assert stacks.delete(stack["StackId"])["StackStatus"] == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"Iops": "7"}, "volume.iops: 7 is not allowed for io1"),
        ({"InstanceClass": "db.z9.huge"}, "Invalid DB Instance class: db.z9.huge"),
        ({"Engine": "postgres", "EngineVersion": "9.6"}, "Cannot find version 9.6 for postgres"),
    ],
)
def test_what_rds_would_refuse_fails_with_its_reason(
    stacks: Stacks, changed: dict[str, str], told: str
) -> None:
    stack = stacks.create("refused", fail="DO_NOTHING", **changed)
    assert told in stacks.reasons(stack["StackId"])[("Instance", "CREATE_FAILED")]
    stacks.delete(stack["StackId"])


def test_a_parameter_that_the_server_does_not_know_fails_with_its_reason(stacks: Stacks) -> None:
    body = json.loads(TEMPLATE)
    body["Resources"]["ParameterGroup"]["Properties"]["Parameters"] = {"no_such_thing": "1"}
    stack = stacks.create("unknown", json.dumps(body), fail="DO_NOTHING")
    assert "no_such_thing" in stacks.reasons(stack["StackId"])[("Instance", "CREATE_FAILED")]
    assert stacks.delete(stack["StackId"])["StackStatus"] == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("template", "changed", "told"),
    [
        (TEMPLATE, {"Engine": "oracle"}, "'Engine' must be one of AllowedValues"),
        (TEMPLATE, {"InstanceClass": "m5.large"}, "InstanceClass failed to satisfy constraint"),
        (TEMPLATE, {"Nonsense": "1"}, r"Parameters: \[Nonsense\] do not exist"),
        (
            json.dumps({"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}),
            {},
            r"Unrecognized resource types: \[AWS::SQS::Queue\]",
        ),
    ],
)
def test_what_cloudformation_refuses_makes_no_stack(
    stacks: Stacks, template: str, changed: dict[str, str], told: str
) -> None:
    with pytest.raises(ClientError, match=told):
        stacks.create("never", template, **changed)
    with pytest.raises(ClientError, match="does not exist"):
        stacks.client.describe_stacks(StackName="plimsoll-run-never")


def test_a_directory_that_is_left_over_is_named(twin: Any, stacks: Stacks) -> None:
    left = Path(twin.directory) / "databases/plimsoll-taken"
    left.mkdir()
    stack = stacks.create("taken", fail="DO_NOTHING")
    told = stacks.reasons(stack["StackId"])[("Instance", "CREATE_FAILED")]
    assert told == "DB instance already exists: plimsoll-taken"
    stacks.delete(stack["StackId"])
    left.rmdir()
