"""The front before anything that answers: its files, what its page may do, and its stream."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from werkzeug.wrappers import Request

from plimsoll.console.config import ConsoleConfig
from plimsoll.errors import RunNotFoundError, UsageError
from plimsoll.local import front
from plimsoll.local.front import Front
from plimsoll.local.rest_api import HttpAnswer

TOKEN = "a-token"
PATIENCE_S = 60.0


class Behind:
    """Answers with what it was asked, and streams one event until it ends."""

    def __init__(self) -> None:
        self.streams = 0

    def answer(self, request: Request, path: str) -> HttpAnswer:
        return HttpAnswer(200, (), json.dumps([request.method, path]).encode())

    def events(self, request: Request, ended: threading.Event) -> Iterator[bytes]:
        match request.args.get("run_id"):
            case "unknown":
                raise RunNotFoundError("there is no run 'unknown'")
            case "wrong":
                raise UsageError("after: is none that a live run gave")
            case "broken":
                raise LookupError("of its own")
        return self._told(ended)

    def _told(self, ended: threading.Event) -> Iterator[bytes]:
        self.streams += 1
        try:
            yield b"event: runs\ndata: {}\n\n"
            ended.wait(PATIENCE_S)
            yield b"event: bye\ndata: {}\n\n"
        finally:
            self.streams -= 1


@pytest.fixture
def behind() -> Behind:
    return Behind()


@pytest.fixture
def page(behind: Behind) -> Iterator[Front]:
    with Front(behind, token=TOKEN) as running:
        yield running


def opened(
    running: Front, path: str, method: str = "GET", **headers: str
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE_S)
    connection.request(method, path, headers={"Authorization": f"Bearer {TOKEN}", **headers})
    return connection, connection.getresponse()


def asked(running: Front, path: str, method: str = "GET", **headers: str) -> tuple[int, Any]:
    connection, response = opened(running, path, method, **headers)
    with closing(connection):
        return response.status, response.read()


def test_its_address_carries_the_token_where_no_browser_sends_it(page: Front) -> None:
    assert page.page_url == f"http://127.0.0.1:{page.port}/#token={TOKEN}"
    assert asked(page, "/")[0] == 302
    status, config = asked(page, "/console/config.json")
    assert (status, json.loads(config)["auth"]) == (200, "token")


def test_what_is_no_file_is_answered_from_behind(page: Front) -> None:
    assert asked(page, "/runs/a%20b") == (200, b'["GET", "/runs/a%20b"]')
    assert asked(page, "/", "POST") == (200, b'["POST", "/"]')


def test_without_a_token_the_page_is_told_that_there_is_none(behind: Behind) -> None:
    with Front(behind) as running:
        assert json.loads(asked(running, "/console/config.json")[1])["auth"] == "none"
        assert running.page_url == f"http://127.0.0.1:{running.port}/"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/runs", 200),
        ("DELETE", "/runs/r-1", 200),
        ("POST", "/runs", 403),
        ("POST", "/quotes", 403),
        ("PUT", "/schedules/x", 403),
        ("DELETE", "/schedules/x", 403),
        ("PATCH", "/runs/r-1", 403),
    ],
)
def test_a_page_of_one_run_starts_nothing_and_may_stop_it(
    behind: Behind, method: str, path: str, status: int
) -> None:
    with Front(behind, token=TOKEN, config=ConsoleConfig(may_start=False)) as running:
        assert asked(running, path, method)[0] == status


def test_a_page_that_may_only_look_stops_nothing(behind: Behind) -> None:
    config = ConsoleConfig(may_start=False, may_stop=False)
    with Front(behind, token=TOKEN, config=config) as running:
        assert asked(running, "/runs/r-1", "DELETE")[0] == 403


CHART = {"metric": "capacity", "history": {"points": []}}


def drawn(running: Front, path: str, body: bytes, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=PATIENCE_S)
    given = {"Authorization": f"Bearer {TOKEN}", **headers}
    connection.request("POST", path, body, given)
    response = connection.getresponse()
    with closing(connection):
        return response.status, json.load(response)


def test_it_draws_the_charts_of_its_page_itself(behind: Behind) -> None:
    """Whatever is behind it: on a page that starts nothing, too."""
    with Front(behind, token=TOKEN, config=ConsoleConfig(may_start=False)) as running:
        body = json.dumps(CHART).encode()
        assert drawn(running, "/console/charts/history", body) == (200, {"html": "", "moments": {}})
        assert drawn(running, "/console/charts/pie", b"{}")[0] == 404
        assert drawn(running, "/console/charts/curve", b"{")[0] == 422
        assert drawn(running, "/console/charts/history", body, Authorization="Bearer no")[0] == 401
        assert asked(running, "/console/charts/history")[0] == 404
        assert asked(running, "/console/charts.js")[0] == 200


def test_a_stream_is_told_as_it_comes_and_says_goodbye(
    behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.local.front._END_PATIENCE_S", 60)  # it ends at once, or not
    running = Front(behind, token=TOKEN)
    connection, response = opened(running, "/events")
    with closing(connection):
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        assert [response.readline() for _ in range(3)] == [b"event: runs\n", b"data: {}\n", b"\n"]
        assert running.watched
        running.close()
        assert response.read() == b"event: bye\ndata: {}\n\n"
    assert behind.streams == 0
    assert not running.watched


@pytest.mark.parametrize(("run_id", "status"), [("unknown", 404), ("wrong", 422)])
def test_a_stream_of_what_is_not_there_is_refused(page: Front, run_id: str, status: int) -> None:
    assert asked(page, f"/events?run_id={run_id}")[0] == status
    assert not page.watched


def test_a_stream_that_fails_for_whatever_reason_leaves_room(page: Front) -> None:
    assert asked(page, "/events?run_id=broken")[0] == 500
    assert not page.watched


def test_there_are_only_so_many_streams(page: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "STREAMS_MOST", 2)
    first, _ = opened(page, "/events")
    second, _ = opened(page, "/events")
    with closing(first), closing(second):
        connection, refused = opened(page, "/events")
        with closing(connection):
            assert (refused.status, refused.headers["Retry-After"]) == (503, "10")


def test_a_stream_needs_the_token(page: Front) -> None:
    assert asked(page, "/events", Authorization="Bearer guessed")[0] == 401
