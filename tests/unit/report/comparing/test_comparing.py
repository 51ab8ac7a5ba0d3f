"""Runs compared: a ratio with its interval, and no more than the figures allow."""

import math
import random
from dataclasses import replace

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.statistics.contrasts import estimate_contrast, estimate_mean
from plimsoll.model.judging.capacity import Capacity, Confirmation, LoadRange, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import StepsSearch
from plimsoll.model.run.quote import RunCost
from plimsoll.model.run.results import RunResult
from plimsoll.report import compare_page
from plimsoll.report.charts.rows import list_curve_rows
from plimsoll.report.comparing.comparing import compare_runs, find_equal_loads
from plimsoll.report.comparing.ratios import divide_capacities
from plimsoll.report.experiment.choice import build_matrix
from plimsoll.report.page import join_units
from tests.support.synthetic_run import synthetic_run
from tests.unit.capacity.simulators import World, cliff, collapse
from tests.unit.capacity.trials import run, search_for

SLOW, _ = synthetic_run(run_id="slow")
FAST, _ = synthetic_run(knee=6.3, iops=2000, run_id="fast", seed=6)


def capacity(*steps: tuple[int, float, float], repeats: int = 1, spread: float = 0.01) -> Capacity:
    """Steps of clients, ops/s and p99 in microseconds, each so often with some scatter."""
    made = [
        Step(
            clients=clients,
            connections=clients * 100,
            throughput_ops_per_second=throughput * (1 + spread * (n - (repeats - 1) / 2)),
            latency_us={"read": {"p99": p99}},
        )
        for clients, throughput, p99 in steps
        for n in range(repeats)
    ]
    return judge(made, Rules(limits_us={"read": 1000}, confirmation=None))


KNEE = ((1, 1000.0, 500.0), (2, 1900.0, 600.0), (4, 1950.0, 5000.0))
TWICE = ((1, 2000.0, 500.0), (2, 3800.0, 600.0), (4, 3900.0, 5000.0))
OPEN_END = ((1, 2000.0, 500.0), (2, 3800.0, 600.0))
TOO_SLOW = ((1, 1000.0, 5000.0), (2, 1100.0, 9000.0))


def test_the_ratio_has_an_interval_and_a_sentence() -> None:
    found = divide_capacities(
        "fast", capacity(*TWICE, repeats=4), "slow", capacity(*KNEE, repeats=4)
    )
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.value == pytest.approx(2.0)
    assert found.low < 2.0 < found.high
    assert found.differs is True
    assert found.sentence.startswith("fast sustains 2.00 times the throughput of slow (95 %")


@pytest.mark.parametrize(
    ("tried", "untried"),
    [
        ((), "no load between 2 clients and 6 clients was tried"),
        (((3, 1850.0, 700.0),), "no load between 3 clients and 6 clients was tried"),
        (((5, 1850.0, 5000.0),), "no load between 2 clients and 5 clients was tried"),
        (((3, 1850.0, 5000.0),), None),
        (((3, 1850.0, 700.0), (4, 1840.0, 5000.0)), None),  # as in the demo
    ],
)
def test_only_loads_that_nobody_tried_are_said_not_to_have_been(
    tried: tuple[tuple[int, float, float], ...], untried: str | None
) -> None:
    """2 clients do the most, whatever of the heavier loads passes."""
    found = capacity(*KNEE[:2], *tried, (6, 1950.0, 5000.0))
    assert (found.at, found.max_sustainable_throughput_ops_per_second) == (2, 1900)
    told = compare_runs([SLOW.model_copy(update={"capacity": found}), FAST]).warnings
    said = [text for text in told if text.startswith("1,000 IOPS") and "was tried" in text]
    assert [str(untried) in text for text in said] == ([True] if untried else [])


