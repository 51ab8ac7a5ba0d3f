"""The page beside a command: how a browser is told of its address."""

import json
import stat
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import click
import pytest
from click.testing import CliRunner

from plimsoll.cli import page
from plimsoll.cli.main import cli
from plimsoll.cli.page import Page
from plimsoll.errors import UsageError
from tests.support.requested import REQUESTED

URL = "http://127.0.0.1:1234/#token=s3cret"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def front() -> Any:
    return SimpleNamespace(page_url=URL)


def test_the_token_is_in_no_argument_of_the_browser(asked: list[str]) -> None:
    with page.show_page(front(), Page(shown=True, opened=True)):
        [address] = asked
        assert "s3cret" not in address
        file = Path(url2pathname(urlsplit(address).path))
        assert f'content="0; url={URL}"' in file.read_text()
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)]
        assert modes == [0o600, 0o700]
    assert not file.parent.exists()


def test_no_browser_is_asked_unless_it_is_to_be(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with page.show_page(front(), Page(shown=True)):
        assert asked == []
    assert URL in capsys.readouterr().err


def test_who_presses_ctrl_c_on_reading_that_the_page_stays_closes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []

    def read_and_pressed(line: str, *, err: bool) -> None:
        assert err
        said.append(line)
        if len(said) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(click, "echo", read_and_pressed)
    page.wait_for_interrupt()
    assert said == ["the page stays until Ctrl-C", "the page is closed"]


def test_a_page_of_runs_of_several_teams_is_refused(tmp_path: Path) -> None:
    runs = {"a": {"team": "web"}, "b": {"team": "data"}}
    request = tmp_path / "two.yaml"
    request.write_text(json.dumps({**REQUESTED, "runs": runs}))
    said = CliRunner().invoke(cli, ["run", str(request), "--local", "--ui"], standalone_mode=False)
    assert isinstance(said.exception, UsageError)
    assert str(said.exception) == (
        f"{request}: --ui shows the runs of one team, not of data and web"
    )
