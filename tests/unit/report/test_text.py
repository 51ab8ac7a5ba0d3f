"""Figures as text: a unit with each, and a dash where nothing was measured."""

import pytest

from plimsoll.report import text
from plimsoll.report.text import NOTHING


@pytest.mark.parametrize(
    ("value_us", "expected"),
    [
        (None, NOTHING),
        (0, "0 µs"),
        (420, "420 µs"),
        (999.4, "999 µs"),
        (999.6, "1.00 ms"),
        (2100, "2.10 ms"),
        (8923.4, "8.92 ms"),
        (49_462, "49.5 ms"),
        (312_000, "312 ms"),
        (1_204_000, "1.20 s"),
        (60_000_000, "60.0 s"),
    ],
)
def test_latency(value_us: float | None, expected: str) -> None:
    assert text.latency(value_us) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(None, NOTHING), (0.0, "0.0"), (99.94, "99.9"), (5600.4, "5,600")]
)
def test_throughput(value: float | None, expected: str) -> None:
    assert text.throughput(value) == expected


@pytest.mark.parametrize(
    ("value", "axis", "expected"),
    [
        (3, "clients", "3 clients"),
        (1, "connections", "1 connection"),
        (1500, "rate_ops_per_second", "1,500 ops/s offered"),
        (None, "clients", NOTHING),
    ],
)
def test_load(value: float | None, axis: str, expected: str) -> None:
    assert text.load(value, axis) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(None, NOTHING), (45, "45 s"), (180, "3 min"), (200, "3 min 20 s"), (3900, "1 h 5 min")],
)
def test_duration(seconds: float | None, expected: str) -> None:
    assert text.duration(seconds) == expected
