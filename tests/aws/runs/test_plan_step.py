"""Planning: the workflow may call it again after an answer that was lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from plimsoll.aws.function_settings import Deployment
from plimsoll.aws.run_files import REQUEST, plan_path, step_path
from plimsoll.model.fleet import StepPlan
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunState, TargetAddress
from plimsoll.runs import plan_step
from tests.aws.runs.conftest import REQUESTED, RUN, recorded

TARGET = TargetAddress(host="db", port=3306, database="plimsoll", secret_arn=None, identifier=None)


class Database:
    def begin_load(self, _: object) -> int:
        return 1


@contextmanager
def open_database(_: object) -> Iterator[Database]:
    yield Database()


@pytest.fixture
def running(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """A run whose dataset has just been verified, and whose request asks for warm caches."""
    recorded(deployment, state=RunState.RUNNING, target=TARGET)
    warmed = Request.model_validate({**REQUESTED, "prepare": {"warm_s": 5}})
    deployment.files(RUN).put(REQUEST, warmed.model_dump_json())
    monkeypatch.setattr(plan_step, "open_database", open_database)
    monkeypatch.setattr(plan_step, "require_step_budget", lambda *_: None)
    monkeypatch.setattr(plan_step, "read_counters", lambda _: None)
    return deployment


def planned(deployment: Deployment) -> Any:
    return plan_step.plan_next(deployment, RUN)["step"]


def test_a_repeated_call_plans_the_same_warming_step_again(running: Deployment) -> None:
    assert planned(running) == 0
    barrier = running.files(RUN).get(plan_path(0), StepPlan).start_at_epoch_ms
    assert planned(running) == 0, "the caches would stay cold"
    assert running.files(RUN).get(plan_path(0), StepPlan).start_at_epoch_ms >= barrier
    running.files(RUN).put(step_path(0), "{}")
    assert planned(running) == 1


def test_a_repeated_call_plans_the_same_measured_step_again(running: Deployment) -> None:
    running.records.change(RUN, step=0)
    running.files(RUN).put(step_path(0), "{}")
    assert [planned(running), planned(running)] == [1, 1]
