"""Servers that count their statements, and loads that go on while they are looked at."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import plimsoll as package
from plimsoll.local.databases.mariadb_server import MariaDbServer
from tests.support.command import Output

COUNTING = {
    "performance_schema": 1,
    "performance_schema_consumer_events_statements_current": 1,
    "performance_schema_consumer_events_statements_history_long": 1,
}


@pytest.fixture(scope="session")
def counting_mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDbServer]:
    """A MariaDB whose performance_schema is on."""
    directory = tmp_path_factory.mktemp("counting") / "mariadb"
    with MariaDbServer.start(directory=directory, settings=COUNTING) as server:
        yield server


@contextmanager
def under_load(dsn: str, workload: str | Path, *, connections: int = 2) -> Iterator[None]:
    """Load a database as long as the `with` lasts; it has begun when that is entered."""
    begun, ended = threading.Event(), threading.Event()
    failed: list[BaseException] = []

    def on_second(_: object) -> None:
        begun.set()
        if ended.is_set():
            raise KeyboardInterrupt  # ends the load

    def carry_out() -> None:
        try:
            package.load(
                dsn,
                workload=workload,
                connections=connections,
                warmup_s=0,
                duration_s=60,
                progress=on_second,
            )
        except BaseException as error:  # noqa: BLE001 - it is told where it can be seen
            failed.append(error)
        finally:
            begun.set()

    thread = threading.Thread(target=carry_out)
    thread.start()
    begun.wait(30)
    try:
        yield
    finally:
        ended.set()
        thread.join(30)
    if failed:
        raise failed[0]


@pytest.fixture
def plimsoll_command(plimsoll: Callable[..., Output]) -> Callable[..., Output]:
    """The `plimsoll` command, under a name that leaves the package its own."""
    return plimsoll
