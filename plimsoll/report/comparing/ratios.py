"""The ratio of two capacities, and whether they differ at all. Pure.

In an open loop a repetition that kept up has the offered rate as its throughput, so repetitions do
not scatter and say nothing of how sure the answer is. There it is the ratio of the two edges, the
rates beyond which most windows fail: each edge's range is taken for a normal distribution of its
logarithm, and both add up.

In a closed loop it is the ratio of the geometric means of the repetitions at each run's capacity.
The 95 % interval is Welch's (1947, "The generalization of Student's problem when several different
population variances are involved") on the logarithms of the repetitions, with the degrees of
freedom rounded down. Repetitions end once they agree, so their scatter is taken for no less than
that of the run's other loads. Where the two capacities lie at different loads, noise may have
chosen these: the interval also holds what the ratio would be if both loads were as near to each
other as each search allows.

Both intervals cover the variation between repetitions on these two targets, not the variation
among targets of one kind, which `fresh_targets` compares. Runs whose steps took turns are compared
by pairs of steps.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist, fmean, variance

from plimsoll import words
from plimsoll.capacity.statistics.intervals import drop_outliers, pooled_noise, t_quantile
from plimsoll.capacity.statistics.pairing import (
    METHOD,
    describe_ratio,
    pair_neighbors,
    paired_ratio,
)
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound, Capacity, LoadRange
from plimsoll.model.judging.steps import CLOSING
from plimsoll.model.run.results import RunResult
from plimsoll.report.charts.rows import find_capacity_load

WELCH_METHOD = "Welch's t on logarithms"
EDGES_METHOD = "ratio of edges"
PAIRS_WOULD = (
    "runs that take turns at one load would tell: `pairs` of an experiment, `plimsoll experiment`"
)
WORTH = 1.10  # a smaller ratio does not matter; `Rules` has the same bound for a plateau


class Ratio(Model):
    """One run's capacity as a multiple of another's."""

    of: str
    to: str
    value: float
    bound: Bound = "="  # whether the true ratio is the value, at least (">=") or at most ("<") it
    low: float | None = None  # 95 % interval; None with too few repetitions, or for a bound
    high: float | None = None
    # Number in each run; None for a bound or a ratio of edges
    repetitions: tuple[int, int] | None = None
    pairs: int | None = None  # number of pairs of steps; None if two groups were compared
    fresh_targets: tuple[int, int] | None = None  # figures of each side, one for each fresh target
    method: str | None = None
    differs: bool | None = None  # whether the capacities differ; None if not known
    sentence: str

    @property
    def too_small(self) -> bool:
        """Whether the whole interval lies within differences that do not matter."""
        if self.low is None or self.high is None:
            return False
        return self.low >= 1 / WORTH and self.high <= WORTH


def name_sample(pairs: int | None, fresh_targets: tuple[int, int] | None) -> str:
    """Name what an interval is computed from, unless it is repetitions: `, 8 pairs`."""
    if fresh_targets is not None:
        mine, theirs = fresh_targets
        return (
            f", {words.plural(mine, 'fresh target')} each"
            if mine == theirs
            else f", {mine} and {words.plural(theirs, 'fresh target')}"
        )
    return f", {words.plural(pairs, 'pair')}" if pairs else ""


def list_repetitions(capacity: Capacity) -> list[float]:
    """Return the throughput of each repetition at the load of the capacity.

    Returns:
        The figure alone for an open loop, whose repetitions all have the offered rate.
    """
    if capacity.axis == "rate_ops_per_second":
        figure = capacity.max_sustainable_throughput_ops_per_second
        return [figure] if figure else []
    judged = find_capacity_load(capacity)
    steps = judged.steps if judged else ()
    return [step.throughput_ops_per_second for step in steps if step.throughput_ops_per_second]


def divide_capacities(of: str, a: Capacity | None, to: str, b: Capacity | None) -> Ratio | None:
    """Divide `a`'s capacity by `b`'s; None if one has no figure, or both are only bounds."""
    if a is None or b is None or a.bound is None or b.bound is None:
        return None
    figure, other = (c.max_sustainable_throughput_ops_per_second for c in (a, b))
    if not figure or not other:
        return None
    load = find_only_load(a, b)
    if load is None and (a.bound != "=" or b.bound != "="):
        sure = _least_and_most(a), _least_and_most(b)
        return divide_bounds(of, to, figure / other, a.bound, b.bound, sure=sure)
    if load is None and a.axis == b.axis == "rate_ops_per_second":
        return _divide_edges(of, a, to, b, figure / other)
    subject = f"{of} sustains" if load is None else f"At {words.load(load, a.axis)}, {of} gives"
    mine, theirs = list_repetitions(a), list_repetitions(b)
    if len(mine) < 2 or len(theirs) < 2:
        value = figure / other
        sentence = (
            f"{subject} {words.ratio(value)} times the throughput of {to}; without repetitions of"
            " both there is no interval, so the difference may be noise."
        )
        counts = len(mine), len(theirs)
        return Ratio(of=of, to=to, value=value, repetitions=counts, sentence=sentence)
    ends, undecided = compute_welch_ratio(mine, theirs), None
    if load is None:
        noise = _find_noise(a), _find_noise(b)
        ends = compute_welch_ratio(drop_outliers(mine), drop_outliers(theirs), noise)
        ends, undecided = _widen_by_choice(a, b, ends), PAIRS_WOULD
    ratio = tell_ratio(of, to, subject, ends, method=WELCH_METHOD, undecided=undecided)
    return ratio.model_copy(update={"repetitions": (len(mine), len(theirs))})


def tell_ratio(
    of: str,
    to: str,
    subject: str,
    ends: tuple[float, float, float],
    *,
    method: str,
    sample: str = "",
    noise: str = "the noise",
    undecided: str | None = None,
) -> Ratio:
    """Make a ratio with an interval, and the sentence that tells it.

    Args:
        of: The name of the one run.
        to: The name of the other run.
        subject: The beginning of a sentence that says how many times more is reached.
        ends: The ratio, and the low and the high end of its 95 % interval.
        method: The method of the interval.
        sample: What `name_sample` says of it.
        noise: What the difference is compared with.
        undecided: What would tell, where the interval holds both no difference and one that
            matters; None to say in any case that no difference can be shown.
    """
    value, low, high = ends
    differs = low > 1 or high < 1
    shown = f"(95 % interval {words.ratio_interval(low, high)}{sample})"
    ratio = Ratio(
        of=of,
        to=to,
        value=value,
        low=low,
        high=high,
        method=method,
        differs=differs,
        sentence="",
    )
    if differs:
        sentence = (
            f"{subject} {words.ratio(value)} times the throughput of {to} {shown}: the difference"
            f" is larger than {noise}."
        )
    elif undecided is None or ratio.too_small:
        sentence = (
            f"{of} and {to}: no difference can be shown; the ratio is {words.ratio(value)} {shown}."
        )
    else:
        sentence = (
            f"whether {of} and {to} differ is not decided: the ratio is {words.ratio(value)}"
            f" {shown}; {undecided}."
        )
    return ratio.model_copy(update={"sentence": sentence})


def _find_noise(capacity: Capacity) -> float:
    """Return the standard deviation of the logarithm of a throughput, from all repeated loads."""
    return pooled_noise(
        [x for step in judged.steps if (x := step.throughput_ops_per_second) is not None]
        for judged in capacity.steps
    )


def _widen_by_choice(
    a: Capacity, b: Capacity, ends: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Widen an interval by the difference that the choice of the two loads may explain.

    Returns:
        The ratio, and the low and the high end of its interval.
    """
    value, low, high = ends
    if not a.at or not b.at or a.axis != b.axis or a.at == b.at:
        return ends
    lighter, heavier = (a, b) if a.at < b.at else (b, a)
    least, most = sorted((a.at, b.at))
    nearest = find_reach(heavier)[0] / find_reach(lighter)[1]
    explained = (most / least / max(1.0, nearest)) ** _find_elasticity((a, b), least, most)
    return (value, low, high * explained) if lighter is a else (value, low / explained, high)


