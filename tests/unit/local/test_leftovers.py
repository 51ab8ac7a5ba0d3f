import ctypes
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.local import leftovers
from plimsoll.local.leftovers import (
    HOME_PREFIX,
    remove_databases,
    remove_leftovers,
    remove_orphaned_homes,
)
from plimsoll.local.process_guard import Segment, list_segments
from plimsoll.volumes import places


def home(parent: Path, name: str, *, age_s: float = 3600, lock: bool = True) -> Path:
    made = parent / name
    (made / "databases/plimsoll-a/data").mkdir(parents=True)
    if lock:
        (made / "lock").touch()
        os.utime(made / "lock", (time.time() - age_s,) * 2)
    return made


def test_the_folder_of_a_twin_that_was_killed_is_removed(tmp_path: Path) -> None:
    orphan = home(tmp_path, f"{HOME_PREFIX}x")
    assert remove_orphaned_homes(tmp_path) == [orphan]
    assert not orphan.exists()
    assert remove_orphaned_homes(tmp_path) == []


def test_what_a_killed_twin_left_in_memory_is_removed_like_what_it_left_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, memory = tmp_path / "disk", tmp_path / "memory"
    orphans = [home(place, f"{HOME_PREFIX}x") for place in (disk, memory)]
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    monkeypatch.setattr(leftovers, "MEMORY", memory)
    monkeypatch.setattr(places, "MEMORY", memory)
    told: list[str] = []
    remove_leftovers(told.append)
    assert told == [f"removed what a killed run had left: {orphan}" for orphan in orphans]
    assert not any(orphan.exists() for orphan in orphans)


def test_the_state_of_a_volume_whose_folder_is_gone_is_removed_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    for module in (leftovers, places):
        monkeypatch.setattr(module, "MEMORY", tmp_path)
    for name, folder in (("gone", tmp_path / "gone"), ("there", tmp_path)):
        state = tmp_path / f"plimsoll-volume-0-{name}"
        state.touch()
        state.with_suffix(".lock").touch()
        state.with_suffix(".json").write_text(json.dumps({"directory": str(folder)}))
    told: list[str] = []
    remove_leftovers(told.append)
    assert told == [f"removed what a killed run had left: {tmp_path / 'plimsoll-volume-0-gone'}"]
    assert {file.name for file in tmp_path.iterdir()} == {
        f"plimsoll-volume-0-there{suffix}" for suffix in ("", ".json", ".lock")
    }


def test_the_folder_of_a_twin_that_runs_stays(tmp_path: Path) -> None:
    running = home(tmp_path, f"{HOME_PREFIX}x")
    with (running / "lock").open("w") as held:
        os.utime(running / "lock", (0, 0))
        fcntl.flock(held, fcntl.LOCK_EX)
        remove_orphaned_homes(tmp_path)
    assert (running / "databases/plimsoll-a/data").exists()


@pytest.mark.parametrize(
    "description",
    [b"[]", b"5", b'{"directory": 5}', b'{"directory": "/a\\u0000"}', b"[" * 100_000, b"\xff", b""],
)
def test_a_damaged_description_of_a_volume_stops_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, description: bytes
) -> None:
    monkeypatch.setattr(places, "MEMORY", tmp_path)
    state = tmp_path / "plimsoll-volume-0-x"
    state.with_suffix(".lock").touch()
    state.with_suffix(".json").write_bytes(description)
    assert places.remove_abandoned() == [state]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".lock", ".json"])
def test_a_pipe_that_is_named_like_a_volume_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(places, "MEMORY", tmp_path)
    state = tmp_path / "plimsoll-volume-0-x"
    state.with_suffix(".lock").touch()
    state.with_suffix(suffix).unlink(missing_ok=True)
    os.mkfifo(state.with_suffix(suffix))
    places.remove_abandoned()  # it would wait for a writer


def test_a_folder_that_a_link_names_is_not_removed_with_a_twin(tmp_path: Path) -> None:
    orphan, others = home(tmp_path, f"{HOME_PREFIX}x"), tmp_path / "others"
    (others / "databases/a").mkdir(parents=True)
    (orphan / leftovers.IN_MEMORY).symlink_to(others)
    assert remove_orphaned_homes(tmp_path) == [orphan]
    assert not orphan.exists()
    assert (others / "databases/a").exists()


