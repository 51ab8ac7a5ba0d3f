"""A server that is killed in mid-run, and comes back or does not."""

import threading
import time
from contextlib import closing
from typing import Any

import plimsoll_engine
from plimsoll.databases.mysql.session import Connection, connect, execute
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import Compiled, load_workload
from tests.local.conftest import MariaDbFactory
from tests.local.load.driving import drive

CONNECTIONS = 4


def prepared(server: MariaDbServer) -> Compiled:
    compiled = load_workload("ycsb-c").compile(200)
    prepare_dataset(parse_dsn(server.dsn), compiled, connections=2)
    return compiled


def held_up(connection: Connection) -> int:
    """Count the connections whose operations wait for a lock on their table."""
    sql = (
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST"
        " WHERE COMMAND = 'Execute' AND STATE = 'Waiting for table metadata lock'"
    )
    ((connections,),) = execute(connection, sql)
    return int(connections)


def test_a_server_killed_and_back_after_two_seconds(mariadb_factory: MariaDbFactory) -> None:
    """However long its start takes: the load goes on until each of its connections is at work."""
    server = mariadb_factory()
    target, compiled = parse_dsn(server.dsn), prepared(server)
    under_way, back = threading.Event(), threading.Event()
    token = plimsoll_engine.CancelToken()

    def outage() -> None:
        assert under_way.wait(60)
        server.kill()
        threading.Event().wait(2.0)
        mariadb_factory(directory=server.directory, port=server.port)
        with closing(connect(target)) as connection:
            execute(connection, "LOCK TABLES usertable WRITE")
            while held_up(connection) < CONNECTIONS:
                time.sleep(0.05)  # bounded by the test's own time-out
        back.set()

    def hear(reports: list[dict[str, int]]) -> None:
        under_way.set()
        if back.is_set() and reports and reports[-1]["succeeded"] > 0:
            token.cancel()

    thread = threading.Thread(target=outage)
    thread.start()
    report = drive(
        target,
        compiled.engine,
        connections=CONNECTIONS,
        duration_s=120.0,
        timeout_ms=60_000,
        on_second=hear,
        token=token,
    )
    thread.join()
    read = report.operations["read"]
    assert report.ended == "cancelled"  # since it worked again
    # what was on the wire is lost; while the server is away nothing is sent, so nothing fails
    assert set(read.errors) == {"connection_lost"}
    assert 1 <= read.errors["connection_lost"] <= CONNECTIONS
    assert report.connection_report.replaced == CONNECTIONS
    assert report.connection_report.opened == 2 * CONNECTIONS
    assert set(report.connection_report.failed) <= {"connect", "connection_lost"}
    # with back-off, seconds away are a handful of attempts each, not thousands
    away_s = sum(second.succeeded == 0 for second in report.seconds)
    assert away_s >= 1
    assert 0 < sum(report.connection_report.failed.values()) < 20 * CONNECTIONS * (away_s + 2)


def load_a_server_that_dies(server: MariaDbServer) -> tuple[LoadReport, float]:
    """Kill it after the first second of a load of four; also how long the load took, in seconds."""
    compiled, killed = prepared(server), False

    def hear(_: list[dict[str, Any]]) -> None:
        nonlocal killed
        if not killed:
            killed = True
            server.kill()

    started = time.monotonic()
    report = drive(
        parse_dsn(server.dsn),
        compiled.engine,
        connections=CONNECTIONS,
        duration_s=4.0,
        timeout_ms=300_000,  # who waited for an answer would wait for five minutes
        on_second=hear,
    )
    return report, time.monotonic() - started


def test_a_server_that_stays_away_does_not_hold_up_the_end(
    mariadb_factory: MariaDbFactory,
) -> None:
    for _ in range(5):
        report, took_s = load_a_server_that_dies(mariadb_factory())
        if report.operations["read"].errors:
            break  # else the machine stood still until the load was over
    assert took_s < 60.0
    assert report.ended == "duration"
    assert set(report.operations["read"].errors) == {"connection_lost"}
    assert report.connection_report.replaced == 0
    assert set(report.connection_report.failed) <= {"connect", "connection_lost"}
