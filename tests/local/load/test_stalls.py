"""A server that stalls: what the open loop, the closed loop and a time-out must show of it.

The loads end once all is there to be seen, however long a machine stands still meanwhile; what is
asserted is what the server saw.
"""

import time
from typing import Literal

import pytest

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
    fake_target,
    latencies_us,
    latency_bounds_us,
    lateness_bounds_us,
    quantile_bounds_us,
    waits_s,
)
from tests.support.fake_mysql_server import FakeMySqlServer
from tests.support.fake_server import Stall

pytestmark = pytest.mark.alone
STALL_S = 0.8
ROUNDING_US = 2_000  # of the load's start to a millisecond, and of the two clocks' readings
DIGITS = 1.001  # of a histogram, three of them: what it tells is the highest of a bucket
CONNECTIONS = 4


def stall(*, after: int, seconds: float = STALL_S) -> Stall:
    """One that every connection waits through."""
    return Stall(after=after, waiting=CONNECTIONS, seconds=seconds)


def drive_open(server: FakeMySqlServer, loop: OpenLoop) -> LoadReport:
    target = fake_target(server.port)
    return drive_past_its_stall(server, target, loop, connections=CONNECTIONS)


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_the_open_loop_shows_the_stall_in_its_percentiles_as_theory_says(
    arrivals: Literal["constant", "poisson"],
) -> None:
    """Operations due during a stall of s seconds wait from s down to 0, each instant alike.

    Of those due in w seconds a share (s - x) / w waits longer than x. So the quantile q is
    x = s - (1 - q) w: with s = 0.8 and w = 3, p99 = 770 ms and p99.9 = 797 ms; a client that
    forgets the operations that it could not send shows one slow operation per connection.
    """
    rate = 400.0
    with FakeMySqlServer(stall=stall(after=400)) as server:
        loop = OpenLoop(rate_ops_per_second=rate, arrivals=arrivals)
        report = drive_open(server, loop)
    assert server.stall is not None
    stall_s = server.stall.length_s
    read = report.operations["read"]
    assert read.errors == {}
    # on a busy machine more than the stall holds operations up: no less than theory, and no more
    # than the server saw
    spread = 0.01 if arrivals == "constant" else 0.06
    for quantile, seen_us in ((0.99, read.latency_us.p99), (0.999, read.latency_us.p999)):
        assert seen_us is not None
        assert seen_us >= 1e6 * (stall_s - (1 - quantile) * read.succeeded / rate) * (1 - spread)
        if arrivals == "constant":  # else when each was due is not known here
            at_least, at_most = quantile_bounds_us(server, report, rate, quantile)
            assert at_least - ROUNDING_US <= seen_us <= at_most * DIGITS + ROUNDING_US
    assert count_above(report, 1e6 * stall_s / 2) >= rate * stall_s / 2 * (1 - 4 * spread) - 1
    assert report.client.backlog_max is not None
    assert report.client.backlog_max >= rate * stall_s * 0.8 - CONNECTIONS


def test_each_latency_lies_between_what_the_server_saw() -> None:
    """As the test above, of every tenth of them, with an answer that takes its time."""
    rate = 200.0
    with FakeMySqlServer(service_s=0.004, stall=stall(after=200)) as server:
        report = drive_open(server, OpenLoop(rate_ops_per_second=rate))
    lowest, _ = latency_bounds_us(server, report, rate)
    seen = [us for us, count in sorted(latencies_us(report).items()) for _ in range(count)]
    assert len(seen) <= len(lowest) <= len(seen) + CONNECTIONS
    for tenth in range(1, 11):
        at_least, at_most = quantile_bounds_us(server, report, rate, tenth / 10)
        assert (
            at_least - ROUNDING_US
            <= at_quantile(seen, tenth / 10)
            <= at_most * DIGITS + ROUNDING_US
        )


