"""A deployment of which every service answers within this process (moto)."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from plimsoll.aws import clients
from plimsoll.aws.function_settings import Deployment
from plimsoll.aws.run_files import REQUEST
from plimsoll.aws.run_records import now
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord, RunState
from tests.support.requested import REQUESTED as SMALL
from tests.support.tables import create_table

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
def deployment() -> Iterator[Deployment]:
    with mock_aws():
        boto3.client("s3").create_bucket(
            Bucket="results", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        create_table("runs", "run_id")
        boto3.client("scheduler").create_schedule_group(Name="plimsoll")
        yield Deployment(
            results_bucket="results",
            runs_table="runs",
            target_service_role_arn="arn:aws:iam::123456789012:role/target",
            deletion_role_arn="arn:aws:iam::123456789012:role/deletion",
            schedule_group="plimsoll",
            target_subnet_group="subnets",
            target_security_group="sg-1",
            target_availability_zone="eu-west-1a",
            poll_seconds=1,
        )


def recorded(deployment: Deployment, **changes: Any) -> RunRecord:
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
