"""The forced-flow and the utilization law, by table."""

import pytest

from plimsoll.capacity.statistics.factorial import (
    compute_carried_ops_per_second,
    compute_full_at_ops_per_second,
    compute_visits_per_operation,
)


@pytest.mark.parametrize(
    ("iops", "throughput", "visits", "most_iops", "carried"),
    [
        (1000, 5600, 0.178571, 2000, 11_200),
        (3000, 1000, 3, 4000, 1333.33),
        (990, 330, 3, 990, 330),  # a device of the same rate carries what was measured
    ],
)
def test_what_a_device_carries(
    iops: float, throughput: float, visits: float, most_iops: float, carried: float
) -> None:
    found = compute_visits_per_operation(iops, throughput)
    assert found == pytest.approx(visits, rel=1e-4)
    assert found is not None
    assert compute_carried_ops_per_second(most_iops, found) == pytest.approx(carried, rel=1e-5)


@pytest.mark.parametrize(
    ("amount", "operations", "visits"),
    [(100, 0, None), (None, 100, None), (0, 100, 0), (7, 2, 3.5)],
)
def test_what_is_not_known_is_not_none_at_all(
    amount: float | None, operations: float, visits: float | None
) -> None:
    assert compute_visits_per_operation(amount, operations) == visits


@pytest.mark.parametrize(("utilization", "full"), [(0.5, 2000), (1, 1000), (0, None)])
def test_where_a_resource_is_full(utilization: float, full: float | None) -> None:
    assert compute_full_at_ops_per_second(1000, utilization) == full
