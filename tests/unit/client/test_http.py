"""How the service is called: signatures, repetitions, and errors in lines for people."""

import http.server
import json
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from plimsoll.client.address import Address, read_address
from plimsoll.client.http import ATTEMPTS, Http
from plimsoll.client.refusals import ServiceError, parse_refusal
from plimsoll.client.service_client import Service, download
from plimsoll.errors import PlimsollError, UsageError
from tests.support.little_memory import little_memory
from tests.support.tls_proxy import run_tls_proxy

HERE = Address("http://127.0.0.1:1", region=None, signed=False)
AWS = "https://abc123.execute-api.eu-west-1.amazonaws.com/v1"


class Response:
    def __init__(
        self, status: int, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status_code = status
        self.headers = headers or {}
        self.content = json.dumps(body).encode()


OK = Response(200, {"ok": True})
BUSY = Response(429, {"message": "Too Many Requests"}, {"Retry-After": "7"})
BROKEN = Response(502, {"message": "Internal server error"})
FULL = Response(429, {"type": "urn:plimsoll:problem:limit-reached", "detail": "team web: 2 runs"})
DRAINED = Response(503, {"type": "urn:plimsoll:problem:draining", "detail": "until 20:00 UTC"})
UNREACHED = EndpointConnectionError(endpoint_url="x")
UNANSWERED = ReadTimeoutError(endpoint_url="x")


class Network:
    """Answers in turn, the last one for ever; remembers what it was asked."""

    def __init__(self, *answers: Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[AWSPreparedRequest] = []
        self.pauses: list[float] = []

    def send(self, request: AWSPreparedRequest) -> Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def http(self, address: Address = HERE) -> Http:
        return Http(address, send=self.send, sleep=self.pauses.append)


@pytest.mark.parametrize(
    ("method", "arguments", "answer", "sent"),
    [
        ("GET", {}, BROKEN, ATTEMPTS),
        ("PUT", {"body": {}}, UNANSWERED, ATTEMPTS),
        ("DELETE", {}, BUSY, ATTEMPTS),
        ("POST", {"body": {}, "key": "k"}, BROKEN, ATTEMPTS),
        ("POST", {"body": {}, "harmless": True}, UNANSWERED, ATTEMPTS),
        ("POST", {"body": {}}, BROKEN, 1),  # it may have been done
        ("POST", {"body": {}}, UNANSWERED, 1),
        ("POST", {"body": {}}, BUSY, ATTEMPTS),  # it was not
        ("POST", {"body": {}}, UNREACHED, ATTEMPTS),
        ("GET", {}, Response(404, {"message": "x"}), 1),
        ("POST", {"body": {}, "key": "k"}, FULL, 1),  # it will be for long
    ],
)
def test_only_what_does_no_harm_is_sent_again(
    method: str, arguments: dict[str, Any], answer: Response | Exception, sent: int
) -> None:
    network = Network(answer)
    with pytest.raises(PlimsollError):
        network.http().ask(method, "/runs", **arguments)
    assert len(network.asked) == sent
    assert len(network.pauses) == sent - 1


def test_it_waits_longer_each_time_and_as_long_as_it_is_told() -> None:
    network = Network(BROKEN, BROKEN, BUSY, OK)
    assert network.http().ask("GET", "/runs").json() == {"ok": True}
    first, second, told = network.pauses
    assert 0.25 <= first <= 0.5 <= second <= 1
    assert told == 7


def test_a_drained_deployment_is_not_asked_again_and_says_until_when() -> None:
    network = Network(DRAINED)
    with pytest.raises(PlimsollError, match=r"^until 20:00 UTC$"):
        network.http().ask("POST", "/runs", body={}, key="k")
    assert len(network.asked) == 1


def test_who_may_have_started_something_is_told_so() -> None:
    with pytest.raises(PlimsollError, match=r"may have been accepted: see `plimsoll list`"):
        Network(UNANSWERED).http().ask("POST", "/runs", body={})
    with pytest.raises(PlimsollError, match="cannot be reached") as error:
        Network(UNREACHED).http().ask("POST", "/runs", body={})
    assert "accepted" not in str(error.value)


def test_a_request_is_json_with_its_key_and_its_query() -> None:
    network = Network(OK)
    query = {"tag": "a=b c", "state": None, "limit": 3}
    network.http().ask("POST", "/runs", query=query, body={"é": 1}, key="k")
    [request] = network.asked
    assert request.url == "http://127.0.0.1:1/runs?tag=a%3Db%20c&limit=3"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Idempotency-Key"] == "k"
    assert isinstance(request.body, bytes)
    assert json.loads(request.body) == {"é": 1}
    assert "Authorization" not in request.headers  # on this machine


def test_calls_of_aws_are_signed_for_the_region_of_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not told")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    network = Network(BROKEN, OK)
    network.http(read_address(AWS, source="--url")).ask("GET", "/runs", query={"tag": "a=b"})
    for request in network.asked:
        authorization = request.headers["Authorization"]
        assert "/eu-west-1/execute-api/aws4_request" in authorization
        assert authorization.count("Signature=") == 1
        assert "not told" not in str(request.headers)


def test_without_credentials_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    network = Network(OK)
    with pytest.raises(PlimsollError, match="no AWS credentials to sign with"):
        network.http(read_address(AWS, source="--url"))
    assert network.asked == []


@pytest.mark.parametrize(
    ("status", "body", "lines", "code"),
    [
        (
            422,
            {
                "type": "urn:plimsoll:problem:invalid-request",
                "detail": "2 fields are wrong",
                "errors": [
                    {"field": "target.kind", "detail": "is unknown", "allowed": ["rds"]},
                    {"field": "x", "detail": "no field (allowed: y)", "allowed": ["y"]},
                ],
            },
            ["target.kind: is unknown (allowed: rds)", "x: no field (allowed: y)"],
            2,
        ),
        (404, {"detail": "there is no run 'r'", "errors": []}, ["there is no run 'r'"], 2),
        (409, {"type": "urn:plimsoll:problem:limit-reached", "detail": "no more"}, ["no more"], 1),
        (
            500,
            {"detail": "something went wrong", "request_id": "r-1"},
            ["something went wrong", "in the deployment's logs: request r-1"],
            1,
        ),
        (
            403,
            {"message": "No"},
            ["403: the call is not allowed for these credentials, or there is no such path (No)"],
            1,
        ),
        (
            413,
            {"message": "Request Too Long"},
            ["413: the request is too long (Request Too Long)"],
            2,
        ),
        (502, [1], ["502: the service failed ([1])"], 1),
    ],
)
def test_a_refusal_is_lines_for_people(status: int, body: Any, lines: list[str], code: int) -> None:
    error = parse_refusal(status, json.dumps(body).encode())
    assert str(error).splitlines() == lines
    assert error.exit_code == code


def test_a_refusal_in_plain_text_is_shown() -> None:
    error = parse_refusal(413, b"HTTP content length exceeded 10485760 bytes.")
    said = "413: the request is too long (HTTP content length exceeded 10485760 bytes.)"
    assert (str(error), error.exit_code) == (said, 2)


NOT_THERE = Response(404, {"type": "urn:plimsoll:problem:not-found", "detail": "no schedule"})


@pytest.mark.parametrize("lost", [BROKEN, UNANSWERED])
def test_what_a_lost_answer_told_to_be_deleted_is_deleted(lost: Response | Exception) -> None:
    network = Network(lost, NOT_THERE)
    assert network.http().ask("DELETE", "/schedules/s", deletes=True).status == 404
    assert len(network.asked) == 2


@pytest.mark.parametrize("before", [(), (BUSY,), (UNREACHED,)])
def test_what_was_never_there_is_not_deleted(before: tuple[Response | Exception, ...]) -> None:
    with pytest.raises(ServiceError, match="no schedule"):
        Network(*before, NOT_THERE).http().ask("DELETE", "/schedules/s", deletes=True)


def test_the_kind_of_a_problem_is_known() -> None:
    body = {"type": "urn:plimsoll:problem:no-report", "detail": "x"}
    with pytest.raises(ServiceError) as error:
        Network(Response(404, body)).http().ask("GET", "/runs/r/report")
    assert (error.value.status, error.value.kind) == (404, "no-report")


def test_an_answer_that_is_no_json_is_not_the_services() -> None:
    reply = Network(OK).http().ask("GET", "/")
    with pytest.raises(PlimsollError, match="is this the service's address"):
        type(reply)(200, {}, b"<html>").json()


@pytest.mark.parametrize(
    ("url", "region", "signed"),
    [
        (AWS + "/", "eu-west-1", True),
        ("https://plimsoll.example/api", None, True),
        ("http://localhost:8080", None, False),
    ],
)
def test_an_address_says_how_it_is_called(url: str, region: str | None, signed: bool) -> None:
    assert read_address(url, source="--url") == Address(url.rstrip("/"), region, signed)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("plimsoll.example", "must be an address"),
        ("ftp://plimsoll.example", "must be an address"),
        ("https://", "must be an address"),
        ("http://127.0.0.1:x", "must be an address"),
        ("https://plimsoll.example/?a=1", "must be an address"),
        ("http://plimsoll.example", "must be https, except on this machine"),
    ],
)
def test_what_is_no_address_is_refused(url: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"^--url: {told}"):
        read_address(url, source="--url")


