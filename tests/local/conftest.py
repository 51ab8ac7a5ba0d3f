"""Real database servers for the tests, on 127.0.0.1, each gone with the test session."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pymysql
import pytest

from plimsoll.local.databases.mariadb import MariaDbServer

MariaDbFactory = Callable[..., MariaDbServer]


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDbServer]:
    """One server shared by every test that leaves it as it was; see `fresh_database`."""
    with MariaDbServer.start(directory=tmp_path_factory.mktemp("mariadb") / "shared") as server:
        yield server


@pytest.fixture
def mariadb_factory(tmp_path: Path) -> Iterator[MariaDbFactory]:
    """Start servers of the test's own; keyword arguments as `MariaDbServer.start`."""
    servers: list[MariaDbServer] = []

    def start(
        *,
        settings: Mapping[str, str | int] = MappingProxyType({}),
        environment: Mapping[str, str] = MappingProxyType({}),
        directory: Path | None = None,
        port: int | None = None,
    ) -> MariaDbServer:
        server = MariaDbServer.start(
            directory=directory or tmp_path / f"mariadb-{len(servers)}",
            settings=settings,
            environment=environment,
            port=port,
        )
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.remove()


@pytest.fixture
def connection(mariadb: MariaDbServer) -> Iterator["pymysql.Connection[pymysql.cursors.Cursor]"]:
    """A connection to the shared server, each statement its own transaction."""
    opened = pymysql.connect(
        host=mariadb.host,
        port=mariadb.port,
        user=mariadb.user,
        password=mariadb.password,
        autocommit=True,
    )
    yield opened
    opened.close()


@pytest.fixture
def fresh_database(
    mariadb: MariaDbServer,
    connection: "pymysql.Connection[pymysql.cursors.Cursor]",
    request: pytest.FixtureRequest,
) -> Iterator[str]:
    """An empty database of the shared server, dropped after the test; gives its DSN."""
    name = f"test_{abs(hash(request.node.nodeid)):x}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
        yield mariadb.dsn.rsplit("/", 1)[0] + f"/{name}"
        cursor.execute(f"DROP DATABASE {name}")