def test_the_closed_loop_shows_the_stall_once_per_connection() -> None:
    operations = EACH * CONNECTIONS
    with FakeMySqlServer(stall=stall(after=BEFORE_STALL)) as server:
        report = drive(
            fake_target(server.port),
            connections=CONNECTIONS,
            duration_s=WITHOUT_END_S,
            operations_limit=operations,
        )
    assert server.stall is not None
    long_s = server.stall.length_s * 0.9
    least, most = waits_s(server, report)
    assert count_longer(least, long_s) >= CONNECTIONS
    # once, and once more wherever the machine stood still as long
    shown = count_above(report, 1e6 * long_s)
    assert count_longer(least, long_s * 1.01) <= shown <= count_longer(most, long_s * 0.99)
    read = report.operations["read"]
    assert (read.succeeded, read.errors) == (operations, {})
    # one operation for each connection is less than 1 %: its p99 does not know of the stall
    assert operations / 100 > CONNECTIONS
    assert read.latency_us.p99 is not None
    assert read.latency_us.p99 <= 1e6 * at_quantile(most, 0.99) * DIGITS + ROUNDING_US


def test_a_time_out_is_recorded_at_its_full_length_and_the_load_goes_on() -> None:
    """A time-out of half a second: nothing but the stall, and a machine that stands still, takes
    as long. The stall is over when each connection has given up and been replaced."""
    timeout_ms, operations = 500, EACH * CONNECTIONS
    with FakeMySqlServer(
        stall=Stall(after=BEFORE_STALL, waiting=2 * CONNECTIONS, seconds=STALL_S)
    ) as server:
        report = drive(
            fake_target(server.port),
            connections=CONNECTIONS,
            duration_s=WITHOUT_END_S,
            operations_limit=operations,
            timeout_ms=timeout_ms,
        )
    assert server.stall is not None
    assert server.stall.ended_at is not None
    read = report.operations["read"]
    timeouts = read.errors.pop("timeout")
    assert read.errors == {}
    full = count_above(report, 1000 * timeout_ms * 0.999)
    assert full == timeouts
    assert sum(latencies_us(report).values()) == read.succeeded + timeouts == operations
    # nothing that was answered in time
    _, most = waits_s(server, report)
    assert CONNECTIONS <= timeouts <= count_longer(most, timeout_ms / 1000 * 0.99)
    # each one that was given up is replaced, unless there was nothing more to do, or its answer
    # was there when the machine went on
    replaced = report.connection_report.replaced
    assert report.connection_report.opened == CONNECTIONS + replaced <= len(server.sessions)
    assert CONNECTIONS <= replaced <= timeouts
    after = [sum(at > server.stall.ended_at for at in it.answered_at) for it in server.sessions]
    assert sum(answered > 1 for answered in after) >= CONNECTIONS


def test_beyond_capacity_the_open_loop_forgets_nothing_and_ends_on_time() -> None:
    """Four connections at 10 ms each serve 400/s at most; 20,000/s fall due."""
    rate = 20_000.0
    due = rate * 2
    for _ in range(5):
        started = time.monotonic()
        with FakeMySqlServer(service_s=0.01) as server:
            report = drive(
                fake_target(server.port),
                connections=CONNECTIONS,
                duration_s=2.0,
                loop=OpenLoop(rate_ops_per_second=rate),
            )
            took_s = time.monotonic() - started
            answered = sum(len(session.answered_at) for session in server.sessions)
        if report.operations_sent:
            break  # the machine did not stand still for the whole of it
    read, client = report.operations["read"], report.client
    assert report.ended == "duration"
    assert took_s < 50  # to work off what was due would take 100 s
    assert read.succeeded <= answered
    assert read.succeeded + client.unanswered + (client.unsent or 0) == pytest.approx(due, abs=1)
    assert client.unanswered <= CONNECTIONS
    assert client.backlog_end == pytest.approx(due - read.succeeded, abs=2 * CONNECTIONS)
    assert client.backlog_max is not None
    assert client.backlog_end is not None
    assert client.backlog_end <= client.backlog_max < due
    assert client.send_lateness_us is not None
    assert client.send_lateness_us.max is not None
    # what was sent last was due long before
    at_least, at_most = lateness_bounds_us(server, report, rate)
    assert at_least - ROUNDING_US <= client.send_lateness_us.max <= at_most * DIGITS + ROUNDING_US


def test_memory_stays_bounded_however_far_behind() -> None:
    import resource  # noqa: PLC0415 - Linux only, as this test's figure is

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with FakeMySqlServer(service_s=0.05) as server:
        report = drive(
            fake_target(server.port),
            connections=2,
            duration_s=1.5,
            loop=OpenLoop(rate_ops_per_second=5_000_000.0),
        )
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (report.client.unsent or 0) > 7_000_000
    assert grown_kib < 64 * 1024  # 7 million operations due, 9 bytes each would be as much
