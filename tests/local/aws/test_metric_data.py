"""The stand-in's CloudWatch answers `GetMetricData` as the real one, and in time.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config

from plimsoll.local.twin import LocalTwin

START = datetime(2026, 11, 1, tzinfo=UTC)
METRICS = 23  # as many as a target's


def query(name: str, identifier: str, **stat: Any) -> dict[str, Any]:
    dimensions = [{"Name": "DBInstanceIdentifier", "Value": identifier}]
    metric = {"Namespace": "AWS/RDS", "MetricName": name, "Dimensions": dimensions}
    return {"Id": name.lower(), "MetricStat": {"Metric": metric, "Period": 1, **stat}}


def put(client: Any, identifier: str, name: str, seconds: range, *, times: int = 1) -> None:
    dimensions = [{"Name": "DBInstanceIdentifier", "Value": identifier}]
    for first in range(seconds.start, seconds.stop, 1000):
        points = [
            {
                "MetricName": name,
                "Dimensions": dimensions,
                "Timestamp": START + timedelta(seconds=second),
                "Values": [float(second)],
                "Counts": [float(times)],
            }
            for second in range(first, min(first + 1000, seconds.stop))
        ]
        client.put_metric_data(Namespace="AWS/RDS", MetricData=points)


def test_the_points_of_twenty_minutes_are_read_before_a_functions_client_gives_up(
    twin: LocalTwin,
) -> None:
    put(twin.client("cloudwatch"), "db-long", "CPU", range(1200), times=METRICS)
    once = Config(read_timeout=20, retries={"total_max_attempts": 1}, proxies={})
    impatient = boto3.client(
        "cloudwatch", endpoint_url=twin.endpoint_url, config=once, **twin.keys.session
    )
    queries: Any = [
        {**query("CPU", "db-long", Stat="Average"), "Id": f"m{number}"} for number in range(METRICS)
    ]
    answer = impatient.get_metric_data(
        MetricDataQueries=queries,
        StartTime=START,
        EndTime=START + timedelta(seconds=1200),
        ScanBy="TimestampAscending",
    )
    for result in answer["MetricDataResults"]:
        assert result["Values"] == [float(second) for second in range(1200)]
        assert result["Timestamps"][-1] == START + timedelta(seconds=1199)


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ({"Period": 10, "Stat": "Sum"}, [45.0, 145.0, 41.0]),  # of the third only 20 and 21
        ({"Period": 10, "Stat": "Maximum"}, [9.0, 19.0, 21.0]),
        ({"Period": 60, "Stat": "SampleCount"}, [22.0]),
        ({"Period": 60, "Stat": "Sum", "Unit": "Seconds"}, []),
    ],
)
def test_a_period_has_the_statistic_of_its_metrics_own_points(
    twin: LocalTwin, asked: dict[str, Any], values: list[float]
) -> None:
    client = twin.client("cloudwatch")
    put(client, f"db-{asked}", "CPU", range(30))
    put(client, f"other-{asked}", "CPU", range(30))
    put(client, f"db-{asked}", "Other", range(30))
    for scan_by in ("TimestampAscending", "TimestampDescending"):
        (result,) = client.get_metric_data(
            MetricDataQueries=[query("CPU", f"db-{asked}", **asked)],
            StartTime=START,
            EndTime=START + timedelta(seconds=22),
            ScanBy=scan_by,
        )["MetricDataResults"]
        assert result["Values"] == (values if scan_by == "TimestampAscending" else values[::-1])
        assert result["Label"] == f"CPU {asked['Stat']}"
