import fcntl
import os
import tempfile
import time
from pathlib import Path

import pytest

from plimsoll.local import leftovers
from plimsoll.local.leftovers import HOME_PREFIX, remove_leftovers, remove_orphaned_homes


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
    told: list[str] = []
    remove_leftovers(told.append)
    assert told == [f"removed what a killed run had left: {orphan}" for orphan in orphans]
    assert not any(orphan.exists() for orphan in orphans)


def test_the_folder_of_a_twin_that_runs_stays(tmp_path: Path) -> None:
    running = home(tmp_path, f"{HOME_PREFIX}x")
    with (running / "lock").open("w") as held:
        os.utime(running / "lock", (0, 0))
        fcntl.flock(held, fcntl.LOCK_EX)
        remove_orphaned_homes(tmp_path)
    assert (running / "databases/plimsoll-a/data").exists()


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
