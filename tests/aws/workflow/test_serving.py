"""The end of `plimsoll serve` on a busy machine, where the teardown of a run begins late."""

import time
from types import SimpleNamespace
from typing import Any

import boto3
import pytest

from plimsoll.local.deploying import state_machine_arn
from plimsoll.local.serving import stop_everything
from plimsoll.model.deployment.functions import Setting
from plimsoll.model.run.run_record import RunState
from tests.aws.workflow.conftest import RUN, recorded
from tests.support.every_setting import EverySetting


def test_a_run_whose_teardown_has_not_begun_is_not_over(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its workflow has been stopped, it has no database, and nothing else is seen to run."""
    recorded(deployment, state=RunState.RUNNING)
    twin: Any = SimpleNamespace(
        client=boto3.client,
        databases={},
        settings={Setting.RUNS_TABLE: deployment.runs_table},
        state_machine_arn=state_machine_arn,
    )
    pauses = []

    def end_meanwhile(pause_s: float) -> None:
        pauses.append(pause_s)
        deployment.records.change(RUN, state=RunState.STOPPED)

    monkeypatch.setattr(time, "sleep", end_meanwhile)
    assert stop_everything(twin, say=print)
    assert len(pauses) == 1
