"""Two targets in pairs: when a comparison ends, how often rightly, and at which loads."""

import math
import signal
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plimsoll.cli.main import main
from plimsoll.cli.versus import describe
from plimsoll.errors import OptionError, PlimsollError
from plimsoll.load_line import versus
from plimsoll.load_line.options import LoadOptions
from plimsoll.load_line.versus import (
    FIRST,
    Comparison,
    LoadLine,
    Order,
    Pair,
    Rules,
    VersusResult,
    choose_order,
    compare_in_turns,
    compare_together,
    decide,
    read_load_line,
    require_common_window,
)
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload
from tests.support.synthetic_run import synthetic_run

RULES = Rules(matters_share=0.03, pairs_max=100)


def test_one_pair_decides_nothing() -> None:
    assert decide([], 0.03) == "not decided"
    assert decide([(100.0, 200.0)], 0.03) == "not decided"


@pytest.mark.parametrize(
    ("ratio", "outcome"),
    [(1.5, "they differ"), (0.7, "they differ"), (1.001, "too small to matter")],
)
def test_clear_pairs_decide(ratio: float, outcome: str) -> None:
    pairs = [(100.0, 100.0 * ratio * wobble) for wobble in (1, 1.001, 0.999, 1.002, 0.998) * 2]
    assert decide(pairs, 0.03) == outcome


def test_it_ends_undecided_after_the_last_pair() -> None:
    figures = iter([100.0, 200.0] * 10)
    pairs, outcome = compare_in_turns(lambda _: next(figures), Rules(0.03, 4), seed=1)
    assert (len(pairs), outcome) == (4, "not decided")


def simulate(seed: int, gain: float) -> str:
    """Compare two targets whose speed drifts together; each load scatters by 1.5 %."""
    draws = Random(seed)
    level = 1000.0

    def measure(number: int) -> float:
        nonlocal level
        level *= math.exp(draws.gauss(0, 0.005))
        return level * math.exp(draws.gauss(0, 0.015)) * (1 if number == FIRST else gain)

    return compare_in_turns(measure, Rules(0.03, 100), seed)[1]


def test_equal_targets_are_told_to_differ_in_at_most_one_of_100() -> None:
    outcomes = [simulate(seed, 1.0) for seed in range(1000)]
    assert outcomes.count("they differ") <= 20  # 1 % and three standard errors
    assert outcomes.count("too small to matter") >= 950


def test_three_percent_are_found_in_95_of_100() -> None:
    assert [simulate(seed, 0.97) for seed in range(1000)].count("they differ") >= 950


def test_pairs_at_the_same_time_end_when_they_decide_or_after_the_last_one() -> None:
    def differ(number: int) -> Pair:
        return 100.0, 150.0 + number / 10

    pairs, outcome = compare_together(differ, RULES)
    assert (outcome, pairs[:2]) == ("they differ", [(100.0, 150.0), (100.0, 150.1)])
    assert len(pairs) < 10

    def scatter(number: int) -> Pair:
        return 100.0, 50.0 if number % 2 else 200.0

    pairs, outcome = compare_together(scatter, Rules(0.03, 4))
    assert (len(pairs), outcome) == (4, "not decided")


# How the loads of a pair run.


def comparison(order: Order | None, **options: Any) -> Comparison:
    dsn, workload = "mysql://u@127.0.0.1/d", load_workload("ycsb-b")
    return Comparison(
        dsns=(dsn, dsn),
        targets=(parse_dsn(dsn), parse_dsn(dsn)),
        workload_name=workload.name,
        workload=workload,
        parameters={},
        options=LoadOptions(**options),
        search=None,
        order=order,
        rules=RULES,
    )


def test_loads_run_at_the_same_time_where_they_share_nothing() -> None:
    assert choose_order(comparison(None), None) == ("together", None)
    assert choose_order(comparison("together"), None) == ("together", None)
    assert choose_order(comparison(None), "both are one server") == ("turns", "both are one server")


def test_turns_can_be_asked_for_and_need_no_reason() -> None:
    assert choose_order(comparison("turns"), None) == ("turns", None)
    assert choose_order(comparison("turns"), "both are one server") == ("turns", None)


