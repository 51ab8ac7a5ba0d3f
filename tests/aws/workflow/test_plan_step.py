"""Planning: the workflow may call it again after an answer that was lost."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll import search_steps
from plimsoll.aws.run_files import HISTORY, PRECONDITIONING, REQUEST, plan_path, step_path
from plimsoll.aws.run_records import now
from plimsoll.errors import BudgetPassedError, PlimsollError, TimeLimitPassedError
from plimsoll.machine import MachineLoad
from plimsoll.model.judging.steps import FinishedStep, History, Purpose
from plimsoll.model.request.experiment import Turn
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import Done, NextStep
from plimsoll.model.run.fleet import ServerCounters, StepPlan, UnfinishedWork
from plimsoll.model.run.results import Preconditioning, Round
from plimsoll.model.run.run_record import RunState, TargetAddress
from plimsoll.workflow import barrier, plan_step
from plimsoll.workflow.barrier import Next
from tests.aws.workflow.conftest import REQUESTED, RUN, recorded
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run

TARGET = TargetAddress(
    protocol="mysql", host="db", port=3306, database="plimsoll", secret_arn=None, identifier="db-1"
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

    def read_counters(self, _: object) -> ServerCounters | None:
        return None


@pytest.fixture
def running(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A run whose dataset has just been verified, and whose request asks for warm caches."""
    recorded(deployment, state=RunState.RUNNING, target=TARGET)
    warmed = Request.model_validate({**REQUESTED, "prepare": {"warm_s": 5}})
    deployment.files(RUN).put(REQUEST, warmed.model_dump_json())
    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "find_family", lambda _: Family())
    monkeypatch.setattr(barrier, "require_step_budget", lambda *_: None)
    return deployment


