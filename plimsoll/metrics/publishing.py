"""Publishing a run's points: in batches, within a time limit, without raising errors."""

import json
import os
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Annotated

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import Field

from plimsoll import words
from plimsoll.errors import PlimsollError, SinkError, UsageError
from plimsoll.metrics.cloudwatch import CloudWatchSink
from plimsoll.metrics.sink import Point, Sink
from plimsoll.model.base import Model
from plimsoll.model.settings import Variables

TIME_LIMIT_S = 30.0
Text = Annotated[str, Field(min_length=1)]


class PublishReport(Model):
    """The number of points written. The run goes on in any case."""

    sink: str
    written: int
    failed: int  # not written: refused, or not tried after a refusal or the time limit
    problem: str | None = None  # one line; None if all were written


def publish_points(
    points: Iterable[Point], sink: Sink | None, *, time_limit_s: float = TIME_LIMIT_S
) -> PublishReport:
    """Write points to a sink in batches. After a batch fails, the rest is not tried.

    Args:
        points: The points to write; a point without fields is left out.
        sink: The sink; None to write nothing.
        time_limit_s: The time after which no further batch begins, so that a slow sink delays no
            run.
    """
    waiting = [point for point in points if point.fields]
    if sink is None:
        return PublishReport(sink="none", written=0, failed=0)
    started = time.monotonic()
    written = 0
    batches = iter(waiting)
    while batch := list(islice(batches, sink.batch_points)):
        if time.monotonic() - started > time_limit_s:
            problem = f"{sink.name} was too slow: {words.format_duration(time_limit_s)} passed"
            return _report_partial(sink, written, len(waiting), problem)
        try:
            sink.write(batch)
        except SinkError as error:
            return _report_partial(sink, written, len(waiting), str(error))
        written += len(batch)
    return PublishReport(sink=sink.name, written=written, failed=0)


def _report_partial(sink: Sink, written: int, total: int, problem: str) -> PublishReport:
    return PublishReport(sink=sink.name, written=written, failed=total - written, problem=problem)


class InfluxDbVariables(Variables):
    """The address of InfluxDB, and the secret with its credentials."""

    metrics_url: Text
    metrics_org: Text
    metrics_bucket: Text
    metrics_secret_arn: Text


class CloudWatchVariables(Variables):
    """The CloudWatch namespace of a deployment's metrics."""

    metrics_namespace: Text


class LiveAnalyticsVariables(Variables):
    """The database and table of LiveAnalytics."""

    metrics_bucket: Text  # the name of the database
    metrics_table: Text


def create_sink(environment: Mapping[str, str] | None = None) -> Sink | None:
    """Create the sink that the deployment chose, from a function's environment.

    Args:
        environment: The variables: `METRICS_SINK` (`influxdb`, `liveanalytics`, `cloudwatch` or
            `none`, the default) and those of that sink.

    Raises:
        UsageError: `METRICS_SINK` has an unknown value.
        PlimsollError: Variables are missing or not valid.
        SinkError: The secret cannot be read.
    """
    given = os.environ if environment is None else environment
    match given.get("METRICS_SINK") or "none":
        case "none":
            return None
        case "influxdb":
            from plimsoll.metrics.influxdb import (  # noqa: PLC0415 - 0.4 s when unused
                Credentials,
                InfluxSink,
            )

            influxdb = InfluxDbVariables.read(given)
            return InfluxSink(
                url=influxdb.metrics_url,
                org=influxdb.metrics_org,
                bucket=influxdb.metrics_bucket,
                credentials=Credentials(**_read_secret(influxdb.metrics_secret_arn)),
            )
        case "liveanalytics":
            from plimsoll.metrics.liveanalytics import LiveAnalyticsSink  # noqa: PLC0415 - 0.4 s

            live = LiveAnalyticsVariables.read(given)
            return LiveAnalyticsSink(database=live.metrics_bucket, table=live.metrics_table)
        case "cloudwatch":
            namespace = CloudWatchVariables.read(given).metrics_namespace
            return CloudWatchSink(namespace=namespace)
        case other:
            raise UsageError(
                f"METRICS_SINK={other}: must be influxdb, liveanalytics, cloudwatch or none"
            )


def publish_from_environment(
    points: Iterable[Point], *, time_limit_s: float = TIME_LIMIT_S
) -> PublishReport:
    """Publish to the deployment's sink. Failing to create it is reported like a failing write.

    Args:
        points: The points to write; not consumed if there is no sink.
        time_limit_s: See `publish`.
    """
    try:
        sink = create_sink()
    except PlimsollError as error:
        name = os.environ.get("METRICS_SINK", "none")
        failed = sum(1 for _ in points)
        return PublishReport(sink=name, written=0, failed=failed, problem=str(error))
    if sink is None:
        return PublishReport(sink="none", written=0, failed=0)
    return publish_points(points, sink, time_limit_s=time_limit_s)


def _read_secret(secret_arn: str) -> dict[str, str]:
    """Read the secret: a bare token, or JSON with `token`, or with `username` and `password`.

    Timestream for InfluxDB itself creates the last form.
    """
    try:
        text = boto3.client("secretsmanager").get_secret_value(SecretId=secret_arn)["SecretString"]
    except (BotoCoreError, ClientError) as error:
        raise SinkError(f"the secret of the metrics cannot be read: {error}") from None
    try:
        credentials = json.loads(text)
    except json.JSONDecodeError:
        return {"token": text}
    if isinstance(credentials, dict):
        for names in (("token",), ("username", "password")):
            if all(isinstance(credentials.get(name), str) for name in names):
                return {name: credentials[name] for name in names}
    raise SinkError("the secret of the metrics has neither a token nor a username and password")
