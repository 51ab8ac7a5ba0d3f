"""The I/Os that Aurora charges are counts of five minutes, of the cluster, not of its writer."""

from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.aws import clients
from plimsoll.model.run.results import SecondTotals
from plimsoll.targets.aurora_io import read_billed_io

pytestmark = pytest.mark.usefixtures("account")
NOON = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def put(name: str, minute: int, value: float, dimension: str = "DBClusterIdentifier") -> None:
    clients.cloudwatch().put_metric_data(
        Namespace="AWS/RDS",
        MetricData=[
            {
                "MetricName": name,
                "Dimensions": [{"Name": dimension, "Value": "plimsoll-1"}],
                "Timestamp": NOON + timedelta(minutes=minute),
                "Value": value,
            }
        ],
    )


def second(minute: float, succeeded: int) -> SecondTotals:
    return SecondTotals(
        epoch_s=int((NOON + timedelta(minutes=minute)).timestamp()),
        step=1,
        operation="read",
        succeeded=succeeded,
        errors=0,
        max_us=None,
        buckets={},
    )


def test_all_are_counted_and_those_beside_operations_apart() -> None:
    for minute, reads, writes in ((0, 1000, 5000), (5, 700, 300), (10, 80, 20)):
        put("VolumeReadIOPs", minute, reads)
        put("VolumeWriteIOPs", minute, writes)
        put("VolumeReadIOPs", minute, 1e9, "DBInstanceIdentifier")
    seconds = [second(5, 100), second(9.9, 300), second(20, 50)]  # no point is there for the last
    start, end = NOON + timedelta(minutes=2), NOON + timedelta(minutes=30)
    found = read_billed_io("plimsoll-1", start=start, end=end, seconds=seconds)
    assert found is not None
    assert (found.reads, found.writes, found.ios) == (1780, 5320, 7100)
    assert (found.beside_operations, found.operations) == (1000, 400)
    assert found.per_operation == 2.5


def test_the_period_in_which_the_load_began_holds_the_datasets_loading_and_is_left_out() -> None:
    for minute, writes in ((5, 1e6), (10, 300)):
        put("VolumeReadIOPs", minute, 100)
        put("VolumeWriteIOPs", minute, writes)
    seconds = [second(7, 1000), second(11, 200)]
    found = read_billed_io(
        "plimsoll-1", start=NOON, end=NOON + timedelta(minutes=30), seconds=seconds
    )
    assert found is not None
    assert (found.beside_operations, found.operations) == (400, 200)


def test_without_a_point_of_both_nothing_is_known() -> None:
    put("VolumeReadIOPs", 0, 10)
    assert read_billed_io("plimsoll-1", start=NOON, end=NOON + timedelta(hours=1), seconds=()) is (
        None
    )


def test_without_operations_there_is_no_figure_for_one() -> None:
    put("VolumeReadIOPs", 0, 10)
    put("VolumeWriteIOPs", 0, 10)
    found = read_billed_io("plimsoll-1", start=NOON, end=NOON + timedelta(hours=1), seconds=())
    assert found is not None
    assert (found.ios, found.per_operation) == (20, None)
