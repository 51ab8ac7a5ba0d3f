"""Little's law disputes only what neither shares nor operations begun before could explain."""

import pytest

from plimsoll.capacity.steps.littles_law import audit_littles_law
from plimsoll.model.judging.steps import Statistic, Step
from tests.unit.capacity.samples import mixed


@pytest.mark.parametrize(
    ("throughput", "shares", "passed", "detail"),
    [
        (
            20_000,
            None,
            None,
            "needs the operations' shares: 6.00 to 80.0 concurrent operations, 10",
        ),
        (20_000, {"read": 0.95, "update": 0.05}, True, "= 9.70 concurrent operations"),
        (20_000, {"read": 0.5, "update": 0.5}, False, "= 43.0 concurrent operations"),
        (40_000, None, False, "= at least 12.0 concurrent operations"),
        (2_000, None, True, "= at most 8.00 concurrent operations"),
    ],
)
def test_littles_law_without_shares_disputes_only_what_no_shares_explain(
    throughput: float, shares: dict[str, float] | None, passed: bool | None, detail: str
) -> None:
    found = audit_littles_law(mixed(throughput, 10, shares), 1.10)
    assert found.passed is passed
    assert detail in found.detail


@pytest.mark.parametrize(
    ("window_s", "max_us", "passed"),
    [
        (2.0, 300_000, True),  # each of 8 connections: 2 s, and 300 ms that began before
        (2.0, 30_000, False),
        (30.0, 300_000, False),
        (None, 300_000, False),
        (2.0, None, False),
    ],
)
def test_an_operation_that_began_before_the_window_counts_in_it_with_its_whole_latency(
    window_s: float | None, max_us: float | None, passed: bool
) -> None:
    """As seen where eight connections waited for one lock of a table, again and again."""
    latency_us: dict[Statistic, float] = {"mean": 52_300}
    if max_us is not None:
        latency_us["max"] = max_us
    step = Step(
        connections=8,
        throughput_ops_per_second=174,
        window_s=window_s,
        latency_us={"update": latency_us},
    )
    found = audit_littles_law(step, 1.10)
    assert found.passed is passed
    assert "= 9.10 concurrent operations, 8 connections" in found.detail
    assert ("; up to 15 % more that started before the window" in found.detail) is passed
