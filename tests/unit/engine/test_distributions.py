"""The engine draws what YCSB and sysbench define, seen from its samples alone.

The seed is fixed, so a sample that fits today fits tomorrow. A wrong generator misses by far: see
`test_a_wrong_definition_is_noticed`.
"""

import json
import re
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pytest

import plimsoll_engine
from plimsoll.model.engine.asked import KeySpace
from tests.unit.engine import expected
from tests.unit.engine.expected import Floats, chi_squared_p

Integers = npt.NDArray[np.int64]

DRAWS = 300_000
SEED = 20130901
SIGNIFICANT = 1e-3


def sample(
    value: Mapping[str, object], count: int, *spaces: KeySpace, seed: int = SEED
) -> list[object]:
    space_json = json.dumps([space.model_dump(exclude_none=True) for space in spaces])
    return list(plimsoll_engine.sample(json.dumps(value), space_json, seed, count))


def keys(
    distribution: dict[str, object], n: int, count: int = DRAWS
) -> "np.typing.NDArray[np.int64]":
    space = KeySpace(name="t", first=1, records=n)
    value = {"kind": "key", "key_space": "t", "distribution": distribution}
    return np.array(sample(value, count, space), dtype=np.int64) - 1


def integers(distribution: dict[str, object], n: int) -> Integers:
    value = {"kind": "integer", "low": -5, "high": n - 6, "distribution": distribution}
    return np.array(sample(value, DRAWS), dtype=np.int64) + 5


DEFINITIONS: list[tuple[dict[str, object], Callable[[int], Floats]]] = [
    ({"kind": "uniform"}, expected.uniform),
    ({"kind": "zipfian", "scrambled": False}, lambda n: expected.gray(n, 0.99)),
    ({"kind": "zipfian", "scrambled": False, "constant": 0.5}, lambda n: expected.gray(n, 0.5)),
    ({"kind": "zipfian"}, expected.scrambled_keys),
    ({"kind": "latest"}, lambda n: expected.latest(n, 0.99)),
    ({"kind": "hotspot"}, lambda n: expected.hotspot(n, 0.2, 0.8)),
    (
        {"kind": "hotspot", "hot_set": 0.01, "hot_operations": 0.5},
        lambda n: expected.hotspot(n, 0.01, 0.5),
    ),
    ({"kind": "exponential"}, lambda n: expected.exponential_from_newest(n, 95, 0.8571428571)),
    ({"kind": "gaussian"}, expected.gaussian),
    ({"kind": "gaussian", "iterations": 3}, lambda n: expected.gaussian(n, 3)),
    ({"kind": "special"}, expected.special),
    (
        {"kind": "special", "hot_set": 15, "hot_operations": 60, "iterations": 4},
        lambda n: expected.special(n, 4, 15, 60),
    ),
    ({"kind": "pareto"}, lambda n: expected.pareto(n, 0.2)),
    ({"kind": "pareto", "h": 0.05}, lambda n: expected.pareto(n, 0.05)),
    ({"kind": "sysbench_zipfian"}, lambda n: expected.zipf(n, 0.8)),
    ({"kind": "sysbench_zipfian", "exponent": 1.2}, lambda n: expected.zipf(n, 1.2)),
]


@pytest.mark.parametrize("n", [100, 5_003])
@pytest.mark.parametrize(("distribution", "definition"), DEFINITIONS)
def test_keys_follow_the_published_definition(
    distribution: dict[str, object], definition: Callable[[int], Floats], n: int
) -> None:
    drawn = keys(distribution, n)
    assert drawn.min() >= 0
    assert drawn.max() < n
    assert chi_squared_p(np.bincount(drawn, minlength=n), definition(n)) > SIGNIFICANT


@pytest.mark.parametrize(
    ("distribution", "definition"),
    [pair for pair in DEFINITIONS if pair[0]["kind"] in {"uniform", "special", "pareto"}],
)
def test_numbers_of_a_range_follow_it_too(
    distribution: dict[str, object], definition: Callable[[int], Floats]
) -> None:
    counts = np.bincount(integers(distribution, 1000), minlength=1000)
    assert chi_squared_p(counts, definition(1000)) > SIGNIFICANT


def test_over_the_numbers_of_a_range_zipfian_is_scrambled_over_just_these() -> None:
    counts = np.bincount(integers({"kind": "zipfian"}, 1000), minlength=1000)
    assert chi_squared_p(counts, expected.scrambled(1000)) > SIGNIFICANT
    assert chi_squared_p(counts, expected.scrambled_keys(1000)) < 1e-9


@pytest.mark.parametrize("n", [1, 2, 3])
def test_of_the_fewest_keys_each_distribution_draws_what_is_there(n: int) -> None:
    """YCSB's own latest never draws key 0, where there is another."""
    for distribution, _ in DEFINITIONS:
        drawn = set(keys(distribution, n, 1000).tolist())
        assert drawn <= set(range(n))
    assert min(keys({"kind": "latest"}, n, 1000)) == min(1, n - 1)


def test_a_wrong_definition_is_noticed() -> None:
    counts = np.bincount(keys({"kind": "zipfian", "scrambled": False}, 1000), minlength=1000)
    assert chi_squared_p(counts, expected.gray(1000, 0.97)) < 1e-9
    assert chi_squared_p(counts, expected.zipf(1000, 0.99)) < 1e-9  # Gray's method approximates it