@pytest.mark.parametrize(
    ("tried", "untried"),
    [((1, 2, 3, 5), "3 clients and 5 clients"), ((1, 2, 4), "2 clients and 4 clients")],
)
def test_neighbors_far_apart_hide_no_other_stretch(tried: tuple[int, ...], untried: str) -> None:
    steps = [(clients, 1900.0 + clients, 700.0) for clients in tried]
    found = capacity(*steps).model_copy(update={"bracket": (tried[0], tried[-1])})
    told = compare_runs([SLOW.model_copy(update={"capacity": found}), FAST]).warnings
    assert any(f"no load between {untried} was tried" in text for text in told)


def test_the_rings_are_on_the_heaviest_load_that_passed_and_the_lightest_that_failed() -> None:
    found = capacity(*KNEE[:2], (3, 1850.0, 700.0), KNEE[2])
    assert found.bracket == (3, 4)
    assert [row["load"] for row in list_curve_rows(found) if row["in_bracket"]] == [3, 4]


def test_alike_runs_show_no_difference() -> None:
    same = capacity(*KNEE, repeats=4)
    other = capacity((1, 1000, 500), (2, 1905, 600), (4, 1950, 5000), repeats=4)
    found = divide_capacities("b", other, "a", same)
    assert found is not None
    assert found.differs is False
    assert "no difference can be shown" in found.sentence


def test_without_repetitions_there_is_no_interval() -> None:
    found = divide_capacities("b", capacity(*TWICE), "a", capacity(*KNEE))
    assert found is not None
    assert (found.low, found.high, found.differs) == (None, None, None)
    assert "may be noise" in found.sentence


@pytest.mark.parametrize(
    ("mine", "theirs", "bound", "differs"),
    [
        (OPEN_END, KNEE, ">=", True),  # at least twice
        (KNEE, OPEN_END, "<", True),  # at most half
        (KNEE, TOO_SLOW, ">=", True),  # at least 1.9 times what the other fails at
    ],
)
def test_a_bound_makes_a_bound(
    mine: tuple[tuple[int, float, float], ...],
    theirs: tuple[tuple[int, float, float], ...],
    bound: str,
    differs: bool,
) -> None:
    found = divide_capacities("a", capacity(*mine), "b", capacity(*theirs))
    assert found is not None
    assert (found.bound, found.differs, found.low) == (bound, differs, None)


def test_two_lower_bounds_have_no_ratio() -> None:
    assert divide_capacities("a", capacity(*OPEN_END), "b", capacity(*OPEN_END)) is None


def test_welchs_interval_covers_the_truth_as_often_as_it_says() -> None:
    draws = random.Random(20)
    covered = 0
    for _ in range(2000):
        a = [2000 * math.exp(draws.gauss(0, 0.02)) for _ in range(5)]
        b = [1000 * math.exp(draws.gauss(0, 0.06)) for _ in range(3)]
        found = estimate_contrast((1, -1), [estimate_mean(a), estimate_mean(b)])
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 2.0 <= found.high
    assert 0.935 <= covered / 2000 <= 0.99


def offered(ceiling_ops_per_second: float, seed: int) -> Capacity:
    """What a search by arrival rates finds on a cliff at 5 % noise."""
    target = replace(cliff(), ceiling_ops_per_second=ceiling_ops_per_second)
    return run(search_for("rate", cliff()), target, World(noise=0.05), seed).capacity


def test_alike_targets_in_an_open_loop_are_not_told_to_differ() -> None:
    """Their repetitions have the offered rate, and no width: 99 % of alike targets differed."""
    pairs = [(offered(3000, 2 * n), offered(3000, 2 * n + 1)) for n in range(6)]
    ratios = [divide_capacities("b", b, "a", a) for a, b in pairs]
    known = [ratio for ratio in ratios if ratio is not None]
    assert len(known) >= 4
    assert not any(ratio.differs for ratio in known)
    assert all(ratio.method in {"ratio of edges", None} for ratio in known)


