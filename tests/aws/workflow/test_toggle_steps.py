"""A step of a toggle waits for its server's switch, and asks the server what it has."""

from typing import Any

import pytest

from plimsoll.aws.run_files import REQUEST, plan_path
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunState, Switch
from plimsoll.workflow import barrier, plan_step, toggle
from tests.aws.workflow.conftest import REQUESTED, RUN, recorded
from tests.aws.workflow.test_plan_step import TARGET, BusyFamily
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run

TOGGLED: dict[str, Any] = {
    **REQUESTED,
    "prepare": {"warm_s": 40},
    "load": {"warmup_s": 30, "duration_s": 60},
    "toggle": {
        "states": [
            {"name": "on", "parameters": {"innodb_doublewrite": "ON"}},
            {"name": "off", "parameters": {"innodb_doublewrite": "OFF"}},
        ]
    },
}
ASKED = NextStep(index=4, clients=1, connections=1, purpose="toggle", state="off", why="pair 1")


class Server(BusyFamily):
    """A server that tells its parameters."""

    def __init__(self, says: str) -> None:
        self.says = {"innodb_doublewrite": says}

    def read_parameters(self, _: object, names: list[str]) -> dict[str, str]:
        assert names == ["innodb_doublewrite"]
        return self.says


def done(state: str, says: str) -> StepResult:
    step = synthetic_run()[0].steps[0]
    update = {"state": state, "purpose": "toggle", "parameters": {"innodb_doublewrite": says}}
    return step.model_copy(update={"plan": step.plan.model_copy(update=update)})


@pytest.fixture
def toggled(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A run that is about to take a step of its toggle in the second state."""
    without_metrics = TARGET.model_copy(update={"identifier": None})
    recorded(deployment, state=RunState.RUNNING, target=without_metrics, step=4)
    request = Request.model_validate(TOGGLED)
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    monkeypatch.setattr(barrier, "require_step_budget", lambda *_: None)
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: ASKED)
    monkeypatch.setattr(plan_step, "read_search_steps", lambda _: [done("on", "ON")])
    says(monkeypatch, "OFF")
    return deployment


def says(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    server = Server(value)
    for module in (plan_step, barrier, toggle):
        monkeypatch.setattr(module, "find_family", lambda _: server)


def switched(deployment: EverySetting, **changes: Any) -> None:
    switch = Switch(step=5, state="off", stage="done").model_copy(update=changes)
    deployment.records.change(RUN, switch=switch)


@pytest.mark.parametrize(
    "before", [None, {"step": 4}, {"state": "on"}, {"stage": "apply"}], ids=str
)
def test_the_server_is_switched_for_each_step(
    toggled: EverySetting, before: dict[str, Any] | None
) -> None:
    if before is not None:
        switched(toggled, **before)
    asked = plan_step.plan_next_step(toggled, RUN)
    assert (asked["next"], asked["step"], asked["state"]) == ("switch", 5, "off")


def test_a_switched_server_is_measured_after_warming_it(toggled: EverySetting) -> None:
    switched(toggled)
    assert plan_step.plan_next_step(toggled, RUN)["next"] == "step"
    plan = toggled.files(RUN).get(plan_path(5), StepPlan)
    assert (plan.state, plan.parameters) == ("off", {"innodb_doublewrite": "OFF"})
    assert (plan.warmup_s, plan.duration_s) == (40 + 30, 60)


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (
            ("on", "ON"),
            "ON",
            "in state off the server says innodb_doublewrite = ON, as in",
        ),
        (("off", "OFF"), "ON", "in state off the server says innodb_doublewrite = ON, unlike in"),
    ],
)
def test_parameters_that_were_not_taken_end_the_pairs_and_not_the_run(
    toggled: EverySetting,
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[str, str],
    now: str,
    told: str,
) -> None:
    switched(toggled)
    says(monkeypatch, now)
    monkeypatch.setattr(plan_step, "read_search_steps", lambda _: [done(*before)])
    assert plan_step.plan_next_step(toggled, RUN)["next"] == "conclude"
    switch = toggled.records.get(RUN).switch
    assert switch is not None
    assert told in (switch.problem or "")


def test_an_answer_stands_where_the_target_could_not_be_switched(toggled: EverySetting) -> None:
    switched(toggled, stage="failed", problem="the target is storage-full")
    assert plan_step.plan_next_step(toggled, RUN)["next"] == "conclude"
