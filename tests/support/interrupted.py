"""Ctrl-C while a server's answer is awaited."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.databases.connecting import WatchedSocket


def _interrupt(*_: object) -> int:
    raise KeyboardInterrupt


@contextmanager
def interrupted() -> Iterator[None]:
    """Interrupt what is asked within the `with`, before the server's answer is read."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WatchedSocket, "recv_into", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            yield
