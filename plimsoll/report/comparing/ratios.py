"""The ratio of two capacities, and whether they differ at all. Pure.

In an open loop a repetition that kept up has the offered rate as its throughput, so repetitions do
not scatter and say nothing of how sure the answer is. There it is the ratio of the two edges, the
rates beyond which most windows fail: each edge's range is taken for a normal distribution of its
logarithm, and both add up.

In a closed loop it is the ratio of the geometric means of the repetitions at each run's capacity.
Repetitions end once they agree, so their scatter is taken for no less than that of the run's other
loads. Where the two capacities lie at different loads, noise may have chosen these: the interval
also holds what the ratio would be if both loads were as near to each other as each search allows.

`estimate_answer` says what is uncertain of a run's answer, `contrasts` makes intervals of it. The
effects of an experiment's 2 x 2 (`experiment.factorials`) are contrasts of the same estimates.

Both intervals cover the variation between repetitions on these two targets, not the variation
among targets of one kind, which `fresh_targets` compares. Runs whose steps took turns are compared
by pairs of steps.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist

from plimsoll import words
from plimsoll.capacity.statistics.contrasts import (
    Choice,
    Estimate,
    estimate_contrast,
    estimate_mean,
)
from plimsoll.capacity.statistics.intervals import drop_outliers, estimate_pooled_noise
from plimsoll.capacity.statistics.pairing import (
    METHOD,
    compute_paired_ratio,
    describe_ratio,
    pair_neighbors,
)
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound, Capacity, LoadRange
from plimsoll.model.judging.steps import CLOSING
from plimsoll.model.run.experiment_record import Effect
from plimsoll.model.run.results import RunResult
from plimsoll.report.charts.rows import find_capacity_load

WELCH_METHOD = "Welch's t on logarithms"
EDGES_METHOD = "ratio of edges"
PAIRS_WOULD = (
    "runs that take turns at one load would tell: `pairs` of an experiment, `plimsoll experiment`"
)
RATE = "rate_ops_per_second"  # the axis of open loops
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
            f", {words.format_count(mine, 'fresh target')} each"
            if mine == theirs
            else f", {mine} and {words.format_count(theirs, 'fresh target')}"
        )
    return f", {words.format_count(pairs, 'pair')}" if pairs else ""


def list_repetitions(capacity: Capacity) -> list[float]:
    """Return the throughput of each repetition at the load of the capacity.

    Returns:
        The figure alone for an open loop, whose repetitions all have the offered rate.
    """
    if capacity.axis == RATE:
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
    subject = (
        f"{of} sustains" if load is None else f"At {words.format_load(load, a.axis)}, {of} gives"
    )
    found = estimate_contrast((1, -1), [estimate_answer(c, load) for c in (a, b)])
    rates = load is None and a.axis == b.axis == RATE
    counts = None if rates else (len(list_repetitions(a)), len(list_repetitions(b)))
    if found.low is None or found.high is None:
        lacking = "the edges" if rates else "repetitions"
        sentence = (
            f"{subject} {words.format_ratio(found.ratio)} times the throughput of {to}; without"
            f" {lacking}"
            " of both there is no interval, so the difference may be noise."
        )
        return Ratio(of=of, to=to, value=found.ratio, repetitions=counts, sentence=sentence)
    ratio = tell_ratio(
        of,
        to,
        subject,
        found,
        method=EDGES_METHOD if rates else WELCH_METHOD,
        sample=f", {EDGES_METHOD}" if rates else "",
        undecided=PAIRS_WOULD if load is None else None,
    )
    return ratio.model_copy(update={"repetitions": counts})


def tell_ratio(
    of: str,
    to: str,
    subject: str,
    found: Effect,
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
        found: The ratio with its 95 % interval.
        method: The method of the interval.
        sample: What `name_sample` says of it.
        noise: What the difference is compared with.
        undecided: What would tell, where the interval holds both no difference and one that
            matters; None to say in any case that no difference can be shown.
    """
    value, low, high = found.ratio, found.low, found.high
    assert low is not None  # noqa: S101 - callers check it
    assert high is not None  # noqa: S101 - likewise
    differs = low > 1 or high < 1
    shown = f"(95 % interval {words.format_ratio_interval(low, high)}{sample})"
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
            f"{subject} {words.format_ratio(value)} times the throughput of {to} {shown}: the"
            " difference"
            f" is larger than {noise}."
        )
    elif undecided is None or ratio.too_small:
        sentence = (
            f"{of} and {to}: no difference can be shown; the ratio is {words.format_ratio(value)}"
            f" {shown}."
        )
    else:
        sentence = (
            f"whether {of} and {to} differ is not decided: the ratio is {words.format_ratio(value)}"
            f" {shown}; {undecided}."
        )
    return ratio.model_copy(update={"sentence": sentence})


