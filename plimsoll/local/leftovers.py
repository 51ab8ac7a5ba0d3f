"""Removes what a twin leaves if it was killed together with its guards; the next twin calls it.

Servers and sandboxes are gone in any case. Folders, and the state of volumes in memory, may be
left.
"""

import contextlib
import fcntl
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from plimsoll.local.process_guard import list_segments, remove_shared_memory
from plimsoll.volumes.places import (
    MEMORY,
    is_own,
    remove_abandoned,
    remove_files,
    state_path,
)

HOME_PREFIX = "plimsoll-twin-"  # prefix of the temporary folders of twins
IN_MEMORY = "memory"  # in a twin's folder, a link to its other one, in memory
_REMOVAL_TIMEOUT_S = 10.0
_STARTED_S = 60.0  # a server makes all of its shared memory when it starts
_YOUNGEST_S = 60.0  # a twin that is just starting has no process recorded yet


def remove_all_databases(home: Path) -> None:
    """Remove all database instances of a twin, on disk and in memory."""
    remove_databases(home / "databases")
    if memory := _find_memory(home):
        remove_databases(memory / "databases")


def remove_twin(home: Path) -> None:
    """Remove everything of a twin: its folder, the one in memory, and its volumes' state."""
    remove_all_databases(home)
    if memory := _find_memory(home):
        shutil.rmtree(memory, ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)


def _find_memory(home: Path) -> Path | None:
    """Return a twin's folder in memory; None if it has none, or its link leads anywhere else."""
    with contextlib.suppress(OSError):
        memory = (home / IN_MEMORY).readlink()
        named = memory.parent == MEMORY and memory.name.startswith(HOME_PREFIX)
        if named and is_own(memory, stat.S_ISDIR):
            return memory
    return None


def remove_databases(databases: Path) -> None:
    """Remove the folders of database instances, and the state of their volumes."""
    for directory in databases.glob("*/"):
        with contextlib.suppress(FileNotFoundError):  # somebody else removes it, too
            remove_files(state_path(directory))
        _remove_postgres_memory(directory / "data")
    deadline = time.monotonic() + _REMOVAL_TIMEOUT_S
    shutil.rmtree(databases, ignore_errors=True)
    while databases.exists() and time.monotonic() < deadline:
        time.sleep(0.05)  # a server being killed by its guard may just have written a file
        shutil.rmtree(databases, ignore_errors=True)


def _remove_postgres_memory(data: Path) -> None:
    """Remove the System V shared memory of a PostgreSQL that was killed with its guard.

    Its own file says who it was and which segment is its first. Unless that segment is there and
    was made by that process, nothing is removed.
    """
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
        postmaster, (key, number) = int(lines[0]), map(int, lines[6].split())
    except (OSError, ValueError, IndexError):  # no PostgreSQL, or one that has ended well
        return
    for first in list_segments():
        same = (first.number, first.creator) == (number, postmaster) and not first.users
        if same and (first.key - key) % 2**32 == 0:  # it writes the signed key as an unsigned one
            remove_shared_memory({postmaster}, since_s=first.changed_s - _STARTED_S)


def remove_leftovers(say: Callable[[str], None]) -> None:
    """Remove what killed runs have left on this machine, and say so for each.

    Nothing is touched that does not carry Plimsoll's prefix, that belongs to another user, who may
    have made it in order to have something else removed, or whose lock a living process holds.
    """
    for left in (*remove_orphaned_homes(), *remove_abandoned()):
        say(f"removed what a killed run had left: {left}")


def remove_orphaned_homes(temporary: Path | None = None) -> list[Path]:
    """Remove the temporary folders of twins whose process is gone.

    Args:
        temporary: The parent folder; None for this machine's folder for temporary files and its
            memory.

    Returns:
        Those that were removed.
    """
    removed = []
    places = [temporary] if temporary else [Path(tempfile.gettempdir()), MEMORY]
    for home in (home for place in places for home in place.glob(f"{HOME_PREFIX}*/")):
        with contextlib.suppress(OSError):  # it was removed meanwhile, or has no lock
            lock = home / "lock"
            if not (is_own(home, stat.S_ISDIR) and is_own(lock, stat.S_ISREG)):
                continue
            if time.time() - lock.stat().st_mtime < _YOUNGEST_S:
                continue
            with lock.open("r+") as held:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_twin(home)
                removed.append(home)
    return removed
