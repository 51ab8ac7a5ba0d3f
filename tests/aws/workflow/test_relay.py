"""A relay is planned at once, judged while it runs, and ended by a window that failed."""

import gzip
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

import plimsoll_engine
from plimsoll.aws.run_files import (
    HISTORY,
    claim_path,
    client_path,
    counters_path,
    failures_folder,
    plan_path,
    step_path,
)
from plimsoll.databases import mysql
from plimsoll.errors import PlimsollError, RunStoppedError, UnreadableFileError
from plimsoll.fleet.relay import plan_relay
from plimsoll.model.judging.steps import FinishedStep, History
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import Done, NextStep
from plimsoll.model.run.fleet import FailedClient, StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunState, TargetAddress
from plimsoll.workflow import barrier, client, judge_step, plan_step
from plimsoll.workflow.barrier import TURN_ITEMS, read_step_plans
from plimsoll.workflow.start_and_stop import stop_run
from tests.aws.workflow.conftest import REQUESTED, RUN, recorded
from tests.aws.workflow.test_plan_step import Clock, Family
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run
from tests.unit.fleet.test_merge import START_MS, after, planned, result
from tests.unit.test_corrupted_results import DAMAGES, add_digits, change_value, cut_off, flip_bits

TARGET = TargetAddress(
    protocol="mysql", host="127.0.0.1", port=1, database="db", secret_arn=None, identifier="db-1"
)
SOAK = NextStep(
    index=1, clients=2, connections=4, purpose="soak", why="window 1", duration_s=600,
    then=("window 2", "window 3"),
)  # fmt: skip


@pytest.fixture
def answered(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A run whose search has its answer, and asks for a soak of three windows."""
    recorded(deployment, state=RunState.RUNNING, target=TARGET, step=1)
    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "find_family", lambda _: Family())
    monkeypatch.setattr(barrier, "require_step_budget", lambda *_: None)
    monkeypatch.setattr(plan_step, "plan_run_step", lambda *_: SOAK)
    monkeypatch.setattr(plan_step, "prepare_step", lambda plan, *_, **__: plan)
    last = synthetic_run()[0].steps[0].step.model_copy(update={"purpose": "confirm"})
    deployment.files(RUN).put_model(HISTORY, History(steps=(FinishedStep(step=last, late=False),)))
    return deployment


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A step planned now has its window begin with a minute: after a lead of 20.02 s and 30 s."""
    clock = Clock()
    clock.now_s += 60 - 20.02 - 30
    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "time", clock)
    return clock


def plans(deployment: EverySetting) -> list[StepPlan]:
    return [deployment.files(RUN).get(plan_path(number), StepPlan) for number in (2, 3, 4)]


@pytest.mark.usefixtures("clock")
def test_each_window_begins_where_the_one_before_it_ends(answered: EverySetting) -> None:
    told = plan_step.plan_next_step(answered, RUN)
    first, second, third = plans(answered)
    assert (told["next"], told["step"]) == ("relay", 4)
    assert first.window_end_epoch_ms == second.start_at_epoch_ms
    assert second.window_end_epoch_ms == third.start_at_epoch_ms
    assert [one.warmup_s for one in (first, second, third)] == [30, 0, 0]
    assert [one.why for one in (first, second, third)] == ["window 1", "window 2", "window 3"]
    assert len({one.seed for one in (first, second, third)}) == 3
    assert all(one.relay and (one.relay.first, one.relay.last) == (2, 4) for one in plans(answered))
    assert all(one.window_start_epoch_ms % 60_000 == 0 for one in (first, second, third))
    assert told["clients"] == [
        0, 1, TURN_ITEMS, TURN_ITEMS + 1, 2 * TURN_ITEMS, 3 * TURN_ITEMS
    ]  # fmt: skip


