"""Waves in a throughput by the second: their period, and no waves in noise."""

import math
from random import Random

import pytest

from plimsoll.capacity.statistics.trends import find_wave_s


@pytest.mark.parametrize("period_s", [5, 20, 25])
def test_waves_are_found_with_their_period(period_s: int) -> None:
    random = Random(1)
    seconds = [
        1000 + 300 * math.sin(2 * math.pi * s / period_s) + random.gauss(0, 100) for s in range(60)
    ]
    found = find_wave_s(seconds)
    assert found is not None
    assert abs(found - period_s) <= 1


def test_noise_is_no_wave() -> None:
    for seed in range(200):
        random = Random(seed)
        assert find_wave_s([random.gauss(1000, 100) for _ in range(60)]) is None
    assert find_wave_s([]) is None
    assert find_wave_s([5.0] * 60) is None
