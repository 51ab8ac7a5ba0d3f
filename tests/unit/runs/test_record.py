"""A run's record changes only where its state allows it."""

from datetime import timedelta

import pytest

from plimsoll.model.runs import Failure, RunState, TargetAddress
from plimsoll.runs.deployment import Deployment
from plimsoll.runs.record import (
    RunNotFoundError,
    RunStoppedError,
    TimeLimitPassedError,
    now,
)
from tests.unit.runs.conftest import RUN, recorded


def test_a_record_comes_back_as_it_was_written(deployment: Deployment) -> None:
    address = TargetAddress(
        host="db", port=3306, database="plimsoll", secret_arn="arn:secret", identifier="plimsoll-x"
    )
    failure = Failure(phase="step", error="StepError", cause="no client ran")
    record = recorded(deployment, target=address, failure=failure, rows=7)
    assert (record.target, record.failure, record.rows) == (address, failure, 7)
    assert record.state is RunState.PENDING
    deployment.records.change(RUN, failure=None)
    assert deployment.records.get(RUN).failure is None


def test_a_second_record_of_one_id_changes_nothing(deployment: Deployment) -> None:
    record = recorded(deployment, rows=7)
    assert deployment.records.create(record.model_copy(update={"rows": 8})) is False
    assert deployment.records.get(RUN).rows == 7


def test_a_change_needs_one_of_the_states_named(deployment: Deployment) -> None:
    recorded(deployment, state=RunState.STOPPING)
    assert not deployment.records.change(RUN, states=(RunState.RUNNING,), stack_id="made")
    assert deployment.records.get(RUN).stack_id is None
    assert deployment.records.change(RUN, states=(RunState.STOPPING,), stack_id="made")


def test_an_unknown_run_is_named(deployment: Deployment) -> None:
    with pytest.raises(RunNotFoundError, match="'nobody'"):
        deployment.records.get("nobody")
    assert deployment.records.change("nobody", rows=1) is False


def test_only_a_running_run_within_its_time_goes_on(deployment: Deployment) -> None:
    recorded(deployment, state=RunState.STOPPING)
    with pytest.raises(RunStoppedError):
        deployment.records.require_running(RUN)
    later = now() + timedelta(seconds=60)
    deployment.records.change(RUN, state=RunState.RUNNING, expires_at=later)
    assert deployment.records.require_running(RUN).expires_at == later
    deployment.records.change(RUN, expires_at=now() - timedelta(seconds=1))
    with pytest.raises(TimeLimitPassedError, match="7200 s passed in its record phase"):
        deployment.records.require_running(RUN)