HOSTILE = {
    "nothing": b"",
    "bytes": bytes(range(256)),
    "levels": b"[" * 100_000,
    "levels of names": b'{"a":' * 100_000,
    "a number of 5,000 digits": b'{"runs":' + b"9" * 5_000 + b"}",
    "half a character": b'{"detail": "\\ud800", "errors": ["\\udfff"]}',
    "escapes": b'{"detail": "x", "errors": [{"field": "\\u001b[2J", "detail": "\\u009b\\u0007"}]}',
    "escapes in plain text": b"\x1b[2J\x07" * 1_000,
    "other types": b'{"detail": [1], "errors": {"a": 1}, "type": {}, "request_id": []}',
    "other types of errors": b'{"detail": "x", "errors": [1, {"allowed": [1, null]}, null]}',
    "a list": b"[]",
}


@pytest.mark.parametrize("status", [200, 400, 403, 422, 500])
@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_whatever_answers_at_an_address_is_told_in_lines_that_a_terminal_shows(
    status: int, body: bytes
) -> None:
    answer = Response(status)
    answer.content = body
    service = Service(Network(answer).http())
    for call in (service.health, lambda: list(service.runs(most=5)), lambda: service.run("r")):
        with pytest.raises(PlimsollError) as error:
            call()
        told = str(error.value)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", told)
        assert len(told) < 1_000
        told.encode()  # has no half of a character


