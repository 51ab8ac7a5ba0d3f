"""The figures of a step that decide whether it passes; and names of latency columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from plimsoll.capacity.steps.audits import HALVES_SHARE
from plimsoll.capacity.steps.debt import describe_outgrown
from plimsoll.errors import UsageError
from plimsoll.model.histograms import interpolate_percentile_us, merge_histograms
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import QUANTILES, STATISTICS, Statistic, Step

# Share of the operations due in the window, above which the backlog counts as growing
BACKLOG_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class StepFigures:
    """The figures that decide on a step, or the medians of its repetitions."""

    where: str
    throughput: float  # ops/s
    latency_us: dict[str, float]
    errors_share: float | None
    rate: float | None
    backlog: bool  # whether the backlog grows
    slowing: bool  # whether the second half of the window is much slower
    refused: str | None = None  # why the target refused connections; None if it did not
    outgrown: str | None = None  # why pages cannot follow the log; None if nothing shows that
    window_s: float | None = None
    # Latencies of each operation by bucket (`Step.latency_counts`); empty if unknown
    latency_counts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    # Every known statistic of each operation; the lowest one if there are several repetitions
    statistics_us: Mapping[str, Mapping[Statistic, float]] = field(default_factory=dict)
    operation_counts: Mapping[str, int] = field(default_factory=dict)  # empty if unknown


def name_step(step: Step, number: int) -> str:
    """Return the name of a step for people: `step 3`, or where in a file it was read."""
    source = step.source or f"step {number}"
    return source.replace("steps/", "step ", 1) if source.startswith("steps/") else source


def read_step_figures(step: Step, number: int, rules: Rules) -> StepFigures:
    """Return the figures that decide on a step.

    Raises:
        UsageError: The throughput, or the statistic of an operation, is missing.
    """
    name = name_step(step, number)
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
    return StepFigures(
        where=name,
        throughput=step.throughput_ops_per_second,
        latency_us=latency_us,
        errors_share=_compute_errors_share(step, name),
        rate=step.rate_ops_per_second,
        backlog=_is_backlog_growing(step),
        slowing=_is_slowing(step, rules),
        refused=step.refused,
        outgrown=describe_outgrown(step.debt),
        window_s=step.window_s,
        latency_counts=step.latency_counts,
        statistics_us=step.latency_us,
        operation_counts=step.operation_counts,
    )


def _compute_errors_share(step: Step, name: str) -> float | None:
    """Return failed operations / all operations; None if the errors are unknown."""
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
            f"{name}: errors is {step.errors}, but the number of operations is not known:"
            " operations or window_s is missing"
        )
    return step.errors / (step.errors + succeeded)


def _is_backlog_growing(step: Step) -> bool:
    """Return whether, in an open loop, more operations are unsent at the end than connections."""
    if step.backlog_end is None or step.rate_ops_per_second is None or step.window_s is None:
        return False
    due = step.rate_ops_per_second * step.window_s
    return step.backlog_end > max(BACKLOG_SHARE * due, step.connections or 0)


def _is_slowing(step: Step, rules: Rules) -> bool:
    """Return whether the window's second half is much slower, so the load was not sustained."""
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


def combine_figures(repetitions: Sequence[StepFigures], statistic: Statistic) -> StepFigures:
    """Return the figures of several repetitions: latencies of all their operations, else medians.

    Args:
        repetitions: repetitions of one load.
        statistic: the latency statistic.
    """
    if len(repetitions) == 1:
        return repetitions[0]
    names: Iterable[str] = {name: None for r in repetitions for name in r.latency_us}
    shares = [r.errors_share for r in repetitions if r.errors_share is not None]
    refusals = [r.refused for r in repetitions if r.refused is not None]
    outgrown = [r.outgrown for r in repetitions if r.outgrown is not None]
    return StepFigures(
        where=f"{repetitions[0].where} and {len(repetitions) - 1} more",
        throughput=median(r.throughput for r in repetitions),
        latency_us={name: _combine_latency(repetitions, name, statistic) for name in names},
        errors_share=median(shares) if shares else None,
        rate=repetitions[0].rate,
        backlog=2 * sum(r.backlog for r in repetitions) > len(repetitions),
        slowing=2 * sum(r.slowing for r in repetitions) > len(repetitions),
        refused=refusals[0] if 2 * len(refusals) > len(repetitions) else None,
        outgrown=outgrown[0] if 2 * len(outgrown) > len(repetitions) else None,
        statistics_us={
            name: {
                each: min(r.statistics_us[name][each] for r in repetitions)
                for each in repetitions[0].statistics_us.get(name, {})
                if all(each in r.statistics_us.get(name, {}) for r in repetitions)
            }
            for name in names
        },
        operation_counts={
            name: sum(r.operation_counts[name] for r in repetitions)
            for name in names
            if all(name in r.operation_counts for r in repetitions)
        },
    )


