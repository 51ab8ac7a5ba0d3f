"""Database servers of one test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from plimsoll.local.databases.database_server import DatabaseServer

Server = TypeVar("Server", bound=DatabaseServer)


@contextmanager
def several(start: Callable[..., Server], folder: Path) -> Iterator[Callable[..., Server]]:
    """Give what starts servers, with keyword arguments as `start` takes them, and end all of them.

    Args:
        start: Starts one in a `directory`.
        folder: Each has a directory of its own within it, unless one is given.
    """
    servers: list[Server] = []

    def one(*, directory: Path | None = None, **how: object) -> Server:
        server = start(directory=directory or folder / str(len(servers)), **how)
        servers.append(server)
        return server

    yield one
    for server in servers:
        server.remove()
