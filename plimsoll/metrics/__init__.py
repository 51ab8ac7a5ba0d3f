"""Sinks for a run's metrics, besides its files: InfluxDB, LiveAnalytics, CloudWatch, or none.

The record of a run is in S3 and DynamoDB, so a failing sink is reported and the run goes on. Sinks
are written to after the measured window, never within it.
"""

from plimsoll.errors import SinkError
from plimsoll.metrics.publishing import (
    PublishReport,
    create_sink,
    publish_from_environment,
    publish_points,
)
from plimsoll.metrics.sink import Point, Sink

__all__ = [
    "Point",
    "PublishReport",
    "Sink",
    "SinkError",
    "create_sink",
    "publish_from_environment",
    "publish_points",
]
