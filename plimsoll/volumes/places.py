"""Files with the state of volumes: their paths and locks, and cleaning up after killed owners."""

import fcntl
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from plimsoll.errors import PlimsollError

MEMORY = Path("/dev/shm")  # noqa: S108 - files there are created with O_EXCL, or not followed
_PREFIX = "plimsoll-volume-"
WATCH = ".watch"  # the socket by which processes on the volume find its watcher
_SUFFIXES = ("", ".json", ".lock", WATCH)  # state, description, lock of the owner, watcher


def _state_folder() -> Path:
    return MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def state_path(directory: Path) -> Path:
    """Return the path of the state of a folder's volume, in memory where writing costs no I/O.

    The file vanishes with a reboot. Its name contains the folder's owner.
    """
    canonical = directory.resolve()
    name = hashlib.sha256(os.fsencode(canonical)).hexdigest()[:16]
    return _state_folder() / f"{_PREFIX}{canonical.stat().st_uid}-{name}"


def take_lock(path: Path, directory: Path) -> int:
    """Lock a folder's volume for this process; the lock ends with the process.

    Raises:
        PlimsollError: Another process holds it.
    """
    lock = _try_lock(path)
    if lock is None:
        raise PlimsollError(f"{directory} has an emulated volume already")
    return lock


def _try_lock(path: Path) -> int | None:
    file = path.with_suffix(".lock")
    while True:
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if file.exists() and os.fstat(lock).st_ino == file.stat().st_ino:
                return lock
        except BlockingIOError:
            os.close(lock)
            return None
        os.close(lock)  # an owner that was just closing has removed the file


def remove_files(path: Path) -> None:
    """Remove a volume's files, while the owner holds the lock."""
    for suffix in _SUFFIXES:
        path.with_suffix(suffix).unlink(missing_ok=True)


def remove_abandoned() -> list[Path]:
    """Remove the files that killed owners left for folders which no longer exist; list them.

    They lie where every user may make files, so only this user's own are looked at.
    """
    removed = []
    for file in _state_folder().glob(f"{_PREFIX}*.lock"):
        with suppress(OSError):  # already gone
            path = file.with_suffix("")
            if not is_own(file, stat.S_ISREG):
                continue
            if _read_directory(path).exists():
                continue  # without taking the lock, which a new owner may need
            lock = _try_lock(path)
            if lock is None:
                continue
            try:
                if not _read_directory(path).exists():
                    remove_files(path)
                    removed.append(path)
            finally:
                os.close(lock)
    return removed


def is_own(path: Path, is_kind: Callable[[int], bool]) -> bool:
    """Return whether a file or folder is this user's own, of a kind (`stat.S_ISDIR`), and no link.

    Raises:
        FileNotFoundError: It is gone.
    """
    found = path.lstat()
    return found.st_uid == os.getuid() and is_kind(found.st_mode)


def _read_directory(path: Path) -> Path:
    """Return the folder of a volume; one that does not exist if its description says none."""
    description = path.with_suffix(".json")
    never_made = path / "never-made"
    try:
        if not is_own(description, stat.S_ISREG):
            return never_made
        directory = json.loads(description.read_bytes())["directory"]
    except (FileNotFoundError, ValueError, LookupError, TypeError, RecursionError):
        return never_made
    return Path(directory) if isinstance(directory, str) and "\0" not in directory else never_made
