"""Tokens of services on this machine, in files that only their owner can read, by port."""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

HOME_VARIABLE = "PLIMSOLL_HOME"
MAX_CHARACTERS = 64
TOKEN_VARIABLE = "PLIMSOLL_API_TOKEN"  # noqa: S105 - a variable's name


def find_token_path(port: int) -> Path:
    """Return the path of the token file of the service at a port of 127.0.0.1.

    It is below `PLIMSOLL_HOME`, by default `~/.plimsoll`.
    """
    home = Path(os.environ.get(HOME_VARIABLE) or "~/.plimsoll").expanduser()
    return home / "services" / f"{port}.token"


@contextmanager
def keep_token(port: int, *, lasting: bool = False) -> Iterator[str]:
    """Create the token of the service at a port, and keep its file while the block runs.

    A file that a killed service left is replaced. The file is removed at the end, unless another
    service has replaced it meanwhile.

    Args:
        port: The port.
        lasting: Whether the next service at this port has the same token, so that a page that
            stays open goes on. The token is kept in a file of its own, which the verbs do not read:
            they send it only while the service runs.

    Raises:
        OSError: The file cannot be written.
    """
    file = find_token_path(port)
    kept = file.with_suffix(".kept")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = (_read_own(kept) if lasting else None) or secrets.token_urlsafe(32)
    if lasting:
        _write_anew(kept, token)
    _write_anew(file, token)
    own = _identify(file)
    try:
        yield token
    finally:
        with suppress(FileNotFoundError):
            if _identify(file) == own:
                file.unlink()


def _identify(file: Path) -> tuple[int, int]:
    found = file.lstat()
    return found.st_ino, found.st_ctime_ns  # a number is given again when its file is gone


def _write_anew(file: Path, token: str) -> None:
    """Write a token into a new file: an old one's mode, or a foreign link, would persist."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
        written.write(token)


def _read_own(file: Path) -> str | None:
    """Read a token that only this user can have written and read; None if there is none."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), encoding="ascii") as opened:
            found = os.fstat(opened.fileno())
            token = opened.read(MAX_CHARACTERS + 1)
    except (OSError, ValueError):
        return None
    own = found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == 0o600
    return token if own and re.fullmatch(r"[\w-]{32,64}", token) else None


def find_token(url: str) -> str | None:
    """Find the token of the service at an address of this machine; None if there is none.

    The variable `PLIMSOLL_API_TOKEN` comes first. A token file is used for 127.0.0.1 only, where
    its service listens: another name of this machine may lead to another user's program.
    """
    if given := os.environ.get(TOKEN_VARIABLE):
        return given
    parts = urlsplit(url)
    if parts.hostname != "127.0.0.1" or parts.port is None:
        return None
    try:
        return find_token_path(parts.port).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