def test_zipfian_is_close_to_the_law_that_it_approximates() -> None:
    drawn = keys({"kind": "zipfian", "scrambled": False}, 1000)
    observed = np.bincount(drawn, minlength=1000) / DRAWS
    distance = np.max(np.abs(np.cumsum(observed) - np.cumsum(expected.zipf(1000, 0.99))))
    assert distance < 0.02


def test_sequential_counts_and_begins_again() -> None:
    assert list(keys({"kind": "sequential"}, 7, 20)) == [number % 7 for number in range(20)]


def test_latest_follows_a_key_space_that_grows_under_heavy_inserts() -> None:
    """Half of the operations insert: each draw is zipfian back from the newest row of its time.

    The randomized probability integral transform of each draw, by Gray's formula for the number of
    rows at that time, is uniform (Kolmogorov and Smirnov) only if the key space has been followed.
    """
    records, inserts = 500, 20_000
    value = {
        "kind": "format",
        "template": "{} {}",
        "of": [
            {"kind": "key", "key_space": "t", "distribution": {"kind": "latest"}},
            {"kind": "next_key", "key_space": "t"},
        ],
    }
    drawn = [
        tuple(int(number) for number in str(text).split())
        for text in sample(value, inserts, KeySpace(name="t", records=records))
    ]
    assert [new for _, new in drawn] == list(range(records, records + inserts))
    generator = np.random.default_rng(7)
    uniforms = []
    for key, newest in drawn[:: inserts // 2000]:
        rows = newest  # numbered from 0, this operation's own insert not yet among them
        below = np.concatenate([[0.0], np.cumsum(expected.gray(rows - 1, 0.99))])
        back = rows - 1 - key
        uniforms.append(generator.uniform(below[back], below[back + 1]))
    assert expected.kolmogorov_p(np.array(uniforms)) > SIGNIFICANT
    assert max(key for key, _ in drawn) > records + inserts - 50


def test_new_rows_begin_where_the_load_is_told() -> None:
    space = KeySpace(name="t", first=1, records=10, insert_from=2**40)
    value = {"kind": "next_key", "key_space": "t"}
    assert sample(value, 3, space) == [2**40, 2**40 + 1, 2**40 + 2]


def test_rows_inserted_far_off_are_read_as_well() -> None:
    value = {
        "kind": "format",
        "template": "{} {}",
        "of": [
            {"kind": "next_key", "key_space": "t"},
            {"kind": "key", "key_space": "t", "distribution": {"kind": "latest"}},
        ],
    }
    space = KeySpace(name="t", first=1, records=10, insert_from=2**40)
    read = {int(str(text).split()[1]) for text in sample(value, 5_000, space)}
    assert {number for number in read if number < 2**40} <= set(range(1, 11))
    assert {number for number in read if number >= 2**40} <= set(range(2**40, 2**40 + 5_000))
    assert any(number >= 2**40 for number in read)


@pytest.mark.parametrize("number", [0, 1, 2, 255, 256, 10**6, 2**40 + 7, 2**63 - 1])
def test_the_hash_is_ycsbs(number: int) -> None:
    value = {"kind": "fnv_hash", "of": {"kind": "literal", "value": number}}
    assert sample(value, 1) == [int(expected.fnv_1a(np.array([number], dtype=np.uint64))[0])]


def test_a_known_ycsb_key() -> None:
    """Row 0 of a YCSB table is user6284781860667377211, in every one that YCSB has loaded."""
    hashed = {"kind": "fnv_hash", "of": {"kind": "literal", "value": 0}}
    value = {"kind": "format", "template": "user{}", "of": [hashed]}
    assert sample(value, 1) == ["user6284781860667377211"]


@pytest.mark.parametrize(
    ("alphabet", "characters"),
    [("digits", "0-9"), ("alphanumeric", "0-9A-Za-z"), ("printable", " -~")],
)
def test_text_has_its_length_and_each_character_alike(alphabet: str, characters: str) -> None:
    drawn = sample({"kind": "text", "length": 100, "alphabet": alphabet}, 5_000)
    assert all(re.fullmatch(f"[{characters}]{{100}}", str(text)) for text in drawn)
    codes = np.frombuffer("".join(str(text) for text in drawn).encode(), dtype=np.uint8)
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    assert len(counts) == len(
        [c for c in map(chr, range(128)) if re.fullmatch(f"[{characters}]", c)]
    )
    assert chi_squared_p(counts, expected.uniform(len(counts))) > SIGNIFICANT


def test_a_pattern_is_sysbenchs_template() -> None:
    drawn = [str(text) for text in sample({"kind": "pattern", "pattern": "##-@x"}, 5_000)]
    assert all(re.fullmatch(r"[0-9]{2}-[a-z]x", text) for text in drawn)
    tens = np.bincount([int(text[:2]) for text in drawn], minlength=100)
    assert chi_squared_p(tens, expected.uniform(100)) > SIGNIFICANT


def test_a_seed_repeats_and_another_does_not() -> None:
    value = {"kind": "text", "length": 20}
    assert sample(value, 5, seed=1) == sample(value, 5, seed=1)
    assert sample(value, 5, seed=1) != sample(value, 5, seed=2)
