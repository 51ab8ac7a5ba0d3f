"""Throughput and time of a closed network, by hand and by its laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.sizing.queueing import Network, estimate_alone_s

# 10 ms at a station, 20 ms elsewhere. Exact mean value analysis by hand:
# 1 under way: 30 ms, 33.3 a second, 0.333 of it queued; 2: 20 + 10 x 1.333 ms, 60 a second, 0.8
# queued; 3: 20 + 10 x 1.8 ms, 78.9 a second
BY_HAND = [(1, 100 / 3, 0.03), (2, 60.0, 1 / 30), (3, 78.947, 0.038)]
demands = st.lists(st.floats(1e-3, 0.1), min_size=1, max_size=3)


def test_a_network_is_reckoned_as_by_hand() -> None:
    network = Network(alone_s=0.03, demands_s=(0.01,))
    for load, rate, response_s in BY_HAND:
        point = network.at(load)
        assert point.ops_per_second == pytest.approx(rate, rel=1e-4)
        assert point.response_s == pytest.approx(response_s, rel=1e-4)
    assert network.bound_ops_per_second == pytest.approx(100)


@pytest.mark.parametrize(("load", "rate", "response_s"), BY_HAND)
def test_the_time_alone_is_found_again(load: int, rate: float, response_s: float) -> None:
    assert load / response_s == pytest.approx(rate, rel=1e-4)
    assert estimate_alone_s(load, response_s, [0.01]) == pytest.approx(0.03, rel=1e-4)


def test_where_an_operation_waits_for_its_own_io_the_station_is_its_time() -> None:
    """2 I/Os of a volume of 100 a second take 20 ms, however soon each is answered."""
    point = Network(alone_s=0.002, demands_s=(0.02,)).at(1)
    assert point.ops_per_second == pytest.approx(50)


@given(st.floats(1e-4, 0.5), demands, st.integers(1, 200))
def test_throughput_keeps_the_asymptotic_bounds(alone: float, each: list[float], load: int) -> None:
    network = Network(alone_s=alone, demands_s=tuple(each))
    point = network.at(load)
    fastest_s = max(alone, sum(each))
    assert point.ops_per_second <= network.bound_ops_per_second * (1 + 1e-9)
    assert point.ops_per_second <= point.load / fastest_s * (1 + 1e-9)
    assert point.ops_per_second * point.response_s == pytest.approx(point.load)  # Little's law


@given(st.floats(1e-4, 0.5), demands, st.integers(1, 60), st.floats(0.1, 1))
def test_a_faster_station_never_slows_an_operation(
    alone: float, each: list[float], load: int, times: float
) -> None:
    def response_s(demands_s: list[float]) -> float:
        return Network(alone_s=alone, demands_s=tuple(demands_s)).at(load).response_s

    faster = [each[0] * times, *each[1:]]
    if len(list(Network(alone_s=alone, demands_s=tuple(each)).climb())) >= load:
        assert response_s(faster) <= response_s(each) * (1 + 1e-9)
