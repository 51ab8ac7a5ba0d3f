"""The loop of a search in this process: when it ends, and what it adds to a step."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from plimsoll.fleet.plan import plan_step
from plimsoll.load_line import search_loop as module
from plimsoll.load_line.machine import Host
from plimsoll.load_line.options import StopRule
from plimsoll.load_line.search_loop import Finder
from plimsoll.machine import MachineLoad
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.judging.steps import Purpose
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.load_request import Load, Preparation, WorkloadChoice
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep, RampSearch, RateSearch
from plimsoll.model.run.fleet import ClientResult, FailedClient, ServerCounters, StepPlan
from plimsoll.workload import load_workload
from tests.support.synthetic_run import synthetic_run

PLAN = synthetic_run()[0].steps[0].plan
WORKLOAD = load_workload("ycsb-c").compile(100)


def finder(*rules: StopRule, time_limit_s: int = 100) -> Finder:
    """A search that has not begun."""
    request = Request(
        name="find",
        target=EndpointTarget(kind="endpoint", engine="mysql", host="127.0.0.1"),
        workload=WorkloadChoice(name="ycsb-c", records=100),
        load=Load(warmup_s=10, duration_s=30),
        prepare=Preparation(warm_s=0),
        search=RampSearch(),
        time_limit_s=time_limit_s,
    )
    target = parse_dsn("mysql://u@127.0.0.1:1/d")
    return Finder(request=request, target=target, compiled=WORKLOAD, stop_rules=rules)


def reads(succeeded: int, number: int = 3) -> tuple[SecondReport, ...]:
    """A second of one client."""
    return (
        SecondReport(
            second=number, operation="read", succeeded=succeeded, errors=0,
            p50_us=100, p99_us=200, max_us=300, buckets={},
        ),
    )  # fmt: skip


def test_a_rate_is_of_all_clients_together_in_the_same_second() -> None:
    searching = finder(StopRule.limit_rate(1000))
    searching._second(PLAN, 0, reads(600))
    searching._second(PLAN, 1, reads(400))
    searching._second(PLAN, 0, reads(900, number=4))
    assert searching.cut_short is None
    searching._second(PLAN, 1, reads(101, number=4))
    assert searching.cut_short is not None
    assert "1,001 operations were done within a second (maximum rate 1000)" in searching.cut_short


@pytest.mark.parametrize(
    ("purpose", "said"),
    [("climb", "the time limit of 40 s left no time for another step"), ("sentinel", None)],
)
def test_an_answer_stands_where_no_time_is_left_to_question_it(
    monkeypatch: pytest.MonkeyPatch, purpose: Purpose, said: str | None
) -> None:
    def ask(*_: object) -> NextStep:
        return NextStep(index=0, clients=1, connections=1, purpose=purpose, why="", window_factor=2)

    monkeypatch.setattr(module, "plan_run_step", ask)
    searching = finder(time_limit_s=40)  # a step is 40 s, and a second to judge it
    searching.search()
    assert searching.cut_short == said
    assert searching.steps == []


@pytest.mark.parametrize(("rules", "fill_s"), [((), 9), ((StopRule.limit_rate(1000),), 0)])
def test_where_a_rule_stops_a_load_no_heavier_one_fills_the_log(
    monkeypatch: pytest.MonkeyPatch, rules: tuple[StopRule, ...], fill_s: float
) -> None:
    begun: list[StepPlan] = []

    def step(plan: StepPlan) -> None:
        begun.append(plan)
        searching.end("one step is enough")

    following = NextStep(index=0, clients=1, connections=1, purpose="climb", why="")
    monkeypatch.setattr(module, "plan_run_step", lambda *_: following)
    monkeypatch.setattr(module, "plan_fill", lambda plan, *_: plan.model_copy(update={"fill_s": 9}))
    searching = finder(*rules, time_limit_s=1000)
    monkeypatch.setattr(searching, "_prepare", lambda plan, *_: plan)
    monkeypatch.setattr(searching, "_step", step)
    searching.search()
    assert [plan.fill_s for plan in begun] == [fill_s]


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done before a step's clients start, in its order; none of it for real."""
    done: list[str] = []

    def note(name: str, answer: object) -> object:
        done.append(name)
        return answer

    host = Host(shared=True, servers=frozenset())
    monkeypatch.setattr(Host, "of", lambda _: note("host", host))
    monkeypatch.setattr(module, "compute_local_barrier_ms", lambda _: note("barrier", 5))
    return done


