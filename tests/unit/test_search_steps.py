"""When a step of a search may begin: not while its target recovers or its machine is busy."""

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from plimsoll.cli.progress import RunProgress
from plimsoll.fleet.plan import plan_step
from plimsoll.machine import MachineLoad
from plimsoll.model.judging.debt import DebtGrowth
from plimsoll.model.judging.steps import Purpose, Step
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.fleet import ServerCounters, StepPlan, UnfinishedWork
from plimsoll.model.run.run_record import BusyMachine, Recovery, RunRecord, RunState
from plimsoll.search_steps import (
    Recovered,
    describe_busy_machine,
    describe_recovery,
    end_recovery,
    plan_fill,
    prepare_step,
    shorten_window,
    update_recovery,
    waits_for_machine,
)
from plimsoll.workflow.status import Snapshot
from tests.support.requested import REQUESTED

REQUEST = Request.model_validate({**REQUESTED, "load": {"warmup_s": 2, "duration_s": 10}})


def asked(purpose: Purpose, *, recover_first: bool = False, window_factor: int = 1) -> NextStep:
    return NextStep(
        index=1, clients=1, connections=1, purpose=purpose, why="",
        recover_first=recover_first, window_factor=window_factor,
    )  # fmt: skip


def prepared(
    following: NextStep,
    counters: ServerCounters | None,
    waiting: Recovery | None = None,
    finished: Sequence[Step] = (),
) -> StepPlan | Recovery | None:
    plan = plan_step(following, REQUEST)
    ready = prepare_step(
        plan,
        following,
        REQUEST,
        counters=counters,
        waiting=waiting,
        at_epoch_ms=1_000_000,
        finished=finished,
    )
    assert not isinstance(ready, BusyMachine)
    return ready


IDLE = ServerCounters(epoch_ms=0, values={}, family="mysql")


def test_a_step_after_no_overload_says_nothing_of_a_recovery() -> None:
    ready = prepared(asked("climb"), IDLE)
    assert isinstance(ready, StepPlan)
    assert (ready.server_before, ready.recovered, ready.recovery) == (IDLE, None, None)


def test_a_server_without_work_has_recovered() -> None:
    ready = prepared(asked("again", recover_first=True), IDLE)
    assert isinstance(ready, StepPlan)
    assert (ready.recovered, ready.recovery) == (True, None)


def test_a_server_that_does_not_answer_is_waited_for_and_not_for_ever() -> None:
    following = asked("again", recover_first=True)
    waiting = prepared(following, None)
    assert isinstance(waiting, Recovery)
    assert waiting.what == "it does not answer"
    long = waiting.model_copy(update={"since_epoch_ms": 1_000_000 - 300_000})
    ready = prepared(following, None, long)
    assert isinstance(ready, StepPlan)
    assert (ready.recovered, ready.recovery) == (False, "after 5 min, it does not answer")


def test_no_closing_step_begins_on_a_server_that_does_not_answer() -> None:
    assert prepared(asked("sentinel", recover_first=True), None) is None


@pytest.mark.parametrize(
    ("purpose", "factor", "length_s"),
    [("again", 2, (2, 10)), ("again", 1, None), ("sentinel", 2, None)],
)
def test_a_longer_window_is_cut_to_the_usual_one_but_of_closing_steps(
    purpose: Purpose, factor: int, length_s: tuple[float, float] | None
) -> None:
    plan = plan_step(asked(purpose, window_factor=factor), REQUEST)
    shorter = shorten_window(plan, REQUEST)
    assert (shorter and (shorter.warmup_s, shorter.duration_s)) == length_s
    assert shorter is None or shorter.window_factor == factor, "it is not asked for again"


# --- waiting for a target to recover ---


LONGEST_S = 300.0


def wait(*looks: UnfinishedWork, longest_s: float = LONGEST_S) -> tuple[int, Recovered]:
    """Look once a second, at the last for ever; returns after how many seconds it ended."""
    seen: Recovery | None = None
    for second in range(1000):
        seen = update_recovery(seen, looks[min(second, len(looks) - 1)], 1_000_000 + 1000 * second)
        ended = end_recovery(seen, longest_s)
        if ended is not None:
            return second, ended
    raise AssertionError("it waits for ever")


def redo(left: int) -> UnfinishedWork:
    return UnfinishedWork(what=f"{left} % of the redo log", left=left)


