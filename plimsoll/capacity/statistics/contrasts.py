"""Ratios of uncertain figures with intervals: of two runs, and in a 2 x 2 design. Pure.

A contrast is a weighted sum of logarithms. Of two figures it is their ratio, of four it is an
effect or the interaction of two factors. Two things are uncertain of it:

- **Scatter.** Each logarithm has a standard error. The 95 % interval of their sum is Student's t
  with the degrees of freedom of Welch (1947, "The generalization of Student's problem when several
  different population variances are involved"), rounded down.
- **Choice.** A search answers with the throughput at a load that it chose, and noise may have
  chosen that load. The interval also holds what the contrast would be if the contrast of the loads
  themselves were as near to none as each search allows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from plimsoll.capacity.statistics.intervals import find_t_quantile
from plimsoll.model.run.experiment_record import Effect

NORMAL = 10**9  # degrees of freedom with which Student's t is the normal distribution


@dataclass(frozen=True)
class Choice:
    """The load at which a search answered, and those that noise might have chosen instead.

    Attributes:
        at: load of the answer.
        low: the lightest load that it might have been.
        high: the heaviest.
        curve: load and throughput of each step of the search.
    """

    at: float
    low: float
    high: float
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Estimate:
    """A positive figure with what is uncertain of it.

    Attributes:
        figure: the figure as it is reported.
        log: the logarithm that contrasts are made of; it need not be that of the figure.
        error: standard error of the logarithm; None if it is not known.
        degrees: degrees of freedom of the standard error.
        choice: the load that was chosen; None if nothing was.
        kind: what the logarithm is of. Estimates of different kinds have no interval together.
    """

    figure: float
    log: float
    error: float | None
    degrees: int = NORMAL
    choice: Choice | None = None
    kind: str = ""


def estimate_mean(values: Sequence[float], deviation_least: float = 0.0) -> Estimate:
    """Estimate the geometric mean of repetitions.

    Args:
        values: at least one positive value, all in one unit.
        deviation_least: lower bound on the standard deviation of their logarithms.
    """
    logs = [math.log(value) for value in values]
    middle = fmean(logs)
    if len(logs) < 2:
        return Estimate(figure=math.exp(middle), log=middle, error=None)
    deviation = max(math.sqrt(variance(logs)), deviation_least)
    return Estimate(
        figure=math.exp(middle),
        log=middle,
        error=deviation / math.sqrt(len(logs)),
        degrees=len(logs) - 1,
    )


def estimate_contrast(weights: Sequence[float], estimates: Sequence[Estimate]) -> Effect:
    """Return a weighted sum of logarithms as a ratio with its 95 % interval.

    Args:
        weights: the weight of each estimate; their sum is 0.
        estimates: the figures. Those with a weight of 0 do not matter.

    Returns:
        Without an interval, and of the figures as they are reported, if the standard error of one
        is not known, or if they are of different kinds.
    """
    used = [(weight, one) for weight, one in zip(weights, estimates, strict=True) if weight]
    errors = [(weight * one.error) for weight, one in used if one.error is not None]
    if len(errors) < len(used) or len({one.kind for _, one in used}) > 1:
        return Effect(ratio=math.exp(math.fsum(w * math.log(one.figure) for w, one in used)))
    middle = math.fsum(weight * one.log for weight, one in used)
    parts = [error**2 for error in errors]
    below = sum(part**2 / one.degrees for part, (_, one) in zip(parts, used, strict=True))
    degrees = max(1, math.floor(sum(parts) ** 2 / below)) if below else NORMAL
    margin = find_t_quantile(0.025, degrees) * math.sqrt(sum(parts))
    chosen = [(weight, one.choice) for weight, one in used if one.choice is not None]
    least = most = 0.0
    if len(chosen) == len(used):
        least, most = _explain_by_choice(chosen, middle)
    return Effect(
        ratio=math.exp(middle),
        low=math.exp(middle - margin - most),
        high=math.exp(middle + margin - least),
    )


def _explain_by_choice(
    chosen: Sequence[tuple[float, Choice]], middle: float
) -> tuple[float, float]:
    """Return the least (at most 0) and the most (at least 0) of a contrast that choice explains.

    It is how far the loads of a contrast may be from where they are, times d log(throughput) /
    d log(load). That is taken from half of the lightest chosen load on, which is rather too steep,
    since throughput grows ever more slowly. Where the heavier loads gave less, it is also taken
    from the stretches along which loads may have been moved: throughput may fall there.

    Args:
        chosen: the weight of each choice.
        middle: the contrast of the logarithms of throughput.
    """
    made = math.fsum(weight * math.log(choice.at) for weight, choice in chosen)
    ends = [
        sorted((weight * math.log(choice.low), weight * math.log(choice.high)))
        for weight, choice in chosen
    ]
    least, most = (math.fsum(end) for end in zip(*ends, strict=True))
    moved = made - min(max(0.0, least), most)
    choices = [choice for _, choice in chosen]
    lightest, heaviest = (end(choice.at for choice in choices) for end in (min, max))
    rise = _fit_slope([_cut(one, lightest / 2, heaviest) for one in choices])
    fall = _fit_slope(
        [
            _cut(one, one.low, one.at) if weight * moved > 0 else _cut(one, one.at, one.high)
            for weight, one in chosen
        ]
    )
    parts = [moved * min(1.0, max(0.0, rise))]
    if fall < 0 and moved * middle < 0:
        parts.append(moved * fall)
    return min(0.0, *parts), max(0.0, *parts)


def _cut(choice: Choice, low: float, high: float) -> list[tuple[float, float]]:
    """Return the logarithms of load and throughput of the steps between two loads."""
    return [(math.log(x), math.log(y)) for x, y in choice.curve if low <= x <= high]


def _fit_slope(curves: Sequence[Sequence[tuple[float, float]]]) -> float:
    """Return the slope of straight lines, of one slope for all curves; 1 without two loads."""
    products = squares = 0.0
    for points in filter(None, curves):
        x0, y0 = fmean(x for x, _ in points), fmean(y for _, y in points)
        squares += sum((x - x0) ** 2 for x, _ in points)
        products += sum((x - x0) * (y - y0) for x, y in points)
    return products / squares if squares else 1.0
