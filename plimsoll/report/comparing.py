"""Runs side by side: capacities, their ratios, latency at equal load. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.capacity import Bound, Capacity, Interval
from plimsoll.model.results import RunResult
from plimsoll.model.steps import Statistic
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report.differences import Difference, differences, labels, question
from plimsoll.report.dollars import AS_IF, hourly_usd
from plimsoll.report.limit_words import limit_cell
from plimsoll.report.ratios import Ratio, ratio_of
from plimsoll.report.rows import at_capacity, by_load


class RunLine(Model):
    """One run of a comparison."""

    label: str
    run_id: str
    verdict: str | None
    figure_ops_per_second: float | None
    bound: Bound | None
    interval: Interval | None
    load: str | None
    limiting_resource: str | None
    latency_us: dict[str, float]  # of the judged statistic, at capacity, by operation
    statistic: str | None
    usd_per_million: float | None
    ratio: Ratio | None  # to the first run that asks the same; None for that one


class EqualLoad(Model):
    """Latencies of runs at a load that all of them tried, in the order of the runs."""

    load: str
    operation: str
    statistic: Statistic
    throughput_ops_per_second: tuple[float, ...]
    latency_us: tuple[float | None, ...]


class Comparison(Model):
    """Two or more runs, compared."""

    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    runs: tuple[RunLine, ...]
    equal_loads: tuple[EqualLoad, ...]
    differences: tuple[Difference, ...]


def compare(results: Sequence[RunResult], usd_per_hour: Sequence[float | None] = ()) -> Comparison:
    """Compare runs with the first one that asks the same.

    Args:
        results: Two or more runs.
        usd_per_hour: What each target costs an hour, in their order; empty: as each run says.
    """
    names = labels(results)
    prices = list(usd_per_hour) or [hourly_usd(result) for result in results]
    lines = []
    for index, (name, result, price) in enumerate(zip(names, results, prices, strict=True)):
        first = next(i for i, r in enumerate(results) if question(r) == question(result))
        ratio = None
        if first != index:
            ratio = ratio_of(name, result.capacity, names[first], results[first].capacity)
        lines.append(_line(name, result, price, ratio))
    ratios = [line.ratio.sentence for line in lines if line.ratio is not None]
    return Comparison(
        sentences=(*ratios, *_in_pairs(names, results)),
        warnings=tuple(_warnings(results, names)),
        runs=tuple(lines),
        equal_loads=equal_loads(results),
        differences=differences(results),
    )


def _in_pairs(names: Sequence[str], results: Sequence[RunResult]) -> Iterator[str]:
    """Say of each run what its toggle or its background showed in pairs of steps."""
    for name, result in zip(names, results, strict=True):
        if result.toggle is not None:
            yield f"{name}: {result.toggle.detail}."
        closing = result.capacity.closing if result.capacity else None
        if closing is not None and closing.background is not None:
            yield f"{name}: {closing.background.detail}."


def _line(name: str, result: RunResult, price: float | None, ratio: Ratio | None) -> RunLine:
    capacity = result.capacity
    judged = capacity and at_capacity(capacity)
    return RunLine(
        label=name,
        run_id=result.run_id,
        verdict=capacity.verdict if capacity else None,
        figure_ops_per_second=capacity.max_sustainable_throughput_ops_per_second
        if capacity
        else None,
        bound=capacity.bound if capacity else None,
        interval=capacity.interval if capacity else None,
        load=words.load(capacity.at, capacity.axis) if capacity else None,
        limiting_resource=limit_cell(result.limiting) if result.limiting else None,
        latency_us=judged.latency_us if judged else {},
        statistic=capacity.statistic if capacity else None,
        usd_per_million=usd_per_million(capacity, price),
        ratio=ratio,
    )


def equal_loads(results: Sequence[RunResult]) -> tuple[EqualLoad, ...]:
    """Latencies at every load that all runs tried; none where the runs cannot be compared."""
    capacities = [result.capacity for result in results if result.capacity is not None]
    if len(capacities) < len(results) or len({(c.axis, c.statistic) for c in capacities}) > 1:
        return ()
    if len({question(result) for result in results}) > 1:
        return ()
    steps = [by_load(capacity) for capacity in capacities]
    shared = sorted(set.intersection(*(set(by_load) for by_load in steps)))
    return tuple(
        EqualLoad(
            load=words.load(load, capacities[0].axis),
            operation=operation,
            statistic=capacities[0].statistic,
            throughput_ops_per_second=tuple(s[load].throughput_ops_per_second for s in steps),
            latency_us=tuple(s[load].latency_us.get(operation) for s in steps),
        )
        for load in shared
        for operation in dict.fromkeys(name for s in steps for name in s[load].latency_us)
    )


def _warnings(results: Sequence[RunResult], names: Sequence[str]) -> list[str]:
    warnings = []
    if len({result.local for result in results}) > 1:
        warnings.append("Some ran on one machine, some on AWS: such figures cannot be compared.")
    if any(result.local and hourly_usd(result) is not None for result in results):
        warnings.append(AS_IF)
    versions = {(r.versions.plimsoll, r.versions.engine) for r in results}
    if len(versions) > 1:
        warnings.append("They were measured by different versions of Plimsoll.")
    for name, result in zip(names, results, strict=True):
        capacity = result.capacity
        if capacity is None or capacity.bound is None:
            warnings.append(f"{name} has no figure: {_why(result)}")
        elif capacity.bracket is not None and (wide := _wide(capacity)):
            warnings.append(f"{name}: {wide}")
    return warnings


def _why(result: RunResult) -> str:
    if result.capacity is not None:
        return f"{result.capacity.verdict}; {result.capacity.summary}."
    return result.failure.cause if result.failure else f"it ended {result.state.value}."


def _wide(capacity: Capacity) -> str | None:
    """Say where, within the bracket, the widest stretch lies that nothing was tried in."""
    low, high = capacity.bracket or (None, None)
    if not low or not high:
        return None
    tried = sorted({low, high, *(j.load for j in capacity.steps if low < j.load < high)})
    whole = capacity.axis != "rate_ops_per_second"
    wide = [(a, b) for a, b in pairwise(tried) if b / a > 1.10 and not (whole and b - a <= 1)]
    if not wide:
        return None
    low, high = max(wide, key=lambda stretch: stretch[1] / stretch[0])
    between = f"{words.load(low, capacity.axis)} and {words.load(high, capacity.axis)}"
    warning = f"no load between {between} was tried, so its capacity may be somewhat higher"
    return f"{warning}; the interval does not cover that." if capacity.interval else f"{warning}."
