"""How unevenly rows are asked for, from pages that miss a buffer pool: against a simulated LRU."""

import random
from collections import OrderedDict
from itertools import accumulate

import pytest

from plimsoll.workload.derive.skew import Pool, estimate_zipfian_constant

ROWS, EACH, POOL = 6_000, 12, 120
PAGES = ROWS // EACH


def simulated(constant: float, accesses: int = 40_000) -> Pool:
    """An LRU of 120 pages before 500, whose rows are asked for by a zipfian distribution."""
    draws = random.Random(7)
    places = list(range(ROWS))
    draws.shuffle(places)
    weights = list(accumulate((rank + 1) ** -constant for rank in range(ROWS)))
    cache: OrderedDict[int, None] = OrderedDict()
    missed = 0
    for number, row in enumerate(draws.choices(places, cum_weights=weights, k=accesses)):
        page = row // EACH
        if page in cache:
            cache.move_to_end(page)
            continue
        missed += number >= accesses // 4  # once it is full
        cache[page] = None
        if len(cache) > POOL:
            cache.popitem(last=False)
    return Pool(POOL, PAGES, ROWS, missed / (accesses * 3 / 4))


@pytest.mark.parametrize("constant", [0.6, 0.8, 0.99])
def test_the_constant_is_found_again(constant: float) -> None:
    assert estimate_zipfian_constant(simulated(constant)) == pytest.approx(constant, abs=0.06)


def test_rows_that_are_asked_for_alike_are_seen() -> None:
    assert estimate_zipfian_constant(simulated(0.0)) == 0.0


def test_of_data_that_fits_nothing_is_concluded() -> None:
    assert (
        estimate_zipfian_constant(Pool(pages=1000, data_pages=1100, rows=50_000, missed=0.0))
        is None
    )


def test_more_reads_than_rows_asked_for_alike_would_cause_tell_nothing() -> None:
    assert (
        estimate_zipfian_constant(Pool(pages=1713, data_pages=15_700, rows=150_000, missed=0.999))
        is None
    )


def test_a_pool_that_hardly_misses_is_as_uneven_as_can_be() -> None:
    found = estimate_zipfian_constant(Pool(pages=1000, data_pages=4000, rows=50_000, missed=0.001))
    assert found == pytest.approx(0.999)
