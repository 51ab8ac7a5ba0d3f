"""The native part: compiled once into the cache, and programs that would ignore it."""

import hashlib
import os
import platform
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Literal

from plimsoll.cache import lock_cache, open_cache_directory
from plimsoll.errors import MissingToolError, PlimsollError, UsageError

_SOURCES = Path(__file__).parent / "native"
_CORE = ("bucket.c", "account.c", "cache.c", "state.c")
_SHIM = (
    "files.c",
    "io.c",
    "aio_context.c",
    "hook_open.c",
    "hook_data.c",
    "hook_flush.c",
    "hook_aio.c",
    "refuse.c",
    "filter.c",
    "attach.c",
)
_FLAGS = ("-std=gnu11", "-O2", "-pthread", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra", "-Werror")
_SHARED = ("-fPIC", "-shared")
Part = Literal["core", "shim", "watcher"]
_PARTS: dict[Part, tuple[str, tuple[str, ...], tuple[str, ...]]] = {  # file, sources, flags
    # the arithmetic and the state file, used by Python
    "core": ("plimsoll-volume-core.so", _CORE, _SHARED),
    # the same with the intercepted calls, to be preloaded
    "shim": (
        "plimsoll-volume-shim.so",
        _CORE + _SHIM,
        (*_SHARED, "-fvisibility=hidden", "-ldl"),
    ),
    # the program that notices I/O past the shim
    "watcher": ("plimsoll-volume-watcher", (*_CORE, "escapes.c", "watcher.c"), ()),
}


def find_native_part(name: Part) -> Path:
    """Return the path of a native part, and compile it first if its sources are new.

    Raises:
        UsageError: This is not Linux on x86_64 or aarch64.
        MissingToolError: It must be compiled, and there is no C compiler.
        PlimsollError: The compiler failed; the message has its first error.
    """
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        raise UsageError(
            "emulated volumes need Linux on x86_64 or aarch64: "
            "on another system, run Plimsoll in a Linux VM or container"
        )
    path = open_cache_directory() / "volumes" / _hash_sources() / _PARTS[name][0]
    if not path.exists():
        with lock_cache("volumes"):
            if not path.exists():
                _compile(name, path)
    return path


def _hash_sources() -> str:
    digest = hashlib.sha256(platform.machine().encode())
    for source in sorted(_SOURCES.iterdir()):
        digest.update(source.name.encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def _compile(name: Part, path: Path) -> None:
    compiler = os.environ.get("CC") or "cc"
    if shutil.which(compiler.split()[0]) is None:
        raise MissingToolError(
            "emulated volumes are built from source and there is no C compiler: "
            "on Debian or Ubuntu, apt-get install build-essential"
        )
    _, files, flags = _PARTS[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    done = subprocess.run(
        [*compiler.split(), "-o", part, *(_SOURCES / file for file in files), *_FLAGS, *flags],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise PlimsollError(f"the emulated volume could not be compiled: {reason.strip()}")
    part.rename(path)


# Programs that would ignore it.


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
