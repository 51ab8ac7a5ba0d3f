"""Every verdict, every reason and every edge case, as one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Confirmation, Rules
from plimsoll.model.judging.steps import Half, Step
from tests.unit.capacity.samples import LINEAR, offered, step

RULES = Rules(confirmation=None)


@dataclass(frozen=True)
class Case:
    name: str
    steps: Sequence[Step]
    verdict: str
    figure: float | None
    bound: str | None
    at: float | None = None
    bracket: tuple[float | None, float | None] | None = None
    cause: str | None = None


def refused(clients: int, ops: float, **known: Any) -> Step:
    """A step whose target was full; without throughput, no client was let in."""
    why = "the target refused connections of 1 of 4 clients: Too many connections"
    let_in = step(clients, ops, refused=why, **known)
    return let_in if ops else let_in.model_copy(update={"latency_us": {}, "clients_ran": 0})


CASES = [
    # --- the seven verdicts ---
    Case(
        "latency fails",
        [*LINEAR, step(4, 3100, 301)],
        "KNEE", 3000, "=", 3, (3, 4), "latency:update",
    ),
    Case(
        "at the limit passes",
        [*LINEAR, step(4, 3900, 300)],
        "LOWER_BOUND", 3900, ">=", 4, (4, None),
    ),
    Case("throughput falls", [*LINEAR, step(4, 2699)], "KNEE", 3000, "=", 3, (3, 4), "retrograde"),
    Case(
        "a fall within 10 % passes",
        [*LINEAR, step(4, 2701)],
        "LOWER_BOUND", 3000, ">=", 3, (4, None),
    ),
    Case(
        "errors",
        [*LINEAR, step(4, 4000, errors=41, operations=40_000)],
        "KNEE", 3000, "=", 3, (3, 4), "errors",
    ),
    Case(
        "errors of 0.1 % pass",
        [*LINEAR, step(4, 4000, errors=40, operations=39_960)],
        "LOWER_BOUND", 4000, ">=", 4, (4, None),
    ),
    Case(
        "plateau",
        [*LINEAR, step(4, 3070), step(5, 3080)],
        "PLATEAU", 3070, "=", 4, (4, None), "plateau",
    ),
    Case(
        "a plateau's answer is the lightest load that has its throughput",
        [step(1, 1000, 100), step(2, 2000, 110), step(3, 2990, 120), step(5, 3000, 170),
         step(8, 3010, 270)],
        "PLATEAU", 2990, "=", 3, (3, None), "plateau",
    ),
    Case(
        "a lighter load that has 2 % less is no part of a plateau",
        [step(1, 1000), step(2, 2000), step(3, 2940), step(5, 3000), step(8, 3010)],
        "PLATEAU", 3000, "=", 5, (5, None), "plateau",
    ),
    Case(
        "one slow gain is no plateau",
        [*LINEAR, step(4, 3050), step(5, 4000), step(6, 4050)],
        "LOWER_BOUND", 4050, ">=", 6, (6, None),
    ),
    Case(
        "gains count per client added",
        [step(1, 1000), step(2, 2000), step(12, 2900), step(22, 3800)],
        "PLATEAU", 2900, "=", 12, (12, None), "plateau",
    ),
    Case(
        "all clients refused",
        [*LINEAR, refused(4, 0)],
        "KNEE", 3000, "=", 3, (3, 4), "connections",
    ),
    Case(
        "some clients refused, so that not all ran",
        [*LINEAR, refused(4, 2000, client_busy=0.9, clients_ran=3)],
        "KNEE", 3000, "=", 3, (3, 4), "connections",
    ),
    Case(
        "all clients refused at the lightest: no operation is known",
        [refused(1, 0)],
        "BELOW_FIRST_STEP", None, None, None, (None, 1), "connections",
    ),
    Case("nothing fails", LINEAR, "LOWER_BOUND", 3000, ">=", 3, (3, None)),
    Case(
        "the lightest fails: less than was tried, failures and all, for they were load too",
        [step(1, 1000, errors=500, operations=500), step(2, 1900)],
        "BELOW_FIRST_STEP", 2000, "<", None, (None, 1), "errors",
    ),
    Case(
        "busy clients at the failing step",
        [*LINEAR, step(4, 3100, 900, client_busy=0.81)],
        "CLIENT_BOUND", None, None, None, (3, None), "client",
    ),
    Case(
        "busy clients at the largest step",
        [*LINEAR, step(4, 4000, client_busy=0.81)],
        "CLIENT_BOUND", None, None, None, (4, None), "client",
    ),
    Case(
        "busy clients below the knee do not matter",
        [step(1, 1000), step(2, 2000, client_busy=0.95), step(3, 3000, 900, client_busy=0.5)],
        "KNEE", 2000, "=", 2, (2, 3), "latency:update",
    ),
    Case(
        "repetitions differ",
        [*LINEAR, step(4, 3000), step(4, 4000), step(4, 5000), step(5, 2000, 900)],
        "NOISY", None, None, None, (4, 5), "noise",
    ),
    Case(
        "an impossible knee",
        [*LINEAR, step(4, 3100, 900, clients_ran=3)],
        "INCONSISTENT", None, None, None, None, "audit:clients_ran",
    ),
    Case(
        "an impossible baseline",
        [step(1, 1000, clients_ran=0), step(2, 2000), step(3, 3000, 900)],
        "INCONSISTENT", None, None, None, None, "audit:clients_ran",
    ),
    Case(
        "an impossible step that decides nothing",
        [*LINEAR, step(4, 3100, 900, clients_ran=3), step(5, 3000, 900)],
        "KNEE", 3000, "=", 3, (3, 5), "latency:update",
    ),
    # --- open loop ---
    Case(
        "the rate is not kept up",
        [offered(1000, 1000), offered(2000, 1939)],
        "KNEE", 1000, "=", 1000, (1000, 2000), "rate",
    ),
    Case(
        "97 % of the rate is kept up",
        [offered(1000, 1000), offered(2000, 1940)],
        "LOWER_BOUND", 1940, ">=", 2000, (2000, None),
    ),
    Case(
        "a backlog grows",
        [offered(1000, 1000), offered(2000, 1990, backlog_end=201, connections=8)],
        "KNEE", 1000, "=", 1000, (1000, 2000), "backlog",
    ),
    Case(
        "as many unsent as there are connections is no backlog",
        [offered(1000, 1000), offered(2000, 1990, backlog_end=201, connections=201)],
        "LOWER_BOUND", 1990, ">=", 2000, (2000, None),
    ),
    Case(
        "sends are late although connections are idle",
        [
            Step(
                rate_ops_per_second=rate, throughput_ops_per_second=rate, connections=100,
                latency_us={"update": {"p99": 900.0, "mean": 100.0}}, send_lateness_us=late,
            )
            for rate, late in ((1000.0, 50.0), (2000.0, 1500.0))
        ],
        "CLIENT_BOUND", None, None, None, (2000, None), "client",
    ),
    Case(
        "one more client at the same rate raises throughput",
        [
            offered(1000, 1000, clients=1),
            offered(2000, 1500, 900, clients=1),
            offered(2000, 1900, 900, clients=2),
        ],
        "CLIENT_BOUND", None, None, None, (1000, None), "client",
    ),
    Case(
        "more clients that raise nothing clear the first ones",
        [
            offered(1000, 1000, clients=1),
            offered(2000, 1500, 900, clients=1),
            offered(2000, 1510, 900, clients=2),
        ],
        "KNEE", 1000, "=", 1000, (1000, 2000), "latency:update",
    ),
    # --- edges ---
    Case("one row", [step(5, 700)], "LOWER_BOUND", 700, ">=", 5, (5, None)),
    Case(
        "a pass above a failure does not count",
        [step(1, 1000), step(2, 2000), step(3, 1950, 900), step(4, 4000)],
        "KNEE", 2000, "=", 2, (2, 3), "latency:update",
    ),
    Case(
        "a tie goes to the lighter load",
        [step(1, 1000), step(2, 2000), step(3, 2000), step(4, 2300, 900)],
        "KNEE", 2000, "=", 2, (3, 4), "latency:update",
    ),
    Case(
        "latency that improves with load passes",
        [step(1, 1000, 300), step(2, 2000, 100), step(3, 3000, 901)],
        "KNEE", 2000, "=", 2, (2, 3), "latency:update",
    ),
    Case(
        "no throughput",
        [*LINEAR, step(4, 0, None)],
        "KNEE", 3000, "=", 3, (3, 4), "no_throughput",
    ),
    Case(
        "all errors",
        [*LINEAR, step(4, 0, None, errors=500, window_s=10)],
        "KNEE", 3000, "=", 3, (3, 4), "no_throughput",
    ),
    Case(
        "all errors everywhere",
        [step(1, 0, None, errors=5), step(2, 0, None, errors=9)],
        "BELOW_FIRST_STEP", None, None, None, (None, 1), "no_throughput",
    ),
    Case(
        "the second half is slower",
        [*LINEAR, step(4, 3900, halves=(
            Half(throughput_ops_per_second=4600), Half(throughput_ops_per_second=3600)))],
        "KNEE", 3000, "=", 3, (3, 4), "unsteady",
    ),
    Case(
        "halves that differ by a fifth are steady",
        [*LINEAR, step(4, 3900, halves=(
            Half(throughput_ops_per_second=4000), Half(throughput_ops_per_second=3200)))],
        "LOWER_BOUND", 3900, ">=", 4, (4, None),
    ),
    Case(
        "credits run out: the second half is 4x as slow to answer",
        [*LINEAR, step(4, 3900, halves=(
            Half(latency_us={"update": 50}), Half(latency_us={"update": 200})))],
        "KNEE", 3000, "=", 3, (3, 4), "unsteady",
    ),
    Case(
        "still warming up: the step is left out",
        [*LINEAR, step(4, 3900, halves=(
            Half(throughput_ops_per_second=3000), Half(throughput_ops_per_second=4800)))],
        "LOWER_BOUND", 3000, ">=", 3, (3, None),
    ),
    Case(
        "rows with less than a quarter of the operations beyond the limit do not decide",
        [step(1, 1000), *[step(2, 2000, us) for us in (100, 250, 250, 250, 400)], step(3, 90, 999)],
        "KNEE", 2000, "=", 2, (2, 3), "latency:update",
    ),
    Case(
        "rows with a third of them do: whether all operations keep the limit is not known",
        [step(1, 1000), *[step(2, 2000, us) for us in (100, 250, 400)], step(3, 90, 999)],
        "LOWER_BOUND", 1000, ">=", 1, (1, 3), "undecided:update",
    ),
    Case(
        "rows with most of them fail",
        [step(1, 1000), *[step(2, 2000, us) for us in (100, 400, 400)], step(3, 90, 999)],
        "KNEE", 1000, "=", 1, (1, 2), "latency:update",
    ),
    Case(
        "a row weighs its operations: one of 600 s outvotes three of 10 s",
        [
            step(1, 1000, window_s=10),
            *[step(2, 2000, window_s=10)] * 3,
            step(2, 2000, 400, window_s=600),
            step(3, 90, 999, window_s=10),
        ],
        "KNEE", 1000, "=", 1, (1, 2), "latency:update",
    ),
    Case(
        "not even the lightest load is known to keep its limit",
        [*[step(1, 1000)] * 2, step(1, 1000, 400), step(2, 2000, 999)],
        "NOISY", None, None, None, (None, 2), "undecided:update",
    ),
    Case(
        "a slow row whose clients were busy is not the database's",
        [
            step(1, 1000),
            *[step(2, 2000)] * 2,
            step(2, 2000, 400, client_busy=0.9),
            step(3, 2100, 999),
        ],
        "KNEE", 2000, "=", 2, (2, 3), "latency:update",
    ),
    Case(
        "a slow row whose machine was busy with other processes is not the database's",
        [
            step(1, 1000),
            *[step(2, 2000)] * 2,
            step(2, 2000, 400, host_others_percent=40.0, host_idle_percent=5.0),
            step(3, 2100, 999),
        ],
        "KNEE", 2000, "=", 2, (2, 3), "latency:update",
    ),
    Case(
        "a repetition that an audit disputes is left out of them",
        [step(1, 1000), step(2, 2000), step(2, 9000, clients_ran=1), step(3, 2100, 999)],
        "KNEE", 2000, "=", 2, (2, 3), "latency:update",
    ),
    Case(
        "a failure before the target had recovered is not believed",
        [*LINEAR, step(4, 900, 999, recovered=False)],
        "INCONSISTENT", None, None, None, None, "audit:recovered",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case) -> None:
    capacity = judge(case.steps, RULES)
    assert capacity.verdict == case.verdict, capacity.summary
    assert capacity.max_sustainable_throughput_ops_per_second == case.figure
    assert capacity.bound == case.bound
    assert capacity.at == case.at
    assert capacity.bracket == case.bracket
    assert capacity.cause == case.cause


def test_a_lower_bound_whose_last_load_gained_nothing_says_so() -> None:
    flat = judge([*LINEAR, step(4, 3070, 200)], RULES)
    assert flat.verdict == "LOWER_BOUND"
    assert "a plateau may begin there" in flat.summary
    assert "plateau" not in judge(LINEAR, RULES).summary


def test_the_answer_is_where_throughput_was_highest_though_heavier_loads_passed() -> None:
    """Writes at a cap: a second client made 495 into 475 ops/s; a third broke the limit."""
    rules = Rules(confirmation=Confirmation(least=5), audits_off=frozenset({"drift"}))

    def at(clients: int, *throughputs: float, p99_us: float = 100) -> list[Step]:
        return [step(clients, ops, p99_us) for ops in throughputs]

    one, failing = (495.0, 497.0, 498.0), at(3, 470, 472, p99_us=350)
    found = judge([*at(1, *one, 495, 504), *at(2, 475), *failing], rules)
    assert (found.verdict, found.at, found.bracket) == ("KNEE", 1, (1, 3))
    assert found.max_sustainable_throughput_ops_per_second == pytest.approx(493, abs=1)
    assert "2 clients passed as well, with less throughput: 475 ops/s" in " ".join(found.notes)
    seen_once = judge([*at(1, 495), *at(2, 470, 475, 476, 478, 479), *failing], rules)
    assert (seen_once.verdict, seen_once.at) == ("KNEE", 2)
    level = judge([*at(1, *one, 495, 504), *at(2, 493, 494, 490, 496, 492), *failing], rules)
    assert level.at == 2


def test_a_plateau_begins_at_its_lightest_load_wherever_its_answer_was_confirmed() -> None:
    """What was confirmed is its last load: "from 5 to 5 clients" said nothing."""
    once = [step(1, 1000), step(2, 2000), step(3, 3000), step(4, 3050)]
    capacity = judge(
        [*once, *[step(5, 3060)] * 3], Rules(confirmation=Confirmation(least=3, most=3))
    )
    assert (capacity.verdict, capacity.at) == ("PLATEAU", 5)
    assert "from 3 to 5 clients throughput hardly grew" in capacity.summary
