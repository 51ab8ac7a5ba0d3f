"""One table for each kind of figure: how it is written, at its edges too."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from plimsoll import words
from plimsoll.model.databases import AuroraEngine, Engine
from plimsoll.words import NOTHING

RULES: dict[Callable[..., str], list[tuple[Any, str]]] = {
    words.format_latency: [
        (None, NOTHING),
        (0, "0 µs"),
        (26.4, "26 µs"),
        (420, "420 µs"),
        (999.4, "999 µs"),
        (999.6, "1.00 ms"),
        (2100, "2.10 ms"),
        (8923.4, "8.92 ms"),
        (9_996, "10.0 ms"),
        (49_462, "49.5 ms"),
        (99_960, "100 ms"),
        (312_000, "312 ms"),
        (1_204_000, "1.20 s"),
        (60_000_000, "60.0 s"),
        (1_204_000_000, "1,204 s"),
    ],
    words.format_milliseconds: [
        (None, NOTHING),
        (420, "0.42"),
        (8923.4, "8.92"),
        (9_996, "10.0"),
        (49_462, "49.5"),
        (1_204_000, "1,204"),
    ],
    words.format_duration: [
        (None, NOTHING),
        (0, "0 s"),
        (0.05, "0.05 s"),
        (2.5, "2.5 s"),
        (45, "45 s"),
        (59.4, "59.4 s"),
        (59.6, "1 min"),
        (125, "2 min 5 s"),
        (180, "3 min"),
        (3599.6, "1 h"),
        (3900, "1 h 5 min"),
        (7200, "2 h"),
        (7199.6, "2 h"),
        (100_000, "27 h 47 min"),
    ],
    words.format_rate: [
        (None, NOTHING),
        (0.0, "0"),
        (0.04, "0.0"),
        (2.46, "2.5"),
        (99.94, "99.9"),
        (99.96, "100"),
        (5600.4, "5,600"),
    ],
    words.format_throughput: [(None, NOTHING), (50, "50.0 ops/s"), (5600.4, "5,600 ops/s")],
    words.format_number: [
        (None, NOTHING),
        (0, "0"),
        (3.0, "3"),
        (0.5, "0.5"),
        (12.34, "12.34"),
        (1837, "1,837"),
        (99_999.9, "100,000"),
        (1_000_000, "1,000,000"),
        (12_345_678.0, "12,345,678"),
    ],
    words.format_percent: [
        (None, NOTHING),
        (0, "0 %"),
        (0.0004, "0.04 %"),
        (0.001, "0.1 %"),
        (0.0253, "2.53 %"),
        (0.1522, "15.2 %"),
        (0.44, "44 %"),
        (1, "100 %"),
        (12, "1,200 %"),
        (-0.1522, "-15.2 %"),
    ],
    words.describe_change: [(-0.1522, "fell by 15.2 %"), (0.03, "rose by 3 %")],
    words.format_usd: [(0, "$0.00"), (0.19, "$0.19"), (1234.5, "$1,234.50")],
    words.format_unit_usd: [
        (0, "$0.00"),
        (0.01234, "$0.0123"),
        (0.1, "$0.10"),
        (0.171, "$0.171"),
        (12.5, "$12.50"),
        (1234.567, "$1,234.57"),
    ],
    words.name_statistic: [("mean", "mean"), ("p99", "p99"), ("p999", "p99.9")],
    words.format_moment: [
        (None, NOTHING),
        (datetime(2026, 3, 2, 10, 0, 5, tzinfo=UTC), "2026-03-02 10:00:05 UTC"),
    ],
    words.format_time_of_day: [(datetime(2026, 3, 2, 10, 0, 5, tzinfo=UTC), "10:00:05 UTC")],
}


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [(rule, value, text) for rule, table in RULES.items() for value, text in table],
)
def test_a_figure_has_one_form(rule: Callable[..., str], value: Any, expected: str) -> None:
    assert rule(value) == expected


@pytest.mark.parametrize(
    ("value", "axis", "expected"),
    [
        (3, "clients", "3 clients"),
        (1, "connections", "1 connection"),
        (1, "rate_ops_per_second", "1 ops/s offered"),
        (1500, "rate_ops_per_second", "1,500 ops/s offered"),
        (0.5, "rate_ops_per_second", "0.5 ops/s offered"),
        (None, "clients", NOTHING),
    ],
)
def test_a_load_has_the_unit_of_its_axis(value: float | None, axis: str, expected: str) -> None:
    assert words.format_load(value, axis) == expected


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((3.0, 4.0), "passes at 3 clients, fails at 4 clients"),
        ((None, 1.0), "nothing passes, fails at 1 client"),
        ((8.0, None), "passes at 8 clients, nothing failed"),
        ((None, None), "nothing passes, nothing failed"),
    ],
)
def test_a_bracket_says_which_end_passes(
    ends: tuple[float | None, float | None], expected: str
) -> None:
    assert words.format_bracket(ends, "clients") == expected


@pytest.mark.parametrize(
    ("bound", "figure", "ratio"),
    [("=", "900", "1.70"), (">=", "≥ 900", "≥ 1.70"), ("<", "< 900", "≤ 1.70")],
)
def test_a_bound_has_its_sign(bound: str, figure: str, ratio: str) -> None:
    assert words.prepend_bound("900", bound) == figure
    assert words.format_ratio(1.7, bound) == ratio


def test_a_figure_of_no_bound_has_no_sign() -> None:
    assert words.prepend_bound("900", None) == "900"


@pytest.mark.parametrize(
    ("ends", "expected"), [((1.691, 1.7), "1.69 to 1.70"), ((None, None), NOTHING)]
)
def test_the_interval_of_a_ratio(ends: tuple[float | None, float | None], expected: str) -> None:
    assert words.format_ratio_interval(*ends) == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"), [(8923.4, "us", "8.92 ms"), (1000, "ops/s", "1,000 ops/s")]
)
def test_a_metric_is_written_in_its_unit(value: float, unit: str, expected: str) -> None:
    assert words.format_in_unit(value, unit) == expected


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 runs"), (1, "1 run"), (1234, "1,234 runs")]
)
def test_a_noun_follows_its_number(number: int, expected: str) -> None:
    assert words.format_count(number, "run") == expected


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert words.format_count(2, "batch", "batches") == "2 batches"


@pytest.mark.parametrize(
    ("usd", "expected"), [(1.33334e-05, "$0.0000133334"), (0.1, "$0.10"), (2.5e-05, "$0.000025")]
)
def test_a_listed_price_is_written_in_full(usd: float, expected: str) -> None:
    assert words.format_unit_usd(usd, 10) == expected


def test_every_engine_has_a_name() -> None:
    assert set(words.ENGINES) == {*get_args(Engine), *get_args(AuroraEngine)}
