"""The tokens of services on this machine: in files that only their owner reads, found by port."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

HOME_VARIABLE = "PLIMSOLL_HOME"
TOKEN_VARIABLE = "PLIMSOLL_API_TOKEN"  # noqa: S105 - a variable's name


def token_file(port: int) -> Path:
    """Say where the token of the service at a port of 127.0.0.1 lies.

    In `PLIMSOLL_HOME`, by default `~/.plimsoll`.
    """
    home = Path(os.environ.get(HOME_VARIABLE) or "~/.plimsoll").expanduser()
    return home / "services" / f"{port}.token"


@contextmanager
def new_token(port: int) -> Iterator[str]:
    """Make a token for the service at a port, and keep its file as long as the block runs.

    What a killed service left there is replaced.

    Raises:
        OSError: The file cannot be written.
    """
    token, file = secrets.token_urlsafe(32), token_file(port)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.unlink(missing_ok=True)  # another mode, or another's link, would stay with it
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
        written.write(token)
    try:
        yield token
    finally:
        file.unlink(missing_ok=True)


def find_token(url: str) -> str | None:
    """Find the token of the service at an address of this machine; None: none is known.

    The variable `PLIMSOLL_API_TOKEN` comes first. A file's token goes to 127.0.0.1 alone, where its
    service listens: behind another name of this machine may be another user's program.
    """
    if given := os.environ.get(TOKEN_VARIABLE):
        return given
    parts = urlsplit(url)
    if parts.hostname != "127.0.0.1" or parts.port is None:
        return None
    try:
        return token_file(parts.port).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
