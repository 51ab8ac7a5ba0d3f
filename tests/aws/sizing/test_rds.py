"""What an RDS instance was asked for, from CloudWatch's hours."""

from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.aws import clients
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.sizing.production_on_rds import observe_rds, parse_instance

NOW = datetime(2026, 11, 15, 12, 34, tzinfo=UTC)
HOURS = 24


@pytest.fixture(autouse=True)
def measured(account: None) -> None:
    """An instance with a busy hour a day: reads 100 IOPS, at noon 900; writes 50; CPU 20 %."""
    del account
    end = NOW.replace(minute=0)
    for hour in range(1, HOURS + 1):
        moment = end - timedelta(hours=hour)
        busy = moment.hour == 11
        values = {
            "ReadIOPS": 900.0 if busy else 100.0,
            "WriteIOPS": 50.0,
            "ReadThroughput": 2.0 * 2**20,
            "WriteThroughput": 1.0 * 2**20,
            "CPUUtilization": 80.0 if busy else 20.0,
        }
        clients.cloudwatch().put_metric_data(
            Namespace="AWS/RDS",
            MetricData=[
                {
                    "MetricName": name,
                    "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": "shop"}],
                    "Timestamp": moment + timedelta(minutes=5),
                    "Value": value,
                }
                for name, value in values.items()
            ],
        )


def test_its_hours_are_told_with_the_busiest() -> None:
    seen = observe_rds("shop", HOURS * 3600, NOW)
    rates = seen.rates
    assert rates.read_iops
    assert rates.iops
    assert rates.mib
    assert rates.cpu_percent
    assert (rates.read_iops.p50, rates.read_iops.peak) == (100, 900)
    assert rates.read_iops.mean == pytest.approx((900 + 23 * 100) / 24)
    assert (rates.iops.p50, rates.iops.p95, rates.iops.peak) == (150, 150, 950)
    assert rates.mib.peak == pytest.approx(3)
    assert rates.cpu_percent.peak == 80
    assert rates.iops.samples == 24
    assert seen.window_s == HOURS * 3600
    assert seen.sample_s == 3600


def test_what_cloudwatch_does_not_tell_is_not_known() -> None:
    seen = observe_rds("shop", HOURS * 3600, NOW)
    assert seen.rates.queue is None
    assert seen.rates.operations is None
    assert seen.demand is None


def test_hours_without_a_point_are_said() -> None:
    seen = observe_rds("shop", 2 * HOURS * 3600, NOW)
    assert "CloudWatch has data of 24 of 48 hours" in seen.notes


def test_an_instance_without_points_is_an_error_that_names_it() -> None:
    with pytest.raises(PlimsollError, match="no data of the RDS instance other"):
        observe_rds("other", 3600, NOW)


def test_a_time_that_cloudwatch_does_not_keep_is_refused() -> None:
    with pytest.raises(UsageError, match="from 1h to 455d"):
        observe_rds("shop", 60, NOW)


@pytest.mark.parametrize("for_s", [5400, 3601, 14 * 86_400 + 1])
def test_a_part_of_an_hour_is_refused_and_not_rounded_away(for_s: float) -> None:
    with pytest.raises(UsageError, match="--for: an RDS instance is observed for whole hours"):
        observe_rds("shop", for_s, NOW)


@pytest.mark.parametrize("name", ["", "1db", "a--b", "a-", "x" * 64, "db;rm", "a/b"])
def test_what_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not an identifier of an RDS instance"):
        parse_instance(f"rds://{name}")


def test_other_addresses_are_not_for_cloudwatch() -> None:
    assert parse_instance("mysql://u@h/d") is None
    assert parse_instance("rds://shop-1") == "shop-1"
