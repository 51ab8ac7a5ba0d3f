"""Stalls: loads that meet one, bounds of what they may report, and what they have to show of it.

The bounds are what the server saw, so that they hold however long a machine stands still.
"""

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

import plimsoll_engine
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, OpenLoop
from tests.local.load.driving import drive, latencies_us
from tests.support.fake_cql_server import FakeCqlServer
from tests.support.fake_mysql_server import FakeMySqlServer
from tests.support.fake_server import Stall

FakeDatabase = FakeMySqlServer | FakeCqlServer

WITHOUT_END_S = 240.0  # something else ends the load
# operations of each connection (or lane) of a load that meets a stall, and those of the whole load
# before it: fewer, so that however a machine favors one, each has some left to wait with
EACH, BEFORE_STALL = 300, 250
STALL_S = 0.8
ROUNDING_US = 2_000  # of the load's start to a millisecond, and of the two clocks' readings
DIGITS = 1.001  # of a histogram, three of them: what it tells is the highest of a bucket


def stall(lanes: int, *, after: int) -> Stall:
    """One that each of so many lanes (connections, or operations in flight) waits through."""
    return Stall(after=after, waiting=lanes, seconds=STALL_S)


def stall_of_time_outs(lanes: int) -> Stall:
    """One that is over when each lane has given up one operation, and sent another."""
    return Stall(after=BEFORE_STALL, waiting=2 * lanes, seconds=STALL_S)


def drive_past_its_stall(
    server: FakeDatabase, target: EngineTarget, loop: OpenLoop, **spec: Any
) -> LoadReport:
    """Run an open loop until all that fell due in its server's stall is answered, and some more."""
    token = plimsoll_engine.CancelToken()
    stall = server.stall
    assert stall is not None

    def hear(_: list[dict[str, Any]]) -> None:
        if stall.ended_at is not None:
            first = min(session.received_at[0] for session in server.sessions)
            due = loop.rate_ops_per_second * (stall.ended_at - first + 0.5)
            if server.answered > due:
                token.cancel()

    return drive(target, loop=loop, on_second=hear, token=token, duration_s=WITHOUT_END_S, **spec)


def count_above(report: LoadReport, limit_us: float) -> int:
    """Count the operations that took longer."""
    return sum(count for us, count in latencies_us(report).items() if us > limit_us)


def count_longer(waits_s: Sequence[float], limit_s: float) -> int:
    """Count the waits that were longer."""
    return sum(wait_s > limit_s for wait_s in waits_s)


def epoch_of_monotonic_s() -> float:
    """Give the calendar's time at which `time.monotonic` was 0, the two read without a pause."""
    tries = ((time.monotonic(), time.time(), time.monotonic()) for _ in range(5))
    before, epoch, after = min(tries, key=lambda read: read[2] - read[0])
    return epoch - (before + after) / 2


def latency_bounds_us(
    server: FakeDatabase, report: LoadReport, rate_ops_per_second: float
) -> tuple[list[float], list[float]]:
    """Bound the latencies of `READS` due at even times by what the server saw; both sorted.

    However fast the machine is: the client had an answer no sooner than the server gave it, and no
    later than the server had the next request of the same connection (or stream).
    """
    start, end = _window_s(report)
    lowest, highest = [], []
    for session in server.sessions:
        next_request: dict[int, float] = {}
        seen = zip(session.numbers(), session.received_at, session.answered_at, strict=False)
        for (lane, number), received_at, answered_at in reversed(list(seen)):
            due = start + number / rate_ops_per_second
            if answered_at < end:
                lowest.append(1e6 * (answered_at - due))
                highest.append(1e6 * (min(next_request.get(lane, end), end) - due))
            next_request[lane] = received_at
    return sorted(lowest), sorted(highest)


def quantile_bounds_us(
    server: FakeDatabase,
    report: LoadReport,
    rate_ops_per_second: float,
    quantile: float,
) -> tuple[float, float]:
    """Bound a quantile of these latencies, in microseconds.

    Answers that were under way at the end, which the client does not count, may be anywhere among
    those that the server gave.
    """
    lowest, highest = latency_bounds_us(server, report, rate_ops_per_second)
    counted = sum(latencies_us(report).values())
    rank = math.ceil(quantile * counted)
    return lowest[rank - 1], highest[rank - 1 + len(highest) - counted]


def lateness_bounds_us(
    server: FakeDatabase, report: LoadReport, rate_ops_per_second: float
) -> tuple[float, float]:
    """Bound the longest time that one of `READS` was sent after it was due, in microseconds.

    The client sent it no sooner than the server had answered what it sent before on the same
    connection (or stream), and no later than the server had it.
    """
    start, end = _window_s(report)
    least, most = [0.0], [0.0]
    for session in server.sessions:
        free_at: dict[int, float] = {}
        for place, ((lane, number), received_at) in enumerate(
            zip(session.numbers(), session.received_at, strict=True)
        ):
            due = start + number / rate_ops_per_second
            least.append(1e6 * (free_at.get(lane, due) - due))
            most.append(1e6 * (min(received_at, end) - due))
            if place < len(session.answered_at):
                free_at[lane] = session.answered_at[place]
    return max(least), max(most)


