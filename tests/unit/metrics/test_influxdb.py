"""The InfluxDB sink when the server refuses, stumbles, or is not there."""

import gzip
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from plimsoll.metrics import Point, publish_points
from plimsoll.metrics.influxdb import Credentials, InfluxSink

PATIENCE_S = 60.0  # a request that is given up is sent again, and counted twice


class Server(HTTPServer):
    """Answers with the given statuses in turn, then 204; keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[int] = []
        self.requests: list[tuple[str, str, str]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"] or 0))
        body = gzip.decompress(sent) if self.headers["Content-Encoding"] == "gzip" else sent
        who = self.headers["Authorization"] or self.headers["Cookie"]
        self.server.requests.append((self.path, who, body.decode()))
        status = self.server.answers.pop(0) if self.server.answers else 204
        self.send_response(status)
        if self.path == "/api/v2/signin":
            self.send_header("Set-Cookie", "influxdb-oss-session=open")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def sink(port: int) -> InfluxSink:
    return InfluxSink(
        url=f"http://127.0.0.1:{port}",
        org="o",
        bucket="b",
        credentials=Credentials(token="s3cret"),
        timeout_s=PATIENCE_S,
        retry_base_s=0.001,
    )


POINTS = [
    Point("plimsoll_second", 1_790_000_000_000, {"succeeded": 5, "mean_us": 1.5}, {"run": "a"})
]


def test_the_request_is_influxdbs_write_api(server: Server) -> None:
    publish_points(POINTS, sink(server.server_port))
    ((path, authorization, body),) = server.requests
    assert urlsplit(path).path == "/api/v2/write"
    assert parse_qs(urlsplit(path).query) == {"org": ["o"], "bucket": ["b"], "precision": ["ms"]}
    assert authorization == "Token s3cret"
    assert body == "plimsoll_second,run=a mean_us=1.5,succeeded=5i 1790000000000"


def test_a_user_signs_in_and_out(server: Server) -> None:
    user = Credentials(username="plimsoll", password="s3cret")
    url = f"http://127.0.0.1:{server.server_port}"

    signing_in = InfluxSink(url=url, org="o", bucket="b", credentials=user, timeout_s=PATIENCE_S)
    report = publish_points(POINTS, signing_in)

    assert report.problem is None
    signed_in, wrote, signed_out = server.requests
    assert signed_in[:2] == ("/api/v2/signin", "Basic cGxpbXNvbGw6czNjcmV0")
    assert urlsplit(wrote[0]).path == "/api/v2/write"
    assert wrote[1] == "influxdb-oss-session=open"
    assert signed_out[0] == "/api/v2/signout"


def test_a_stumbling_server_is_tried_again(server: Server) -> None:
    server.answers = [503, 429]
    report = publish_points(POINTS, sink(server.server_port))
    assert (report.written, report.problem) == (1, None)
    assert len(server.requests) == 3


@pytest.mark.parametrize(("status", "tries"), [(401, 1), (404, 1), (500, 4)])
def test_a_refusal_is_reported_without_the_token(server: Server, status: int, tries: int) -> None:
    server.answers = [status] * 9
    report = publish_points(POINTS, sink(server.server_port))
    assert (report.written, report.failed) == (0, 1)
    assert report.problem is not None
    assert "s3cret" not in report.problem
    assert len(server.requests) == tries


def test_a_server_that_is_not_there_is_reported() -> None:
    with socket.socket() as taken:  # a port on which nobody listens, nor can meanwhile
        taken.bind(("127.0.0.1", 0))
        report = publish_points(POINTS, sink(taken.getsockname()[1]))
    assert report.problem is not None
    assert report.problem.startswith("InfluxDB cannot be reached")
