"""A result of `plimsoll load --json` is a step of one client."""

from typing import Any

import pytest

from plimsoll.capacity.readers import read_values
from plimsoll.errors import UsageError
from plimsoll.model.engine.answered import LatencySummary
from tests.support.little_memory import little_memory
from tests.unit.fleet.test_merge import result

LATENCY = LatencySummary(mean=400.5, p50=380, p95=800, p99=1200, p999=None, max=5000)


def load(**changes: Any) -> dict[str, Any]:
    """Fifty reads in a window of four seconds after one of warm-up; two more failed."""
    report = result(0, [400] * 50, errors={"1213": 2}).report
    read = report.operations["read"].model_copy(update={"latency_us": LATENCY})
    update = report.operations["read"].model_copy(update={"succeeded": 0, "errors": {}})
    report = report.model_copy(update={"operations": {"read": read, "update": update, **changes}})
    return {"load": {"warmup_s": 1.0}, "report": report.model_dump(mode="json")}


def test_its_step_has_all_that_audits_need() -> None:
    found = read_values(load(), "a.json")
    assert found is not None
    step = found.step
    assert (step.clients, step.connections, step.rate_ops_per_second) == (1, 1, None)
    assert (step.operations, step.errors, step.window_s) == (50, 2, 4)
    assert step.throughput_ops_per_second == 12.5
    latency_us = {"mean": 400.5, "p50": 380, "p95": 800, "p99": 1200, "max": 5000}
    assert step.latency_us == {"read": latency_us}
    assert step.shares == {"read": 1, "update": 0}
    assert step.operation_counts == {"read": 50, "update": 0}
    assert step.clients_ran == 1


def test_its_halves_are_whole_seconds_of_the_window() -> None:
    found = read_values(load(), "a.json")
    assert found is not None
    halves = found.step.halves
    assert halves is not None
    assert [half.throughput_ops_per_second for half in halves] == [10, 10]
    assert [half.latency_us["read"] for half in halves] == [201.5, 203.5]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("window_s", 0.0, "a.json: report.window_s is 0: nothing was measured"),
        ("ended", "cancelled", "a.json: report.ended is 'cancelled'"),
        ("connections", None, "a.json: report.connections: Input should be a valid integer"),
    ],
)
def test_what_was_not_measured_is_refused(field: str, value: object, message: str) -> None:
    values = load()
    values["report"][field] = value
    with pytest.raises(UsageError, match=message):
        read_values(values, "a.json")


def test_of_a_list_no_more_is_read_than_its_first_wrong_entry() -> None:
    values = load()
    values["report"]["seconds"] = [{}] * 300_000
    with little_memory(), pytest.raises(UsageError, match=r"a\.json: report\.seconds\.0\."):
        read_values(values, "a.json")
