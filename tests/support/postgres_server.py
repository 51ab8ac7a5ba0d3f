"""A real PostgreSQL server for tests: a `conftest.py` imports the fixtures that it wants."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.local.databases.postgres_server import PostgresServer
from tests.support.servers import several

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
    with several(PostgresServer.start, tmp_path / "postgres") as start:
        yield start
