"""The LiveAnalytics sink against moto: what is stored is what was measured."""

from typing import TYPE_CHECKING

import boto3
import pytest
from moto.timestreamwrite.models import timestreamwrite_backends

from plimsoll.metrics import Point, publish_points
from plimsoll.metrics.liveanalytics import LiveAnalyticsSink
from tests.support.aws_resources import ACCOUNT, REGION

if TYPE_CHECKING:
    from mypy_boto3_timestream_write import TimestreamWriteClient


@pytest.fixture
def client(account: None) -> "TimestreamWriteClient":
    del account
    made = boto3.client("timestream-write")
    made.create_database(DatabaseName="plimsoll")
    made.create_table(DatabaseName="plimsoll", TableName="runs")
    return made


def test_points_become_multi_measure_records(client: "TimestreamWriteClient") -> None:
    points = [
        Point(
            "plimsoll_second", 1_790_000_000_000 + n, {"succeeded": n, "mean_us": 1.5}, {"run": "r"}
        )
        for n in range(250)
    ]

    report = publish_points(
        points, LiveAnalyticsSink(database="plimsoll", table="runs", client=client)
    )

    assert (report.written, report.problem) == (250, None)
    stored = timestreamwrite_backends[ACCOUNT][REGION]
    records = stored.databases["plimsoll"].tables["runs"].records
    assert len(records) == 250
    assert records[7] == {
        "Dimensions": [{"Name": "run", "Value": "r"}],
        "MeasureName": "plimsoll_second",
        "MeasureValueType": "MULTI",
        "MeasureValues": [
            {"Name": "succeeded", "Value": "7", "Type": "BIGINT"},
            {"Name": "mean_us", "Value": "1.5", "Type": "DOUBLE"},
        ],
        "Time": "1790000000007",
        "TimeUnit": "MILLISECONDS",
    }


def test_a_table_that_is_not_there_is_a_problem_not_an_error(
    client: "TimestreamWriteClient",
) -> None:
    sink = LiveAnalyticsSink(database="plimsoll", table="absent", client=client)
    report = publish_points([Point("m", 1, {"value": 1})], sink)
    assert (report.written, report.failed) == (0, 1)
    assert report.problem is not None
    assert "absent" in report.problem
