"""Rules on a capacity: met, not met, and no answer where the figures do not decide."""

import pytest

from plimsoll.capacity.expectations import has_answer, judge_capacity, judge_latency
from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.expectations import CapacityRule, LatencyRule, parse_rule
from tests.support.judged import judged

KNEE = judged((1, 1000, 500), (2, 1500, 500), (4, 1600, 5000))
AT_LEAST_2500 = judged((1, 2000, 500), (2, 2500, 500))
AT_LEAST_1500 = judged((1, 1000, 500), (2, 1500, 500))
BELOW_900 = judged((1, 900, 5000))
BELOW_3000 = judged((1, 3000, 5000))


def on_capacity(text: str, capacity: Capacity) -> str:
    rule = parse_rule(text)
    assert isinstance(rule, CapacityRule)
    return judge_capacity(rule, capacity).answer


def on_latency(text: str, capacity: Capacity) -> tuple[str, str]:
    rule = parse_rule(text)
    assert isinstance(rule, LatencyRule)
    outcome = judge_latency(rule, capacity)
    return outcome.answer, outcome.because


@pytest.mark.parametrize(
    ("capacity", "least", "answer"),
    [
        (KNEE, 1500, "met"),
        (KNEE, 1501, "not met"),
        (AT_LEAST_2500, 2000, "met"),
        (AT_LEAST_1500, 2000, "no answer"),
        (BELOW_900, 2000, "not met"),
        (BELOW_900, 900, "not met"),
        (BELOW_3000, 2000, "no answer"),
    ],
)
def test_a_bound_decides_only_what_it_decides(capacity: Capacity, least: int, answer: str) -> None:
    assert on_capacity(f"capacity >= {least}", capacity) == answer


@pytest.mark.parametrize("verdict", ["NOISY", "INCONSISTENT", "DISTURBED", "CLIENT_BOUND"])
def test_a_verdict_without_a_figure_gives_no_answer(verdict: str) -> None:
    none = {"max_sustainable_throughput_ops_per_second": None, "bound": None}
    undecided = KNEE.model_copy(update={"verdict": verdict, **none})
    assert not has_answer(undecided)
    outcome = judge_capacity(CapacityRule("capacity >= 1", 1), undecided)
    assert (outcome.answer, verdict in outcome.because) == ("no answer", True)


@pytest.mark.parametrize("capacity", [KNEE, AT_LEAST_1500, BELOW_900])
def test_a_figure_and_a_bound_are_answers(capacity: Capacity) -> None:
    assert has_answer(capacity)


def test_that_nothing_passes_is_an_answer_without_a_figure_too() -> None:
    none = {"max_sustainable_throughput_ops_per_second": None, "bound": None}
    assert has_answer(BELOW_900.model_copy(update=none))


@pytest.mark.parametrize(
    ("rule", "answer", "where"),
    [
        ("p99.read <= 500us at 1400", "met", "read p99 was 500 µs at 1,500 ops/s (2 clients)"),
        ("p99 <= 0.4ms at 1400", "not met", "read p99 was 500 µs at 1,500 ops/s (2 clients)"),
        ("p99.read <= 1ms at 1501", "not met", "read p99 was 5.00 ms at 1,600 ops/s (4 clients)"),
        ("p99.read <= 1s at 1601", "no answer", "no load that counts reached 1,601 ops/s"),
        ("p50.read <= 1ms at 900", "no answer", "read p50 is not known at 1,000 ops/s (1 client)"),
    ],
)
def test_the_lightest_load_that_reached_it_decides(rule: str, answer: str, where: str) -> None:
    assert on_latency(rule, KNEE) == (answer, where)


def test_a_load_far_above_shows_that_a_rule_is_met_and_not_that_it_is_not() -> None:
    capacity = judged((1, 1000, 500), (2, 3000, 900), (3, 4000, 5000))
    assert on_latency("p99.read <= 1ms at 1500", capacity)[0] == "met"
    answer, because = on_latency("p99.read <= 600us at 1500", capacity)
    assert answer == "no answer"
    assert "no load nearer to 1,500 ops/s was tried" in because
    assert on_latency("p99.read <= 400us at 1500", capacity)[0] == "not met"


def open_loop(*steps: tuple[float, float, float]) -> Capacity:
    """Judge steps of offered rates, ops/s and p99 in microseconds."""
    made = [
        Step(
            clients=1,
            connections=10,
            rate_ops_per_second=rate,
            throughput_ops_per_second=throughput,
            latency_us={"read": {"p99": p99}},
        )
        for rate, throughput, p99 in steps
    ]
    return judge(made, Rules(limits_us={"read": 10_000}, confirmation=None))


def test_in_an_open_loop_the_offered_rate_is_the_load_and_has_to_be_kept_up() -> None:
    capacity = open_loop((1000, 1000, 500), (1500, 1498, 900), (2000, 1600, 950))
    assert on_latency("p99.read <= 1ms at 1500", capacity)[0] == "met"
    answer, because = on_latency("p99.read <= 1ms at 2000", capacity)
    assert (answer, because) == (
        "not met",
        "at 2,000 ops/s offered, only 1,600 ops/s were completed",
    )
    assert on_latency("p99.read <= 1ms at 1700", capacity)[0] == "no answer"


def test_disputed_loads_say_nothing_of_latency() -> None:
    two = KNEE.steps[1].model_copy(update={"consistent": False})
    disputed = KNEE.model_copy(update={"steps": (KNEE.steps[0], two)})
    assert on_latency("p99.read <= 1s at 1500", disputed)[0] == "no answer"


def test_of_several_operations_each_has_to_meet_the_rule() -> None:
    step = Step(
        clients=1,
        connections=9,
        throughput_ops_per_second=1000,
        latency_us={"read": {"p99": 400}, "update": {"p99": 900}},
    )
    capacity = judge([step], Rules(limits_us={"read": 1e4, "update": 1e4}, confirmation=None))
    assert on_latency("p99 <= 1ms at 1000", capacity)[0] == "met"
    answer, because = on_latency("p99 <= 500us at 1000", capacity)
    assert answer == "not met"
    assert because.startswith("read p99 was 400 µs; update p99 was 900 µs at 1,000 ops/s")


def repeated(*reads: dict[str, float], **others: list[float]) -> Capacity:
    """A load of 1,000 ops/s, tried once for each of these latencies."""
    steps = [
        Step(
            clients=1,
            connections=100,
            throughput_ops_per_second=1000,
            latency_us={"read": {"p99": 500, **read}},
            **{name: values[at] for name, values in others.items()},
        )
        for at, read in enumerate(reads)
    ]
    return judge(steps, Rules(limits_us={"read": 1000}, confirmation=None))


@pytest.mark.parametrize("statistic", ["p99", "p95"])
def test_of_two_percentiles_the_higher_counts_and_never_their_mean(statistic: str) -> None:
    capacity = repeated({statistic: 400}, {statistic: 480})
    answer, because = on_latency(f"{statistic}.read <= 450us at 1000", capacity)
    assert (answer, "480 µs" in because) == ("not met", True)


@pytest.mark.parametrize("statistic", ["p99", "p95"])
def test_a_repetition_that_an_audit_disputes_has_no_say(statistic: str) -> None:
    reads = [{statistic: us} for us in (900.0, 420.0)]
    capacity = repeated(*reads, clients_ran=[0, 1])
    answer, because = on_latency(f"{statistic}.read <= 450us at 1000", capacity)
    assert (answer, "420 µs" in because) == ("met", True)
