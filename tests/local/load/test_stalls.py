"""A server that stalls: what the open loop, the closed loop and a time-out must show of it.

The loads end once all is there to be seen, however long a machine stands still meanwhile; what is
asserted is what the server saw.
"""

import time
from typing import Any, Literal

import pytest

from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import OpenLoop
from tests.local.load.driving import drive, fake_target, latencies_us
from tests.local.load.stalls import (
    BEFORE_STALL,
    EACH,
    WITHOUT_END_S,
    assert_nothing_due_is_forgotten,
    assert_percentiles_show_the_stall,
    assert_the_stall_shows_once_in_each_lane,
    assert_within,
    at_quantile,
    drive_past_its_stall,
    latency_bounds_us,
    lateness_bounds_us,
    quantile_bounds_us,
    stall,
    stall_of_time_outs,
    time_outs_at_their_full_length,
)
from tests.support.fake_mysql_server import FakeMySqlServer
from tests.support.little_memory import little_memory

CONNECTIONS = 4


def drive_open(server: FakeMySqlServer, loop: OpenLoop) -> LoadReport:
    target = fake_target(server.port)
    return drive_past_its_stall(server, target, loop, connections=CONNECTIONS)


def drive_closed(server: FakeMySqlServer, **spec: Any) -> LoadReport:
    return drive(
        fake_target(server.port),
        connections=CONNECTIONS,
        duration_s=WITHOUT_END_S,
        operations_limit=EACH * CONNECTIONS,
        **spec,
    )


@pytest.mark.parametrize(("arrivals", "spread"), [("constant", 0.01), ("poisson", 0.06)])
def test_the_open_loop_shows_the_stall_in_its_percentiles_as_theory_says(
    arrivals: Literal["constant", "poisson"], spread: float
) -> None:
    with FakeMySqlServer(stall=stall(CONNECTIONS, after=400)) as server:
        loop = OpenLoop(rate_ops_per_second=400.0, arrivals=arrivals)
        report = drive_open(server, loop)
    assert_percentiles_show_the_stall(server, report, loop, CONNECTIONS, spread=spread)


def test_each_latency_lies_between_what_the_server_saw() -> None:
    """As the test above, of every tenth of them, with an answer that takes its time."""
    rate = 200.0
    with FakeMySqlServer(service_s=0.004, stall=stall(CONNECTIONS, after=200)) as server:
        report = drive_open(server, OpenLoop(rate_ops_per_second=rate))
    lowest, _ = latency_bounds_us(server, report, rate)
    seen = [us for us, count in sorted(latencies_us(report).items()) for _ in range(count)]
    assert len(seen) <= len(lowest) <= len(seen) + CONNECTIONS
    for tenth in range(1, 11):
        bounds_us = quantile_bounds_us(server, report, rate, tenth / 10)
        assert_within(at_quantile(seen, tenth / 10), bounds_us)


def test_the_closed_loop_shows_the_stall_once_per_connection() -> None:
    with FakeMySqlServer(stall=stall(CONNECTIONS, after=BEFORE_STALL)) as server:
        report = drive_closed(server)
    assert_the_stall_shows_once_in_each_lane(server, report, CONNECTIONS)


def test_a_time_out_is_recorded_at_its_full_length_and_the_load_goes_on() -> None:
    """A time-out of half a second: nothing but the stall, and a machine that stands still, takes
    as long. The stall is over when each connection has given up and been replaced."""
    timeout_ms = 500
    with FakeMySqlServer(stall=stall_of_time_outs(CONNECTIONS)) as server:
        report = drive_closed(server, timeout_ms=timeout_ms)
    timeouts = time_outs_at_their_full_length(server, report, CONNECTIONS, timeout_ms)
    # each one that was given up is replaced, unless there was nothing more to do, or its answer
    # was there when the machine went on
    replaced = report.connection_report.replaced
    assert report.connection_report.opened == CONNECTIONS + replaced <= len(server.sessions)
    assert CONNECTIONS <= replaced <= timeouts
    assert server.stall is not None
    assert server.stall.ended_at is not None
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
            answered = server.answered
        if report.operations_sent:
            break  # the machine did not stand still for the whole of it
    assert took_s < 50  # to work off what was due would take 100 s
    assert_nothing_due_is_forgotten(report, answered=answered, due=due, lanes=CONNECTIONS)
    client = report.client
    assert client.unanswered <= CONNECTIONS
    assert client.backlog_max is not None
    assert client.backlog_end is not None
    assert client.backlog_end <= client.backlog_max < due
    assert client.send_lateness_us is not None
    assert client.send_lateness_us.max is not None
    # what was sent last was due long before
    assert_within(client.send_lateness_us.max, lateness_bounds_us(server, report, rate))


def test_memory_stays_bounded_however_far_behind() -> None:
    """7 million operations fall due: at 9 bytes each they would be as much as is allowed."""
    with FakeMySqlServer(service_s=0.05) as server, little_memory():
        report = drive(
            fake_target(server.port),
            connections=2,
            duration_s=1.5,
            loop=OpenLoop(rate_ops_per_second=5_000_000.0),
        )
    assert (report.client.unsent or 0) > 7_000_000