def test_what_another_user_made_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may remove it: whoever made it could have root remove anything by its links."""
    monkeypatch.setattr(places, "MEMORY", tmp_path)
    made = home(tmp_path, f"{HOME_PREFIX}x"), tmp_path / "plimsoll-volume-0-x.lock"
    made[1].touch()
    monkeypatch.setattr(os, "getuid", lambda: made[0].stat().st_uid + 1)
    assert (remove_orphaned_homes(tmp_path), places.remove_abandoned()) == ([], [])
    assert all(path.exists() for path in made)


def test_a_link_that_is_named_like_a_twin_stays(tmp_path: Path) -> None:
    others = home(tmp_path, "others")
    (tmp_path / f"{HOME_PREFIX}x").symlink_to(others)
    assert remove_orphaned_homes(tmp_path) == []
    assert (others / "databases/plimsoll-a/data").exists()


@pytest.mark.parametrize(
    ("name", "age_s", "lock"),
    [
        (f"{HOME_PREFIX}new", 1, True),
        (f"{HOME_PREFIX}starting", 3600, False),
        ("other", 3600, True),
    ],
)
def test_what_may_be_anothers_stays(tmp_path: Path, name: str, age_s: float, lock: bool) -> None:
    kept = home(tmp_path, name, age_s=age_s, lock=lock)
    remove_orphaned_homes(tmp_path)
    assert kept.exists()


# makes two segments of System V shared memory, as PostgreSQL does, and prints their numbers
MAKER = """
import ctypes, sys
libc = ctypes.CDLL(None)
print([libc.shmget(int(key), 4096, 0o1600) for key in sys.argv[1:]], flush=True)
input()
"""


@pytest.fixture
def killed_server(tmp_path: Path) -> Iterator[tuple[Path, list[Segment]]]:
    """The folder of a server that was killed with its guard, and the segments that it left."""
    keys = [int.from_bytes(os.urandom(3)) + 1 for _ in range(2)]
    command = [sys.executable, "-c", MAKER, *map(str, keys)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as maker:
        assert maker.stdout is not None
        numbers = json.loads(maker.stdout.readline())
        maker.kill()
    left = [segment for segment in list_segments() if segment.number in numbers]
    assert [segment.creator for segment in left] == [maker.pid] * 2
    data = tmp_path / "databases/plimsoll-a/data"
    data.mkdir(parents=True)
    said = [maker.pid, data, 1, 5432, "", "127.0.0.1", f"{keys[0]:9} {numbers[0]:9}", "ready"]
    (data / "postmaster.pid").write_text("\n".join(map(str, said)))
    yield data, left
    for segment in left:
        ctypes.CDLL(None).shmctl(segment.number, 0, None)


def still_there(segments: list[Segment]) -> list[Segment]:
    numbers = {segment.number for segment in list_segments()}
    return [segment for segment in segments if segment.number in numbers]


def test_shared_memory_of_a_killed_postgresql_goes_with_its_folder(
    killed_server: tuple[Path, list[Segment]], tmp_path: Path
) -> None:
    _, left = killed_server
    remove_databases(tmp_path / "databases")
    assert still_there(left) == []


@pytest.mark.parametrize(
    ("line", "text"), [(0, "1"), (6, "1 {number}"), (6, "{key} 999999"), (6, "it says nothing")]
)
def test_shared_memory_that_may_be_anothers_stays(
    killed_server: tuple[Path, list[Segment]], tmp_path: Path, line: int, text: str
) -> None:
    data, left = killed_server
    lines = (data / "postmaster.pid").read_text().splitlines()
    lines[line] = text.format(key=left[0].key, number=left[0].number)
    (data / "postmaster.pid").write_text("\n".join(lines))
    remove_databases(tmp_path / "databases")
    assert still_there(left) == left


def test_shared_memory_that_somebody_uses_stays(
    killed_server: tuple[Path, list[Segment]], tmp_path: Path
) -> None:
    _, left = killed_server
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    address = ctypes.c_void_p(libc.shmat(left[0].number, None, 0))
    try:
        remove_databases(tmp_path / "databases")
        assert still_there(left) == left
    finally:
        libc.shmdt(address)
