"""Loads for the tests: short specs, and the report that comes of them."""

import json
from collections.abc import Callable
from typing import Any

from hdrh.histogram import HdrHistogram

import plimsoll_engine
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import (
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
    LoadSpec,
)
from plimsoll.model.engine.values import IntegerValue, Sequential
from plimsoll.model.request.dsn import parse_dsn

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


def latencies_us(report: LoadReport, operation: str = "read") -> dict[int, int]:
    """Count the operations by latency, as an independent reader finds them in the histogram."""
    histogram = HdrHistogram.decode(report.operations[operation].histogram)
    return {
        item.value_iterated_to: item.count_at_value_iterated_to
        for item in histogram.get_recorded_iterator()
    }
