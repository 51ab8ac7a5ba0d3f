"""Two targets in turn: when a comparison ends, and how often it ends rightly."""

import math
import signal
from random import Random

import pytest

from plimsoll.cli.main import main
from plimsoll.cli.versus import describe
from plimsoll.load_line import versus
from plimsoll.load_line.versus import FIRST, Rules, VersusResult, compare_in_turns, decide

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


def test_a_result_is_one_sentence_with_its_interval() -> None:
    result = VersusResult(
        servers=("10.11", "11.4"),
        figure="throughput",
        unit="ops/s",
        pairs=((100.0, 150.0),) * 8,
        ratio=1.5,
        low=1.4,
        high=1.6,
        confidence=0.99,
        matters_share=0.03,
        outcome="they differ",
        seed=7,
    )
    text = describe(result)
    assert text.startswith("they differ: B has 1.50 times the throughput of A (99 % confidence")
    assert "1.40 to 1.60, 8 pairs): the difference is larger than the noise" in text
    assert text.endswith("A: 10.11\nB: 11.4; seed 7")
    few = describe(result.model_copy(update={"low": None, "high": None, "outcome": "not decided"}))
    assert "too few pairs for an interval" in few


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