def test_of_a_list_in_an_answer_no_more_is_read_than_its_first_wrong_entry() -> None:
    answer = Response(200, {"runs": [{}] * 100_000, "next_cursor": None})
    with little_memory(), pytest.raises(PlimsollError, match=r"runs\.0\."):
        list(Service(Network(answer).http()).runs(most=5))


def test_a_list_of_steps_that_does_not_go_on_is_left() -> None:
    network = Network(Response(200, {"steps": [], "next_after": 3}))
    with pytest.raises(PlimsollError, match="does not go on"):
        list(Service(network.http()).steps("r", after=3))
    assert len(network.asked) == 1


class Greeter(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answer = json.dumps({"host": self.headers["Host"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a proxy that looks into TLS between this process and AWS."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Greeter)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    host = "*.execute-api.eu-west-1.amazonaws.com"
    with run_tls_proxy(tmp_path / "proxy", host, ("127.0.0.1", server.server_port)) as variables:
        given = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", **variables}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        for name in ("NO_PROXY", "no_proxy", "https_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("looked_into")
def test_a_proxy_is_trusted_by_the_authority_that_clients_of_aws_are_told() -> None:
    address = read_address(AWS, source="--url")
    reply = Http(address).ask("GET", "/health")
    assert reply.json() == {"host": "abc123.execute-api.eu-west-1.amazonaws.com"}
    assert json.loads(download(f"{AWS}/runs/r/result.json")) == reply.json()


@pytest.mark.usefixtures("looked_into")
def test_no_other_authority_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_CA_BUNDLE")
    with pytest.raises(PlimsollError, match="certificate"):
        Http(read_address(AWS, source="--url"), sleep=lambda _: None).ask("GET", "/health")
    with pytest.raises(PlimsollError, match="certificate"):
        download(f"{AWS}/runs/r/result.json")