def planned(deployment: EverySetting) -> Any:
    return plan_step.plan_next_step(deployment, RUN)["step"]


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 480.0 * 8_000_000  # a whole minute of the year 2091: no run of it has expired

    def time(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A step planned now has its window begin with a minute: after a lead of 20.01 s and 30 s."""
    clock = Clock()
    clock.now_s += 60 - 20.01 - 30
    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.mark.usefixtures("clock")
def test_a_repeated_call_plans_the_same_warming_step_again(running: EverySetting) -> None:
    assert planned(running) == 0
    barrier = running.files(RUN).get(plan_path(0), StepPlan).start_at_epoch_ms
    assert planned(running) == 0, "the caches would stay cold"
    assert running.files(RUN).get(plan_path(0), StepPlan).start_at_epoch_ms >= barrier
    running.files(RUN).put(step_path(0), "{}")
    assert planned(running) == 1


@pytest.mark.usefixtures("clock")
def test_a_repeated_call_plans_the_same_measured_step_again(running: EverySetting) -> None:
    running.records.change(RUN, step=0)
    running.files(RUN).put(step_path(0), "{}")
    assert [planned(running), planned(running)] == [1, 1]


@pytest.mark.parametrize("late_s", [0, 0.5, 14.9, 15.1, 30, 44, 59.9])
def test_a_steps_window_is_a_whole_minute_whenever_it_is_planned(
    running: EverySetting, clock: Clock, late_s: float
) -> None:
    """Up to 15 s its clients wait for the barrier; for longer the workflow does, which is cheap."""
    running.records.change(RUN, step=0)
    running.files(RUN).put(step_path(0), "{}")
    clock.now_s += late_s
    asked = plan_step.plan_next_step(running, RUN)
    if 0 < late_s < 45:
        assert (asked["next"], asked["wait_s"]) == ("pause", math.floor(60 - late_s) - 5)
        clock.now_s += 60 - late_s - 5 + 2  # planning began 2 s after the pause
        asked = plan_step.plan_next_step(running, RUN)
    assert asked["next"] == "step"
    plan = running.files(RUN).get(plan_path(1), StepPlan)
    assert plan.window_start_epoch_ms % 60_000 == 0
    assert plan.window_end_epoch_ms % 60_000 == 0
    assert plan.start_at_epoch_ms - 1000 * clock.now_s < 20_010 + 15_001


OTHER = "20260101-000000-fedcba"
IN_TIME_S = 180.0  # from the clock's first moment: for a window at 240 s, where an odd slot begins


def taking_turns(running: EverySetting, **other: Any) -> None:
    """The run's caches are warm; the other one is where it is said to be."""
    running.records.change(RUN, step=0, turn=Turn(beside=OTHER, second=True, slot_s=240))
    running.files(RUN).put(step_path(0), "{}")
    record = running.records.get(RUN)
    turn = Turn(beside=RUN, second=False, slot_s=240)
    running.records.create(record.model_copy(update={"run_id": OTHER, "turn": turn, **other}))


def test_a_run_that_takes_turns_waits_for_the_other_before_its_first_step(
    running: EverySetting, clock: Clock
) -> None:
    taking_turns(running)
    asked = plan_step.plan_next_step(running, RUN)
    assert (asked["next"], asked["wait_s"]) == ("pause", 1)
    assert running.records.get(RUN).turn_ready_at is not None
    running.records.change(OTHER, turn_ready_at=now())
    clock.now_s += IN_TIME_S - 20  # too late to wait for it without a pause
    asked = plan_step.plan_next_step(running, RUN)
    assert (asked["next"], asked["wait_s"]) == ("pause", 15)
    clock.now_s += 15 + 2
    assert plan_step.plan_next_step(running, RUN)["next"] == "step"
    plan = running.files(RUN).get(plan_path(1), StepPlan)
    assert plan.window_start_epoch_ms % 480_000 == 240_000


def test_it_does_not_wait_for_one_that_has_ended(running: EverySetting, clock: Clock) -> None:
    taking_turns(running, state=RunState.FAILED)
    clock.now_s += IN_TIME_S - 10
    assert plan_step.plan_next_step(running, RUN)["next"] == "step"


def test_it_waits_no_longer_than_half_its_time(running: EverySetting, clock: Clock) -> None:
    """The other has not even been recorded."""
    running.records.change(RUN, step=0, turn=Turn(beside=OTHER, second=True, slot_s=240))
    running.files(RUN).put(step_path(0), "{}")
    clock.now_s += IN_TIME_S - 10
    assert plan_step.plan_next_step(running, RUN) == Next.pause(1)
    limit_s = running.records.get(RUN).time_limit_s
    running.records.change(RUN, started_at=now() - timedelta(seconds=0.6 * limit_s))
    assert plan_step.plan_next_step(running, RUN)["next"] == "step"


def test_the_warming_step_waits_for_no_minute(running: EverySetting, clock: Clock) -> None:
    clock.now_s += 1
    assert plan_step.plan_next_step(running, RUN)["next"] == "step"


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("error", [BudgetPassedError, TimeLimitPassedError])
def test_an_answer_stands_where_a_closing_step_has_no_time_or_budget(
    running: EverySetting, monkeypatch: pytest.MonkeyPatch, error: type[PlimsollError]
) -> None:
    def refuse(*_: object) -> None:
        raise error("too little is left")

    def asked(purpose: Purpose) -> NextStep:
        return NextStep(index=0, clients=1, connections=1, purpose=purpose, why="")

    running.records.change(RUN, step=0)
    running.files(RUN).put(step_path(0), "{}")
    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "find_family", lambda _: BusyFamily())
    monkeypatch.setattr(barrier, "require_step_budget", refuse)
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: asked("soak"))
    assert plan_step.plan_next_step(running, RUN)["next"] == "conclude"
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: asked("confirm"))
    with pytest.raises(error):
        plan_step.plan_next_step(running, RUN)


@pytest.mark.usefixtures("clock")
def test_an_answer_stands_where_its_target_answers_no_more(
    running: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(purpose: Purpose) -> NextStep:
        return NextStep(index=0, clients=1, connections=1, purpose=purpose, why="")

    running.records.change(RUN, step=0)
    running.files(RUN).put(step_path(0), "{}")
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: asked("sentinel"))
    assert plan_step.plan_next_step(running, RUN)["next"] == "conclude"
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: asked("confirm"))
    assert plan_step.plan_next_step(running, RUN)["next"] != "conclude"


