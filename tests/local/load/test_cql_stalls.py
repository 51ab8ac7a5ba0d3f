"""A CQL server that stalls: many operations share a connection, and none hides the stall."""

import threading
import time
from typing import Any

import pytest

from plimsoll.model.dsn import parse_dsn
from plimsoll.model.engine import ClosedLoop, OpenLoop
from plimsoll.model.engine_report import LoadReport
from tests.local.load.cql_stand_in import CqlStandIn
from tests.local.load.driving import (
    at_quantile,
    drive,
    latencies_us,
    latency_bounds_us,
    longest_silence_s,
)

pytestmark = pytest.mark.alone
STALL_S = 0.8
ROUNDING_US = 10_000  # as in `test_stalls`
IN_FLIGHT = 6


def drive_through_a_stall(
    server: CqlStandIn, loop: ClosedLoop | OpenLoop, *, asked_s: float = STALL_S, **spec: object
) -> tuple[LoadReport, float]:
    """Load a server that stalls one second into the load; also how long it answered nothing."""
    under_way = threading.Event()

    def stall() -> None:
        assert under_way.wait(30)
        server.stall(asked_s)

    thread = threading.Thread(target=stall)
    thread.start()
    settings: dict[str, Any] = {"connections": IN_FLIGHT, "duration_s": 3.0, **spec}
    target = parse_dsn(f"cassandra://127.0.0.1:{server.port}/k")
    report = drive(target, loop=loop, on_second=lambda _: under_way.set(), **settings)
    thread.join()
    return report, longest_silence_s(server)


def count_above(report: LoadReport, limit_us: float) -> int:
    return sum(count for us, count in latencies_us(report).items() if us > limit_us)


def test_the_open_loop_shows_the_stall_in_its_percentiles_as_theory_says() -> None:
    """As in `test_stalls`: of a window of w seconds a share (s - x) / w waits longer than x."""
    rate = 400.0
    with CqlStandIn() as server:
        report, stall_s = drive_through_a_stall(server, OpenLoop(rate_ops_per_second=rate))
        assert len(server.sessions) == 1
    read = report.operations["read"]
    assert read.errors == {}
    lowest, highest = latency_bounds_us(server, report, rate)
    for quantile, seen_us in ((0.99, read.latency_us.p99), (0.999, read.latency_us.p999)):
        assert seen_us is not None
        assert seen_us >= 1e6 * (stall_s - (1 - quantile) * report.window_s) * 0.99
        assert seen_us >= at_quantile(lowest, quantile) - ROUNDING_US
        assert seen_us <= at_quantile(highest, quantile) + ROUNDING_US
    assert count_above(report, 1e6 * stall_s / 2) >= rate * stall_s / 2 * 0.96 - 1
    assert report.client.backlog_max is not None
    assert report.client.backlog_max >= rate * stall_s * 0.8 - IN_FLIGHT


@pytest.mark.parametrize("per_connection", [1, 4, 128])
def test_the_closed_loop_shows_the_stall_once_per_operation_in_flight(per_connection: int) -> None:
    with CqlStandIn() as server:
        report, stall_s = drive_through_a_stall(
            server, ClosedLoop(), streams_per_connection=per_connection
        )
        assert len(server.sessions) == -(-IN_FLIGHT // per_connection)
    assert count_above(report, 1e6 * stall_s * 0.9) == IN_FLIGHT
    assert report.operations["read"].errors == {}
    assert report.operations["read"].latency_us.p99 is not None
    assert report.operations["read"].latency_us.p99 < 1e6 * stall_s / 2


def test_a_time_out_is_recorded_at_its_full_length_and_late_answers_are_nobodys() -> None:
    """A time-out of half a second: on a busy machine nothing but the stall takes as long."""
    timeout_ms = 500
    with CqlStandIn() as server:
        report, stall_s = drive_through_a_stall(
            server, ClosedLoop(), asked_s=1.6, timeout_ms=timeout_ms, duration_s=4.5
        )
        answered = sum(len(session.answered_at) for session in server.sessions)
        (session,) = server.sessions
    read = report.operations["read"]
    timeouts = read.errors.pop("timeout")
    assert read.errors == {}
    # each one in flight meets the stall again and again until it is over
    assert IN_FLIGHT <= timeouts <= IN_FLIGHT * (stall_s * 1000 // timeout_ms + 1)
    full = count_above(report, 1000 * timeout_ms * 0.999)
    assert full == timeouts
    assert sum(latencies_us(report).values()) == read.succeeded + timeouts
    # the server answered what was given up, after the stall: none of that is a success
    assert answered - timeouts - IN_FLIGHT <= read.succeeded <= answered - timeouts
    assert (report.connection_report.opened, report.connection_report.replaced) == (1, 0)
    assert len({stream for stream, _ in session.executions}) == IN_FLIGHT + timeouts
    assert max(second.second for second in report.seconds if second.succeeded) >= 2


def test_beyond_capacity_the_open_loop_forgets_nothing_and_ends_on_time() -> None:
    """Four connections at 10 ms each serve 400/s; 2,000/s fall due."""
    due = 2000 * 2
    started = time.monotonic()
    with CqlStandIn(service_s=0.01) as server:
        report = drive(
            parse_dsn(f"cassandra://127.0.0.1:{server.port}/k"),
            connections=4,
            streams_per_connection=1,
            duration_s=2.0,
            loop=OpenLoop(rate_ops_per_second=2000.0),
        )
        took_s = time.monotonic() - started
        answered = sum(len(session.answered_at) for session in server.sessions)
    read, client = report.operations["read"], report.client
    assert report.ended == "duration"
    assert took_s < 2.0 + 5.0  # to work off what was due would take 10 s
    assert read.succeeded <= answered
    assert read.succeeded + client.unanswered + (client.unsent or 0) == pytest.approx(due, abs=1)
    assert client.backlog_end == pytest.approx(due - read.succeeded, abs=8)
