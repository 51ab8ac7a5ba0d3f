"""Where downloaded and built things live between commands."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[1]


def cache_directory() -> Path:
    """The project's cache folder, made if it is not there.

    `PLIMSOLL_CACHE` where set; in a checkout its `.cache/`; otherwise `plimsoll/` in the user's
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
def cache_lock(name: str) -> Iterator[None]:
    """Let one process at a time make the thing of that name in the cache."""
    path = cache_directory() / f"{name}.lock"
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
