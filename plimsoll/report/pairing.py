"""The ratio of two runs whose steps took turns: of pairs where they did, else of two groups. Pure.

Two steps are a pair where they follow each other in time with nothing of either run between, and
within `apart_s`. No step is in two pairs. What drifts (a machine that warms, a zone that gets
busier) then moves both of a pair alike, and most of it leaves their ratio.
"""

from collections.abc import Iterator

from plimsoll import words
from plimsoll.capacity.pairs import METHOD, paired_ratio
from plimsoll.model.results import RunResult
from plimsoll.model.steps import CLOSING
from plimsoll.report.ratios import Ratio, only_load, ratio_of

Moment = tuple[int, int, float]  # when a step began (epoch, ms), whose it was (0 or 1), ops/s


def ratio_between(
    of: str, a: RunResult, to: str, b: RunResult, *, apart_s: float | None
) -> Ratio | None:
    """Divide `a`'s figure by `b`'s; None where one has none, or both are only bounds.

    Args:
        of: The name of the first.
        a: The first.
        to: The name of the second.
        b: The second.
        apart_s: The most seconds from one step of a pair to the other; None: they took no turns.
    """
    alone = ratio_of(of, a.capacity, to, b.capacity)
    if alone is None or apart_s is None or a.capacity is None or b.capacity is None:
        return alone
    if only_load(a.capacity, b.capacity) is None:
        return alone
    found = paired_ratio(pairs_of(b, a, apart_s))
    if found.ratio is None or found.low is None or found.high is None:
        return alone
    interval = words.ratio_interval(found.low, found.high)
    end = "they differ" if found.differs else "no difference can be shown"
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
        sentence=f"{of} gives {words.ratio(found.ratio)} times the throughput of {to} (95 %"
        f" interval {interval}, {found.pairs} pairs): {end}.",
    )


def pairs_of(first: RunResult, second: RunResult, apart_s: float) -> list[tuple[float, float]]:
    """List the throughputs of steps that follow each other, the first run's first."""
    moments = sorted([*_moments(first, 0), *_moments(second, 1)])
    pairs = []
    before: Moment | None = None
    for now in moments:
        if before is not None and before[1] != now[1] and now[0] - before[0] <= apart_s * 1000:
            one, other = sorted((before, now), key=lambda moment: moment[1])
            pairs.append((one[2], other[2]))
            before = None
        else:
            before = now
    return pairs


def _moments(result: RunResult, whose: int) -> Iterator[Moment]:
    for done in result.steps:
        figure = done.step.throughput_ops_per_second
        if done.plan.purpose not in CLOSING and figure:
            yield done.plan.start_at_epoch_ms, whose, figure
