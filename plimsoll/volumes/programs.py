"""Checks whether a program can be put on a volume."""

import os
import shutil
import stat
import struct
from pathlib import Path

from plimsoll.errors import UsageError

_PT_INTERP = 3


def check_program(name: str) -> None:
    """Refuse a program that would ignore the preloaded library, whose I/O would not be counted.

    Only this program is checked, not those that it starts.

    Raises:
        UsageError: The program does not exist, is statically linked, or setuid.
    """
    program = shutil.which(name)
    if program is None:
        raise UsageError(f"{name}: no such program")
    path = Path(program)
    if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID) and os.geteuid() != 0:
        raise UsageError(f"{program} is setuid: it would ignore the volume")
    with path.open("rb") as handle:
        head = handle.read(64)
        if head[:4] == b"\x7fELF" and head[4] == 2 and not _has_interpreter(head, path):
            raise UsageError(f"{program} is statically linked: it would ignore the volume")


def _has_interpreter(head: bytes, path: Path) -> bool:
    """Whether a 64-bit ELF file names a dynamic linker (program header PT_INTERP)."""
    (offset,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    with path.open("rb") as handle:
        handle.seek(offset)
        headers = handle.read(size * count)
    return any(
        struct.unpack_from("<I", headers, at)[0] == _PT_INTERP
        for at in range(0, size * count, size)
    )
