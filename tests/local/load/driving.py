"""Loads for the tests: short specs, and the report that comes of them."""

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

import plimsoll_engine
from plimsoll.model.dsn import parse_dsn
from plimsoll.model.engine import (
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
    LoadSpec,
    OpenLoop,
)
from plimsoll.model.engine_report import LoadReport
from plimsoll.model.values import IntegerValue, Sequential
from tests.support.fake_cql_server import FakeCqlServer
from tests.support.fake_mysql_server import FakeMySqlServer

FakeDatabase = FakeMySqlServer | FakeCqlServer

WITHOUT_END_S = 240.0  # something else ends the load
# operations of each connection (or lane) of a load that meets a stall, and those of the whole load
# before it: fewer, so that however a machine favors one, each has some left to wait with
EACH, BEFORE_STALL = 300, 250
# each operation's bind is its number, in the order in which they start (without a limit)
SELECT = EngineStatement(
    sql=("SELECT v FROM t WHERE id = ?",),
    binds=(IntegerValue(low=0, high=10**6, distribution=Sequential()),),
)
READS = EngineWorkload(
    key_spaces=(), operations=(EngineOperation(name="read", weight=1, statements=(SELECT,)),)
)


def fake_target(port: int) -> EngineTarget:
    """The account that a fake server lets in: any."""
    return parse_dsn(f"mysql://u:p@127.0.0.1:{port}/d")


def drive(
    target: EngineTarget,
    workload: EngineWorkload = READS,
    *,
    on_second: Callable[[list[dict[str, Any]]], None] | None = None,
    token: plimsoll_engine.CancelToken | None = None,
    **spec: Any,
) -> LoadReport:
    """Run a load to its end, or until its token is cancelled."""
    text = LoadSpec(target=target, workload=workload, **spec).model_dump_json()
    hear = None if on_second is None else lambda seconds: on_second(json.loads(seconds))
    return LoadReport.model_validate_json(plimsoll_engine.run(text, hear, token))


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
            if sum(len(session.answered_at) for session in server.sessions) > due:
                token.cancel()

    return drive(target, loop=loop, on_second=hear, token=token, duration_s=WITHOUT_END_S, **spec)


def latencies_us(report: LoadReport, operation: str = "read") -> dict[int, int]:
    """Count the operations by latency, as an independent reader finds them in the histogram."""
    histogram = HdrHistogram.decode(report.operations[operation].histogram)
    return {
        item.value_iterated_to: item.count_at_value_iterated_to
        for item in histogram.get_recorded_iterator()
    }


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
    """Bound one of the latencies' quantiles likewise.

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
    """Bound the longest time that one of `READS` was sent after it was due, likewise.

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
    """Bound how long each operation of a closed loop took, likewise; both sorted.

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
