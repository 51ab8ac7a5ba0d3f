"""Files with the state of volumes: their paths and locks, and cleaning up after killed owners."""

import fcntl
import hashlib
import json
import os
import tempfile
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
    """Remove the files that killed owners left for folders which no longer exist; list them."""
    removed = []
    for file in _state_folder().glob(f"{_PREFIX}*.lock"):
        with suppress(OSError):  # another user's file, or already gone
            path = file.with_suffix("")
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


def _read_directory(path: Path) -> Path:
    try:
        return Path(json.loads(path.with_suffix(".json").read_bytes())["directory"])
    except (FileNotFoundError, ValueError, KeyError):
        return path / "never-made"
