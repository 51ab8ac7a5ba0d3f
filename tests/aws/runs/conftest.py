"""A deployment of which every service answers within this process (moto)."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST
from plimsoll.aws.run_records import now
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord, RunState
from plimsoll.model.settings import Setting
from tests.support.every_setting import EverySetting, settings_on_aws
from tests.support.requested import REQUESTED as SMALL
from tests.support.tables import create_tables

RUN = "20260101-000000-abcdef"
REQUESTED: dict[str, Any] = {
    **SMALL,
    "target": {**SMALL["target"], "parameters": {"innodb_buffer_pool_size": 16777216}},
    "prepare": {"warm_s": 0},
}


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    clients.through(None)
    yield
    clients.through(None)


@pytest.fixture
def deployment() -> Iterator[EverySetting]:
    with mock_aws():
        boto3.client("s3").create_bucket(
            Bucket="results", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        create_tables()
        boto3.client("events").create_event_bus(Name="plimsoll")
        boto3.client("scheduler").create_schedule_group(Name="plimsoll")
        machine = "arn:aws:states:eu-west-1:123456789012:stateMachine"
        yield settings_on_aws(
            {
                Setting.TARGET_SERVICE_ROLE_ARN: "arn:aws:iam::123456789012:role/target",
                Setting.DELETION_ROLE_ARN: "arn:aws:iam::123456789012:role/deletion",
                Setting.SCHEDULE_GROUP: "plimsoll",
                Setting.TARGET_SUBNET_GROUP: "subnets",
                Setting.TARGET_SECURITY_GROUP: "sg-1",
                Setting.TARGET_AVAILABILITY_ZONE: "eu-west-1a",
                Setting.POLL_SECONDS: "1",
                Setting.RUN_MACHINE_ARN: f"{machine}:run",
                Setting.EXPERIMENT_MACHINE_ARN: f"{machine}:experiment",
            }
        )


def recorded(deployment: EverySetting, **changes: Any) -> RunRecord:
    """Record a run as `submit` does, then change it."""
    request = Request.model_validate(REQUESTED)
    deployment.records.create(
        RunRecord(
            run_id=RUN,
            name=request.name,
            team=request.team,
            state=RunState.PENDING,
            request_sha256="0" * 64,
            submitted_at=now(),
            time_limit_s=request.time_limit_s,
        )
    )
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    if changes:
        deployment.records.change(RUN, **changes)
    return deployment.records.get(RUN)
