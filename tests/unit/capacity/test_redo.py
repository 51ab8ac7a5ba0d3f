"""Whole searches on servers whose log lends throughput; all worlds: benchmarks/capacity_redo.py."""

import pytest

from tests.unit.capacity.redo_worlds import SEARCHES, RedoWorld, Searcher, truth

SMALL = RedoWorld(log_s=60)
OVER_CLAIM = 1.03


@pytest.fixture(scope="module")
def sustained() -> float:
    return truth(SMALL)


@pytest.mark.parametrize("strategy", SEARCHES)
def test_a_search_claims_no_more_than_pages_can_follow(strategy: str, sustained: float) -> None:
    searches = [Searcher(SMALL, seed) for seed in range(4)]
    for each in searches:
        capacity = each.search(SEARCHES[strategy])
        figure = capacity.max_sustainable_throughput_ops_per_second
        assert figure is not None, capacity.summary
        assert 0.7 * sustained < figure < OVER_CLAIM * sustained, capacity.summary


def test_a_search_that_reads_no_debt_measures_what_the_log_lends(sustained: float) -> None:
    capacity = Searcher(SMALL, 1, blind=True).search(SEARCHES["steps"])
    figure = capacity.max_sustainable_throughput_ops_per_second
    assert figure is not None
    assert figure > OVER_CLAIM * sustained
