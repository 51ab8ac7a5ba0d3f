"""Seconds and samples in bins: rates are means, percentiles come from added histograms. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from plimsoll.model.histograms import find_percentile_us, merge_histograms
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.results import SecondTotals
from plimsoll.model.service.live import OperationSeries, ResourceSeries, SecondSeries

_LEAST = {  # a bin gets the least of these, not their mean
    "burst_balance_percent",
    "ebs_io_balance_percent",
    "ebs_byte_balance_percent",
    "cpu_credits",
}
RESOURCES = tuple(
    name for name in ResourceSeries.model_fields if name not in {"epoch_s", "every_s"}
)


def bin_seconds(seconds: Iterable[SecondTotals], every_s: int) -> SecondSeries:
    """Put seconds into bins of one step each; a rate is a mean over the bin's seconds with load."""
    bins: dict[tuple[int, int], list[SecondTotals]] = defaultdict(list)
    for second in seconds:
        bins[second.epoch_s // every_s * every_s, second.step].append(second)
    ordered = [bins[key] for key in sorted(bins)]
    names = sorted({second.operation for members in ordered for second in members})
    whole = [_compute_rates(members, _count_seconds(members)) for members in ordered]
    return SecondSeries(
        epoch_s=tuple(epoch_s for epoch_s, _ in sorted(bins)),
        step=tuple(step for _, step in sorted(bins)),
        ops_per_second=tuple(rate for rate, _ in whole),
        errors_per_second=tuple(errors for _, errors in whole),
        operations={name: _bin_operation(ordered, name) for name in names},
    )


def _bin_operation(bins: Sequence[Sequence[SecondTotals]], name: str) -> OperationSeries:
    rows: list[tuple[float | None, ...]] = []
    for members in bins:
        own = [second for second in members if second.operation == name]
        if not own:
            rows.append((None,) * 5)
            continue
        buckets = merge_histograms(second.buckets for second in own)
        worst = [second.max_us for second in own if second.max_us is not None]
        rate, errors = _compute_rates(own, _count_seconds(members))
        percentiles = find_percentile_us(buckets, 0.50), find_percentile_us(buckets, 0.99)
        rows.append((rate, errors, *percentiles, max(worst, default=None)))
    fields = OperationSeries.model_fields
    return OperationSeries(**dict(zip(fields, zip(*rows, strict=True), strict=True)))


def _count_seconds(members: Iterable[SecondTotals]) -> int:
    return len({second.epoch_s for second in members})


def _compute_rates(members: Sequence[SecondTotals], span_s: int) -> tuple[float, float]:
    succeeded = sum(second.succeeded for second in members)
    return succeeded / span_s, sum(second.errors for second in members) / span_s


def bin_samples(samples: Iterable[TargetSample], every_s: int) -> ResourceSeries:
    """Put samples into bins: the mean of the known values, or the least of a balance."""
    bins: dict[int, list[TargetSample]] = defaultdict(list)
    for sample in samples:
        bins[sample.epoch_ms // 1000 // every_s * every_s].append(sample)
    ordered = [bins[epoch_s] for epoch_s in sorted(bins)]
    columns: Mapping[str, tuple[float | None, ...]] = {
        name: tuple(_summarize_bin(name, members) for members in ordered) for name in RESOURCES
    }
    return ResourceSeries(every_s=every_s, epoch_s=tuple(sorted(bins)), **columns)


def _summarize_bin(name: str, members: Iterable[TargetSample]) -> float | None:
    known = [value for one in members if (value := getattr(one, name)) is not None]
    if not known:
        return None
    return float(f"{min(known) if name in _LEAST else sum(known) / len(known):.6g}")