def test_loads_that_would_share_something_are_never_forced_together() -> None:
    with pytest.raises(OptionError, match=r"would not be apart: both are one server"):
        choose_order(comparison("together"), "both are one server")
    with pytest.raises(OptionError, match="do not end at the same time"):
        choose_order(comparison("together", operations_most=100), None)


def report(start_ms: int, end_ms: int) -> LoadReport:
    window = SimpleNamespace(
        window_start_epoch_ms=start_ms,
        window_end_epoch_ms=end_ms,
        window_s=(end_ms - start_ms) / 1000,
        late_start_ms=start_ms,
    )
    return cast("LoadReport", window)


def test_windows_of_two_loads_at_the_same_time_are_one() -> None:
    require_common_window(report(0, 10_000), report(50, 10_000))
    with pytest.raises(PlimsollError, match=r"open 150 ms late; a longer --warmup covers that"):
        require_common_window(report(0, 10_000), report(150, 10_000))


# The load line of each target.


def test_a_load_line_is_the_answer_of_a_search() -> None:
    result, _ = synthetic_run(knee=2.2)
    assert result.capacity is not None
    assert read_load_line(result) == LoadLine(
        verdict="KNEE",
        connections=16,  # 8 of each client
        clients=2,
        ops_per_second=result.capacity.max_sustainable_throughput_ops_per_second or 0,
    )


def test_a_search_without_an_answer_says_its_verdict() -> None:
    result, _ = synthetic_run()
    assert result.capacity is not None
    noisy = result.capacity.withdraw_figure(verdict="NOISY", summary="repetitions differ")
    with pytest.raises(PlimsollError, match=r"^its search has no load line: NOISY: repetitions"):
        read_load_line(result.model_copy(update={"capacity": noisy}))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["--limit", "5ms"], "--limit: is for --load-lines"),
        (["--load-lines", "--connections", "8"], "--connections: --load-lines finds each one's"),
        (["--load-lines", "--rate", "8"], "--rate: --load-lines finds each one's"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    given: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn = "mysql://bench:x@127.0.0.1/shop"
    with pytest.raises(SystemExit) as ended:
        main(["versus", dsn, dsn, "--workload", "ycsb-b", *given])
    assert (ended.value.code, complaint in capsys.readouterr().err) == (2, True)


RESULT = VersusResult(
    servers=("10.11", "11.4"),
    connections=(8, 8),
    load_lines=None,
    order="turns",
    order_why="both are one server",
    figure="throughput",
    unit="ops/s",
    pairs=((100.0, 97.2),) * 8,
    ratio=0.972,
    low=0.947,
    high=0.998,
    confidence=0.99,
    matters_share=0.03,
    outcome="they differ",
    seed=7,
)


def test_a_result_is_one_sentence_with_its_interval() -> None:
    text = describe(RESULT)
    assert text.startswith("they differ: B has 0.972 times the throughput of A (99 % confidence")
    assert "0.947 to 0.998, 8 pairs in turns): the difference is larger than the noise" in text
    assert text.endswith("A: 10.11, at 8 connections\nB: 11.4, at 8 connections\nseed 7")
    few = describe(RESULT.model_copy(update={"low": None, "high": None, "outcome": "not decided"}))
    assert "too few pairs for an interval" in few


def test_a_ratio_of_load_lines_says_the_load_and_verdict_of_each() -> None:
    lines = (
        LoadLine(verdict="KNEE", connections=8, clients=2, ops_per_second=2000.0),
        LoadLine(verdict="PLATEAU", connections=1, clients=1, ops_per_second=3000.0),
    )
    update = {"load_lines": lines, "connections": (8, 1), "order": "together"}
    text = describe(RESULT.model_copy(update=update))
    assert "the throughput of A, each at the load that its search found (99 %" in text
    assert "8 pairs at the same time)" in text
    assert "A: 10.11, KNEE at 8 connections, 2,000 ops/s in its search\n" in text
    assert "B: 11.4, PLATEAU at 1 connection, 3,000 ops/s in its search\n" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_between_two_loads_ends_it_as_interrupted(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr(versus, "run_versus", lambda *_, **__: signal.raise_signal(number))
    dsn = "mysql://bench:x@127.0.0.1/shop"
    # a shell that starts tests in the background has them ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as ended:
            main(["versus", dsn, dsn, "--workload", "ycsb-b"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == 130