@pytest.mark.parametrize(("left_s", "windows"), [(2000, 3), (1500, 2), (700, 1), (600, 0)])
def test_as_many_windows_are_planned_as_end_within_the_time_limit(
    answered: EverySetting, clock: Clock, left_s: int, windows: int
) -> None:
    expires = datetime.fromtimestamp(clock.now_s, UTC) + timedelta(seconds=left_s)
    answered.records.change(RUN, expires_at=expires)
    told = plan_step.plan_next_step(answered, RUN)
    kinds = {0: "conclude", 1: "step", 2: "relay", 3: "relay"}
    assert (told["next"], told["step"]) == (kinds[windows], windows + 1 if windows else 0)
    if windows == 1:
        assert answered.files(RUN).get(plan_path(2), StepPlan).relay is None


@pytest.mark.usefixtures("clock")
def test_as_many_windows_are_planned_as_the_budget_pays_for(
    answered: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(barrier, "require_step_budget", lambda *_: 1)
    assert plan_step.plan_next_step(answered, RUN)["step"] == 3


def test_a_window_that_never_began_costs_nothing(answered: EverySetting) -> None:
    relay(answered)
    files = answered.files(RUN)
    for number in (1, 2):
        files.claim(claim_path(number, 0))
    assert [plan.index for plan in read_step_plans(files)] == [1, 2]


def relay(deployment: EverySetting, windows: int = 4) -> tuple[StepPlan, ...]:
    """Plan a relay of windows of four seconds whose barriers are long past."""
    first = planned(warmup_s=1).model_copy(update={"purpose": "soak"})
    then = [f"window {number}" for number in range(2, windows + 1)]
    made = plan_relay(Request.model_validate(REQUESTED), first, then, lead_ms=100)
    for one in made:
        deployment.files(RUN).put_model(plan_path(one.index), one)
    return made


def write_results(deployment: EverySetting, plan: StepPlan, *, clients: int = 2) -> None:
    """Write what the clients of a window measured."""
    for number in range(clients):
        one = result(number, [100] * 400)
        shift_ms = plan.window_start_epoch_ms - START_MS - 1_000
        report = one.report.model_copy(
            update={
                "window_start_epoch_ms": one.report.window_start_epoch_ms + shift_ms,
                "window_end_epoch_ms": one.report.window_end_epoch_ms + shift_ms,
            }
        )
        changed = {
            "run_id": RUN,
            "step": plan.index,
            "report": report,
            "invoked_epoch_ms": plan.start_at_epoch_ms - 100,
        }
        told = one.model_copy(update=changed)
        deployment.files(RUN).put_model(client_path(plan.index, number), told)


@pytest.fixture
def relayed(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A run whose relay of four windows is under way."""
    recorded(deployment, state=RunState.RUNNING, target=TARGET, step=1)
    for plan in relay(deployment):
        write_results(deployment, plan)
    monkeypatch.setattr(judge_step, "connect_as_master", lambda _, known: known)
    counted = iter(range(2_000, 100_000, 1_000))
    monkeypatch.setattr(mysql, "read_counters", lambda _: after(next(counted)))
    monkeypatch.setattr(judge_step, "plan_run_step", lambda *_: SOAK)
    return deployment


def test_a_window_has_what_the_server_counted_between_its_ends(relayed: EverySetting) -> None:
    assert judge_step.read_relay_counters(relayed, RUN, 1) is False
    assert judge_step.read_relay_counters(relayed, RUN, 2) is False
    told, over = judge_step.judge_relay_window(relayed, RUN, 2)
    assert (told is not None and told.step, over) == (2, False)
    step = relayed.files(RUN).get(step_path(2), StepResult)
    assert step.server is not None
    assert step.server.statements_by_server == 1_000
    assert step.server.statements_by_clients is None, "the other fleet's are counted, too"
    assert step.step.load_start_epoch_ms == step.plan.start_at_epoch_ms
    assert step.step.load_end_epoch_ms == step.plan.window_end_epoch_ms
    assert relayed.records.get(RUN).step == 3, "the window that runs meanwhile"


def test_all_windows_are_judged_and_the_last_one_after_the_relay(relayed: EverySetting) -> None:
    for number in (1, 2, 3):
        judge_step.read_relay_counters(relayed, RUN, number)
        judge_step.judge_relay_window(relayed, RUN, number)
    assert judge_step.judge_step(relayed, RUN, 4).step == 4
    history = relayed.files(RUN).get(HISTORY, History)
    assert [done.step.index for done in history.steps] == [1, 2, 3, 4]
    record = relayed.records.get(RUN)
    assert (record.step, record.steps_finished, record.relay_until) == (4, 4, None)


@pytest.mark.parametrize("why", ["not sustained", "no client ran", "cannot be read"])
def test_a_window_without_a_sustained_load_ends_the_relay(
    relayed: EverySetting, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """The windows whose clients have been called run to their end: here all, long ago."""
    monkeypatch.setattr(judge_step, "count_called", lambda plans, _: plans[0].index + 1)
    if why == "not sustained":
        monkeypatch.setattr(judge_step, "plan_run_step", lambda *_: Done(why=""))
    if why == "cannot be read":
        relayed.files(RUN).put(client_path(1, 0), b"{}")
    if why == "no client ran":
        plan = relayed.files(RUN).get(plan_path(1), StepPlan)
        elsewhere = plan.model_copy(update={"round": 1})  # whose results are not there
        relayed.files(RUN).put_model(plan_path(1), elsewhere)
    told, over = judge_step.judge_relay_window(relayed, RUN, 1)
    assert (told is None) == (why == "cannot be read")
    assert over, "the window after it is the last one, and judged after the relay"
    assert relayed.records.get(RUN).relay_until == 2
    assert judge_step.read_relay_counters(relayed, RUN, 2)
    assert judge_step.judge_relay_window(relayed, RUN, 2) == (None, True)
    if why == "cannot be read":
        with pytest.raises(Exception, match="cannot be unpacked"):
            judge_step.judge_step(relayed, RUN, 4)
        return
    assert judge_step.judge_step(relayed, RUN, 4).step == 2
    assert relayed.files(RUN).find(step_path(3)) is None


RELAYED = [
    plan_path(2),
    counters_path(1),
    client_path(2, 1),
    f"{failures_folder(2)}1.json",
    HISTORY,
]


def check_damages(
    relayed: EverySetting, damage: Callable[[bytes, Random], bytes], path: str, count: int
) -> None:
    """Damage one file of a relay again and again, and have each turn of the relay taken."""
    files = relayed.files(RUN)
    judge_step.read_relay_counters(relayed, RUN, 1)
    judge_step.judge_relay_window(relayed, RUN, 1)
    failed = FailedClient(client=1, error="Sandbox.Timedout", cause="Task timed out")
    files.put_model(f"{failures_folder(2)}1.json", failed)
    whole = files.find(path)
    assert whole is not None
    names = {name: files.find(name) for name in (HISTORY, plan_path(2))}
    turns: list[Callable[[], object]] = [
        lambda: judge_step.judge_relay_window(relayed, RUN, 2),
        lambda: client.run_client(relayed, RUN, 2, 0),
        lambda: judge_step.read_relay_counters(relayed, RUN, 2),
        lambda: judge_step.judge_step(relayed, RUN, 4),
    ]
    for number in range(count):
        for name, content in names.items():
            files.put(name, content or b"")
        relayed.records.change(RUN, relay_until=None)
        # what changes text changes that of a packed file, and not its packed bytes
        packed = path.endswith(".gz") and damage in (add_digits, change_value)
        damaged = damage(gzip.decompress(whole) if packed else whole, Random(number))
        files.put(path, gzip.compress(damaged) if packed else damaged)
        for turn in turns:
            try:
                turn()
            except (PlimsollError, plimsoll_engine.EngineError) as error:
                told = str(error)
                assert "\n" not in told, (path, number, told)
                assert len(told) < 1_000, (path, number, told)


@pytest.mark.parametrize("path", RELAYED)
@pytest.mark.parametrize("damage", [flip_bits, cut_off])
def test_a_damaged_file_of_a_relay_is_told_in_a_sentence_or_counts(
    relayed: EverySetting, damage: Callable[[bytes, Random], bytes], path: str
) -> None:
    """Whoever reads it is told, and it costs no one a wait: each turn ends at once."""
    check_damages(relayed, damage, path, 3)


@pytest.mark.whole
@pytest.mark.parametrize("path", RELAYED)
@pytest.mark.parametrize("damage", DAMAGES)
def test_so_is_each_of_many(
    relayed: EverySetting, damage: Callable[[bytes, Random], bytes], path: str
) -> None:
    check_damages(relayed, damage, path, 40)


@pytest.mark.parametrize("path", [plan_path(2), counters_path(1)])
def test_a_window_whose_plan_or_counters_are_damaged_ends_the_relay(
    relayed: EverySetting, path: str
) -> None:
    """An execution of the judge that failed would end the run without a cause."""
    for number in (1, 2):
        judge_step.read_relay_counters(relayed, RUN, number)
    judge_step.judge_relay_window(relayed, RUN, 1)
    relayed.files(RUN).put(path, b'{"cut": ')
    assert judge_step.judge_relay_window(relayed, RUN, 2) == (None, False)
    assert relayed.records.get(RUN).relay_until == 4, "the windows that have been called already"
    with pytest.raises(UnreadableFileError, match=f"^{path} is damaged: .*EOF while parsing"):
        judge_step.judge_step(relayed, RUN, 4)


def test_a_client_with_a_damaged_plan_says_so(relayed: EverySetting) -> None:
    relayed.files(RUN).put(plan_path(2), b"{}")
    with pytest.raises(UnreadableFileError, match=r"^steps/2/plan.json is damaged: index: Field"):
        client.run_client(relayed, RUN, 2, 0)


def test_nobody_waits_for_a_damaged_time(relayed: EverySetting) -> None:
    """One flipped bit of a digit is a barrier in years."""
    files = relayed.files(RUN)
    late = files.get(plan_path(2), StepPlan).model_copy(update={"start_at_epoch_ms": 10**13})
    files.put_model(plan_path(2), late)
    told = r"^steps/2/plan.json is damaged: its window ends more than 15 min from now$"
    with pytest.raises(UnreadableFileError, match=told):
        client.run_client(relayed, RUN, 2, 0)
    with pytest.raises(UnreadableFileError, match=told):
        judge_step.read_relay_counters(relayed, RUN, 2)


def test_a_client_of_a_window_that_will_not_be_sends_nothing(relayed: EverySetting) -> None:
    relayed.records.change(RUN, relay_until=2)
    assert client.run_client(relayed, RUN, 3, 0) is True
    assert relayed.files(RUN).find(claim_path(3, 0)) is None


@pytest.mark.parametrize("how", ["stopped", "too late", "stopped while its load is under way"])
def test_a_client_of_a_run_that_has_ended_ends(
    relayed: EverySetting, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """It is told so by no one: the workflow is gone, and Lambda lets functions run on."""
    if how == "too late":
        relayed.records.change(RUN, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    elif how == "stopped":
        stop_run(relayed, RUN)
    else:
        late = relayed.files(RUN).get(plan_path(2), StepPlan)
        now_ms = round(datetime.now(UTC).timestamp() * 1000)
        soon = late.model_copy(update={"start_at_epoch_ms": now_ms, "duration_s": 600})
        relayed.files(RUN).put_model(plan_path(2), soon)
        monkeypatch.setattr(client, "RELAY_LOOK_S", 0.01)

        def send(*arguments: Any) -> Any:
            relayed.records.change(RUN, state=RunState.STOPPING)
            arguments[-1].wait_until_cancelled()
            raise RunStoppedError("its target is gone")

        monkeypatch.setattr(client, "_send_client_load", send)
        monkeypatch.setattr(plimsoll_engine, "CancelToken", Token)
    assert client.run_client(relayed, RUN, 2, 0) is True
    assert relayed.files(RUN).find(claim_path(2, 0)) is None or how.endswith("under way")


class Token:
    """An engine's token that can be waited for."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()

    def wait_until_cancelled(self) -> None:
        assert self._cancelled.wait(60)
