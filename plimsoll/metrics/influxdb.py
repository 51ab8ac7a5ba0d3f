"""Timestream for InfluxDB, or any other server with InfluxDB's write API (`/api/v2/write`)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import urllib3.exceptions
from influxdb_client import InfluxDBClient, WritePrecision
from influxdb_client import Point as Line
from influxdb_client.client.exceptions import InfluxDBError
from influxdb_client.client.write.retry import WritesRetry
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException

from plimsoll.errors import SinkError, UsageError
from plimsoll.metrics.sink import Point


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_safe(url: str) -> str:
    """Return a server's URL after checking that a token may be sent to it.

    Raises:
        UsageError: It is neither HTTPS nor on this machine, or contains a password.
    """
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise UsageError("metrics URL: it holds a password; put the token in Secrets Manager")
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and parts.hostname and _is_loopback(parts.hostname):
        return url
    raise UsageError(f"metrics URL {url!r}: must be https://..., or http:// on this machine")


@dataclass(frozen=True)
class Credentials:
    """A token that may write to the bucket, or a user who signs in for each batch."""

    token: str | None = field(default=None, repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)


class InfluxSink:
    """Writes gzipped line protocol, with retries after 0.5, 1 and 2 s (or as the server asks)."""

    name = "influxdb"
    batch_points = 5_000  # the batch size that InfluxData recommends

    def __init__(
        self,
        *,
        url: str,
        org: str,
        bucket: str,
        credentials: Credentials,
        timeout_s: float = 5,
        retry_base_s: float = 0.5,
    ) -> None:
        """Store the settings; opens no connection yet.

        Args:
            url: The server's URL, as in `https://host:8086`.
            org: InfluxDB's organization.
            bucket: InfluxDB's bucket.
            credentials: The credentials for writing.
            timeout_s: The time-out of one attempt, including the connection.
            retry_base_s: The wait before the first retry; it doubles with each further one.
        """
        self._bucket = bucket
        self._retries = 3
        self._retry_base_s = retry_base_s
        self._options: dict[str, Any] = {
            "url": require_safe(url),
            "token": credentials.token,
            "username": credentials.username,
            "password": credentials.password,
            "org": org,
            "timeout": int(timeout_s * 1000),
            "enable_gzip": True,
        }

    def _make_retries(self) -> WritesRetry:
        return WritesRetry(
            total=self._retries,
            retry_interval=self._retry_base_s,
            exponential_base=2,
            max_retry_delay=5,
            max_retry_time=30,
            allowed_methods=["POST"],  # a point written twice is one point
        )

    def write(self, points: Sequence[Point]) -> None:
        """Write one batch; see `Sink.write`."""
        lines = [format_line(point) for point in points]
        with InfluxDBClient(**self._options, retries=self._make_retries()) as client:
            try:
                client.write_api(write_options=SYNCHRONOUS).write(
                    bucket=self._bucket, record=lines, write_precision=WritePrecision.MS
                )
            except (InfluxDBError, ApiException) as error:
                raise SinkError(
                    f"InfluxDB refused {len(points)} points: {_describe_refusal(error)}"
                ) from None
            except urllib3.exceptions.HTTPError as error:
                raise SinkError(f"InfluxDB cannot be reached: {_read_first_line(error)}") from None


def format_line(point: Point) -> str:
    """Return a point in InfluxDB's line protocol, with its time in milliseconds."""
    made = Line(point.measurement)
    for key, tag in point.tags.items():
        made.tag(key, tag)
    for key, value in point.fields.items():
        made.field(key, value)
    made.time(point.epoch_ms, WritePrecision.MS)
    return str(made.to_line_protocol())


def _read_first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _describe_refusal(error: InfluxDBError | ApiException) -> str:
    status = getattr(error, "status", None) or getattr(error.response, "status", None)
    message = getattr(error, "message", None) or getattr(error, "reason", None) or ""
    return f"HTTP {status}: {message}" if status else str(message)
