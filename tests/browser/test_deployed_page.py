"""The page of a deployment: its calls are signed for the API, and it shows what that answers."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from werkzeug.wrappers import Request

from plimsoll.cli.page import Deployed, make_deployed_page_config
from plimsoll.client.address import Address
from plimsoll.client.http import Http
from plimsoll.errors import NotFoundError
from plimsoll.local.front import Front
from plimsoll.local.rest_api import HttpAnswer
from tests.browser import console_documents as documents
from tests.browser.conftest import PATIENCE_MS
from tests.browser.console_service import LaidDown
from tests.support.signed_api import KEY, REGION, SECRET, signed_api
from tests.support.synthetic_run import synthetic_run

TOKEN = "t0ken-of-this-start"
RUN, _ = synthetic_run()


@dataclass
class Opened:
    """A page's front, and the API that it calls."""

    front: Front
    api: LaidDown
    asked: list[Request]

    def call(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        given = {"Authorization": f"Bearer {TOKEN}", **headers}
        request = urllib.request.Request(self.front.url + path, body, given, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error), dict(error.headers)


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)


@pytest.fixture
def opened(credentials: None) -> Iterator[Opened]:
    del credentials
    laid, asked = LaidDown(), []

    class Noted:
        def answer(self, request: Request, path: str) -> HttpAnswer:
            asked.append(request)
            return laid.answer(request, path)

    with (
        signed_api(Noted()) as address,
        Front(
            Deployed(Http(address)), token=TOKEN, config=make_deployed_page_config("Plimsoll")
        ) as front,
    ):
        yield Opened(front, laid, asked)


@pytest.mark.parametrize(
    "query",
    ["", "?tag=a%3Db%20c&limit=3", "?tag=a%3Db+c", "?cursor=%2B%2F%3D&tag=", "?b=2&a=1&a=0"],
)
def test_a_call_arrives_as_it_was_sent_and_signed(opened: Opened, query: str) -> None:
    opened.api.answers["/runs"] = lambda request: {"tags": request.args.getlist("tag")}
    status, answer, _ = opened.call("GET", f"/runs{query}")
    assert status == 200
    assert answer == {"tags": ["a=b c"] if "a%3Db" in query else [""] if "tag=" in query else []}


def test_a_body_is_signed_too_and_its_key_goes_with_it(opened: Opened) -> None:
    opened.api.answers["POST /runs"] = {"run_id": "r"}
    body = json.dumps({"name": "naïve"}).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    assert opened.call("POST", "/runs", body, **headers)[:2] == (200, {"run_id": "r"})
    assert opened.api.calls == [("POST", "/runs", {"name": "naïve"})]
    assert opened.asked[0].headers["Idempotency-Key"] == "k"


def test_the_pages_token_stays_here(opened: Opened) -> None:
    opened.api.answers["/health"] = {"status": "ok"}
    opened.call("GET", "/health", Cookie="secret=1")
    (asked,) = opened.asked
    assert TOKEN not in str(asked.headers)
    assert "Cookie" not in asked.headers


def test_without_the_token_nothing_is_signed(opened: Opened) -> None:
    assert opened.call("GET", "/runs", Authorization="Bearer guessed")[0] == 401
    assert opened.call("GET", "/runs", Origin="https://elsewhere.example")[0] == 403
    assert opened.asked == []


def test_what_the_api_refuses_is_told_as_it_is(opened: Opened) -> None:
    problem = {"title": "Not found", "detail": "there is no run 'x'", "status": 404}
    opened.api.answers["/runs/x"] = HttpAnswer(
        404,
        (("Content-Type", "application/problem+json"), ("Retry-After", "7"), ("Set-Cookie", "a=b")),
        json.dumps(problem).encode(),
    )
    status, answer, headers = opened.call("GET", "/runs/x")
    assert (status, answer) == (404, problem)
    assert (headers["Content-Type"], headers["Retry-After"]) == ("application/problem+json", "7")
    assert "Set-Cookie" not in headers


def test_other_credentials_are_refused_by_the_api(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with signed_api(opened.api) as address, Front(Deployed(Http(address)), token=TOKEN) as front:
        refused = Opened(front, opened.api, opened.asked).call("GET", "/runs")
    assert refused[:2] == (403, {"message": "The request signature does not match"})


def test_an_api_that_is_not_there_is_a_sentence(credentials: None) -> None:
    del credentials
    nowhere = Address("http://127.0.0.1:9/v1", REGION, signed=True)
    with Front(Deployed(Http(nowhere)), token=TOKEN) as front:
        status, answer, _ = Opened(front, LaidDown(), []).call("GET", "/runs")
    assert status == 502
    assert "http://127.0.0.1:9/v1 cannot be reached" in answer["message"]


def test_a_deployment_has_no_stream(opened: Opened) -> None:
    assert make_deployed_page_config("Plimsoll").events_path is None
    assert opened.call("GET", "/events")[0] == 404  # the API's own answer
    with pytest.raises(NotFoundError):
        Deployed(Http(Address(opened.front.url, REGION, signed=True))).events(None, None)  # type: ignore[arg-type]


def test_the_page_shows_the_runs_of_the_deployment(opened: Opened, browser: Browser) -> None:
    opened.api.answers["/runs"] = {
        "runs": [documents.row(RUN)],
        "next_cursor": None,
        "unreadable": 0,
    }
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(PATIENCE_MS)
    page.goto(opened.front.page_url)
    expect(page.locator("#where")).to_contain_text("Plimsoll")
    expect(page.locator("main")).to_contain_text(RUN.name)
    assert complaints == []
    page.close()
