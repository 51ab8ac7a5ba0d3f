"""A deployment of which every service answers within this process (moto)."""

import json
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST
from plimsoll.aws.run_records import now
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.model.settings import Setting
from plimsoll.workflow import start_and_stop
from tests.support.aws_resources import (
    ACCOUNT,
    REGION,
    make_bucket,
    make_tables,
    role_arn,
)
from tests.support.every_setting import EverySetting, settings_on_aws
from tests.support.requested import REQUESTED as SMALL

RUN = "20260101-000000-abcdef"
REQUESTED: dict[str, Any] = {
    **SMALL,
    "target": {**SMALL["target"], "parameters": {"innodb_buffer_pool_size": 16777216}},
    "prepare": {"warm_s": 0},
}


ZONES = [
    {"name": f"{REGION}a", "subnet_id": "subnet-0a", "clients": ""},
    {"name": f"{REGION}b", "subnet_id": "subnet-0b", "clients": "-2"},
]


@pytest.fixture
def deployment(account: None) -> EverySetting:
    del account
    make_bucket()
    make_tables()
    clients.events().create_event_bus(Name="plimsoll")
    clients.scheduler().create_schedule_group(Name="plimsoll")
    machine = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine"
    return settings_on_aws(
        {
            Setting.TARGET_SERVICE_ROLE_ARN: role_arn("target"),
            Setting.DELETION_ROLE_ARN: role_arn("deletion"),
            Setting.SCHEDULE_GROUP: "plimsoll",
            Setting.TARGET_SUBNET_GROUP: "subnets",
            Setting.TARGET_SECURITY_GROUP: "sg-1",
            Setting.ZONES: json.dumps(ZONES),
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


def started(deployment: EverySetting) -> None:
    """Record a run and start it: its target's deletion is armed."""
    recorded(deployment)
    start_and_stop.record_run(deployment, RUN)
    start_and_stop.schedule_deletion(deployment, RUN)
