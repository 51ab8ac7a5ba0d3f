"""A server that stalls: what the open loop, the closed loop and a time-out must show of it."""

import threading
import time
from typing import Any, Literal

import pytest

from plimsoll.model.engine import ClosedLoop, OpenLoop
from plimsoll.model.engine_report import LoadReport
from tests.local.load.driving import (
    at_quantile,
    drive,
    latencies_us,
    latency_bounds_us,
    longest_silence_s,
    stand_in_target,
)
from tests.local.load.stand_in import StandIn

pytestmark = pytest.mark.alone
STALL_S = 0.8
ROUNDING_US = 10_000  # of the load's start to a millisecond; and of those under way at its end
CONNECTIONS = 4


def drive_through_a_stall(
    server: StandIn, loop: ClosedLoop | OpenLoop, *, asked_s: float = STALL_S, **spec: object
) -> tuple[LoadReport, float]:
    """Load a server that stalls one second into the load; also how long it answered nothing."""

    def stall() -> None:
        while not server.sessions or not server.sessions[0].answered_at:
            time.sleep(0.01)  # bounded by the test's own time-out
        threading.Event().wait(1.0)
        server.stall(asked_s)

    thread = threading.Thread(target=stall)
    thread.start()
    settings: dict[str, Any] = {"connections": CONNECTIONS, "duration_s": 3.0, **spec}
    report = drive(stand_in_target(server.port), loop=loop, **settings)
    thread.join()
    return report, longest_silence_s(server)


def count_above(report: LoadReport, limit_us: float) -> int:
    return sum(count for us, count in latencies_us(report).items() if us > limit_us)


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_the_open_loop_shows_the_stall_in_its_percentiles_as_theory_says(
    arrivals: Literal["constant", "poisson"],
) -> None:
    """Operations due during a stall of s seconds wait from s down to 0, each instant alike.

    Of a window of w seconds a share (s - x) / w waits longer than x. So the quantile q is
    x = s - (1 - q) w: with s = 0.8 and w = 3, p99 = 770 ms and p99.9 = 797 ms, while a client that
    forgets the operations that it could not send would show one slow operation per connection.
    """
    rate = 400.0
    with StandIn() as server:
        loop = OpenLoop(rate_ops_per_second=rate, arrivals=arrivals)
        report, stall_s = drive_through_a_stall(server, loop)
    read = report.operations["read"]
    assert read.errors == {}
    # on a busy machine more than the stall holds operations up: no less than theory, and no more
    # than the server saw
    spread = 0.01 if arrivals == "constant" else 0.06
    _, highest = latency_bounds_us(server, report, rate)
    for quantile, seen_us in ((0.99, read.latency_us.p99), (0.999, read.latency_us.p999)):
        assert seen_us is not None
        assert seen_us >= 1e6 * (stall_s - (1 - quantile) * report.window_s) * (1 - spread)
        if arrivals == "constant":  # else when each was due is not known here
            assert seen_us <= at_quantile(highest, quantile) + ROUNDING_US
    assert count_above(report, 1e6 * stall_s / 2) >= rate * stall_s / 2 * (1 - 4 * spread) - 1
    assert report.client.backlog_max is not None
    assert report.client.backlog_max >= rate * stall_s * 0.8 - CONNECTIONS


def test_each_latency_lies_between_what_the_server_saw() -> None:
    """As the test above, of every tenth of them, with an answer that takes its time."""
    rate = 200.0
    with StandIn(service_s=0.004) as server:
        report, _ = drive_through_a_stall(server, OpenLoop(rate_ops_per_second=rate))
    lowest, highest = latency_bounds_us(server, report, rate)
    seen = [us for us, count in sorted(latencies_us(report).items()) for _ in range(count)]
    assert len(seen) == pytest.approx(len(lowest), abs=CONNECTIONS)
    for tenth in range(1, 11):
        at_least, at_most = (at_quantile(bound, tenth / 10) for bound in (lowest, highest))
        assert at_least - ROUNDING_US <= at_quantile(seen, tenth / 10) <= at_most + ROUNDING_US


def test_the_closed_loop_shows_the_stall_once_per_connection() -> None:
    with StandIn() as server:
        report, stall_s = drive_through_a_stall(server, ClosedLoop())
    assert count_above(report, 1e6 * stall_s * 0.9) == CONNECTIONS
    latency = report.operations["read"].latency_us
    assert report.operations["read"].succeeded > 100 * CONNECTIONS
    assert latency.p99 is not None
    assert latency.p99 < 1e6 * stall_s / 2


def test_a_time_out_is_recorded_at_its_full_length_and_the_load_goes_on() -> None:
    """A time-out of half a second: on a busy machine nothing but the stall takes as long."""
    timeout_ms = 500
    with StandIn() as server:
        report, stall_s = drive_through_a_stall(
            server, ClosedLoop(), asked_s=1.6, timeout_ms=timeout_ms, duration_s=4.5
        )
        after_the_stall = [session for session in server.sessions if session.answered_at]
    read = report.operations["read"]
    timeouts = read.errors.pop("timeout")
    assert read.errors == {}
    # each connection meets the stall again and again until it is over
    assert CONNECTIONS <= timeouts <= CONNECTIONS * (stall_s * 1000 // timeout_ms + 1)
    full = sum(
        count for us, count in latencies_us(report).items() if us >= 1000 * timeout_ms * 0.999
    )
    assert full == timeouts
    assert sum(latencies_us(report).values()) == read.succeeded + timeouts
    assert report.connection_report.replaced == timeouts
    assert report.connection_report.opened == CONNECTIONS + timeouts
    assert len(after_the_stall) >= 2 * CONNECTIONS
    assert max(second.second for second in report.seconds if second.succeeded) >= 3


def test_beyond_capacity_the_open_loop_forgets_nothing_and_ends_on_time() -> None:
    """Four connections at 10 ms each serve 400/s; 2,000/s fall due."""
    due = 2000 * 2
    started = time.monotonic()
    with StandIn(service_s=0.01) as server:
        report = drive(
            stand_in_target(server.port),
            connections=CONNECTIONS,
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
    assert client.unanswered <= CONNECTIONS
    assert client.backlog_end == pytest.approx(due - read.succeeded, abs=2 * CONNECTIONS)
    assert client.backlog_max is not None
    assert client.backlog_end is not None
    assert client.backlog_end <= client.backlog_max < due
    assert client.send_lateness_us is not None
    assert client.send_lateness_us.max is not None
    # the last one sent was due when only the served share of the window had passed
    assert client.send_lateness_us.max >= 1e6 * report.window_s * (1 - read.succeeded / due) * 0.8


def test_memory_stays_bounded_however_far_behind() -> None:
    import resource  # noqa: PLC0415 - Linux only, as this test's figure is

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with StandIn(service_s=0.05) as server:
        report = drive(
            stand_in_target(server.port),
            connections=2,
            duration_s=1.5,
            loop=OpenLoop(rate_ops_per_second=5_000_000.0),
        )
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (report.client.unsent or 0) > 7_000_000
    assert grown_kib < 64 * 1024  # 7 million operations due, 9 bytes each would be as much
