"""A CQL server that stalls: many operations share a connection, and none hides the stall.

As in `test_stalls`, the loads end once all is there to be seen, and what is asserted is what the
server saw.
"""

import time
from typing import Any

import pytest

from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, OpenLoop
from plimsoll.model.request.dsn import parse_dsn
from tests.local.load.driving import drive
from tests.local.load.stalls import (
    BEFORE_STALL,
    EACH,
    WITHOUT_END_S,
    assert_nothing_due_is_forgotten,
    assert_percentiles_show_the_stall,
    assert_the_stall_shows_once_in_each_lane,
    drive_past_its_stall,
    stall,
    stall_of_time_outs,
    time_outs_at_their_full_length,
)
from tests.support.fake_cql_server import FakeCqlServer

IN_FLIGHT = 6


def target_of(server: FakeCqlServer) -> EngineTarget:
    return parse_dsn(f"cassandra://127.0.0.1:{server.port}/k")


def drive_closed(server: FakeCqlServer, **spec: Any) -> LoadReport:
    return drive(
        target_of(server),
        connections=IN_FLIGHT,
        duration_s=WITHOUT_END_S,
        operations_limit=EACH * IN_FLIGHT,
        **spec,
    )


def test_the_open_loop_shows_the_stall_in_its_percentiles_as_theory_says() -> None:
    with FakeCqlServer(stall=stall(IN_FLIGHT, after=400)) as server:
        loop = OpenLoop(rate_ops_per_second=400.0)
        report = drive_past_its_stall(server, target_of(server), loop, connections=IN_FLIGHT)
        assert len(server.sessions) == 1
    assert_percentiles_show_the_stall(server, report, loop, IN_FLIGHT)


@pytest.mark.parametrize("per_connection", [1, 4, 128])
def test_the_closed_loop_shows_the_stall_once_per_operation_in_flight(per_connection: int) -> None:
    with FakeCqlServer(stall=stall(IN_FLIGHT, after=BEFORE_STALL)) as server:
        report = drive_closed(server, streams_per_connection=per_connection)
        assert len(server.sessions) == -(-IN_FLIGHT // per_connection)
    assert_the_stall_shows_once_in_each_lane(server, report, IN_FLIGHT)


def test_a_time_out_is_recorded_at_its_full_length_and_late_answers_are_nobodys() -> None:
    """A time-out of half a second: nothing but the stall, and a machine that stands still, takes
    as long. The stall is over when as many as are in flight are given up, and as many sent again.
    """
    timeout_ms = 500
    with FakeCqlServer(stall=stall_of_time_outs(IN_FLIGHT)) as server:
        report = drive_closed(server, timeout_ms=timeout_ms)
        (session,) = server.sessions
    timeouts = time_outs_at_their_full_length(server, report, IN_FLIGHT, timeout_ms)
    # the server answered what was given up, after the stall: none of that is a success
    assert len(session.executions) == EACH * IN_FLIGHT
    assert (report.connection_report.opened, report.connection_report.replaced) == (1, 0)
    # what is given up keeps its stream until its answer has come
    assert session.overlapping() == 0
    kept = len({stream for stream, _ in session.executions}) - IN_FLIGHT
    assert IN_FLIGHT <= kept <= timeouts


def test_beyond_capacity_the_open_loop_forgets_nothing_and_ends_on_time() -> None:
    """Four connections at 10 ms each serve 400/s at most; 20,000/s fall due."""
    connections, duration_s = 4, 2.0
    loop = OpenLoop(rate_ops_per_second=20_000.0)
    started = time.monotonic()
    with FakeCqlServer(service_s=0.01) as server:
        report = drive(
            target_of(server),
            connections=connections,
            streams_per_connection=1,
            duration_s=duration_s,
            loop=loop,
        )
        took_s = time.monotonic() - started
        answered = server.answered
    assert took_s < 50  # to work off what was due would take 100 s
    due = loop.rate_ops_per_second * duration_s
    assert_nothing_due_is_forgotten(report, answered=answered, due=due, lanes=connections)
