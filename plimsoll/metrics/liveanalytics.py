"""Timestream for LiveAnalytics (closed to new customers since 2025-06-20): multi-measure records.

Limits from the service's documentation: 100 records a call, 256 measures a record.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.errors import SinkError
from plimsoll.metrics.sink import FieldValue, Point

if TYPE_CHECKING:
    from mypy_boto3_timestream_write import TimestreamWriteClient
    from mypy_boto3_timestream_write.type_defs import MeasureValueTypeDef, RecordTypeDef


class LiveAnalyticsSink:
    """Writes multi-measure records; botocore retries with back-off and jitter."""

    name = "liveanalytics"
    batch_points = 100

    def __init__(
        self, *, database: str, table: str, client: "TimestreamWriteClient | None" = None
    ) -> None:
        """Connect with the function's own role and region, unless a client is given."""
        self._database = database
        self._table = table
        self._client = client or boto3.client(
            "timestream-write",
            config=Config(
                retries={"mode": "standard", "total_max_attempts": 4},
                connect_timeout=3,
                read_timeout=10,
            ),
        )

    def write(self, points: Sequence[Point]) -> None:
        """Write one batch; see `Sink.write`. Equal time and dimensions make it the same record."""
        try:
            self._client.write_records(
                DatabaseName=self._database,
                TableName=self._table,
                Records=[format_record(point) for point in points if point.fields],
            )
        except self._client.exceptions.RejectedRecordsException as error:
            raise SinkError(f"LiveAnalytics {_describe_rejections(error)}") from None
        except (ClientError, BotoCoreError) as error:
            raise SinkError(f"LiveAnalytics: {error}") from None


def format_record(point: Point) -> "RecordTypeDef":
    """Return a point as a multi-measure record, with its time in milliseconds."""
    return {
        "Dimensions": [{"Name": key, "Value": tag} for key, tag in point.tags.items()],
        "MeasureName": point.measurement,
        "MeasureValueType": "MULTI",
        "MeasureValues": [_make_measure(name, value) for name, value in point.fields.items()],
        "Time": str(point.epoch_ms),
        "TimeUnit": "MILLISECONDS",
    }


def _make_measure(name: str, value: FieldValue) -> "MeasureValueTypeDef":
    return {
        "Name": name,
        "Value": str(value),
        "Type": "BIGINT" if isinstance(value, int) else "DOUBLE",
    }


def _describe_rejections(error: Any) -> str:
    rejected = error.response.get("RejectedRecords", [])
    reason = rejected[0].get("Reason", "no reason given") if rejected else "no reason given"
    return f"rejected {len(rejected)} records, the first because: {reason}"