def estimate_answer(capacity: Capacity, load: float | None = None) -> Estimate:
    """Return a run's figure with what is uncertain of it.

    Args:
        capacity: What the run found, with a figure.
        load: The only load that this run and those beside it tried; None if they searched. At one
            load, only the repetitions scatter.

    Returns:
        Without a standard error if a load was not repeated, or an open loop has no edge.
    """
    figure = capacity.max_sustainable_throughput_ops_per_second
    assert figure  # noqa: S101 - callers check it
    values = list_repetitions(capacity) or [figure]
    if load is not None:
        return replace(estimate_mean(values), figure=figure)
    if capacity.axis == RATE:
        edge = capacity.edge
        middle = math.log(edge.low * edge.high) / 2 if edge else math.log(figure)
        error = compute_edge_deviation(edge) if edge else None
        return Estimate(figure, middle, error, kind=RATE)
    mean = estimate_mean(drop_outliers(values), _find_noise(capacity))
    return replace(mean, figure=figure, choice=_describe_choice(capacity), kind=capacity.axis)


def compute_edge_deviation(edge: LoadRange) -> float:
    """Return the standard deviation of the logarithm of an edge."""
    return math.log(edge.high / edge.low) / 2 / NormalDist().inv_cdf((1 + edge.confidence) / 2)


def _find_noise(capacity: Capacity) -> float:
    """Return the standard deviation of the logarithm of a throughput, from all repeated loads."""
    return estimate_pooled_noise(
        [x for step in judged.steps if (x := step.throughput_ops_per_second) is not None]
        for judged in capacity.steps
    )


def _describe_choice(capacity: Capacity) -> Choice | None:
    """Return the loads between which noise may have chosen the load of a capacity.

    From the next lighter load that passed to the one that failed (on a plateau, the heaviest that
    passed), and at least as far as the edge may lie. None if the load is not known.
    """
    if not capacity.at:
        return None
    passed = [judged.load for judged in capacity.steps if judged.passed]
    failed = capacity.bracket[1] if capacity.bracket else None
    low = max((load for load in passed if load < capacity.at), default=capacity.at)
    high = max(capacity.at, failed or max(passed, default=0.0))
    edge = capacity.edge
    curve = (
        (judged.load, step.throughput_ops_per_second)
        for judged in capacity.steps
        for step in judged.steps
        if step.throughput_ops_per_second
    )
    return Choice(
        at=capacity.at,
        low=low if edge is None else min(low, edge.low),
        high=high if edge is None else max(high, edge.high),
        curve=tuple(curve),
    )


def _least_and_most(capacity: Capacity) -> tuple[float, float]:
    """Return what a capacity is at least and at most by its interval and what its loads gave."""
    figure = capacity.max_sustainable_throughput_ops_per_second or 0.0
    sure = capacity.interval
    if capacity.bound != "=" or sure is None:
        return figure, figure
    gave = (j.throughput_ops_per_second or 0.0 for j in capacity.steps if j.passed)
    return sure.low_ops_per_second, max(sure.high_ops_per_second, *gave)


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
        sentence=f"{of} sustains {word} {words.format_ratio(value)} times the throughput of {to}:"
        f" {end}.",
    )


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
    found = compute_paired_ratio(pair_steps(b, a, apart_s))
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
