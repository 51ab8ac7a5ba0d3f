import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from plimsoll import machine, packaged
from plimsoll.errors import MissingToolError, PlimsollError, UsageError
from plimsoll.local.aws import server
from plimsoll.local.twin import LocalTwin
from plimsoll.machine import ClockWatch


def test_another_system_than_linux_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="--local needs Linux"):
        LocalTwin(tmp_path).start()


def test_missing_packages_are_named_with_the_command_that_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "find_spec", lambda name: None if name == "jsonata" else name)
    with pytest.raises(MissingToolError, match=r"stand-in for AWS .*\(jsonata\): make setup"):
        LocalTwin(tmp_path).start()


def test_a_clock_that_nobody_set_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "time", SimpleNamespace(time=lambda: 180.0))
    with pytest.raises(PlimsollError, match="this machine's clock shows 1970-01-01 00:03 UTC"):
        LocalTwin(tmp_path).start()


class EndedError(Exception):
    pass


def test_a_twin_ends_when_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its steps would wait for their barriers as long as the clock was set back."""
    looks = iter([None, "the clock was set back"])

    def end(reason: str) -> None:
        raise EndedError(reason)

    monkeypatch.setattr(server, "_LOOK_S", 0)
    monkeypatch.setattr(server, "_end_at_once", end)
    monkeypatch.setattr(ClockWatch, "look", lambda _: next(looks))
    with (tmp_path / "lock").open("w") as lock, pytest.raises(EndedError, match="was set back"):
        server._watch_machine([lock])