def waits_s(server: FakeDatabase, report: LoadReport) -> tuple[list[float], list[float]]:
    """Bound how long each operation of a closed loop took, in seconds; both sorted.

    The client sent it no sooner than the server had answered what it sent before on the same
    connection (or stream), and had its answer no later than the server had the next request there;
    of the last one is known only that it came before the end.
    """
    start, end = _window_s(report)
    least, most = [], []
    for session in server.sessions:
        lanes = defaultdict(list)
        for (lane, _), *times in zip(
            session.numbers(), session.received_at, session.answered_at, strict=False
        ):
            lanes[lane].append(times)
        for seen in lanes.values():
            free_at = [max(start, session.opened_at), *(answered for _, answered in seen[:-1])]
            heard_at = [*(received for received, _ in seen[1:]), min(session.ended_at, end)]
            least += [answered - received for received, answered in seen]
            most += [heard - free for free, heard in zip(free_at, heard_at, strict=True)]
    return sorted(least), sorted(most)


def _window_s(report: LoadReport) -> tuple[float, float]:
    """Give the window's start and end, both cut to a millisecond, by `time.monotonic`."""
    epoch = epoch_of_monotonic_s()
    start_ms, end_ms = report.window_start_epoch_ms, report.window_end_epoch_ms + 1
    return start_ms / 1000 - epoch, end_ms / 1000 - epoch


def at_quantile(ordered: Sequence[float], quantile: float) -> float:
    """Give the value that this share of the others does not exceed."""
    return ordered[math.ceil(quantile * len(ordered)) - 1]


def assert_within(seen_us: float, bounds_us: tuple[float, float]) -> None:
    """Hold a figure of a histogram against the bounds of what the server saw."""
    at_least, at_most = bounds_us
    assert at_least - ROUNDING_US <= seen_us <= at_most * DIGITS + ROUNDING_US


def assert_percentiles_show_the_stall(
    server: FakeDatabase,
    report: LoadReport,
    loop: OpenLoop,
    lanes: int,
    *,
    spread: float = 0.01,
) -> None:
    """Hold an open loop against theory: operations due in a stall of s seconds wait from s to 0.

    Each instant counts alike: of those due in w seconds a share (s - x) / w waits longer than x. So
    the quantile q is x = s - (1 - q) w: with s = 0.8 and w = 3, p99 = 770 ms and p99.9 = 797 ms; a
    client that forgets the operations that it could not send shows one slow operation for each
    connection. On a busy machine more than the stall holds operations up: no less than theory, and
    no more than the server saw.

    Args:
        server: what stalled.
        report: what the load reported.
        loop: with its rate; when arrivals are not constant, it is not known when each was due.
        lanes: how many operations may be in flight.
        spread: how far arrivals may scatter about the rate, as a share.
    """
    rate = loop.rate_ops_per_second
    assert server.stall is not None
    stall_s = server.stall.length_s
    read = report.operations["read"]
    assert read.errors == {}
    for quantile, seen_us in ((0.99, read.latency_us.p99), (0.999, read.latency_us.p999)):
        assert seen_us is not None
        assert seen_us >= 1e6 * (stall_s - (1 - quantile) * read.succeeded / rate) * (1 - spread)
        if loop.arrivals == "constant":
            assert_within(seen_us, quantile_bounds_us(server, report, rate, quantile))
    assert count_above(report, 1e6 * stall_s / 2) >= rate * stall_s / 2 * (1 - 4 * spread) - 1
    assert report.client.backlog_max is not None
    assert report.client.backlog_max >= rate * stall_s * 0.8 - lanes


def assert_the_stall_shows_once_in_each_lane(
    server: FakeDatabase, report: LoadReport, lanes: int
) -> None:
    """Hold a closed loop of `EACH` operations a lane against what the server saw."""
    operations = EACH * lanes
    assert server.stall is not None
    long_s = server.stall.length_s * 0.9
    least, most = waits_s(server, report)
    assert count_longer(least, long_s) >= lanes
    # once, and once more wherever the machine stood still as long
    shown = count_above(report, 1e6 * long_s)
    assert count_longer(least, long_s * 1.01) <= shown <= count_longer(most, long_s * 0.99)
    read = report.operations["read"]
    assert (read.succeeded, read.errors) == (operations, {})
    # one operation for each lane is less than 1 %: its p99 does not know of the stall
    assert operations / 100 > lanes
    assert read.latency_us.p99 is not None
    assert read.latency_us.p99 <= 1e6 * at_quantile(most, 0.99) * DIGITS + ROUNDING_US


def time_outs_at_their_full_length(
    server: FakeDatabase, report: LoadReport, lanes: int, timeout_ms: int
) -> int:
    """Hold the time-outs of a load, which are its only errors, against what the server saw.

    Returns:
        How many there were; each lane had one at least, and none was answered in time.
    """
    read = report.operations["read"]
    timeouts = read.errors.pop("timeout")
    assert read.errors == {}
    assert count_above(report, 1000 * timeout_ms * 0.999) == timeouts
    assert sum(latencies_us(report).values()) == read.succeeded + timeouts == EACH * lanes
    _, most = waits_s(server, report)
    assert lanes <= timeouts <= count_longer(most, timeout_ms / 1000 * 0.99)
    return timeouts


def assert_nothing_due_is_forgotten(
    report: LoadReport, *, answered: int, due: float, lanes: int
) -> None:
    """Hold an open loop beyond its server's capacity against what fell due and was answered."""
    read, client = report.operations["read"], report.client
    assert report.ended == "duration"
    assert read.succeeded <= answered
    assert read.succeeded + client.unanswered + (client.unsent or 0) == pytest.approx(due, abs=1)
    assert client.backlog_end == pytest.approx(due - read.succeeded, abs=2 * lanes)