@pytest.mark.parametrize(
    ("workload", "off", "next_state"),
    [("ycsb-a", [], "conclude"), ("tpcc", [], "check"), ("tpcc", ["conditions"], "conclude")],
)
def test_what_a_workload_says_of_its_rows_is_checked_once_the_search_is_over(
    running: EverySetting,
    monkeypatch: pytest.MonkeyPatch,
    workload: str,
    off: list[str],
    next_state: str,
) -> None:
    asked = {"workload": {"name": workload, "records": 1}, "limits": {"audits_off": off}}
    request = Request.model_validate({**REQUESTED, **asked})
    running.files(RUN).put(REQUEST, request.model_dump_json())
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: Done(why="the answer is known"))
    assert plan_step.plan_next_step(running, RUN)["next"] == next_state


@pytest.mark.parametrize(("purpose", "stands"), [("twice_clients", True), ("confirm", False)])
def test_an_answer_stands_where_time_has_passed_while_it_was_questioned(
    running: EverySetting, purpose: Purpose, stands: bool
) -> None:
    last = synthetic_run()[0].steps[0].step.model_copy(update={"purpose": purpose})
    history = History(steps=(FinishedStep(step=last, late=False),))
    running.files(RUN).put_model(HISTORY, history)
    running.records.change(RUN, step=1, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    if stands:
        assert plan_step.plan_next_step(running, RUN)["next"] == "conclude"
        return
    with pytest.raises(TimeLimitPassedError):
        plan_step.plan_next_step(running, RUN)


@pytest.mark.parametrize(("purpose", "stands"), [("toggle", True), ("confirm", False)])
def test_an_answer_stands_where_time_passes_before_it_is_questioned(
    running: EverySetting, monkeypatch: pytest.MonkeyPatch, purpose: Purpose, stands: bool
) -> None:
    """Such as in the restart before a toggle's first step."""
    last = synthetic_run()[0].steps[0].step.model_copy(update={"purpose": "confirm"})
    history = History(steps=(FinishedStep(step=last, late=False),))
    running.files(RUN).put_model(HISTORY, history)
    running.records.change(RUN, step=1, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    following = NextStep(index=1, clients=1, connections=1, purpose=purpose, why="")
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: following)
    if stands:
        assert plan_step.plan_next_step(running, RUN)["next"] == "conclude"
        return
    with pytest.raises(TimeLimitPassedError):
        plan_step.plan_next_step(running, RUN)


class BusyFamily(Family):
    """A family whose server leaves its redo log half full for ever."""

    def read_counters(self, _: object) -> ServerCounters:
        return ServerCounters(epoch_ms=0, values={}, family="mysql")

    def find_unfinished_work(self, _: object) -> UnfinishedWork:
        return UnfinishedWork(what="53 % of the redo log wait", left=53)

    def write_debt(self, _: object) -> None:
        """What it owes is not known."""


def test_a_target_that_works_no_more_is_waited_for_as_long_as_that_takes_to_see(
    running: EverySetting, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_metrics = TARGET.model_copy(update={"identifier": None})
    running.records.change(RUN, step=1, target=without_metrics)
    running.files(RUN).put(step_path(0), "{}")
    overloaded = NextStep(
        index=1, clients=1, connections=1, purpose="again", recover_first=True, why="it failed"
    )
    for module in (plan_step, barrier, search_steps):
        monkeypatch.setattr(module, "find_family", lambda _: BusyFamily())
    last = FinishedStep(step=synthetic_run()[0].steps[0].step, late=False)
    running.files(RUN).put_model(HISTORY, History(steps=(last,)))
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: overloaded)
    began_s, polls = clock.now_s, 0
    while plan_step.plan_next_step(running, RUN)["next"] == "pause":
        polls += 1
        clock.now_s += 1
        recovery = running.records.get(RUN).recovery
        assert recovery is not None
        assert recovery.what == "53 % of the redo log wait"
    assert clock.now_s - began_s == polls == 10, "load.recovery_max_s is 300 s"
    plan = running.files(RUN).get(plan_path(2), StepPlan)
    assert plan.recovered
    assert plan.recovery == "nothing moved for 10 s: 53 % of the redo log wait"
    assert running.records.get(RUN).recovery is None


def test_a_busy_machine_is_waited_for_on_one_machine(
    running: EverySetting, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = running.model_copy(update={"on_one_machine": True})
    without_metrics = TARGET.model_copy(update={"identifier": None})
    running.records.change(RUN, step=1, target=without_metrics)
    running.files(RUN).put(step_path(0), "{}")
    running.files(RUN).put_model(HISTORY, History())
    busy = MachineLoad(stolen_percent=31, others_percent=0, idle_percent=10)
    calm = MachineLoad(stolen_percent=0, others_percent=0, idle_percent=99)
    looks = [busy, busy, calm]
    monkeypatch.setattr(plan_step, "measure_around_twin", lambda: looks.pop(0))
    following = NextStep(index=1, clients=1, connections=1, purpose="climb", why="")
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: following)
    for _ in range(2):
        assert plan_step.plan_next_step(here, RUN)["next"] == "pause"
        clock.now_s += 1
        seen = running.records.get(RUN).busy
        assert seen is not None
        assert "the hypervisor took 31 % of the CPU" in seen.what
    assert plan_step.plan_next_step(here, RUN)["step"] == 2
    assert running.files(RUN).get(plan_path(2), StepPlan).calm_waited_s == 2
    assert running.records.get(RUN).busy is None


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(("settled", "step"), [(False, 0), (True, 1)])
def test_the_unmeasured_load_goes_on_until_it_has_settled(
    running: EverySetting, settled: bool, step: int
) -> None:
    assert planned(running) == 0
    done = Round(
        number=0, duration_s=5, throughput_ops_per_second=500, ios_per_operation=None, trend=None
    )
    seen = Preconditioning(rounds=(done,), settled=settled, text="5 s of unmeasured load")
    running.files(RUN).put_model(PRECONDITIONING, seen)
    running.files(RUN).put(step_path(0), "{}")
    assert [planned(running), planned(running)] == [step, step]
    plan = running.files(RUN).get(plan_path(step), StepPlan)
    assert plan.round == (0 if settled else 1), "a round has places of its own for its results"


@pytest.mark.parametrize(("left_s", "window_s"), [(300, 120), (150, 60)])
def test_a_longer_window_for_which_no_time_is_left_has_its_usual_length(
    running: EverySetting,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    left_s: float,
    window_s: float,
) -> None:
    expires_at = datetime.fromtimestamp(clock.now_s + left_s, UTC)
    without_metrics = TARGET.model_copy(update={"identifier": None})
    running.records.change(RUN, step=1, target=without_metrics, expires_at=expires_at)
    longer = NextStep(
        index=1, clients=1, connections=1, purpose="again", window_factor=2, why="halves"
    )
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: longer)
    running.files(RUN).put_model(HISTORY, History())
    assert planned(running) == 2
    plan = running.files(RUN).get(plan_path(2), StepPlan)
    assert (plan.warmup_s, plan.duration_s) == (window_s / 2, window_s)