def _combine_latency(
    repetitions: Sequence[StepFigures], operation: str, statistic: Statistic
) -> float:
    """Return an operation's latency over all repetitions.

    It is that of all operations if every repetition has its histogram. Percentiles without
    histograms cannot be added, so it is then the middle one, each repetition weighed by its
    operations; the higher one if two are in the middle.
    """
    known = [r for r in repetitions if operation in r.latency_us]
    latencies = [r.latency_us[operation] for r in known]
    if statistic == "max":
        return max(latencies)
    counts = [sum(r.latency_counts.get(operation, {}).values()) for r in known]
    if all(counts):
        if statistic == "mean":
            weighed = zip(latencies, counts, strict=True)
            return sum(us * count for us, count in weighed) / sum(counts)
        added = merge_histograms(r.latency_counts[operation] for r in known)
        found = interpolate_percentile_us(added, QUANTILES[statistic])
        assert found is not None  # noqa: S101 - every histogram has counts
        return min(max(found, min(latencies)), max(latencies))
    operations = weigh_repetitions(known)
    left = sum(operations) / 2
    for us, weight in sorted(zip(latencies, operations, strict=True)):
        left -= weight
        if left < 0:
            return us
    return max(latencies)


def weigh_repetitions(repetitions: Sequence[StepFigures]) -> list[float]:
    """Return the number of operations of each repetition: throughput x seconds.

    If the seconds of one are unknown, all are taken to be equally long; if no operation succeeded,
    all weigh the same.
    """
    windows_s = [r.window_s for r in repetitions]
    lengths_s = [window_s if window_s and None not in windows_s else 1.0 for window_s in windows_s]
    operations = [r.throughput * s for r, s in zip(repetitions, lengths_s, strict=True)]
    return operations if any(operations) else [1.0] * len(operations)


# --- latency columns: `latency_us.<operation>`, `latency_us.<operation>.<statistic>` ---


PREFIX = "latency_us."
# Other names of the statistics
_NAMES: dict[str, Statistic] = {
    **{name: name for name in STATISTICS},
    "avg": "mean",
    "average": "mean",
    "median": "p50",
    "p99.9": "p999",
    "p99_9": "p999",
    "p100": "max",
}
# Text that looks like a statistic, such as `p90`, `99.99th`, `min`; no operation ends like that.
_LIKE_A_STATISTIC = re.compile(
    r"(?:^|[._ -])(p\(?[0-9]+(?:[._][0-9]+)?\)?|[0-9]+(?:\.[0-9]+)?(?:st|nd|rd|th)"
    r"|mean|avg|average|med|median|min|max|std_?dev)$",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[(\[][^()\[\]\d]*[)\]]$| (?:us|ms|s|µs)$")  # `read.p99 (ms)`


def read_column(column: str, where: str, unnamed: Statistic) -> tuple[str, Statistic]:
    """Split the name of a latency column into operation and statistic.

    Args:
        column: name of the column, with its prefix.
        where: row, for errors.
        unnamed: statistic of a column that names none.

    Raises:
        UsageError: The name has no operation, or a statistic that cannot be judged.
    """
    named = column.removeprefix(PREFIX)
    for name, statistic in _NAMES.items():
        operation = named[: -len(name) - 1]
        if operation and named.lower().endswith("." + name):
            return operation, statistic
    like = _LIKE_A_STATISTIC.search(named)
    if not named or (like and like.start() == 0):
        raise UsageError(f"{where}: column {column!r} names no operation: latency_us.<operation>")
    if unit := _UNIT.search(named):
        raise UsageError(
            f"{where}: column {column!r}: {unit[0].strip()!r} is not part of a name: latencies are"
            " microseconds, in a column that ends with its statistic (latency_us.read.p99)"
        )
    if like:
        raise UsageError(
            f"{where}: column {column!r}: {like[1]!r} is not a statistic that can be judged: leave"
            " the column out, or end it with .mean, .p50, .p95, .p99, .p999 (.p99.9) or .max"
        )
    return named, unnamed
