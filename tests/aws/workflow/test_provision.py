"""A target is created once, its deletion armed before, and never left by a run that stopped."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import boto3
import pytest

from plimsoll.aws.run_files import REQUEST, TEMPLATE
from plimsoll.aws.run_records import now
from plimsoll.errors import RunStoppedError, TargetCreationError, UsageError
from plimsoll.model.deployment.function_settings import CassandraPlace
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import HeldBudget
from plimsoll.requests.checked_request import check_request
from plimsoll.targets import zones
from plimsoll.targets.target_stacks import create_stack
from plimsoll.workflow import start_and_stop, target
from plimsoll.workflow.submit import record_request
from plimsoll.workflow.target import delete_target
from tests.aws.workflow.conftest import REQUESTED, RUN, ZONES, recorded, started
from tests.support.every_setting import EverySetting

STACK = f"plimsoll-run-{RUN}"

# moto knows neither the password managed by RDS nor its attribute: the twin's tests have them
TEMPLATE_OF_TEST = json.dumps(
    {"Resources": {"ParameterGroup": {"Type": "AWS::RDS::DBParameterGroup", "Properties": {
        "Description": "engine parameters", "Family": "mariadb11.4", "Parameters": {},
    }}}}
)  # fmt: skip


@pytest.fixture(autouse=True)
def offered_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zones, "_list_offering_zones", lambda *_: [zone["name"] for zone in ZONES])


@pytest.fixture(autouse=True)
def small_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "read_template", lambda _name: TEMPLATE_OF_TEST)


def stack_status() -> str:
    stacks = boto3.client("cloudformation").list_stacks()["StackSummaries"]
    return next((stack["StackStatus"] for stack in stacks if stack["StackName"] == STACK), "NONE")


def test_the_deletion_is_armed_before_there_is_a_stack(deployment: EverySetting) -> None:
    started(deployment)
    record = deployment.records.get(RUN)
    schedule = boto3.client("scheduler").get_schedule(Name=STACK, GroupName="plimsoll")
    assert record.expires_at is not None
    assert schedule["ScheduleExpression"] == f"at({record.expires_at:%Y-%m-%dT%H:%M:%S})"
    assert schedule["ActionAfterCompletion"] == "DELETE"
    assert schedule["Target"]["Arn"].endswith(":aws-sdk:cloudformation:deleteStack")
    assert json.loads(schedule["Target"]["Input"]) == {"StackName": STACK}
    assert stack_status() == "NONE"
    start_and_stop.schedule_deletion(deployment, RUN)  # repeated: still one


def test_a_run_begins_after_it_was_submitted(deployment: EverySetting) -> None:
    """To the microsecond: rounded to seconds, it seemed to run beside one that had ended before."""
    recorded(deployment)
    start_and_stop.record_run(deployment, RUN)
    record = deployment.records.get(RUN)
    assert record.started_at is not None
    assert record.submitted_at <= record.started_at <= now()


def test_the_deletion_is_armed_for_the_budgets_end_where_that_is_earlier(
    deployment: EverySetting,
) -> None:
    budget = HeldBudget(usd="0.6", target_s=1000, fleet_usd="0.1", loading_s=60)
    recorded(deployment, budget=budget)
    start_and_stop.record_run(deployment, RUN)
    start_and_stop.schedule_deletion(deployment, RUN)
    record = deployment.records.get(RUN)
    assert record.started_at is not None
    ends = record.started_at.replace(microsecond=0) + timedelta(seconds=1000)
    assert record.expires_at == ends
    schedule = boto3.client("scheduler").get_schedule(Name=STACK, GroupName="plimsoll")
    assert schedule["ScheduleExpression"] == f"at({ends:%Y-%m-%dT%H:%M:%S})"


def test_a_target_is_created_tagged_and_told_its_parameters(deployment: EverySetting) -> None:
    started(deployment)
    deployment = deployment.model_copy(update={"tags": {"cost-center": "42"}})
    target.create_target(deployment, RUN)
    first = deployment.records.get(RUN).stack_id
    target.create_target(deployment, RUN)  # repeated: the same stack
    record = deployment.records.get(RUN)
    assert record.stack_id == first
    (stack,) = boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    tags = {tag["Key"]: tag["Value"] for tag in stack["Tags"]}
    assert (tags["plimsoll:run-id"], tags["cost-center"]) == (RUN, "42")
    assert tags["plimsoll:expires-at"] == f"{record.expires_at:%Y-%m-%dT%H:%M:%SZ}"
    template = json.loads(deployment.files(RUN).find(TEMPLATE) or b"")
    written = template["Resources"]["ParameterGroup"]["Properties"]["Parameters"]
    assert written == {"innodb_buffer_pool_size": "16777216"}


AURORA = {
    "kind": "aurora",
    "engine": "aurora-postgresql",
    "engine_version": "17",
    "instance_class": "db.r7g.large",
    "storage": "io-optimized",
}


def test_an_aurora_target_is_made_and_deleted_by_the_same_promises(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}
    read: list[str] = []

    def create(**asked: Any) -> str:
        told.update(asked)
        own = {name: asked["parameters"][name] for name in ("RunId",)}
        return create_stack(**{**asked, "parameters": own})

    def template(name: str) -> str:
        read.append(name)
        body = json.loads(TEMPLATE_OF_TEST)  # moto knows no cluster
        return json.dumps({**body, "Parameters": {"RunId": {"Type": "String"}}})

    deployment = deployment.model_copy(update={"target_kinds": ("rds", "aurora")})
    recorded(deployment, database_version="17.7")
    request = Request.model_validate({**REQUESTED, "target": AURORA})
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    start_and_stop.record_run(deployment, RUN)
    start_and_stop.schedule_deletion(deployment, RUN)
    schedule = boto3.client("scheduler").get_schedule(Name=STACK, GroupName="plimsoll")
    assert json.loads(schedule["Target"]["Input"]) == {"StackName": STACK}
    monkeypatch.setattr(target, "create_stack", create)
    monkeypatch.setattr(target, "read_template", template)
    target.create_target(deployment, RUN)
    assert read == ["aurora.template.json"]
    expected = {
        "Engine": "aurora-postgresql",
        "EngineVersion": "17.7",
        "ParameterGroupFamily": "aurora-postgresql17",
        "StorageType": "aurora-iopt1",
        "SecurityGroupId": deployment.target_security_group,
        "SubnetGroupName": deployment.target_subnet_group,
    }
    assert {name: told["parameters"][name] for name in expected} == expected
    assert told["tags"]["plimsoll:expires-at"]  # by which the janitor knows it
    written = json.loads(deployment.files(RUN).find(TEMPLATE) or b"")
    assert written["Resources"]["ParameterGroup"]["Properties"]["Parameters"] == {
        "shared_preload_libraries": "pg_stat_statements",
        "rds.force_ssl": "1",
    }
    outputs = {
        "Endpoint": f"plimsoll-{RUN}.cluster-abc.eu-west-1.rds.amazonaws.com",
        "Port": "5432",
        "SecretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:rds!cluster-1",
        "InstanceIdentifier": f"plimsoll-{RUN}",
    }
    monkeypatch.setattr(target, "read_outputs_when_created", lambda _: outputs)
    assert target.await_target(deployment, RUN)["ready"] is True
    address = deployment.records.get(RUN).target
    assert address is not None
    assert (address.protocol, address.port, address.tls) == ("postgres", 5432, "verify")
    assert (address.identifier, address.secret_arn) == (f"plimsoll-{RUN}", outputs["SecretArn"])
    while not delete_target(deployment, RUN)["gone"]:
        pass
    assert deployment.records.get(RUN).deleted_at is not None


NO_ROOM = "the target could not be created: Instance: InsufficientDBInstanceCapacity"


def refuse(_: str) -> None:
    raise TargetCreationError(NO_ROOM)


def test_a_zone_without_room_is_left_for_the_next_one(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(deployment)
    assert target.create_target(deployment, RUN) == {"clients_in": ""}
    first = deployment.records.get(RUN)
    assert first.zone == ZONES[0]["name"]
    monkeypatch.setattr(target, "read_outputs_when_created", refuse)
    looked = target.await_target(deployment, RUN)
    while not looked["again"]:
        looked = target.await_target(deployment, RUN)
    between = deployment.records.get(RUN)
    assert (between.zone, between.stack_id) == (None, None)
    assert stack_status() == "DELETE_COMPLETE"
    assert target.create_target(deployment, RUN) == {"clients_in": "-2"}
    second = deployment.records.get(RUN)
    assert second.zone == ZONES[1]["name"]
    assert second.stack_id not in (None, first.stack_id)
    with pytest.raises(TargetCreationError, match="InsufficientDBInstanceCapacity"):
        target.await_target(deployment, RUN)  # every zone was tried once


def test_another_refusal_is_not_tried_elsewhere(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(deployment)
    target.create_target(deployment, RUN)

    def refuse_otherwise(_: str) -> None:
        raise TargetCreationError("the target could not be created: Instance: over the quota")

    monkeypatch.setattr(target, "read_outputs_when_created", refuse_otherwise)
    with pytest.raises(TargetCreationError, match="over the quota"):
        target.await_target(deployment, RUN)
    assert deployment.records.get(RUN).zone == ZONES[0]["name"]


CASSANDRA: dict[str, Any] = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "gp3", "size_gib": 100},
}


def asking_for_cassandra(deployment: EverySetting) -> None:
    request = Request.model_validate(REQUESTED | {"target": CASSANDRA})
    deployment.files(RUN).put(REQUEST, request.model_dump_json())


def test_a_cassandra_gets_the_deployments_archive_role_group_and_subnet(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(deployment)
    asking_for_cassandra(deployment)
    place = {
        "archive_url": "s3://a/c",
        "instance_profile": "profile",
        "security_group_id": "sg-cassandra",
    }
    created: dict[str, Any] = {}
    monkeypatch.setattr(target, "create_stack", lambda **given: created.update(given) or "stack-id")
    ready = deployment.model_copy(
        update={"cassandra": CassandraPlace.model_validate(place), "target_kinds": ("cassandra",)}
    )
    target.create_target(ready, RUN)
    given = created["parameters"]
    assert given["ArchiveUrl"] == "s3://a/c"
    assert (given["InstanceProfileName"], given["SubnetId"]) == ("profile", "subnet-0a")
    assert given["SecurityGroupId"] == "sg-cassandra"  # not the one of RDS targets
    assert (given["InstanceType"], given["StorageType"]) == ("r5.large", "gp3")
    assert "SubnetGroupName" not in given


def test_a_deployment_without_cassandra_refuses_it_before_anything_is_made(
    deployment: EverySetting,
) -> None:
    without = deployment.model_copy(update={"target_kinds": ("rds", "endpoint")})
    refusal = r"target\.kind: this deployment has no cassandra targets \(allowed: rds, endpoint\)"
    request = Request.model_validate(REQUESTED | {"target": CASSANDRA})
    with pytest.raises(UsageError, match=refusal):
        record_request(without, check_request(request), run_id="refused")
    recorded(deployment)
    asking_for_cassandra(deployment)
    with pytest.raises(UsageError, match=refusal):
        start_and_stop.record_run(without, RUN)
    assert stack_status() == "NONE"


def test_a_stop_while_the_stack_is_made_takes_it_back(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(deployment)

    def stopped_meanwhile(**arguments: Any) -> str:
        assert delete_target(deployment, RUN)["gone"] is True  # the stop sees no stack yet
        return create_stack(**arguments)

    monkeypatch.setattr(target, "create_stack", stopped_meanwhile)
    with pytest.raises(RunStoppedError, match="while its target was being created"):
        target.create_target(deployment, RUN)
    assert stack_status() == "DELETE_COMPLETE"


def test_a_stopped_run_creates_nothing(deployment: EverySetting) -> None:
    started(deployment)
    delete_target(deployment, RUN)
    with pytest.raises(RunStoppedError):
        target.create_target(deployment, RUN)
    assert stack_status() == "NONE"


def test_a_target_that_cannot_be_created_says_why(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(deployment)
    target.create_target(deployment, RUN)
    monkeypatch.setattr(target, "read_outputs_when_created", failing("no such version"))
    with pytest.raises(TargetCreationError, match="no such version"):
        target.await_target(deployment, RUN)


def failing(reason: str) -> Callable[[str], None]:
    def fail(_stack_id: str) -> None:
        raise TargetCreationError(reason)

    return fail


def test_teardown_keeps_the_proof_and_disarms_the_schedule(deployment: EverySetting) -> None:
    started(deployment)
    target.create_target(deployment, RUN)
    assert delete_target(deployment, RUN)["gone"] is False
    assert delete_target(deployment, RUN) == {"gone": True, "wait_s": 1}
    record = deployment.records.get(RUN)
    assert record.deleted_at is not None
    assert boto3.client("scheduler").list_schedules()["Schedules"] == []
    assert stack_status() == "DELETE_COMPLETE"


def test_a_toggles_target_begins_in_the_first_state(deployment: EverySetting) -> None:
    started(deployment)
    states = [{"name": v, "parameters": {"innodb_doublewrite": v.upper()}} for v in ("on", "off")]
    request = Request.model_validate({**REQUESTED, "toggle": {"states": states}})
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    target.create_target(deployment, RUN)
    template = json.loads(deployment.files(RUN).find(TEMPLATE) or b"{}")
    written = template["Resources"]["ParameterGroup"]["Properties"]["Parameters"]
    assert written == {"innodb_buffer_pool_size": "16777216", "innodb_doublewrite": "ON"}