def test_alike_targets_whose_loads_noise_chose_are_not_told_to_differ() -> None:
    """Half of these pairs were: one search stopped at 8 connections, the other at 12."""
    found = [
        run(search_for("ramp", collapse()), collapse(), World(noise=0.02), seed).capacity
        for seed in range(12)
    ]
    ratios = [
        divide_capacities("b", b, "a", a) for a, b in zip(found[::2], found[1::2], strict=True)
    ]
    assert len({capacity.at for capacity in found}) > 1
    assert [ratio.differs for ratio in ratios if ratio] == [False] * 6


GROWING = ((1, 1000.0), (2, 1900.0), (4, 3600.0), (8, 6500.0), (16, 11_000.0), (32, 16_000.0))


def until(last: int) -> Capacity:
    """One curve of throughput; the latency limit holds up to some load."""
    steps = [(n, x, 500.0 if n <= last else 5000.0) for n, x in GROWING if n <= 2 * last]
    return capacity(*steps, repeats=4)


@pytest.mark.parametrize(("last", "differs"), [(4, False), (16, True)])
def test_loads_explain_a_difference_only_as_far_as_each_search_reaches(
    last: int, differs: bool
) -> None:
    found = divide_capacities("b", until(last), "a", until(2))
    assert found is not None
    assert found.value > 1.8
    assert found.differs is differs
    assert ("is not decided" in found.sentence) is not differs


def test_a_bound_within_the_others_interval_is_no_difference() -> None:
    exact = capacity(*KNEE, repeats=4)
    assert exact.interval is not None
    for share, differs in ((0.99, None), (1.01, True)):
        figure = share * exact.interval.high_ops_per_second
        bound = capacity(*OPEN_END).model_copy(
            update={"max_sustainable_throughput_ops_per_second": figure}
        )
        at_least = divide_capacities("b", bound, "a", exact)
        at_most = divide_capacities("a", exact, "b", bound)
        assert at_least is not None
        assert at_most is not None
        assert (at_least.bound, at_least.differs) == (">=", differs)
        assert (at_most.bound, at_most.differs) == ("<", differs)


def test_half_as_much_in_an_open_loop_is_told_to_differ() -> None:
    found = divide_capacities("half", offered(1500, 1), "whole", offered(3000, 2))
    assert found is not None
    assert found.differs is True
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


def test_the_ratio_of_edges_has_the_uncertainty_of_both() -> None:
    known = offered(3000, 1)

    def margin(*edges: tuple[float, float]) -> float:
        a, b = (
            known.model_copy(
                update={"edge": LoadRange(low=low, high=high, confidence=0.9, windows=9, method="")}
            )
            for low, high in edges
        )
        found = divide_capacities("a", a, "b", b)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        middles = [math.log(low * high) / 2 for low, high in edges]
        assert math.log(found.value) == pytest.approx(middles[0] - middles[1])
        return math.log(found.high / found.low)

    wide, sharp = (900.0, 1000.0), (1000.0, 1000.001)
    # a range of 90 % is made one of 95 %
    assert margin(wide, sharp) == pytest.approx(math.log(10 / 9) * 1.959964 / 1.644854)
    assert margin(wide, wide) == pytest.approx(math.sqrt(2) * margin(wide, sharp))


def test_what_two_edges_do_not_decide_pairs_would() -> None:
    sharp = offered(3000, 1)
    assert sharp.edge is not None
    wide = sharp.edge.model_copy(update={"low": 2_000, "high": 3_000})
    found = divide_capacities("b", sharp.model_copy(update={"edge": wide}), "a", sharp)
    assert found is not None
    assert found.differs is False
    assert found.sentence.startswith("whether b and a differ is not decided: the ratio is ")
    assert "`pairs` of an experiment" in found.sentence
    unknown = sharp.model_copy(update={"edge": None})
    without = divide_capacities("b", unknown, "a", sharp)
    assert without is not None
    assert (without.differs, without.low) == (None, None)
    assert "without the edges of both there is no interval" in without.sentence