def find_reach(capacity: Capacity) -> tuple[float, float]:
    """Return the loads between which noise may have chosen the load of a capacity.

    From the next lighter load that passed to the one that failed (on a plateau, the heaviest that
    passed), and at least as far as the edge may lie.
    """
    assert capacity.at is not None  # noqa: S101 - callers check it
    passed = [judged.load for judged in capacity.steps if judged.passed]
    failed = capacity.bracket[1] if capacity.bracket else None
    low = max((load for load in passed if load < capacity.at), default=capacity.at)
    high = max(capacity.at, failed or max(passed, default=0.0))
    edge = capacity.edge
    return (low, high) if edge is None else (min(low, edge.low), max(high, edge.high))


def _find_elasticity(capacities: Sequence[Capacity], low: float, high: float) -> float:
    """Return d log(throughput) / d log(load) near some loads, between 0 and 1.

    A straight line through the loads from half of the lowest on, of one slope for all
    capacities. It is rather too steep, since throughput grows ever more slowly.
    """
    products = squares = 0.0
    for capacity in capacities:
        points = [
            (math.log(judged.load), math.log(step.throughput_ops_per_second))
            for judged in capacity.steps
            if low / 2 <= judged.load <= high
            for step in judged.steps
            if step.throughput_ops_per_second
        ]
        middle = fmean(x for x, _ in points), fmean(y for _, y in points)
        squares += sum((x - middle[0]) ** 2 for x, _ in points)
        products += sum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return min(1.0, max(0.0, products / squares)) if squares else 1.0


