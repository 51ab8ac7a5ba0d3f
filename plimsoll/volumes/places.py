"""Where the state of volumes lies, whose it is, and what becomes of what a killed owner left."""

import fcntl
import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from plimsoll.errors import PlimsollError

MEMORY = Path("/dev/shm")  # noqa: S108 - names in it are made with O_EXCL, or not followed
_PREFIX = "plimsoll-volume-"
WATCH = ".watch"  # where processes on the volume find its watcher
_SUFFIXES = ("", ".json", ".lock", WATCH)  # state, what volume it is, its owner's lock


def _base() -> Path:
    return MEMORY if os.access(MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def state_path(directory: Path) -> Path:
    """Say where the state of a directory's volume lies: in memory, where writing it costs no I/O.

    The file goes with a reboot, and carries the directory's owner in its name.
    """
    canonical = directory.resolve()
    name = hashlib.sha256(os.fsencode(canonical)).hexdigest()[:16]
    return _base() / f"{_PREFIX}{canonical.stat().st_uid}-{name}"


def take(path: Path, directory: Path) -> int:
    """Lock a directory's volume for this process; the lock goes with the process.

    Raises:
        PlimsollError: Another process has it.
    """
    lock = _lock(path)
    if lock is None:
        raise PlimsollError(f"{directory} has an emulated volume already")
    return lock


def _lock(path: Path) -> int | None:
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
        os.close(lock)  # an owner that was just closing has removed it


def remove(path: Path) -> None:
    """Remove a volume's files; its owner holds the lock meanwhile."""
    for suffix in _SUFFIXES:
        path.with_suffix(suffix).unlink(missing_ok=True)


def remove_abandoned() -> None:
    """Remove what killed owners left of volumes whose directory is gone; nobody else's."""
    for file in _base().glob(f"{_PREFIX}*.lock"):
        with suppress(OSError):  # another user's, or gone already
            path = file.with_suffix("")
            if _directory_of(path).exists():
                continue  # nor is its lock held, be it so briefly, against whoever comes for it now
            lock = _lock(path)
            if lock is None:
                continue
            try:
                if not _directory_of(path).exists():
                    remove(path)
            finally:
                os.close(lock)


def _directory_of(path: Path) -> Path:
    try:
        return Path(json.loads(path.with_suffix(".json").read_bytes())["directory"])
    except (FileNotFoundError, ValueError, KeyError):
        return path / "never-made"