def test_what_an_idle_server_never_works_off_is_waited_for_some_seconds() -> None:
    """A checkpoint age of 0.53 to 0.55 for ever cost 300 s, twice."""
    waited_s, ended = wait(*(redo(5300 + (7 * n) % 200) for n in range(1000)))
    assert waited_s == 10
    assert ended.recovered, "nothing works in it that the next load would feel"
    assert ended.how is not None
    assert ended.how.startswith("nothing moved for 10 s: ")


def test_what_shrinks_is_waited_for() -> None:
    waited_s, ended = wait(*(redo(9000 - 100 * n) for n in range(60)))
    assert waited_s == 69, "ten seconds after it shrank last"
    assert ended.recovered
    assert wait(*(redo(9000 - 10 * n) for n in range(200)), longest_s=60) == (
        60,
        Recovered(recovered=False, how="after 1 min, 8400 % of the redo log"),
    )


def test_statements_that_run_may_stand_still_and_end_all_the_same() -> None:
    waited_s, ended = wait(UnfinishedWork(what="8 statements are still running"))
    assert (waited_s, ended.recovered) == (300, False)


def test_other_work_has_its_own_seconds() -> None:
    statements = [UnfinishedWork(what="8 statements are still running")] * 30
    waited_s, ended = wait(*statements, redo(5300))
    assert (waited_s, ended.recovered) == (40, True)


# --- waiting for a machine that other programs keep busy ---


BUSY = MachineLoad(stolen_percent=0, others_percent=52, idle_percent=44, busiest=("cc1 49 %",))
CALM = MachineLoad(stolen_percent=0, others_percent=4, idle_percent=90)
BESIDE = MachineLoad(stolen_percent=0, others_percent=12, idle_percent=85)
DISTURBED = Step(clients=1, host_others_percent=30, host_idle_percent=5)
WHAT = (
    "this machine was busy: other processes used 52 % of the CPU; at most 10 % is allowed"
    " (the busiest: cc1 49 %)"
)


def wait_for_machine(
    *looks: MachineLoad, finished: Sequence[Step] = (), longest_s: float = 300
) -> tuple[list[str], StepPlan]:
    """Look once a second, at the last load for ever; return what was told, and the step's plan."""
    following = asked("climb")
    load = REQUEST.load.model_copy(update={"calm_max_s": longest_s})
    request = REQUEST.model_copy(update={"load": load})
    busy: BusyMachine | None = None
    told: list[str] = []
    for second in range(1000):
        ready = prepare_step(
            plan_step(following, request),
            following,
            request,
            counters=IDLE,
            waiting=None,
            at_epoch_ms=1_000_000 + 1000 * second,
            machine=looks[min(second, len(looks) - 1)],
            busy=busy,
            finished=finished,
        )
        if isinstance(ready, StepPlan):
            return told, ready
        assert isinstance(ready, BusyMachine)
        busy = ready
        told.append(describe_busy_machine(ready, longest_s))
    raise AssertionError("it waits for ever")


def test_a_step_begins_at_once_on_a_calm_machine() -> None:
    told, plan = wait_for_machine(CALM)
    assert (told, plan.calm_waited_s) == ([], 0)


def test_a_busy_machine_is_waited_for_and_the_busiest_programs_are_named() -> None:
    told, plan = wait_for_machine(BUSY, BUSY, CALM)
    assert told == [
        f"waiting, {WHAT} (0 s so far; 5 min in all at most)",
        f"waiting, {WHAT} (1 s so far; 5 min in all at most)",
    ]
    assert plan.calm_waited_s == 2


def test_a_machine_that_is_never_calm_is_waited_for_as_long_as_the_request_allows() -> None:
    told, plan = wait_for_machine(BUSY, longest_s=20)
    assert (len(told), plan.calm_waited_s) == (20, 20)
    waited = DISTURBED.model_copy(update={"calm_waited_s": 15.0})
    assert wait_for_machine(BUSY, finished=[waited], longest_s=20)[1].calm_waited_s == 5
    assert wait_for_machine(BUSY, finished=[waited] * 2, longest_s=20)[1].calm_waited_s == 0


def test_idle_processors_excuse_other_programs_until_a_step_shows_that_they_do_not() -> None:
    assert wait_for_machine(BESIDE)[1].calm_waited_s == 0
    assert wait_for_machine(BESIDE, CALM, finished=[DISTURBED])[1].calm_waited_s == 1


@pytest.mark.parametrize(
    ("changes", "waits"),
    [
        ({}, True),
        ({"load": {"calm_max_s": 0}}, False),
        ({"limits": {"audits_off": ["undisturbed"]}}, False),
    ],
)
def test_without_the_audit_nothing_is_waited_for(changes: dict[str, object], waits: bool) -> None:
    assert waits_for_machine(Request.model_validate({**REQUESTED, **changes})) is waits


