"""What a finished run gives a history: figures, or gaps that say why."""

from collections.abc import Sequence
from typing import Any

import pytest

from plimsoll.capacity.credits import judge_sustained
from plimsoll.checks.series import read_figures
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import CreditUse, Step
from plimsoll.model.request.check import Compare, CompareCapacity, CompareLatency
from plimsoll.model.run.check_history import Figure
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import Failure, RunState
from tests.support.synthetic_run import synthetic_run

CAPACITY = CompareCapacity()
UPDATE = CompareLatency(kind="latency", operation="update", rate_ops_per_second=500)
RULES = Rules(confirmation=None, limits_us={"update": 1000})


def offered(rate: float, p99_us: float = 100, **others: Any) -> Step:
    values: dict[str, Any] = {
        "rate_ops_per_second": rate,
        "throughput_ops_per_second": rate,
        "latency_us": {"update": {"p99": p99_us}},
        "window_s": 10.0,
    }
    return Step(**values | others)


def figure(steps: Sequence[Step], compare: Compare) -> Figure:
    result, _ = synthetic_run()
    capacity = judge_sustained(steps, RULES, axis="rate_ops_per_second")
    judged = result.model_copy(update={"capacity": capacity})
    return read_figures(judged, [compare])[compare.metric]


def test_a_knee_is_a_capacity_with_its_bracket() -> None:
    found = figure([offered(500), offered(750), offered(1125, p99_us=5000)], CAPACITY)
    assert (found.value, found.bracket) == (750, (750, 1125))
    assert found.why_none is None


@pytest.mark.parametrize(
    ("steps", "why", "bounds"),
    [
        ([offered(500), offered(750)], "LOWER_BOUND", (750, None)),
        ([offered(500, p99_us=5000)], "BELOW_FIRST_STEP", (None, 500)),
        ([offered(500), offered(750, client_busy=0.95)], "CLIENT_BOUND", (None, None)),
    ],
)
def test_a_verdict_without_a_capacity_has_no_value_but_its_bound_and_its_name(
    steps: Sequence[Step], why: str, bounds: tuple[float | None, float | None]
) -> None:
    found = figure(steps, CAPACITY)
    assert found.value is None
    assert (found.at_least, found.below) == bounds
    assert found.why_none is not None
    assert found.why_none.startswith(why)


def test_a_latency_is_the_median_of_the_repetitions_at_its_rate_whatever_the_verdict() -> None:
    steps = [offered(500, p99_us) for p99_us in (210, 190, 200)] + [offered(750, 400)]
    assert figure(steps, UPDATE) == Figure(value=200)
    assert figure([offered(500, p99_us=5000)], UPDATE) == Figure(value=5000)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (offered(600), "no step at 500 ops/s offered"),
        (offered(500, client_busy=0.95), "the clients were the limit at 500 ops/s offered"),
        (offered(500, clients_ran=1, clients=2), "an audit disputes the step at 500 ops/s offered"),
        (
            offered(500, latency_us={}, operations=0, errors=5000),
            "no update succeeded at 500 ops/s offered",
        ),
    ],
)
def test_a_latency_that_was_not_measured_fairly_is_a_gap(step: Step, why: str) -> None:
    assert figure([step, offered(900)], UPDATE) == Figure(value=None, why_none=why)


def test_a_run_that_failed_is_a_gap_with_its_reason() -> None:
    result, _ = synthetic_run()
    failure = Failure(phase="provision", error="TargetError", cause="no capacity for the instance")
    failed: RunResult = result.model_copy(
        update={"capacity": None, "state": RunState.FAILED, "failure": failure}
    )
    found = read_figures(failed, [CAPACITY, UPDATE])
    why = "the run FAILED: no capacity for the instance"
    assert list(found.values()) == [Figure(value=None, why_none=why)] * 2


def test_a_latency_that_burst_credits_paid_for_is_a_gap() -> None:
    spending = CreditUse(bucket="volume", used_per_s=900, earned_per_s=300, full=5_400_000)
    on_credits = offered(500).model_copy(update={"credits": (spending,)})
    why = "burst credits were spent at 500 ops/s offered"
    without = offered(500).model_copy(update={"credits": ()})
    light = offered(100).model_copy(update={"credits": ()})
    assert figure([light, on_credits], UPDATE) == Figure(value=None, why_none=why)
    assert figure([light, on_credits, without], UPDATE).value is None
