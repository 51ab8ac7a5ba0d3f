"""Lines of a log: bounded in length, whatever the bytes."""

import csv
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from plimsoll.errors import UsageError

LINE_MOST = 1 << 20  # bytes of a line that are read; what follows on it is dropped
HEAD_BYTES = 1 << 16  # a format is recognized by these
_GZIP = b"\x1f\x8b"


@contextmanager
def allow_long_fields(most: int) -> Iterator[None]:
    """Let `csv` read fields of up to so many characters, in a `with` or a decorated function.

    The limit is the whole process's: left behind, it would hold for every other table too.
    """
    before = csv.field_size_limit(most)
    try:
        yield
    finally:
        csv.field_size_limit(before)


class _Readable(Protocol):
    """A file of bytes."""

    def read(self, size: int = -1, /) -> bytes: ...
    def readline(self, size: int | None = -1, /) -> bytes: ...


class Lines:
    """The lines of a file, without their ends.

    Attributes:
        head: The beginning of the file, as text.
        cut: The number of lines longer than `LINE_MOST`.
    """

    def __init__(self, file: _Readable) -> None:
        self._file = file
        self._first = file.read(HEAD_BYTES)
        self.head = _decode(self._first)
        self.cut = 0

    def __iter__(self) -> Iterator[str]:
        """Yield each line. Bytes that are no UTF-8 are replaced."""
        rest = self._first
        while True:
            piece, end, rest = rest.partition(b"\n")
            if not end:
                more = self._file.readline(LINE_MOST)
                if not more and not piece:
                    return
                piece += more
                if not piece.endswith(b"\n") and more:
                    self._skip_line()
            yield _decode(piece[:LINE_MOST].rstrip(b"\r\n"))

    def _skip_line(self) -> None:
        """Drop what is left of a line."""
        skipped = False
        while more := self._file.readline(LINE_MOST):
            skipped = True
            if more.endswith(b"\n"):
                break
        self.cut += skipped


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@contextmanager
def open_lines(path: Path) -> Iterator[Lines]:
    """Open a log, which may be compressed by gzip.

    Raises:
        UsageError: It cannot be read, or is no regular file.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits until somebody opens its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as raw:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{path}: is not a regular file")
            packed = raw.peek(2)[:2] == _GZIP
            if packed:
                with gzip.open(raw) as unpacked:
                    yield Lines(unpacked)
            else:
                yield Lines(raw)
    except (OSError, EOFError, zlib.error) as error:
        problem = getattr(error, "strerror", None) or str(error) or "cannot be read"
        raise UsageError(f"{path}: {problem}") from None
