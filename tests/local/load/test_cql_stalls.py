"""A CQL server that stalls: many operations share a connection, and none hides the stall.

As in `test_stalls`, the loads end once all is there to be seen, and what is asserted is what the
server saw.
"""

import time
from typing import Any

import pytest

from plimsoll.model.dsn import parse_dsn
from plimsoll.model.engine import OpenLoop
from plimsoll.model.engine_report import LoadReport
from tests.local.load.driving import (
    BEFORE_STALL,
    EACH,
    WITHOUT_END_S,
    at_quantile,
    count_above,
    count_longer,
    drive,
    drive_past_its_stall,
    latencies_us,
    quantile_bounds_us,
    waits_s,
)
from tests.support.fake_cql_server import FakeCqlServer
from tests.support.fake_server import Stall

pytestmark = pytest.mark.alone
STALL_S = 0.8
ROUNDING_US = 2_000  # as in `test_stalls`
DIGITS = 1.001  # of a histogram, three of them: what it tells is the highest of a bucket
IN_FLIGHT = 6


def stall(*, after: int, seconds: float = STALL_S) -> Stall:
    """One that each operation in flight waits through."""
    return Stall(after=after, waiting=IN_FLIGHT, seconds=seconds)


def drive_all(server: FakeCqlServer, operations: int, **spec: Any) -> LoadReport:
    return drive(
        parse_dsn(f"cassandra://127.0.0.1:{server.port}/k"),
        connections=IN_FLIGHT,
        duration_s=WITHOUT_END_S,
        operations_limit=operations,
        **spec,
    )


def test_the_open_loop_shows_the_stall_in_its_percentiles_as_theory_says() -> None:
    """As in `test_stalls`: of those due in w seconds a share (s - x) / w waits longer than x."""
    rate = 400.0
    with FakeCqlServer(stall=stall(after=400)) as server:
        target = parse_dsn(f"cassandra://127.0.0.1:{server.port}/k")
        loop = OpenLoop(rate_ops_per_second=rate)
        report = drive_past_its_stall(server, target, loop, connections=IN_FLIGHT)
        assert len(server.sessions) == 1
    assert server.stall is not None
    stall_s = server.stall.length_s
    read = report.operations["read"]
    assert read.errors == {}
    for quantile, seen_us in ((0.99, read.latency_us.p99), (0.999, read.latency_us.p999)):
        assert seen_us is not None
        assert seen_us >= 1e6 * (stall_s - (1 - quantile) * read.succeeded / rate) * 0.99
        at_least, at_most = quantile_bounds_us(server, report, rate, quantile)
        assert at_least - ROUNDING_US <= seen_us <= at_most * DIGITS + ROUNDING_US
    assert count_above(report, 1e6 * stall_s / 2) >= rate * stall_s / 2 * 0.96 - 1
    assert report.client.backlog_max is not None
    assert report.client.backlog_max >= rate * stall_s * 0.8 - IN_FLIGHT


@pytest.mark.parametrize("per_connection", [1, 4, 128])
def test_the_closed_loop_shows_the_stall_once_per_operation_in_flight(per_connection: int) -> None:
    operations = EACH * IN_FLIGHT
    with FakeCqlServer(stall=stall(after=BEFORE_STALL)) as server:
        report = drive_all(server, operations, streams_per_connection=per_connection)
        assert len(server.sessions) == -(-IN_FLIGHT // per_connection)
    assert server.stall is not None
    long_s = server.stall.length_s * 0.9
    least, most = waits_s(server, report)
    assert count_longer(least, long_s) >= IN_FLIGHT
    # once, and once more wherever the machine stood still as long
    shown = count_above(report, 1e6 * long_s)
    assert count_longer(least, long_s * 1.01) <= shown <= count_longer(most, long_s * 0.99)
    read = report.operations["read"]
    assert (read.succeeded, read.errors) == (operations, {})
    # one operation for each lane is less than 1 %: its p99 does not know of the stall
    assert operations / 100 > IN_FLIGHT
    assert read.latency_us.p99 is not None
    assert read.latency_us.p99 <= 1e6 * at_quantile(most, 0.99) * DIGITS + ROUNDING_US


def test_a_time_out_is_recorded_at_its_full_length_and_late_answers_are_nobodys() -> None:
    """A time-out of half a second: nothing but the stall, and a machine that stands still, takes
    as long. The stall is over when as many as are in flight are given up, and as many sent again.
    """
    timeout_ms, operations = 500, EACH * IN_FLIGHT
    with FakeCqlServer(
        stall=Stall(after=BEFORE_STALL, waiting=2 * IN_FLIGHT, seconds=STALL_S)
    ) as server:
        report = drive_all(server, operations, timeout_ms=timeout_ms)
        (session,) = server.sessions
    read = report.operations["read"]
    timeouts = read.errors.pop("timeout")
    assert read.errors == {}
    full = count_above(report, 1000 * timeout_ms * 0.999)
    assert full == timeouts
    assert sum(latencies_us(report).values()) == read.succeeded + timeouts == operations
    # nothing that was answered in time
    _, most = waits_s(server, report)
    assert IN_FLIGHT <= timeouts <= count_longer(most, timeout_ms / 1000 * 0.99)
    # the server answered what was given up, after the stall: none of that is a success
    assert len(session.executions) == operations
    assert (report.connection_report.opened, report.connection_report.replaced) == (1, 0)
    # what is given up keeps its stream until its answer has come
    assert session.overlapping() == 0
    kept = len({stream for stream, _ in session.executions}) - IN_FLIGHT
    assert IN_FLIGHT <= kept <= timeouts


def test_beyond_capacity_the_open_loop_forgets_nothing_and_ends_on_time() -> None:
    """Four connections at 10 ms each serve 400/s at most; 20,000/s fall due."""
    rate = 20_000.0
    due = rate * 2
    started = time.monotonic()
    with FakeCqlServer(service_s=0.01) as server:
        report = drive(
            parse_dsn(f"cassandra://127.0.0.1:{server.port}/k"),
            connections=4,
            streams_per_connection=1,
            duration_s=2.0,
            loop=OpenLoop(rate_ops_per_second=rate),
        )
        took_s = time.monotonic() - started
        answered = sum(len(session.answered_at) for session in server.sessions)
    read, client = report.operations["read"], report.client
    assert report.ended == "duration"
    assert took_s < 50  # to work off what was due would take 100 s
    assert read.succeeded <= answered
    assert read.succeeded + client.unanswered + (client.unsent or 0) == pytest.approx(due, abs=1)
    assert client.backlog_end == pytest.approx(due - read.succeeded, abs=8)
