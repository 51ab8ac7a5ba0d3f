"""The cache folder for downloaded and built files."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[1]


def open_cache_directory() -> Path:
    """Return the project's cache folder, which is created if it is missing.

    It is `PLIMSOLL_CACHE` if set; in a checkout its `.cache/`; otherwise `plimsoll/` in the user's
    cache folder (`XDG_CACHE_HOME`, by default `~/.cache`).
    """
    if override := os.environ.get("PLIMSOLL_CACHE"):
        directory = Path(override).expanduser()
    elif (_CHECKOUT / "pyproject.toml").is_file():
        directory = _CHECKOUT / ".cache"
    else:
        directory = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "plimsoll"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


@contextmanager
def lock_cache(name: str) -> Iterator[None]:
    """Hold a lock while a process creates the named entry of the cache."""
    path = open_cache_directory() / f"{name}.lock"
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
