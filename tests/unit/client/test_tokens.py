"""The token of a service on this machine: its owner's alone, and sent to that service alone."""

import stat
from pathlib import Path

import pytest

from plimsoll.client.address import read_address
from plimsoll.client.http import Http
from plimsoll.client.tokens import (
    HOME_VARIABLE,
    TOKEN_VARIABLE,
    find_token,
    find_token_path,
    keep_token,
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    return tmp_path / "home"


def test_only_its_owner_reads_it_and_it_goes_with_its_service(home: Path) -> None:
    with keep_token(8080) as token:
        file = find_token_path(8080)
        assert file.is_relative_to(home)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert find_token("http://127.0.0.1:8080") == token
    assert not file.exists()


def test_each_service_has_another_one() -> None:
    with keep_token(1) as first, keep_token(2) as second:
        assert first != second
        assert find_token("http://127.0.0.1:2/") == second


def test_what_a_killed_service_left_is_replaced_not_written_into(tmp_path: Path) -> None:
    bait = tmp_path / "another's"
    bait.touch()
    find_token_path(8080).parent.mkdir(parents=True)
    find_token_path(8080).symlink_to(bait)
    with keep_token(8080) as token:
        assert find_token("http://127.0.0.1:8080") == token
    assert bait.read_text() == ""


def test_a_service_that_is_started_again_has_the_token_of_before(home: Path) -> None:
    with keep_token(8080, lasting=True) as first:
        pass
    assert find_token("http://127.0.0.1:8080") is None  # nobody is sent it meanwhile
    with keep_token(8080, lasting=True) as second, keep_token(8081, lasting=True) as other:
        assert (second == first, other == first) == (True, False)
        assert find_token("http://127.0.0.1:8080") == second
    assert {stat.S_IMODE(file.stat().st_mode) for file in home.rglob("*.kept")} == {0o600}


@pytest.mark.parametrize("text", ["", "short", "a b" * 20, "x" * 65, "é" * 40])
def test_what_is_no_token_of_ours_is_not_taken_for_one(text: str) -> None:
    kept = find_token_path(8080).with_suffix(".kept")
    kept.parent.mkdir(parents=True)
    kept.touch(mode=0o600)
    kept.write_text(text)
    with keep_token(8080, lasting=True) as token:
        assert token != text


def test_a_token_that_others_can_read_is_replaced() -> None:
    with keep_token(8080, lasting=True) as before:
        find_token_path(8080).with_suffix(".kept").chmod(0o644)
    with keep_token(8080, lasting=True) as after:
        assert after != before


def test_a_service_deletes_its_own_file_alone() -> None:
    with keep_token(8080, lasting=True):
        with keep_token(8080, lasting=True) as later:
            replaced = find_token_path(8080).read_text()
            assert replaced == later
        find_token_path(8080).write_text("of a third")
    assert find_token_path(8080).read_text() == "of a third"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8081",  # another service
        "http://localhost:8080",  # may be [::1], where anybody listens
        "http://[::1]:8080",
        "http://127.0.0.1",
    ],
)
def test_it_is_not_sent_to_anyone_else(url: str) -> None:
    with keep_token(8080):
        assert find_token(url) is None


def test_the_variable_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "of a tunnel")
    with keep_token(8080):
        assert find_token("http://localhost:8080") == "of a tunnel"


def test_a_signed_call_carries_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "of this machine")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    away = Http(read_address("https://x.execute-api.eu-west-1.amazonaws.com", source="--url"))
    here = Http(read_address("http://127.0.0.1:8080", source="--url"))
    sent = [each._sign(each._request("GET", "/runs", None, None, None)) for each in (away, here)]
    assert "of this machine" not in sent[0].headers["Authorization"]
    assert sent[1].headers["Authorization"] == "Bearer of this machine"
