"""What decides on a step, read from everything that was measured of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll.capacity.audits import HALVES_SHARE
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Rules
from plimsoll.model.steps import Step

BACKLOG_SHARE = 0.01  # of the operations due in the window: beyond it, the backlog grows


@dataclass(frozen=True, slots=True)
class Measured:
    """What decides on a step, or on the median of its repetitions."""

    where: str
    throughput: float  # ops/s
    latency_us: dict[str, float]
    errors_share: float | None
    rate: float | None
    backlog: bool  # grows
    slowing: bool  # the second half of the window is much slower


def where(step: Step, number: int) -> str:
    """Name a step for an error message."""
    return step.source or f"step {number}"


def measure(step: Step, number: int, rules: Rules) -> Measured:
    """Read from a step what decides on it.

    Raises:
        UsageError: the throughput, or the statistic of an operation, is missing.
    """
    name = where(step, number)
    if step.throughput_ops_per_second is None:
        raise UsageError(f"{name}: throughput_ops_per_second is missing")
    latency_us = {}
    for operation, values in step.latency_us.items():
        if rules.statistic not in values:
            known = ", ".join(values) or "nothing"
            raise UsageError(
                f"{name}: latency_us.{operation}.{rules.statistic} is missing (known: {known}); "
                "choose with --statistic"
            )
        latency_us[operation] = values[rules.statistic]
    return Measured(
        where=name,
        throughput=step.throughput_ops_per_second,
        latency_us=latency_us,
        errors_share=_errors_share(step, name),
        rate=step.rate_ops_per_second,
        backlog=_backlog_grows(step),
        slowing=_slowing(step, rules),
    )


def _errors_share(step: Step, name: str) -> float | None:
    """Failed operations / all operations; None where errors are not known."""
    if step.errors is None:
        return None
    if step.errors == 0:
        return 0.0
    succeeded: float | None = step.operations
    if succeeded is None and step.throughput_ops_per_second == 0:
        succeeded = 0
    if succeeded is None and step.window_s is not None and step.throughput_ops_per_second:
        succeeded = step.throughput_ops_per_second * step.window_s
    if succeeded is None:
        raise UsageError(
            f"{name}: errors is {step.errors}, but of how many operations? "
            "operations or window_s is missing"
        )
    return step.errors / (step.errors + succeeded)


def _backlog_grows(step: Step) -> bool:
    """Open loop: more is due and unsent at the end than the connections could have under way."""
    if step.backlog_end is None or step.rate_ops_per_second is None or step.window_s is None:
        return False
    due = step.rate_ops_per_second * step.window_s
    return step.backlog_end > max(BACKLOG_SHARE * due, step.connections or 0)


def _slowing(step: Step, rules: Rules) -> bool:
    """The second half is much slower than the first: what it had, it could not sustain."""
    if step.halves is None:
        return False
    first, second = step.halves
    if first.throughput_ops_per_second and second.throughput_ops_per_second is not None:
        floor = first.throughput_ops_per_second * (1 - HALVES_SHARE)
        if second.throughput_ops_per_second < floor:
            return True
    return any(
        name in first.latency_us and latency > rules.deterioration * first.latency_us[name]
        for name, latency in second.latency_us.items()
    )


def median_of(measured: Sequence[Measured]) -> Measured:
    """Bring repetitions together: each figure by itself, at its median."""
    if len(measured) == 1:
        return measured[0]
    names: Iterable[str] = {name: None for m in measured for name in m.latency_us}
    shares = [m.errors_share for m in measured if m.errors_share is not None]
    return Measured(
        where=f"{measured[0].where} and {len(measured) - 1} more",
        throughput=median(m.throughput for m in measured),
        latency_us={
            name: median(m.latency_us[name] for m in measured if name in m.latency_us)
            for name in names
        },
        errors_share=median(shares) if shares else None,
        rate=measured[0].rate,
        backlog=2 * sum(m.backlog for m in measured) > len(measured),
        slowing=2 * sum(m.slowing for m in measured) > len(measured),
    )
