"""Every verdict, every reason and every edge case, as tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from plimsoll.capacity import judge
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Capacity, Confirmation, Rules
from plimsoll.model.steps import Half, Step

RULES = Rules(confirmation=None)


def step(clients: int, throughput: float, p99_us: float | None = 100, **others: Any) -> Step:
    latency_us = {} if p99_us is None else {"update": {"p99": p99_us}}
    return Step(
        clients=clients, throughput_ops_per_second=throughput, latency_us=latency_us, **others
    )


def offered(rate: float, throughput: float, p99_us: float = 100, **others: Any) -> Step:
    return Step(
        rate_ops_per_second=rate,
        throughput_ops_per_second=throughput,
        latency_us={"update": {"p99": p99_us}},
        window_s=10.0,
        **others,
    )


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


LINEAR = [step(1, 1000), step(2, 2000), step(3, 3000)]
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
        "LOWER_BOUND", 3000, ">=", 3, (3, None),
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
        [*LINEAR, step(4, 3050), step(5, 3060)],
        "PLATEAU", 3050, "=", 4, (4, None), "plateau",
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
        "KNEE", 2000, "=", 2, (2, 4), "latency:update",
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
        "repetitions are judged by their median",
        [step(1, 1000), *[step(2, 2000 + i, 250 + 150 * i) for i in (-1, 0, 1)], step(3, 90, 999)],
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
    assert capacity.summary.endswith(capacity.summary.split(": ")[-1])


ERRORS: list[tuple[str, list[Step], str]] = [
    ("nothing", [], "no steps"),
    ("no load", [Step(throughput_ops_per_second=5)], "step 1: clients is missing"),
    (
        "open and closed mixed",
        [offered(1000, 1000), step(1, 1000)],
        "step 2: rate_ops_per_second is missing, but other steps have it",
    ),
    ("no throughput column", [Step(clients=1)], "step 1: throughput_ops_per_second is missing"),
    ("no latency column", [step(1, 100, None)], "step 1: no latency_us.<operation> column"),
    (
        "a latency missing",
        [step(1, 1000), step(2, 2000, None)],
        "step 2: latency_us.update is missing, but other steps have it",
    ),
    (
        "a baseline missing",
        [step(1, 0, None, source="a.csv row 2"), step(2, 2000, source="a.csv row 3")],
        "a.csv row 2: latency_us.update is missing, but a.csv row 3 has it",
    ),
    (
        "another statistic",
        [Step(clients=1, throughput_ops_per_second=5, latency_us={"read": {"mean": 5, "max": 9}})],
        r"step 1: latency_us.read.p99 is missing \(known: mean, max\)",
    ),
    (
        "errors of unknown many",
        [step(1, 1000, errors=3)],
        "step 1: errors is 3, but of how many operations",
    ),
    ("a latency of 0", [step(1, 1000, 0)], "step 1: latency_us.update is 0"),
]


@pytest.mark.parametrize(("name", "steps", "message"), ERRORS, ids=[name for name, _, _ in ERRORS])
def test_what_cannot_be_judged_names_row_and_column(
    name: str, steps: list[Step], message: str
) -> None:
    del name
    with pytest.raises(UsageError, match=message):
        judge(steps, RULES)


def test_a_limit_in_microseconds_replaces_that_of_the_baseline() -> None:
    steps = [step(1, 1000, 100), step(2, 2000, 290), step(3, 3000, 5000)]
    for limit, at in ((90, None), (100, 1), (289, 1), (290, 2), (5000, 3)):
        rules = Rules(limits_us={"update": limit}, confirmation=None)
        assert judge(steps, rules).at == at


def test_a_limit_for_an_unknown_operation_names_the_known_ones() -> None:
    rules = Rules(limits_us={"upsert": 5}, confirmation=None)
    with pytest.raises(
        UsageError, match=r"'upsert': no step has this operation \(there are: update"
    ):
        judge(LINEAR, rules)


def test_every_operation_is_judged_by_itself() -> None:
    steps = [
        Step(
            clients=n,
            throughput_ops_per_second=1000.0 * n,
            latency_us={"read": {"p99": 100}, "update": {"p99": update}},
        )
        for n, update in ((1, 100.0), (2, 100.0), (3, 500.0))
    ]
    assert judge(steps, RULES).cause == "latency:update"


def test_the_cause_is_the_operation_that_is_worst_off() -> None:
    steps = [
        Step(
            clients=n,
            throughput_ops_per_second=1000.0,
            latency_us={"read": {"p99": read}, "update": {"p99": update}},
        )
        for n, read, update in ((1, 100.0, 100.0), (2, 900.0, 500.0))
    ]
    assert judge(steps, RULES).causes == ("latency:read", "latency:update")


# --- a search's own rules: only what repetitions confirm is claimed ---


def confirmed(*throughputs: float, failing: int = 0, rules: Rules | None = None) -> Capacity:
    answers = [step(2, x, 100 if i >= failing else 900) for i, x in enumerate(throughputs)]
    return judge([*[step(1, 500)] * 3, *answers, *[step(3, 1200, 900)] * 2], rules or Rules())


def test_a_load_tried_once_carries_no_figure() -> None:
    found = confirmed(1000)
    assert (found.verdict, found.cause) == ("NOISY", "unconfirmed")
    assert found.bracket == (2, 3)


def test_repetitions_that_agree_carry_the_figure() -> None:
    found = confirmed(1000, 1000, 1000, 1000, 1000)
    assert (found.verdict, found.max_sustainable_throughput_ops_per_second) == ("KNEE", 1000)
    assert (found.repetitions, found.median_ops_per_second) == (5, 1000)


def test_repetitions_that_scatter_lower_the_figure_to_what_they_make_sure() -> None:
    scattered = [950, 1040, 1010, 970, 1030, 990, 1020, 960, 1000, 1005]
    found = confirmed(*scattered)
    assert found.interval is not None
    assert found.figure == "lower_limit"
    assert found.max_sustainable_throughput_ops_per_second == found.interval.low_ops_per_second
    assert 970 < found.interval.low_ops_per_second < 985
    assert found.median_ops_per_second == 1002.5


@pytest.mark.parametrize(("failing", "passes"), [(3, True), (4, False)])
def test_seven_of_ten_have_to_pass(failing: int, passes: bool) -> None:
    found = confirmed(*[1000.0] * 10, failing=failing)
    assert (found.verdict == "KNEE") is passes
    assert found.bracket == ((2, 3) if passes else (1, 2))


def test_the_most_repetitions_can_be_set() -> None:
    rules = Rules(confirmation=Confirmation(least=3, most=3))
    assert confirmed(1000, 1010, 990, rules=rules).verdict == "KNEE"


# --- notes, annotations ---


def test_notes_tell_what_was_left_out_and_what_passed_in_vain() -> None:
    steps = [step(1, 1000, 300), step(2, 2000, 100), step(3, 1950, 950), step(4, 4000)]
    notes = " | ".join(judge(steps, RULES).notes)
    assert "passed although 3 failed" in notes
    assert "update is faster under load (100 µs) than at the lightest step (300 µs)" in notes


def test_the_scalability_law_is_found_again_where_it_holds() -> None:
    def law(n: int) -> float:
        return 1000 * n / (1 + 0.05 * (n - 1) + 0.001 * n * (n - 1))

    fit = judge([step(n, law(n)) for n in (1, 2, 4, 8, 16, 24)], RULES).usl
    assert fit is not None
    assert fit.converged
    assert fit.ideal_ops_per_second == pytest.approx(1000)
    assert fit.contention == pytest.approx(0.05)
    assert fit.coherency == pytest.approx(0.001)
    assert fit.peak_load == pytest.approx((0.95 / 0.001) ** 0.5)


@pytest.mark.parametrize(
    ("throughputs", "why_not"),
    [((1000, 2000, 3000), "3 loads; it needs 4"), ((5000, 200, 9000, 300), "off by")],
)
def test_the_fit_says_why_there_is_none(throughputs: tuple[float, ...], why_not: str) -> None:
    fit = judge([step(n, x) for n, x in enumerate(throughputs, 1)], RULES).usl
    assert fit is not None
    assert not fit.converged
    assert why_not in (fit.why_not or "")


def test_the_power_point_is_where_throughput_over_latency_is_greatest() -> None:
    steps = [step(1, 1000, 100), step(2, 1900, 120), step(3, 2500, 190), step(4, 2600, 290)]
    point = judge(steps, RULES).power_point
    assert point is not None
    assert (point.load, point.latency_us) == (2, 120)
