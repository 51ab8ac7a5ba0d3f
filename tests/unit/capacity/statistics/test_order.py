"""What few operations show of a percentile."""

import pytest

from plimsoll.capacity.statistics.order import OPERATIONS_MIN, shows_excess


def test_so_many_operations_are_needed_that_one_is_beyond_the_percentile() -> None:
    assert OPERATIONS_MIN == {
        "mean": 10, "max": 1, "p50": 10, "p95": 59, "p99": 299, "p999": 2995,
    }  # fmt: skip
    assert 1 - 0.99**299 >= 0.95 > 1 - 0.99**298


@pytest.mark.parametrize(
    ("count", "beyond", "shown"),
    [
        (100, 0, False),
        (100, 3, False),
        (100, 4, True),
        (10, 1, False),
        (10, 2, True),
        (0, 0, False),
    ],
)
def test_more_beyond_the_limit_than_chance_explains_shows_that_it_is_exceeded(
    count: int, beyond: int, shown: bool
) -> None:
    assert shows_excess(count, beyond, 0.99) is shown


def test_many_operations_overflow_nothing() -> None:
    assert shows_excess(2994, 2994, 0.999)


@pytest.mark.parametrize(("beyond", "shown"), [(2_000, False), (2_060, False), (2_090, True)])
def test_the_factors_of_many_operations_do_not_vanish(beyond: int, shown: bool) -> None:
    """2,000 are expected beyond the p99, with a deviation of 44.5: 95 % lie below 2,073."""
    assert shows_excess(200_000, beyond, 0.99) is shown
