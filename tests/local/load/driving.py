"""Loads for the tests: short specs, and the report that comes of them."""

import json
import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
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
)
from plimsoll.model.engine_report import LoadReport
from plimsoll.model.values import IntegerValue, Sequential
from tests.local.load.cql_stand_in import CqlStandIn
from tests.local.load.stand_in import StandIn

# each operation's bind is its number, in the order in which they start
SELECT = EngineStatement(
    sql=("SELECT v FROM t WHERE id = ?",),
    binds=(IntegerValue(low=0, high=10**6, distribution=Sequential()),),
)
READS = EngineWorkload(
    key_spaces=(), operations=(EngineOperation(name="read", weight=1, statements=(SELECT,)),)
)


def stand_in_target(port: int) -> EngineTarget:
    """The account that a stand-in lets in: any."""
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


def latencies_us(report: LoadReport, operation: str = "read") -> dict[int, int]:
    """Count the operations by latency, as an independent reader finds them in the histogram."""
    histogram = HdrHistogram.decode(report.operations[operation].histogram)
    return {
        item.value_iterated_to: item.count_at_value_iterated_to
        for item in histogram.get_recorded_iterator()
    }


def latency_bounds_us(
    server: StandIn | CqlStandIn, report: LoadReport, rate_ops_per_second: float
) -> tuple[list[float], list[float]]:
    """Bound the latencies of `READS` due at even times by what the server saw; both sorted.

    However fast the machine is: the client had an answer no sooner than the server gave it, and no
    later than the server had the next request of the same connection (or stream).
    """
    epoch = time.time() - time.monotonic()
    start, end = (
        at / 1000 - epoch for at in (report.window_start_epoch_ms, report.window_end_epoch_ms)
    )
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


def at_quantile(ordered: Sequence[float], quantile: float) -> float:
    """Give the value that this share of the others does not exceed."""
    return ordered[math.ceil(quantile * len(ordered)) - 1]


def longest_silence_s(server: StandIn | CqlStandIn) -> float:
    """How long a server answered nothing: the stall, and whatever held up the machine with it."""
    answers = sorted(moment for session in server.sessions for moment in session.answered_at)
    return max(later - earlier for earlier, later in pairwise(answers))
