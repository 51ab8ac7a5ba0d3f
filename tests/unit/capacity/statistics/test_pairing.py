"""Pairs: what drifts cancels out, and 95 in 100 intervals cover the truth."""

import math
from random import Random

import pytest

from plimsoll.capacity.statistics.contrasts import estimate_contrast, estimate_mean
from plimsoll.capacity.statistics.pairing import Pairing, compute_paired_ratio, pair_neighbors

TRIALS = 2_000  # 93.5 to 96.5 % is then 3 standard errors on either side of 95 %
TRUTH = 1.2


def drifting(n: int, random: Random) -> list[tuple[float, float]]:
    """Pairs of a target that gets 30 % slower or faster from one to the next, noise 3 %."""
    level, pairs = 1_000.0, []
    for _ in range(n):
        level *= math.exp(0.3 * random.gauss(0, 1))
        off, on = (math.exp(0.03 * random.gauss(0, 1)) for _ in range(2))
        pairs.append((level * off, TRUTH * level * on))
    return pairs


@pytest.mark.parametrize("n", [3, 6])
def test_95_in_100_intervals_cover_the_truth_whatever_drifts(n: int) -> None:
    random, covered = Random(n), 0
    for _ in range(TRIALS):
        found = compute_paired_ratio(drifting(n, random))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= TRUTH <= found.high
    assert 0.935 <= covered / TRIALS <= 0.965


def test_two_groups_of_the_same_measurements_could_not_tell() -> None:
    pairs = drifting(6, Random(1))
    found = compute_paired_ratio(pairs)
    offs, ons = zip(*pairs, strict=True)
    groups = estimate_contrast((1, -1), [estimate_mean(ons), estimate_mean(offs)])
    assert found.differs
    assert groups.low is not None
    assert groups.high is not None
    assert groups.low < 1 < groups.high


def test_students_t_by_hand() -> None:
    found = compute_paired_ratio([(100, 110), (200, 240), (400, 440)])
    logs = [math.log(1.1), math.log(1.2), math.log(1.1)]
    middle = sum(logs) / 3
    error = math.sqrt(sum((x - middle) ** 2 for x in logs) / 2 / 3)
    assert found.pairs == 3
    assert found.ratio == pytest.approx(math.exp(middle))
    assert found.low == pytest.approx(math.exp(middle - 4.3027 * error))
    assert found.high == pytest.approx(math.exp(middle + 4.3027 * error))


def test_swapping_each_pair_gives_the_reciprocal() -> None:
    pairs = drifting(5, Random(2))
    found, swapped = (
        compute_paired_ratio(pairs),
        compute_paired_ratio([(on, off) for off, on in pairs]),
    )
    assert found.ratio == pytest.approx(1 / (swapped.ratio or 0))
    assert found.low == pytest.approx(1 / (swapped.high or 0))
    assert found.high == pytest.approx(1 / (swapped.low or 0))


def test_two_pairs_have_a_ratio_and_no_interval() -> None:
    found = compute_paired_ratio([(100, 110), (100, 112)])
    assert found.ratio == pytest.approx(math.sqrt(1.10 * 1.12))
    assert (found.low, found.high, found.differs, found.difference_max_share) == (None,) * 4


@pytest.mark.parametrize(
    "pairs",
    [[], [(1.0, 2.0), (0.0, 2.0), (1.0, 2.0)], [(1.0, math.nan)] * 3, [(1.0, math.inf)] * 3],
)
def test_a_pair_without_a_ratio_leaves_none(pairs: list[tuple[float, float]]) -> None:
    found = compute_paired_ratio(pairs)
    assert (found.ratio, found.low, found.high, found.pairs) == (None, None, None, len(pairs))


def test_pairs_that_are_all_alike_have_an_interval_of_no_width() -> None:
    found = compute_paired_ratio([(100.0, 100.0)] * 3)
    assert (found.ratio, found.low, found.high, found.differs) == (1.0, 1.0, 1.0, False)


def test_what_cannot_be_told_apart_has_a_bound() -> None:
    found = compute_paired_ratio([(100, 102), (100, 97), (100, 101)])
    assert found.differs is False
    assert found.low is not None
    assert found.high is not None
    assert found.difference_max_share == max(found.high - 1, 1 - found.low)


def paired(states: str) -> Pairing[int, str]:
    """Pair measurements 0, 1, 2 ... of the states in a text."""
    return pair_neighbors(range(len(states)), lambda number: states[number], ("a", "b"))


def ordered(begins: str, seed: int, pairs: int = 3) -> str:
    made = ""
    while state := paired(made).next_state(begins, wanted=pairs, tries_left=99, seed=seed):
        made += state
    return made


@pytest.mark.parametrize(("begins", "order"), [("a", "abbaba"), ("b", "baabab")])
def test_the_seed_draws_the_order_within_pairs(begins: str, order: str) -> None:
    assert ordered(begins, 1) == order
    assert {ordered("a", seed, 2) for seed in range(20)} == {"abba", "baab"}


def test_each_two_pairs_have_both_orders_so_that_a_drift_favors_neither() -> None:
    for seed in range(20):
        made = ordered("a", seed, 8)
        assert all({made[i : i + 2], made[i + 2 : i + 4]} == {"ab", "ba"} for i in range(0, 16, 4))


def test_a_measurement_without_a_partner_is_left_out_and_the_first_state_stands_first() -> None:
    found = paired("abbbab")
    assert (found.pairs, found.waiting) == ([(0, 1), (4, 3)], "b")
    assert found.next_state("a", wanted=3, tries_left=1, seed=1) == "a"
    assert found.next_state("a", wanted=2, tries_left=1, seed=1) is None
    assert found.next_state("a", wanted=3, tries_left=0, seed=1) is None


def test_the_ratios_are_of_the_names_that_every_measurement_has() -> None:
    latency = (
        {"read": 1.0, "write": 1.0},
        {"read": 2.0, "write": 3.0},
        {"read": 4.0},
        {"read": 2.0},
    )
    found = paired("abba").ratios(lambda number: latency[number])
    assert list(found) == ["read"]
    assert found["read"].ratio == pytest.approx(2.0)
