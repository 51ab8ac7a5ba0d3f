"""A disk that fills while a database is being made: one sentence, and not what follows from it."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.home import Places
from plimsoll.local.resources.registry import Database, Databases
from plimsoll.model.aws.volume_rules import Fail
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume
from plimsoll.volumes.places import state_path


def start_server(directory: Path, undo: ExitStack) -> Database:
    """Start a server on a volume whose disk is full; the first data are there."""
    volume = EmulatedVolume.create(directory, Volume(type="gp3", size_gib=20))
    undo.callback(volume.close)
    volume.inject(Fail(error="ENOSPC"))
    MariaDbServer.start(directory=directory / "server", environment=volume.environment())
    raise AssertionError("it started")


def copy_data(_directory: Path, _undo: ExitStack) -> Database:
    raise OSError(28, "No space left on device", "ibdata1")


@pytest.mark.parametrize("start", [start_server, copy_data])
def test_it_is_told_in_a_sentence_and_nothing_stays(
    tmp_path: Path, start: Callable[[Path, ExitStack], Database]
) -> None:
    databases = Databases(Places(tmp_path, lambda _: None), memory_scale=1)
    with pytest.raises(PlimsollError) as told:
        databases.create("plimsoll-a", start)
    where = tmp_path / "databases"
    assert str(told.value) == f"no space left in {where} for the database plimsoll-a"
    assert list(where.iterdir()) == []
    (where / "plimsoll-a").mkdir()
    assert not state_path(where / "plimsoll-a").exists()


def test_another_reason_is_told_without_a_log_that_is_gone(tmp_path: Path) -> None:
    def start(directory: Path, _undo: ExitStack) -> Database:
        MariaDbServer.start(directory=directory / "server", settings={"inodb_x": 1})
        raise AssertionError("it started")

    databases = Databases(Places(tmp_path, lambda _: None), memory_scale=1)
    with pytest.raises(PlimsollError, match=r"unknown variable 'inodb_x=1'") as told:
        databases.create("plimsoll-a", start)
    assert "log" not in str(told.value)
