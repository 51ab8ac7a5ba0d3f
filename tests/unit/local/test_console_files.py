"""The page's files: only those, and under a policy that runs nothing else."""

import json

import pytest

from plimsoll.console.config import ConsoleConfig
from plimsoll.local.console_files import ConsoleFiles

FILES = ConsoleFiles(ConsoleConfig(run_id="r-1", may_start=False, auth="none"))


def test_the_root_leads_to_the_page() -> None:
    answer = FILES.answer("/", None)
    assert answer is not None
    assert (answer.status, dict(answer.headers)["Location"]) == (302, "/console/")


def test_the_page_is_told_of_the_service() -> None:
    answer = FILES.answer("/console/config.json", None)
    assert answer is not None
    told = json.loads(answer.body)
    assert (told["run_id"], told["may_start"], told["auth"]) == ("r-1", False, "none")
    assert (told["api_url"], told["events_path"]) == ("", "/events")


def test_nothing_inline_and_nothing_of_others_runs() -> None:
    answer = FILES.answer("/console/config.json", None)
    assert answer is not None
    headers = dict(answer.headers)
    parts = headers["Content-Security-Policy"].split(";")
    policy = dict(part.strip().split(" ", 1) for part in parts)
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/console/../config.py",
        "/console/..%2fconfig.py",
        "/console/%2e%2e/config.py",
        "/console//etc/passwd",
        "/console/__init__.py",
        "/console/nothing.js",
    ],
)
def test_what_is_not_among_them_is_not_served(path: str) -> None:
    answer = FILES.answer(path, None)
    assert answer is not None
    assert (answer.status, answer.body) == (404, b"there is no such file")


@pytest.mark.parametrize("path", ["/runs", "/consoles", "/console", "/health"])
def test_other_paths_are_the_apis(path: str) -> None:
    assert FILES.answer(path, None) is None


def test_a_file_that_is_known_is_not_sent_again() -> None:
    first = FILES.answer("/console/config.json", None)
    assert first is not None
    again = FILES.answer("/console/config.json", dict(first.headers)["ETag"])
    assert again is not None
    assert (again.status, again.body) == (304, b"")
