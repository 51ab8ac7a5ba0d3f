"""The native part: compiled once into the cache, and found here."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from plimsoll.cache import cache_directory, cache_lock
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
    "attach.c",
)
_FLAGS = (
    *("-std=gnu11", "-O2", "-fPIC", "-shared", "-pthread", "-U_FORTIFY_SOURCE"),
    *("-Wall", "-Wextra", "-Werror"),
)
_LIBRARIES = {
    "core": (*_FLAGS,),  # the arithmetic and the state file, for Python
    "shim": (*_FLAGS, "-fvisibility=hidden", "-ldl"),  # the same and the calls, to be preloaded
}


def library(name: Literal["core", "shim"]) -> Path:
    """Find a native library, compiling it first if that has not been done for these sources.

    Raises:
        UsageError: This is not Linux on x86_64 or aarch64.
        MissingToolError: It must be compiled and there is no C compiler.
        PlimsollError: The compiler failed; carries its first message.
    """
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        raise UsageError(
            "emulated volumes need Linux on x86_64 or aarch64: "
            "on another system, run Plimsoll in a Linux VM or container"
        )
    path = cache_directory() / "volumes" / _fingerprint() / f"plimsoll-volume-{name}.so"
    if not path.exists():
        with cache_lock("volumes"):
            if not path.exists():
                _compile(name, path)
    return path


def _fingerprint() -> str:
    digest = hashlib.sha256(platform.machine().encode())
    for source in sorted(_SOURCES.iterdir()):
        digest.update(source.name.encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def _compile(name: Literal["core", "shim"], path: Path) -> None:
    compiler = os.environ.get("CC") or "cc"
    if shutil.which(compiler.split()[0]) is None:
        raise MissingToolError(
            "emulated volumes are built from source and there is no C compiler: "
            "on Debian or Ubuntu, apt-get install build-essential"
        )
    files = _CORE if name == "core" else _CORE + _SHIM
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    done = subprocess.run(
        [*compiler.split(), "-o", part, *(_SOURCES / file for file in files), *_LIBRARIES[name]],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise PlimsollError(f"the emulated volume could not be compiled: {reason.strip()}")
    part.rename(path)
