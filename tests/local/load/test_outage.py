"""A server that is killed in mid-run and comes back."""

import threading

import pytest

from plimsoll.model.dsn import parse_dsn
from plimsoll.workload import load_workload
from plimsoll.workload.prepare import prepare
from tests.local.conftest import MariaDbFactory
from tests.local.load.driving import drive

pytestmark = pytest.mark.alone
CONNECTIONS = 4


def test_a_server_killed_and_back_after_two_seconds(mariadb_factory: MariaDbFactory) -> None:
    server = mariadb_factory()
    target = parse_dsn(server.dsn)
    compiled = load_workload("ycsb-c").compile(200)
    prepare(target, compiled, connections=2)
    seconds: dict[int, int] = {}

    def outage() -> None:
        under_way.wait()
        server.kill()
        threading.Event().wait(2.0)
        mariadb_factory(directory=server.directory, port=server.port)

    def hear(reports: list[dict[str, int]]) -> None:
        for report in reports:
            seconds[report["second"]] = report["succeeded"]
            under_way.set()

    under_way = threading.Event()
    thread = threading.Thread(target=outage)
    thread.start()
    report = drive(
        target,
        compiled.engine,
        connections=CONNECTIONS,
        duration_s=8.0,
        timeout_ms=5000,
        on_second=hear,
    )
    thread.join()
    read = report.operations["read"]
    assert report.ended == "duration"
    assert abs(report.window_s - 8.0) < 0.1
    # what was on the wire is lost; while the server is away nothing is sent, so nothing fails
    assert set(read.errors) == {"connection_lost"}
    assert 1 <= read.errors["connection_lost"] <= CONNECTIONS
    assert report.connection_report.replaced >= CONNECTIONS
    assert report.connection_report.opened >= 2 * CONNECTIONS
    assert set(report.connection_report.failed) <= {"connect", "connection_lost"}
    # with back-off, two seconds away are a handful of attempts each, not thousands
    assert 0 < sum(report.connection_report.failed.values()) < 100 * CONNECTIONS
    assert seconds[max(seconds)] > 0, "it works again at the end"
    assert any(seconds.get(second, 0) == 0 for second in range(1, 5)), "it was away"
