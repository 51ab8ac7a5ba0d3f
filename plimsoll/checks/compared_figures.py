"""What a finished run says of the metrics that a check compares."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.capacity.credits import CREDITS
from plimsoll.model.check import Compare, CompareCapacity, CompareLatency
from plimsoll.model.check_history import Figure
from plimsoll.model.results import RunResult

RATE_TOLERANCE = 1e-6  # relative tolerance: rates pass through JSON as floats


def figures(result: RunResult, compare: Sequence[Compare]) -> dict[str, Figure]:
    """Read every metric's figure; a missing one says why, and is never 0."""
    return {metric.metric: _figure(result, metric) for metric in compare}


def _figure(result: RunResult, compare: CompareCapacity | CompareLatency) -> Figure:
    if result.capacity is None:
        why = result.failure.cause if result.failure else "it drew no verdict"
        return _none(f"the run {result.state}: {why}")
    if isinstance(compare, CompareCapacity):
        return _capacity(result)
    return _latency(result, compare)


def _capacity(result: RunResult) -> Figure:
    """Only a knee or a plateau is a capacity; a bound is told as what it is."""
    capacity = result.capacity
    assert capacity is not None  # noqa: S101 - see above
    value = capacity.max_sustainable_throughput_ops_per_second
    if value is None or capacity.bound != "=":
        return Figure(
            value=None,
            at_least=value if capacity.bound == ">=" else None,
            below=value if capacity.bound == "<" else None,
            why_none=f"{capacity.verdict}: {capacity.summary}",
        )
    interval = capacity.interval
    return Figure(
        value=value,
        low=interval.low_ops_per_second if interval else None,
        high=interval.high_ops_per_second if interval else None,
        bracket=capacity.bracket,
    )


def _latency(result: RunResult, compare: CompareLatency) -> Figure:
    capacity = result.capacity
    assert capacity is not None  # noqa: S101 - see above
    rate = compare.rate_ops_per_second
    offered = words.load(rate, "rate_ops_per_second")
    at_rate = [
        step for step in capacity.steps if abs(step.load - rate) <= RATE_TOLERANCE * rate
    ]  # the axis is the rate: the check's request searches rates
    if not at_rate:
        return _none(f"no step at {offered}")
    if len(at_rate) > 1 or CREDITS in at_rate[0].reasons:
        return _none(f"burst credits were spent at {offered}")
    (step,) = at_rate
    if step.client_bound:
        return _none(f"the clients were the limit at {offered}")
    if not step.consistent:
        return _none(f"an audit disputes the step at {offered}")
    if compare.operation not in step.latency_us:
        return _none(f"no {compare.operation} succeeded at {offered}")
    return Figure(value=step.latency_us[compare.operation])


def _none(why: str) -> Figure:
    return Figure(value=None, why_none=why)