def _least_and_most(capacity: Capacity) -> tuple[float, float]:
    """Return what a capacity is at least and at most by its interval and what its loads gave."""
    figure = capacity.max_sustainable_throughput_ops_per_second or 0.0
    sure = capacity.interval
    if capacity.bound != "=" or sure is None:
        return figure, figure
    gave = (j.throughput_ops_per_second or 0.0 for j in capacity.steps if j.passed)
    return sure.low_ops_per_second, max(sure.high_ops_per_second, *gave)


def _divide_edges(of: str, a: Capacity, to: str, b: Capacity, figures: float) -> Ratio:
    """Divide the edges of two open loops; without both edges there is no interval.

    Args:
        of: name of the one run.
        a: its capacity, which is no bound.
        to: name of the other run.
        b: its capacity, likewise.
        figures: ratio of the two figures.
    """
    if a.edge is None or b.edge is None:
        sentence = (
            f"{of} sustains {words.ratio(figures)} times the throughput of {to}; without the edges"
            " of both there is no interval, so the difference may be noise."
        )
        return Ratio(of=of, to=to, value=figures, sentence=sentence)
    return tell_ratio(
        of,
        to,
        f"{of} sustains",
        compute_edges_ratio(a.edge, b.edge),
        method=EDGES_METHOD,
        sample=f", {EDGES_METHOD}",
        undecided=PAIRS_WOULD,
    )


def compute_edges_ratio(a: LoadRange, b: LoadRange) -> tuple[float, float, float]:
    """Compute the ratio of two edges with its 95 % interval.

    Returns:
        The ratio, and the low and the high end of its interval.
    """
    middle = (math.log(a.low * a.high) - math.log(b.low * b.high)) / 2
    deviations = [
        math.log(edge.high / edge.low) / 2 / NormalDist().inv_cdf((1 + edge.confidence) / 2)
        for edge in (a, b)
    ]
    margin = NormalDist().inv_cdf(0.975) * math.hypot(*deviations)
    return math.exp(middle), math.exp(middle - margin), math.exp(middle + margin)


def find_only_load(*capacities: Capacity) -> float | None:
    """Return the one load that all tried, if none tried another and all passed it.

    Such runs measure throughput at a load, as reference experiment R2 does. Their capacities are
    only bounds, but at this load their figures are exact.
    """
    loads = {(c.axis, judged.load) for c in capacities for judged in c.steps}
    if len(loads) != 1 or any(c.bound != ">=" for c in capacities):
        return None
    return next(load for _, load in loads)


