"""Tokens of services on this machine, in files that only their owner can read, by port."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

HOME_VARIABLE = "PLIMSOLL_HOME"
TOKEN_VARIABLE = "PLIMSOLL_API_TOKEN"  # noqa: S105 - a variable's name


def token_path(port: int) -> Path:
    """Return the path of the token file of the service at a port of 127.0.0.1.

    It is below `PLIMSOLL_HOME`, by default `~/.plimsoll`.
    """
    home = Path(os.environ.get(HOME_VARIABLE) or "~/.plimsoll").expanduser()
    return home / "services" / f"{port}.token"


@contextmanager
def keep_new_token(port: int) -> Iterator[str]:
    """Create a token for the service at a port, and keep its file while the block runs.

    A file that a killed service left is replaced.

    Raises:
        OSError: The file cannot be written.
    """
    token, file = secrets.token_urlsafe(32), token_path(port)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.unlink(missing_ok=True)  # otherwise its mode, or a foreign link, would persist
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
        written.write(token)
    try:
        yield token
    finally:
        file.unlink(missing_ok=True)


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
        return token_path(parts.port).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
