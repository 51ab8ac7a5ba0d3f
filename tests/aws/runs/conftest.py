"""A deployment of which every service answers within this process (moto)."""

from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.function_settings import Deployment
from plimsoll.aws.run_files import REQUEST
from plimsoll.aws.run_records import now
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord, RunState
from tests.support.aws_resources import (
    BUCKET,
    REGION,
    RUNS_TABLE,
    make_bucket,
    make_tables,
    role_arn,
)
from tests.support.requested import REQUESTED as SMALL

RUN = "20260101-000000-abcdef"
REQUESTED: dict[str, Any] = {
    **SMALL,
    "target": {**SMALL["target"], "parameters": {"innodb_buffer_pool_size": 16777216}},
    "prepare": {"warm_s": 0},
}


@pytest.fixture
def deployment(account: None) -> Deployment:
    del account
    make_bucket()
    make_tables()
    clients.scheduler().create_schedule_group(Name="plimsoll")
    return Deployment(
        results_bucket=BUCKET,
        runs_table=RUNS_TABLE,
        target_service_role_arn=role_arn("target"),
        deletion_role_arn=role_arn("deletion"),
        schedule_group="plimsoll",
        target_subnet_group="subnets",
        target_security_group="sg-1",
        target_availability_zone=f"{REGION}a",
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
