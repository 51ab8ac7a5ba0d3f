"""Files that a user names: read with limits, written whole or not at all."""

import contextlib
import os
import select
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from plimsoll.complaints import Complaint, Place
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.process_limits import describe_system_error

PIPE_PATIENCE_S = 60.0  # how long a pipe may say nothing
# What is written there goes to a program or a terminal. `>(...)` of a shell is /dev/fd/N.
_STREAMS = tuple(map(Path, ("/dev/stdout", "/dev/stderr", "/dev/null")))
_STREAM_FOLDER = Path("/dev/fd")
_PIECE_BYTES = 1 << 20


def read_limited(path: Path, *, bytes_max: int) -> bytes:
    """Read a file, a pipe (`<(...)` of a shell) or the standard input (/dev/stdin).

    Raises:
        UsageError: It cannot be read, is a device, is longer than `bytes_max` bytes, or is a pipe
            into which nothing is written for `PIPE_PATIENCE_S`.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits until somebody opens its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            return _read_descriptor(descriptor, path, bytes_max)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refuse_reading(path, error.strerror or str(error)) from None


def _read_descriptor(descriptor: int, path: Path, bytes_max: int) -> bytes:
    kind = os.fstat(descriptor).st_mode
    waits = stat.S_ISFIFO(kind) or os.isatty(descriptor)
    if not (waits or stat.S_ISREG(kind)):
        is_what = "is a folder" if stat.S_ISDIR(kind) else "is a device"
        raise _refuse_reading(path, f"{is_what}: allowed are files and pipes")
    pieces, length = [], 0
    while piece := _read_piece(descriptor, path) if waits else os.read(descriptor, _PIECE_BYTES):
        pieces.append(piece)
        length += len(piece)
        if length > bytes_max:
            raise _refuse_reading(path, f"longer than {_describe_size(bytes_max)}")
    return b"".join(pieces)


def _read_piece(descriptor: int, path: Path) -> bytes:
    """Read what a pipe has; nothing once its last writer has closed it."""
    ends_at = time.monotonic() + PIPE_PATIENCE_S
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    while (left_s := ends_at - time.monotonic()) > 0:
        # A pipe that nobody has opened for writing yet has no events.
        if waiting.poll(left_s * 1000):
            with contextlib.suppress(BlockingIOError):
                return os.read(descriptor, _PIECE_BYTES)
    raise _refuse_reading(path, f"nothing was written into this pipe for {PIPE_PATIENCE_S:g} s")


def _refuse_reading(path: Path, problem: str) -> UsageError:
    return UsageError(Complaint((), problem, place=Place(str(path))))


def _describe_size(size: int) -> str:
    return f"{size // 2**20} MiB" if size % 2**20 == 0 else f"{size:,} bytes"


def resolve_links(path: Path) -> Path:
    """Return a path without links; a link that leads to itself stays as it is.

    `Path.resolve` fails on such a link with a RuntimeError.
    """
    return Path(os.path.realpath(path))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: what was there stays if the disk is full.

    A new file can be read by its owner alone, since results hold addresses and statements; one that
    is replaced keeps its mode. The standard streams and /dev/null are written as they are.

    Raises:
        PlimsollError: The file cannot be written, is a device or a folder, or is a link to a file
            in another folder.
    """
    raw = content.encode() if isinstance(content, str) else content
    try:
        if path in _STREAMS or path.parent == _STREAM_FOLDER:
            with path.open("ab") as stream:
                stream.write(raw)
        else:
            _replace_file(_resolve_own(path), raw)
    except OSError as error:
        raise PlimsollError(f"cannot write {path}: {describe_system_error(error)}") from None


def _resolve_own(path: Path) -> Path:
    """Follow a link within its own folder.

    Raises:
        PlimsollError: It leads out of its folder, or to something that is no file.
    """
    target = resolve_links(path)
    if target.parent != resolve_links(path.parent):
        raise PlimsollError(f"cannot write {path}: it is a link to {target}: name that file itself")
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "a device or a pipe"
        raise PlimsollError(f"cannot write {path}: it is {kind}, not a file")
    return target


def _replace_file(target: Path, raw: bytes) -> None:
    with _open_beside(target) as (descriptor, part):
        with os.fdopen(descriptor, "wb") as file:
            if target.exists():
                os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
            file.write(raw)
        part.replace(target)


@contextlib.contextmanager
def _open_beside(target: Path) -> Iterator[tuple[int, Path]]:
    """Create a file beside another, with mode 600; remove it unless it was renamed."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".plimsoll-")
    try:
        yield descriptor, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
