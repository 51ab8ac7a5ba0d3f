"""`plimsoll console`: opens once the API has answered, and ends with Ctrl-C."""

import json
import os
import re
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll import __version__
from plimsoll.local.front import Front
from tests.browser.console_service import LaidDown
from tests.support.command import COMMAND

TOKEN = "of-the-service"


@contextmanager
def console(*options: str) -> Iterator["subprocess.Popen[str]"]:
    """The command, while it goes on."""
    environment = {**os.environ, "PLIMSOLL_API_TOKEN": TOKEN}
    program = [*COMMAND, "console", *options]
    with subprocess.Popen(program, env=environment, stderr=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


@pytest.fixture
def service() -> Iterator[tuple[Front, LaidDown]]:
    laid = LaidDown()
    laid.answers["/health"] = {"status": "ok", "version": __version__}
    laid.answers["/runs"] = {"runs": [], "next_cursor": None, "unreadable": 0}
    with Front(laid, token=TOKEN) as front:
        yield front, laid


def lines(started: "subprocess.Popen[str]") -> Iterator[str]:
    assert started.stderr is not None
    yield from started.stderr


def test_the_page_is_there_until_ctrl_c(service: tuple[Front, LaidDown]) -> None:
    front, laid = service
    with console("--url", front.url) as started:
        told = lines(started)
        assert next(told) == f"{front.url} answers, version {__version__}\n"
        opened = r"open (http://127\.0\.0\.1:\d+)/#token=(\S+) in a browser\n"
        found = re.fullmatch(opened, next(told))
        assert found is not None
        page, token = found.groups()
        assert token != TOKEN
        with urllib.request.urlopen(f"{page}/console/config.json", timeout=60) as answer:
            config = json.load(answer)
        assert (config["events_path"], config["poll_s"]) == (None, 30)
        assert config["where"] == front.url
        request = urllib.request.Request(
            f"{page}/runs", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer) == laid.answers["/runs"]
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 0


def test_nothing_is_opened_where_nothing_answers() -> None:
    with console("--url", "http://127.0.0.1:9") as started:
        told = "".join(lines(started))
        assert started.wait(60) == 1
    assert "cannot be reached" in told
    assert "Traceback" not in told
    assert "open http" not in told


def test_a_port_that_is_taken_is_named(service: tuple[Front, LaidDown]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with console("--url", service[0].url, "--port", port) as started:
            told = "".join(lines(started))
            assert started.wait(60) == 2
    assert f"--port {port}: " in told