def test_clients_of_a_background_are_items_of_the_steps_fan_out(
    running: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With loads of their own on each dataset, so that no two insert the same rows."""
    workload = {"name": "batch-bulk-insert", "records": 1000}
    beside = [{"name": "import", "workload": workload, "clients": 2}]
    asked = Request.model_validate({**REQUESTED, "background": beside})
    running.files(RUN).put(REQUEST, asked.model_dump_json())
    running.records.change(RUN, step=0, target=TARGET.model_copy(update={"identifier": None}))
    running.files(RUN).put(step_path(0), "{}")
    begun: list[str] = []

    class Counting(Datasets):
        def begin_load(self, compiled: Any) -> int:
            begun.append(compiled.dataset)
            return 10 * len(begun)

    class Counted(Family):
        @contextmanager
        def open_datasets(self, _: object) -> Iterator[Datasets]:
            yield Counting()

    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "find_family", lambda _: Counted())
    assert plan_step.plan_next_step(running, RUN)["clients"] == [0, 1, 2]
    plan = running.files(RUN).get(plan_path(1), StepPlan)
    (load,) = plan.background
    assert (plan.clients, load.first_client, load.clients) == (1, 1, 2)
    assert begun == ["ycsb", "batch"]
    assert (plan.load_number, load.load_number) == (10, 20)
