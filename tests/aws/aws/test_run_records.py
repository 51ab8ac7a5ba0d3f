"""A run's record changes only where its state allows it."""

from datetime import timedelta

import pytest

from plimsoll.aws.run_records import now, require_loading_budget
from plimsoll.errors import (
    BudgetPassedError,
    RunNotFoundError,
    RunStoppedError,
    TimeLimitPassedError,
)
from plimsoll.model.run.run_record import Failure, HeldBudget, RunState, TargetAddress
from tests.aws.workflow.conftest import RUN, recorded
from tests.support.every_setting import EverySetting


def test_a_record_comes_back_as_it_was_written(deployment: EverySetting) -> None:
    address = TargetAddress(
        protocol="mysql",
        host="db",
        port=3306,
        database="plimsoll",
        secret_arn="arn:secret",
        identifier="plimsoll-x",
    )
    failure = Failure(phase="step", error="StepError", cause="no client ran")
    record = recorded(deployment, target=address, failure=failure, rows=7)
    assert (record.target, record.failure, record.rows) == (address, failure, 7)
    assert record.state is RunState.PENDING
    deployment.records.change(RUN, failure=None)
    assert deployment.records.get(RUN).failure is None


def test_a_second_record_of_one_id_changes_nothing(deployment: EverySetting) -> None:
    record = recorded(deployment, rows=7)
    assert deployment.records.create(record.model_copy(update={"rows": 8})) is False
    assert deployment.records.get(RUN).rows == 7


def test_a_change_needs_one_of_the_states_named(deployment: EverySetting) -> None:
    recorded(deployment, state=RunState.STOPPING)
    assert not deployment.records.change(RUN, states=(RunState.RUNNING,), stack_id="made")
    assert deployment.records.get(RUN).stack_id is None
    assert deployment.records.change(RUN, states=(RunState.STOPPING,), stack_id="made")


def test_an_unknown_run_is_named(deployment: EverySetting) -> None:
    with pytest.raises(RunNotFoundError, match="'nobody'"):
        deployment.records.get("nobody")
    assert deployment.records.change("nobody", rows=1) is False


def test_only_a_running_run_within_its_time_goes_on(deployment: EverySetting) -> None:
    recorded(deployment, state=RunState.STOPPING)
    with pytest.raises(RunStoppedError):
        deployment.records.require_running(RUN)
    later = now() + timedelta(seconds=60)
    deployment.records.change(RUN, state=RunState.RUNNING, expires_at=later)
    assert deployment.records.require_running(RUN).expires_at == later
    deployment.records.change(RUN, expires_at=now() - timedelta(seconds=1))
    with pytest.raises(TimeLimitPassedError, match="2 h passed in its record phase"):
        deployment.records.require_running(RUN)


BUDGET = HeldBudget(usd="0.6", target_s=100, fleet_usd="0.1", loading_s=60)


def test_a_deadline_that_the_budget_set_says_so(deployment: EverySetting) -> None:
    past = now() - timedelta(seconds=1)
    recorded(deployment, state=RunState.RUNNING, expires_at=past, budget=BUDGET)
    with pytest.raises(
        BudgetPassedError, match=r"\$0\.60, enough for 1 min 40 s .* passed in its record"
    ):
        deployment.records.require_running(RUN)
    generous = BUDGET.model_copy(update={"target_s": 7200})
    deployment.records.change(RUN, budget=generous)
    with pytest.raises(TimeLimitPassedError):
        deployment.records.require_running(RUN)


def test_loaders_stop_where_the_loads_part_of_the_budget_ends(deployment: EverySetting) -> None:
    began = now()
    record = recorded(deployment, budget=BUDGET, prepare_at=began)
    require_loading_budget(record, began + timedelta(seconds=59))
    with pytest.raises(BudgetPassedError, match="1 min of loading the dataset"):
        require_loading_budget(record, began + timedelta(seconds=60))
    without = record.model_copy(update={"budget": None})
    require_loading_budget(without, began + timedelta(seconds=600))
