"""Phases come before the search: passes in their order, each with the workload of its phase."""

from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from plimsoll.aws.run_files import HISTORY, REQUEST, plan_path, step_path
from plimsoll.aws.run_records import now
from plimsoll.model.judging.steps import History
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ServerCounters, StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunState
from plimsoll.requests.checked_request import check_request
from plimsoll.workflow import barrier, plan_step
from plimsoll.workflow.history import (
    note_step,
    read_finished_steps,
    read_judged_steps,
    read_search_steps,
    read_steps_so_far,
)
from plimsoll.workflow.phases import summarize_phases
from tests.aws.workflow.conftest import RUN, recorded
from tests.aws.workflow.test_plan_step import TARGET
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run
from tests.unit.fleet.test_phase_plan import JOB

COLD = {**JOB, "prepare": {"warm_s": 0}}
DONE = synthetic_run()[0].steps[0]


class Family:
    """A family that notes which dataset a load begins on, and whose servers tell nothing."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    @contextmanager
    def open_datasets(self, _: object) -> Any:
        yield self

    def begin_load(self, compiled: Any) -> int:
        self.begun.append(compiled.name)
        return len(self.begun)

    def read_counters(self, _: object) -> ServerCounters | None:
        return None


@pytest.fixture
def family(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> Family:
    """A run whose dataset has just been verified, with two phases."""
    recorded(deployment, state=RunState.RUNNING, target=TARGET)
    request = Request.model_validate(COLD)
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    made = Family()
    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "find_family", lambda _: made)
    monkeypatch.setattr(barrier, "require_step_budget", lambda *_: None)
    monkeypatch.setattr(barrier, "has_metrics", lambda *_: False)  # nothing waits for a minute
    return made


def do_next(deployment: EverySetting) -> StepPlan:
    """Plan a step, and have it done."""
    planned = plan_step.plan_next_step(deployment, RUN)
    assert planned["next"] == "step"
    files = deployment.files(RUN)
    plan = files.get(plan_path(int(str(planned["step"]))), StepPlan)
    assert planned["clients"] == list(range(plan.clients))
    step = DONE.step.model_copy(update={"index": plan.index})
    files.put_model(
        step_path(plan.index), DONE.model_copy(update={"plan": plan, "step": step, "seconds": ()})
    )
    return plan


def test_the_passes_are_planned_in_turn_and_the_search_after_them(
    deployment: EverySetting, family: Family
) -> None:
    plans = [do_next(deployment) for _ in range(8)]
    assert [(plan.index, plan.phase, plan.connections) for plan in plans] == [
        (1, "load", 1), (2, "load", 6), (3, "load", 1), (4, "load", 6),
        (5, "charge", 8), (6, "charge", 8), (7, "charge", 8), (8, None, 1),
    ]  # fmt: skip
    assert family.begun == ["batch-1-bulk-insert"] * 4 + ["batch-3-charges"] * 4
    assert [plan.load_number for plan in plans] == [1, 2, 3, 4, 5, 6, 7, 8]
    files = deployment.files(RUN)
    assert [step.plan.index for step in read_judged_steps(files)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [step.plan.index for step in read_search_steps(files)] == [8]
    assert [done.step.index for done in read_finished_steps(files)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [done.step.index for done in read_steps_so_far(files)] == [8]


def test_what_is_kept_of_judged_steps_counts_passes_which_the_search_does_not_see(
    deployment: EverySetting, family: Family
) -> None:
    files = deployment.files(RUN)
    for number in range(1, 9):
        do_next(deployment)
        judged = files.get(step_path(number), StepResult)
        assert [done.step.index for done in note_step(files, judged)] == [*range(1, number + 1)]
    assert files.get(HISTORY, History).steps == read_finished_steps(files)
    assert [done.phase for done in read_finished_steps(files)] == [
        *["load"] * 4,
        *["charge"] * 3,
        None,
    ]
    assert [done.step.index for done in read_steps_so_far(files)] == [8]
    assert len(family.begun) == 8


def test_a_repeated_call_plans_the_same_pass(deployment: EverySetting, family: Family) -> None:
    del family
    first, again = (plan_step.plan_next_step(deployment, RUN)["step"] for _ in range(2))
    assert (first, again) == (1, 1)


def test_a_pass_is_given_no_more_time_than_the_run_has(
    deployment: EverySetting, family: Family
) -> None:
    """When it ends is not known: `longest_s` of 90 s is no reason to end a run that has 60 left."""
    del family
    deployment.records.change(RUN, expires_at=now() + timedelta(seconds=60))
    plan = do_next(deployment)
    assert 10 < plan.duration_s < 60


ASK = {
    "name": "ask",
    "workload": {"name": "batch-2-validation"},
    "search": {"strategy": "steps", "clients": [1], "open_loop_probe": False, "probes_max": 3},
    "limits": {"confirmation": None},
}
ONCE = {"records": 1000, "connections": [6], "repetitions": 1}


def test_a_phase_with_a_search_goes_on_until_that_has_its_answer(
    deployment: EverySetting, family: Family
) -> None:
    """Numbers are kept for as many steps as it may take, so that those after it are known."""
    load = {**JOB["phases"][0], "to_completion": ONCE}
    charge = {**JOB["phases"][1], "to_completion": ONCE}
    scan = {"name": "nightly", "workload": {"name": "sysbench-full-scan", "records": 20000}}
    asked = {**COLD, "phases": [load, ASK, charge], "background": [scan]}
    request = Request.model_validate(asked)
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    plans = [do_next(deployment) for _ in range(3)]
    assert [(plan.index, plan.phase, plan.purpose) for plan in plans] == [
        (1, "load", "phase"), (2, "ask", "baseline"), (5, "charge", "phase"),
    ]  # fmt: skip
    assert plans[1].operations is None
    assert plans[1].duration_s == request.load.duration_s
    assert len({plan.seed for plan in plans}) == 3
    assert [plan.background for plan in plans] == [(), (), ()]
    assert family.begun == ["batch-1-bulk-insert", "batch-2-validation", "batch-3-charges"]
    planned = plan_step.plan_next_step(deployment, RUN)
    assert planned["step"] == 6, "the run's own search"
    (found,) = [
        one
        for one in summarize_phases(
            check_request(request), read_judged_steps(deployment.files(RUN)), None
        )
        if one.name == "ask"
    ]
    assert found.capacity is not None
    assert found.steps == (2,)
    assert found.records is None
    assert found.sentence.startswith(found.capacity.summary)