def test_names_say_what_differs() -> None:
    found = compare_runs([SLOW, FAST])
    assert [line.label for line in found.runs] == ["1,000 IOPS", "2,000 IOPS"]
    assert [(d.field, d.values) for d in found.differences] == [
        ("target.volume.iops", ("1000", "2000"))
    ]


def test_runs_of_one_request_are_told_apart_by_their_ids() -> None:
    again = SLOW.model_copy(update={"run_id": "again"})
    assert [line.label for line in compare_runs([SLOW, again]).runs] == ["slow", "again"]


def test_equal_loads_are_those_that_both_tried() -> None:
    found = find_equal_loads([SLOW, FAST])
    assert {row.load for row in found} == {
        "1 client",
        *(f"{n} clients" for n in (2, 3, 4, 6, 8)),
    }
    at_four = next(row for row in found if row.load == "4 clients" and row.operation == "update")
    assert SLOW.capacity is not None
    judged = next(step for step in SLOW.capacity.steps if step.load == 4)
    assert at_four.latency_us[0] == judged.latency_us["update"]


def of_clients(result: RunResult, connections: int, clients: tuple[int, ...]) -> RunResult:
    search = StepsSearch(clients=clients, connections_per_client=connections)
    request = result.request.model_copy(update={"search": search})
    return result.model_copy(
        update={"request": request, "run_id": f"{result.run_id}-{connections}-{clients}"}
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "alike"),
    [
        ((8, (1, 2, 3)), (8, (1, 4)), True),  # how the search goes about it
        ((8, (1, 2, 3)), (32, (1, 2, 3)), False),  # a client is another thing
        ((8, (1,)), (8, (1,)), True),
        ((8, (1,)), (8, (4,)), False),  # the one load that was tried
    ],
)
def test_what_a_client_is_and_an_only_load_belong_to_the_question(
    mine: tuple[int, tuple[int, ...]], theirs: tuple[int, tuple[int, ...]], alike: bool
) -> None:
    runs = [of_clients(SLOW, *mine), of_clients(FAST, *theirs)]
    found = compare_runs(runs)
    assert (found.sentences != ()) == alike
    assert (found.equal_loads != ()) == alike


def test_how_often_an_answer_is_repeated_is_no_part_of_the_question() -> None:
    limits = FAST.request.limits.model_copy(update={"confirmation": Confirmation(least=6)})
    oftener = FAST.request.model_copy(update={"limits": limits})
    assert compare_runs([SLOW, FAST.model_copy(update={"request": oftener})]).sentences
    once = FAST.request.model_copy(
        update={"limits": limits.model_copy(update={"confirmation": None})}
    )
    assert compare_runs([SLOW, FAST.model_copy(update={"request": once})]).sentences == ()


def test_the_matrix_has_a_row_for_each_number_of_threads() -> None:
    """As in reference experiment R2: storage x threads, each cell at one load."""
    runs = [of_clients(one, threads, (1,)) for threads in (8, 32) for one in (SLOW, FAST)]
    found = build_matrix(runs)
    assert found is not None
    assert [row.workload for row in found.rows] == [
        "8 connections a client",
        "32 connections a client",
    ]
    assert [[cell and cell.run_id for cell in row.cells] for row in found.rows] == [
        [runs[0].run_id, runs[1].run_id],
        [runs[2].run_id, runs[3].run_id],
    ]


def test_curves_lie_over_each_other_only_where_the_question_is_the_same() -> None:
    results = [SLOW, FAST, with_workload(SLOW, "ycsb-c")]
    page = compare_page.render_comparison(results, compare_runs(results), None)
    for title in ("Throughput by load (ycsb-a)", "Throughput by load (ycsb-c)"):
        assert title in page
    alike = [SLOW, FAST]
    assert "<h3>Throughput by load</h3>" in compare_page.render_comparison(
        alike, compare_runs(alike), None
    )


def test_runs_that_ask_different_things_have_no_ratio() -> None:
    other = with_workload(FAST, "ycsb-c")
    found = compare_runs([SLOW, other])
    assert found.sentences == ()
    assert found.equal_loads == ()


