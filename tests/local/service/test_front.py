"""The HTTP front before a function: requests become API Gateway's events, answers responses."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.local.deploying import PRINCIPAL
from plimsoll.local.http_front import LocalService
from plimsoll.local.twin import LocalTwin

HEADER = "X-Test-Principal"
PATIENCE_S = 120.0
OTHER = "arn:aws:sts::210987654321:assumed-role/ci/session"


@pytest.fixture(scope="module")
def service(twin: LocalTwin) -> Iterator[LocalService]:
    with LocalService(twin, principal_header=HEADER) as running:
        yield running


def _ask(
    service: LocalService,
    method: str,
    path: str,
    body: Any = None,
    **headers: str,
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    try:
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def _event(service: LocalService, method: str, path: str, body: Any = None, **headers: str) -> Any:
    response, told = _ask(service, method, path, body, **headers)
    assert response.status == 200, told
    return json.loads(told)


def test_a_request_becomes_a_proxy_event(service: LocalService) -> None:
    path = "/runs/a%20b?state=FAILED&tag=x%3D1&tag=y&empty="
    event = _event(service, "POST", path, '{"é": 1}'.encode(), Idempotency_Key="k")
    assert event["httpMethod"] == event["requestContext"]["httpMethod"] == "POST"
    assert event["path"] == "/runs/a%20b"
    assert event["headers"]["Idempotency-Key"] == "k"
    assert event["multiValueHeaders"]["Idempotency-Key"] == ["k"]
    assert event["queryStringParameters"] == {"state": "FAILED", "tag": "y", "empty": ""}
    assert event["multiValueQueryStringParameters"]["tag"] == ["x=1", "y"]
    assert event["body"] == '{"é": 1}'
    assert event["isBase64Encoded"] is False
    assert event["requestContext"]["identity"]["sourceIp"] == "127.0.0.1"


def test_what_is_absent_is_null(service: LocalService) -> None:
    event = _event(service, "GET", "/anything")
    for name in ("body", "queryStringParameters", "multiValueQueryStringParameters"):
        assert event[name] is None


@pytest.mark.parametrize(
    ("headers", "arn", "account"),
    [({}, PRINCIPAL, "123456789012"), ({"X_Test_Principal": OTHER}, OTHER, "210987654321")],
)
def test_the_caller_is_a_principal_of_iam(
    service: LocalService, headers: dict[str, str], arn: str, account: str
) -> None:
    identity = _event(service, "GET", "/anything", **headers)["requestContext"]["identity"]
    assert (identity["userArn"], identity["accountId"]) == (arn, account)


def test_nobody_names_another_principal_without_the_tests_leave(twin: LocalTwin) -> None:
    with LocalService(twin) as service:
        event = _event(service, "GET", "/anything", X_Test_Principal=OTHER)
    assert event["requestContext"]["identity"]["userArn"] == PRINCIPAL


def test_headers_of_an_answer_may_come_twice_and_its_body_be_binary(service: LocalService) -> None:
    response, _ = _ask(service, "GET", "/cookies")
    assert response.status == 204
    assert response.headers["X-One"] == "1"
    assert response.headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    response, body = _ask(service, "GET", "/binary")
    assert (response.headers["Content-Type"], body) == ("image/png", b"\x89PNG")


@pytest.mark.parametrize("path", ["/raise", "/none", "/no-status"])
def test_a_function_that_fails_shows_nothing_of_itself(service: LocalService, path: str) -> None:
    response, body = _ask(service, "GET", path)
    assert response.status == 502
    assert set(json.loads(body)) == {"message"}
    assert b"on purpose" not in body


def test_a_function_that_takes_too_long_is_a_gateways_time_out(twin: LocalTwin) -> None:
    with LocalService(twin, function="brief-api") as service:
        response, body = _ask(service, "GET", "/sleep")
    assert (response.status, set(json.loads(body))) == (504, {"message"})


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "rebound.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "https://page.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8080"},
    ],
)
def test_another_page_is_refused(service: LocalService, headers: dict[str, str]) -> None:
    response, _ = _ask(service, "POST", "/runs", b"{}", **headers)
    assert response.status == 403


def test_ten_mebibytes_are_the_most(service: LocalService) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)
    connection.putrequest("POST", "/runs")
    connection.putheader("Content-Length", str(10 * 2**20 + 1))
    connection.endheaders()  # refused by its length: none of it has to be sent
    response = connection.getresponse()
    assert (response.status, response.read()) == (
        413,
        b"HTTP content length exceeded 10485760 bytes.",
    )
    connection.close()


def test_a_body_that_no_function_can_be_given_is_too_long_as_well(service: LocalService) -> None:
    response, body = _ask(service, "POST", "/echo", b"x" * (7 * 2**20))
    assert (response.status, json.loads(body)) == (413, {"message": "Request Too Long"})
