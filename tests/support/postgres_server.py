"""A real PostgreSQL server for tests: a `conftest.py` imports the fixtures that it wants."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from plimsoll.local.databases.postgres_program import MAJOR
from plimsoll.local.databases.postgres_server import PostgresServer

PostgresFactory = Callable[..., PostgresServer]


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """One server on 127.0.0.1, shared by every test that leaves it as it was.

    `.dsn`, `.host`, `.port`, `.user` (a superuser), `.password`, `.database`.
    """
    with PostgresServer.start(directory=tmp_path_factory.mktemp("postgres") / "shared") as server:
        yield server


@pytest.fixture
def postgres_factory(tmp_path: Path) -> Iterator[PostgresFactory]:
    """Start servers of the test's own; keyword arguments as `PostgresServer.start`."""
    servers: list[PostgresServer] = []

    def start(
        *,
        settings: Mapping[str, str | int] = MappingProxyType({}),
        environment: Mapping[str, str] = MappingProxyType({}),
        directory: Path | None = None,
        port: int | None = None,
        major: int = MAJOR,
    ) -> PostgresServer:
        server = PostgresServer.start(
            directory=directory or tmp_path / f"postgres-{len(servers)}",
            settings=settings,
            environment=environment,
            port=port,
            major=major,
        )
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.remove()