def test_the_barrier_is_set_when_all_else_is_done(order: list[str]) -> None:
    searching = finder()
    searching.load_number = lambda _: order.append("number") or 7  # type: ignore[func-returns-value]
    searching.shows.planned = lambda plan: searching.end(f"{plan.start_at_epoch_ms}")
    following = NextStep(index=0, clients=1, connections=1, purpose="climb", why="")
    searching._step(plan_step(following, searching.request))
    assert order == ["number", "host", "barrier"]
    assert searching.cut_short == "5"


def test_a_longer_window_for_which_no_time_is_left_has_its_usual_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    longer = NextStep(index=0, clients=1, connections=1, purpose="again", why="", window_factor=2)
    monkeypatch.setattr(module, "plan_run_step", lambda *_: longer)
    searching = finder(time_limit_s=60)  # twice 40 s are longer
    tried: list[tuple[float, float]] = []

    def step(plan: StepPlan) -> None:
        tried.append((plan.warmup_s, plan.duration_s))
        searching.end("enough")

    monkeypatch.setattr(searching, "_prepare", lambda plan, *_: plan)
    monkeypatch.setattr(searching, "_step", step)
    searching.search()
    assert tried == [(10, 30)]


def test_a_search_over_rates_warms_the_caches_at_no_more_than_its_first_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans: list[StepPlan] = []

    def run(plan: StepPlan) -> tuple[list[ClientResult], list[FailedClient]]:
        plans.append(plan)
        return [], []

    searching = finder()
    rate = RateSearch(rate_first_ops_per_second=25, rate_max_ops_per_second=500)
    changes = {"search": rate, "prepare": Preparation(warm_s=5)}
    searching.request = searching.request.model_copy(update=changes)
    monkeypatch.setattr(searching, "_run", run)
    searching._warm()
    assert [plan.rate_ops_per_second for plan in plans] == [25]


def test_a_clock_that_is_set_back_ends_the_search_with_what_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client would wait for its barrier as long as the clock was set back."""

    @contextmanager
    def set_back(tell: Callable[[str], None]) -> Iterator[None]:
        tell("this machine's clock was set back by 3,600 s")
        yield

    monkeypatch.setattr(module, "watch_clock", set_back)
    searching = finder()
    searching.search()
    assert searching.cut_short == "this machine's clock was set back by 3,600 s"
    assert searching.steps == []


class IdleFamily:
    """A family whose server has nothing left to do."""

    def read_counters(self, _: object) -> ServerCounters:
        return ServerCounters(epoch_ms=0, values={}, family="mysql")


def test_a_search_waits_for_a_calm_machine_before_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = MachineLoad(stolen_percent=31, others_percent=0, idle_percent=10)
    calm = MachineLoad(stolen_percent=0, others_percent=0, idle_percent=99)
    looks = [busy, busy, calm]
    monkeypatch.setattr(module, "find_family", lambda _: IdleFamily())
    monkeypatch.setattr(module, "LOOK_AGAIN_S", 0)
    searching, told = finder(), list[str]()
    searching.shows.say = told.append
    searching.look = lambda _: looks.pop(0)
    following = NextStep(index=0, clients=1, connections=1, purpose="climb", why="")
    plan = plan_step(following, searching.request)
    assert searching._prepare(plan, following, math.inf) is not None
    assert looks == []
    assert told[0].startswith("waiting, this machine was busy: the hypervisor took 31 % of the CPU")


def test_a_wait_for_a_calm_machine_ends_with_the_time_of_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "find_family", lambda _: IdleFamily())
    searching = finder(time_limit_s=40)
    following = NextStep(index=0, clients=1, connections=1, purpose="climb", why="")
    plan = plan_step(following, searching.request)
    assert searching._prepare(plan, following, -math.inf) is None
    assert searching.cut_short == "the time limit of 40 s left no time for another step"


def test_without_the_audit_no_search_looks_at_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_family", lambda _: IdleFamily())
    searching = finder()
    limits = searching.request.limits.model_copy(update={"audits_off": frozenset({"undisturbed"})})
    searching.request = searching.request.model_copy(update={"limits": limits})
    searching.look = lambda _: pytest.fail("it looked")
    following = NextStep(index=0, clients=1, connections=1, purpose="climb", why="")
    plan = plan_step(following, searching.request)
    assert searching._prepare(plan, following, math.inf) is not None