def divide_bounds(
    of: str,
    to: str,
    value: float,
    mine: Bound,
    theirs: Bound,
    *,
    sure: tuple[tuple[float, float], tuple[float, float]] | None = None,
) -> Ratio | None:
    """Return a ratio that is itself a bound, because one side is only a bound.

    Args:
        of: The name of the one run.
        to: The name of the other run.
        value: The ratio of their figures.
        mine: The bound of the one.
        theirs: The bound of the other.
        sure: The least and the most that each sustains; None if `value` is sure.
    """
    at_least = mine in {"=", ">="} and theirs in {"=", "<"}
    at_most = mine in {"=", "<"} and theirs in {"=", ">="}
    if not at_least and not at_most:
        return None
    least = most = value
    if sure is not None:
        least, most = sure[0][0] / sure[1][1], sure[0][1] / sure[1][0]
    differs = True if (at_least and least > 1) or (at_most and most < 1) else None
    word = "at least" if at_least else "at most"
    end = (
        "the difference is larger than the noise"
        if differs
        else "a bound does not show whether the difference is larger than the noise"
    )
    return Ratio(
        of=of,
        to=to,
        bound=">=" if at_least else "<",
        value=value,
        differs=differs,
        sentence=f"{of} sustains {word} {words.ratio(value)} times the throughput of {to}: {end}.",
    )


def compute_welch_ratio(
    a: Sequence[float], b: Sequence[float], deviations_least: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float, float]:
    """Compute the ratio of two geometric means with its 95 % interval.

    Args:
        a: At least two positive values.
        b: At least two positive values, in the same unit.
        deviations_least: Lower bounds on the standard deviations of their logarithms.

    Returns:
        The ratio, and the low and the high end of its interval.
    """
    logs = [[math.log(value) for value in values] for values in (a, b)]
    middle = fmean(logs[0]) - fmean(logs[1])
    parts = [
        max(variance(values), least**2) / len(values)
        for values, least in zip(logs, deviations_least, strict=True)
    ]
    error = math.sqrt(sum(parts))
    if error < 1e-12:
        return math.exp(middle), math.exp(middle), math.exp(middle)
    below = sum(part**2 / (len(v) - 1) for part, v in zip(parts, logs, strict=True))
    margin = t_quantile(0.025, max(1, math.floor(sum(parts) ** 2 / below))) * error
    return math.exp(middle), math.exp(middle - margin), math.exp(middle + margin)


# Runs whose steps took turns: compared by pairs of steps if there are any, else as two groups.


Moment = tuple[int, int, float]  # start of a step (epoch, ms), its run (0 or 1), ops/s


def divide_figures(
    of: str, a: RunResult, to: str, b: RunResult, *, apart_s: float | None
) -> Ratio | None:
    """Divide `a`'s figure by `b`'s; None if one has none, or both are only bounds.

    Args:
        of: The name of the first run.
        a: The first run.
        to: The name of the second run.
        b: The second run.
        apart_s: The most seconds between the two steps of a pair; None if the runs took no turns.
    """
    alone = divide_capacities(of, a.capacity, to, b.capacity)
    if alone is None or apart_s is None or a.capacity is None or b.capacity is None:
        return alone
    if find_only_load(a.capacity, b.capacity) is None:
        return alone
    found = paired_ratio(pair_steps(b, a, apart_s))
    if found.ratio is None or found.low is None or found.high is None:
        return alone
    return Ratio(
        of=of,
        to=to,
        value=found.ratio,
        low=found.low,
        high=found.high,
        repetitions=(found.pairs, found.pairs),
        pairs=found.pairs,
        method=METHOD,
        differs=found.differs,
        sentence=f"{describe_ratio(found, of, to)}.",
    )


def pair_steps(first: RunResult, second: RunResult, apart_s: float) -> list[tuple[float, float]]:
    """List the throughputs of pairs of consecutive steps, the first run's first."""
    paired = pair_neighbors(
        sorted([*_list_moments(first, 0), *_list_moments(second, 1)]),
        lambda moment: moment[1],
        (0, 1),
        near=lambda before, now: now[0] - before[0] <= apart_s * 1000,
    )
    return [(one[2], other[2]) for one, other in paired.pairs]


def _list_moments(result: RunResult, whose: int) -> Iterator[Moment]:
    for done in result.steps:
        figure = done.step.throughput_ops_per_second
        if done.plan.purpose not in CLOSING and figure:
            yield done.plan.start_at_epoch_ms, whose, figure