def test_it_is_said_each_few_seconds_who_keeps_the_machine_busy() -> None:
    said = io.StringIO()
    progress = RunProgress(Request.model_validate(REQUESTED), Console(file=said, width=200))
    for second in range(11):
        busy = BusyMachine(what=WHAT, since_epoch_ms=0, seen_epoch_ms=1000 * second)
        progress.show(Snapshot(RECORD.model_copy(update={"busy": busy}), None, ()))
    lines = said.getvalue().splitlines()
    assert [line.rpartition("(")[2].partition(" so")[0] for line in lines] == ["0 s", "5 s", "10 s"]


# --- what is said of a recovery ---


RECORD = RunRecord(
    run_id="r",
    name="small",
    team="default",
    state=RunState.RUNNING,
    request_sha256="",
    submitted_at=datetime(2026, 11, 22, tzinfo=UTC),
    time_limit_s=600,
)


def recovering(second: int) -> Recovery:
    return Recovery(
        what=f"{60 - second} % of the redo log",
        left=60 - second,
        since_epoch_ms=0,
        moved_epoch_ms=1000 * second,
        seen_epoch_ms=1000 * second,
    )


def test_it_is_said_each_few_seconds_what_is_waited_for() -> None:
    said = io.StringIO()
    request = Request.model_validate(REQUESTED)
    progress = RunProgress(request, Console(file=said, width=200))
    for second in range(11):
        now = RECORD.model_copy(update={"recovery": recovering(second)})
        progress.show(Snapshot(now, None, ()))
    lines = said.getvalue().splitlines()
    assert [line.split("(")[1].split(" so far")[0] for line in lines] == ["0 s", "5 s", "10 s"]
    assert lines[1].endswith(describe_recovery(recovering(5), request.load.recovery_max_s))


OWES = ServerCounters(
    epoch_ms=0,
    values={
        "Innodb_checkpoint_age": 90_000,
        "Innodb_checkpoint_max_age": 100_000,
        "Innodb_lsn_current": 1_000_000,
    },
    family="mysql",
)
WROTE = Step(
    connections=32,
    debt=DebtGrowth(
        limit_bytes=100_000, start_bytes=80_000, end_bytes=85_000, peak_bytes=85_000,
        written_bytes=50_000, lent_bytes=5_000, interval_s=10, waves=0, judged=True,
    ),
)  # fmt: skip


def test_a_full_log_is_not_waited_for_since_steps_fill_it_anyway() -> None:
    ready = prepared(asked("again", recover_first=True), OWES, finished=[WROTE])
    assert isinstance(ready, StepPlan)
    assert ready.recovered is True
    filling = plan_fill(ready, REQUEST, [WROTE])
    assert filling.fill_s == pytest.approx(32)  # twice 80 % of the log, at the speed seen
    assert plan_fill(ready, REQUEST, []).fill_s == 0


def test_a_sentinel_waits_for_the_log_that_others_filled_and_fills_none() -> None:
    waiting = prepared(asked("sentinel"), OWES, finished=[WROTE])
    assert isinstance(waiting, Recovery)
    assert waiting.what == "90 % of the log wait for their pages to be written"
    ready = prepared(asked("sentinel"), OWES)
    assert isinstance(ready, StepPlan)
    assert plan_fill(ready, REQUEST, [WROTE]).fill_s == 0


ENDPOINT = {
    "kind": "endpoint", "engine": "mariadb", "host": "db.example", "database": "shop",
    "secret_arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:shop",
}  # fmt: skip


@pytest.mark.parametrize(
    ("search", "connections", "fills"),
    [
        ({"strategy": "ramp", "connections_max": 8}, 8, True),
        ({"strategy": "ramp", "connections_max": 512}, 32, True),
        ({"strategy": "steps", "clients": [1, 3], "connections_per_client": 2}, 6, True),
        ({"strategy": "rate", "rate_first_ops_per_second": 10, "rate_max_ops_per_second": 20},
         32, False),
    ],
)  # fmt: skip
def test_a_database_that_others_use_is_filled_by_no_more_than_its_heaviest_step(
    search: dict[str, Any], connections: int, *, fills: bool
) -> None:
    ready = prepared(asked("again", recover_first=True), OWES, finished=[WROTE])
    assert isinstance(ready, StepPlan)
    theirs = Request.model_validate(REQUESTED | {"target": ENDPOINT, "search": search})
    filling = plan_fill(ready, theirs, [WROTE])
    assert (filling.fill_s > 0, filling.fill_connections) == (fills, connections)
