"""Planning: the workflow may call it again after an answer that was lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from plimsoll.aws.run_files import REQUEST, plan_path, step_path
from plimsoll.model.fleet import StepPlan
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunState, TargetAddress
from plimsoll.runs import plan_step
from tests.aws.runs.conftest import REQUESTED, RUN, recorded
from tests.support.every_setting import EverySetting

TARGET = TargetAddress(
    protocol="mysql", host="db", port=3306, database="plimsoll", secret_arn=None, identifier=None
)


class Datasets:
    """A dataset on which nothing is inserted."""

    def begin_load(self, _: object) -> int:
        return 1


class Family:
    """A family whose servers answer nothing."""

    @contextmanager
    def open_datasets(self, _: object) -> Iterator[Datasets]:
        yield Datasets()

    def read_counters(self, _: object) -> None:
        return None


@pytest.fixture
def running(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A run whose dataset has just been verified, and whose request asks for warm caches."""
    recorded(deployment, state=RunState.RUNNING, target=TARGET)
    warmed = Request.model_validate({**REQUESTED, "prepare": {"warm_s": 5}})
    deployment.files(RUN).put(REQUEST, warmed.model_dump_json())
    monkeypatch.setattr(plan_step, "family_of", lambda _: Family())
    monkeypatch.setattr(plan_step, "require_step_budget", lambda *_: None)
    return deployment


def planned(deployment: EverySetting) -> Any:
    return plan_step.plan_next(deployment, RUN)["step"]


def test_a_repeated_call_plans_the_same_warming_step_again(running: EverySetting) -> None:
    assert planned(running) == 0
    barrier = running.files(RUN).get(plan_path(0), StepPlan).start_at_epoch_ms
    assert planned(running) == 0, "the caches would stay cold"
    assert running.files(RUN).get(plan_path(0), StepPlan).start_at_epoch_ms >= barrier
    running.files(RUN).put(step_path(0), "{}")
    assert planned(running) == 1


def test_a_repeated_call_plans_the_same_measured_step_again(running: EverySetting) -> None:
    running.records.change(RUN, step=0)
    running.files(RUN).put(step_path(0), "{}")
    assert [planned(running), planned(running)] == [1, 1]
