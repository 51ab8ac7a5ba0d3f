"""A target's own metrics, as CloudWatch gives them: whole periods, whatever time is asked about."""

from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.aws import clients
from plimsoll.model.run.run_record import TargetAddress
from plimsoll.targets.cloudwatch_metrics import read_samples

TARGET = TargetAddress(
    protocol="mysql", host="db", port=3306, database="db", secret_arn="arn", identifier="db-1"
)
MOMENT = datetime(2026, 11, 1, 12, 0, 7, tzinfo=UTC)


@pytest.fixture(autouse=True)
def measured(account: None) -> None:
    """Each second from 12:00:00 to 12:01:59 has its own number as its IOPS."""
    del account
    for second in range(120):
        clients.cloudwatch().put_metric_data(
            Namespace="AWS/RDS",
            MetricData=[
                {
                    "MetricName": "WriteIOPS",
                    "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "db-1"}],
                    "Timestamp": MOMENT.replace(second=0) + timedelta(seconds=second),
                    "Value": float(second),
                }
            ],
        )


@pytest.mark.parametrize(
    ("since_ms", "until_ms", "found"),
    [
        (0, 0, [7]),
        (200, 900, [7]),  # a load of half a second, within one
        (900, 1_100, [7, 8]),
        (0, 3_000, [7, 8, 9]),
    ],
)
def test_every_second_that_the_time_touches_is_read(
    since_ms: int, until_ms: int, found: list[float]
) -> None:
    start, end = (MOMENT + timedelta(milliseconds=ms) for ms in (since_ms, until_ms))
    samples = read_samples(TARGET, "rds", start=start, end=end, period_s=1)
    assert [sample.write_iops for sample in samples] == found
    assert [sample.epoch_ms for sample in samples] == [
        1000 * int(MOMENT.timestamp() - 7 + second) for second in found
    ]


def test_periods_are_whole_minutes_where_metrics_come_once_a_minute() -> None:
    start, end = MOMENT + timedelta(seconds=10), MOMENT + timedelta(seconds=20)
    (sample,) = read_samples(TARGET, "rds", start=start, end=end, period_s=60)
    assert sample.epoch_ms == 1000 * int(MOMENT.timestamp() - 7)
    assert sample.write_iops == pytest.approx(29.5)
