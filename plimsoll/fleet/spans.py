"""A soak's window second by second: spans of ten seconds, and the longest stall. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import median

from plimsoll.model.histograms import find_percentile_us, merge_histograms
from plimsoll.model.judging.steps import QUANTILES, Span, Statistic
from plimsoll.model.run.results import SecondTotals, StepResult

SPAN_S = 10
STALLED_SHARE = 0.1  # a second with less than this share of the median second has stalled
BUSY_OPS_PER_SECOND = 10  # below this throughput, a second without a success means nothing


def add_soak_figures(step: StepResult, statistic: Statistic) -> StepResult:
    """Add spans and the longest stall to a window of a soak; other steps stay unchanged."""
    start_ms, end_ms = step.window_start_epoch_ms, step.window_end_epoch_ms
    if step.plan.purpose != "soak" or start_ms is None or end_ms is None:
        return step
    first, past = math.ceil(start_ms / 1000), end_ms // 1000
    within = [second for second in step.seconds if first <= second.epoch_s < past]
    read: dict[str, object] = {
        "spans": divide_into_spans(within, statistic, start_epoch_s=first, end_epoch_s=past),
        "stall_s": find_longest_stall_s(within, start_epoch_s=first, end_epoch_s=past),
    }
    return step.model_copy(update={"step": step.step.model_copy(update=read)})


def divide_into_spans(
    seconds: Sequence[SecondTotals], statistic: Statistic, *, start_epoch_s: int, end_epoch_s: int
) -> tuple[Span, ...]:
    """Divide a window into spans of ten whole seconds; a shorter rest at its end is dropped.

    Args:
        seconds: The seconds of the load, over all clients.
        statistic: The latency statistic. It is read from coarse buckets, as the upper bound of a
            bucket, so it is at most 9 % too high.
        start_epoch_s: The window's first whole second.
        end_epoch_s: The second after the last one.
    """
    by_span: dict[int, list[SecondTotals]] = defaultdict(list)
    for second in seconds:
        by_span[(second.epoch_s - start_epoch_s) // SPAN_S].append(second)
    return tuple(
        _make_span(by_span[i], statistic) for i in range((end_epoch_s - start_epoch_s) // SPAN_S)
    )


def find_longest_stall_s(
    seconds: Sequence[SecondTotals], *, start_epoch_s: int, end_epoch_s: int
) -> float | None:
    """Return the longest run of whole seconds in which almost nothing succeeded.

    Returns:
        None if the throughput is so low that a second without a success means nothing.
    """
    succeeded: Counter[int] = Counter()
    for second in seconds:
        succeeded[second.epoch_s] += second.succeeded
    each = [succeeded[epoch_s] for epoch_s in range(start_epoch_s, end_epoch_s)]
    usual = median(each) if each else 0.0
    if usual < BUSY_OPS_PER_SECOND:
        return None
    runs = groupby(each, key=lambda count: count < STALLED_SHARE * usual)
    return float(max((len(list(run)) for stalled, run in runs if stalled), default=0))


def _make_span(seconds: Sequence[SecondTotals], statistic: Statistic) -> Span:
    buckets: dict[str, list[dict[int, int]]] = defaultdict(list)
    for second in seconds:
        buckets[second.operation].append(second.buckets)
    read = {
        name: _read_statistic(merge_histograms(each), statistic) for name, each in buckets.items()
    }
    return Span(
        throughput_ops_per_second=sum(second.succeeded for second in seconds) / SPAN_S,
        latency_us={name: us for name, us in read.items() if us is not None},
    )


def _read_statistic(buckets: Mapping[int, int], statistic: Statistic) -> float | None:
    """Compute a statistic from counts by upper bound in microseconds; None without counts."""
    total = sum(buckets.values())
    if not total:
        return None
    if statistic == "mean":
        return sum(upper * count for upper, count in buckets.items()) / total
    if statistic == "max":
        return float(max(buckets))
    upper = find_percentile_us(buckets, QUANTILES[statistic])
    return None if upper is None else float(upper)