def test_a_run_without_a_figure_is_named_with_its_reason() -> None:
    failed = SLOW.model_copy(update={"capacity": capacity(*TOO_SLOW), "run_id": "x"})
    none = SLOW.model_copy(update={"capacity": None, "run_id": "y"})
    warnings = compare_runs([failed, none]).warnings
    assert any("y has no figure" in warning for warning in warnings)


def test_a_machine_is_not_compared_with_aws_in_silence() -> None:
    cloud = FAST.model_copy(update={"local": False})
    assert "cannot be compared" in compare_runs([SLOW, cloud]).warnings[0]


def test_the_price_of_each_run() -> None:
    first, second = compare_runs([SLOW, FAST], [0.5, 0.7]).runs
    assert first.figure_ops_per_second is not None
    assert first.usd_per_million == pytest.approx(0.5 / (first.figure_ops_per_second * 0.0036))
    assert second.usd_per_million is not None


def with_workload(result: RunResult, name: str) -> RunResult:
    workload = result.request.workload.model_copy(update={"name": name})
    request = result.request.model_copy(update={"workload": workload})
    return result.model_copy(update={"request": request, "run_id": f"{result.run_id}-{name}"})


def test_the_decision_matrix_names_what_to_buy_for_each_workload() -> None:
    results = [SLOW, FAST, with_workload(SLOW, "ycsb-c"), with_workload(SLOW, "ycsb-c")]
    results[3] = results[3].model_copy(
        update={"request": with_workload(FAST, "ycsb-c").request, "run_id": "c-fast"}
    )
    found = build_matrix(results, [0.5, 0.7, 0.5, 0.7])
    assert found is not None
    assert found.targets == ("1,000 IOPS", "2,000 IOPS")
    a, c = found.rows
    assert (a.workload, c.workload) == ("ycsb-a", "ycsb-c")
    assert a.decision.startswith("2,000 IOPS: 1.7")
    assert "cheapest an operation: 2,000 IOPS" in a.decision
    assert [cell and cell.best for cell in a.cells] == [False, True]
    assert "they differ by too little to matter" in c.decision


def test_a_missing_cell_stays_empty() -> None:
    found = build_matrix([SLOW, FAST, with_workload(SLOW, "ycsb-c")])
    assert found is not None
    assert found.rows[1].cells[1] is None
    assert found.rows[1].decision.startswith("not decided: of 2,000 IOPS nothing is known")


def test_two_runs_of_one_workload_are_no_matrix() -> None:
    assert build_matrix([SLOW, FAST]) is None


def test_the_page_tells_the_ratio_and_the_matrix() -> None:
    results = [SLOW, FAST, with_workload(SLOW, "ycsb-c")]
    found = compare_runs(results)
    page = compare_page.render_comparison(results, found, build_matrix(results))
    assert join_units(found.sentences[0]) in page
    assert "What to buy" in page


def test_dollars_come_from_the_runs_themselves_and_say_what_they_are() -> None:
    cost = RunCost(
        basis="as-if-on-aws",
        usd=None,
        items=(),
        target_usd_per_hour=0.5,
        usd_per_million_operations=None,
        region="us-east-1",
        as_of=None,
        method="test",
    )
    runs = [synthetic_run(run_id=name)[0] for name in ("a", "b")]
    priced = [run.model_copy(update={"cost": cost}) for run in runs]
    first = compare_runs(priced).runs[0]
    assert first.figure_ops_per_second is not None
    assert first.usd_per_million == pytest.approx(0.5 / (first.figure_ops_per_second * 0.0036))
    assert any("this machine's throughput" in line for line in compare_runs(priced).warnings)
    given = compare_runs(priced, (1.0, 1.0)).runs[0]
    assert given.usd_per_million == pytest.approx(2 * (first.usd_per_million or 0))
    assert compare_runs(runs).runs[0].usd_per_million is None
