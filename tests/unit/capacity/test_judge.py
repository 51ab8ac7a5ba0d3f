"""What can be judged, by which limit, what repetitions confirm, and what is told besides."""

import math

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import Capacity, Confirmation, Rules
from plimsoll.model.judging.steps import Step
from tests.unit.capacity.samples import LINEAR, offered, step

RULES = Rules(confirmation=None)

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
        "step 1: errors is 3, but the number of operations is not known",
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


@pytest.mark.parametrize("rules", [RULES, Rules()])
@pytest.mark.parametrize("slow", [1, 2, 4])
def test_the_figure_and_its_interval_are_of_one_statistic(slow: int, rules: Rules) -> None:
    """The median of ten windows was 3,400, and the interval of their mean 3,189 to 3,391."""
    windows = [*[step(2, 3128)] * slow, *[step(2, 3400)] * (10 - slow)]
    found = judge([*[step(1, 1700)] * 3, *windows, *[step(3, 3500, 900)] * 2], rules)
    figure, sure = found.max_sustainable_throughput_ops_per_second, found.interval
    assert figure is not None
    assert sure is not None
    low, high = sure.low_ops_per_second, sure.high_ops_per_second
    middle = math.sqrt(low * high)
    assert figure == pytest.approx(middle if found.figure == "mean" else low)


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


@pytest.mark.parametrize(("failing", "passes"), [(2, True), (3, False)])
def test_windows_with_more_than_three_quarters_of_the_operations_have_to_pass(
    failing: int, passes: bool
) -> None:
    found = confirmed(*[1000.0] * 10, failing=failing)
    assert (found.verdict == "KNEE") is passes
    assert found.bracket == ((2, 3) if passes else (1, 2))


def test_the_most_repetitions_can_be_set() -> None:
    rules = Rules(confirmation=Confirmation(least=3, most=3))
    assert confirmed(1000, 1010, 990, rules=rules).verdict == "KNEE"


@pytest.mark.parametrize(("repetitions", "verdict"), [(5, "NOISY"), (7, "NOISY"), (8, "KNEE")])
def test_the_least_repetitions_are_made_however_few_have_to_pass(
    repetitions: int, verdict: str
) -> None:
    rules = Rules(confirmation=Confirmation(least=8, most=8, pass_share=0.6))
    assert confirmed(*[1000.0] * repetitions, rules=rules).verdict == verdict


# --- notes, annotations ---


def test_notes_tell_what_was_left_out_and_what_passed_in_vain() -> None:
    steps = [step(1, 1000, 300), step(2, 2000, 100), step(3, 1950, 950), step(4, 4000)]
    notes = " | ".join(judge(steps, RULES).notes)
    assert "passed although 3 clients failed" in notes
    assert "update is faster under load (100 µs) than at the lightest step (300 µs)" in notes


def test_void_steps_are_told_of_and_not_judged() -> None:
    void = Step(clients=3, void="no client ran", source="steps/4")
    with_void, without = judge([*LINEAR, void], RULES), judge(LINEAR, RULES)
    assert with_void.notes == (
        *without.notes,
        "step 4 does not count: no client ran",
    )
    assert with_void.model_copy(update={"notes": without.notes}) == without
    with pytest.raises(UsageError, match="no steps to judge: step 4 does not count: no client ran"):
        judge([void], RULES)


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
