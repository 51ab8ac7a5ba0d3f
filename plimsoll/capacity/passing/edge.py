"""Where the edge lies: the load beyond which most windows fail, as a range with a stated coverage.

The bracket of a KNEE is what was seen: a load that passed and one that failed. Under noise the edge
itself lies outside of it as often as not. The range here is Bayesian, from every step near the
bracket, with a flat prior on the logarithm of the edge:

- Closed loop: callers wait for each other, and latency grows smoothly with the load. A straight
  line through log(latency / limit) over log(load), its scatter Student's t, which bad windows
  hardly move (Lange, Little and Taylor 1989).
- Open loop, or where the failure that decides is none of latency: a window passes or fails. A
  psychometric function: the chance to fail is a normal distribution function of log(load), with a
  share of windows that fail, or pass, whatever the load (Wichmann and Hill 2001).

A limit that is a multiple of the lightest load's latency is as uncertain as that latency, which
moves the whole edge; without this, too many truths lie outside. What was seen is never narrowed.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.capacity.passing.assess import (
    Assessed,
    Margin,
    latencies_of_repeated,
    latency_noise,
)
from plimsoll.capacity.statistics.intervals import scale
from plimsoll.model.judging.capacity import Axis, LoadRange

CONFIDENCE = 0.90
TAIL_OF_LINES = 0.015  # left out on either side: no curve is quite straight, so less than 0.05
TAIL_OF_THRESHOLDS = 0.05
PAIRS_LEAST = 3  # pairs of steps, of an operation: of fewer, nobody knows how far windows scatter
NOISE_LEAST = 0.001  # of the logarithm: keeps a target without noise from dividing by zero
REACH = 2.0  # loads within this factor of the bracket's middle say where the edge is
GRID = 120  # edges that are tried
DEGREES = 3  # of freedom of Student's t
SCALES = (0.5, 0.75, 1.0, 1.4, 2.0)  # times the noise: the scatter of log(latency)
SLOPES = (0.35, 0.5, 0.7, 1.0, 1.4)  # of log(latency) over log(load); 1 once a closed loop is full
SPREADS = (0.25, 0.5, 1.0, 2.0)  # times the noise: how gradually windows begin to fail
FAIL_ANYWAY = 0.05  # of the windows below the edge
PASS_ANYWAY = 0.01  # of the windows beyond
# How far off a relative limit may be, in its standard errors, and how likely (not normalized).
LIMIT_ERRORS = tuple((k, math.exp(-k * k / 2)) for k in (-2.0, -1.2, -0.4, 0.4, 1.2, 2.0))

LIGHT = 0.5  # of the load that passed: below it, queues do not amplify the noise of an open loop
LIGHT_LEAST = 5  # steps there

Sample = tuple[float, Margin]  # log(load), and how far from failing
Floats = NDArray[np.float64]


class Weights(NamedTuple):
    """Edges that were tried, and what speaks for each."""

    edges: Floats  # log(load)
    fits: Floats  # logarithms of the likelihoods


def edge_range(
    judged: Sequence[Assessed],
    seen: tuple[float, float],
    axis: Axis,
    *,
    baseline: Assessed | None,
) -> LoadRange | None:
    """Give the loads between which the edge lies in 90 of 100 searches.

    Args:
        judged: every load, lightest first.
        seen: a load that passed and a heavier one that failed.
        axis: what the load is.
        baseline: the load whose latency limits are multiples of; None: no limit is.

    Returns:
        None where too little was repeated to know the noise.
    """
    open_loop = axis == "rate_ops_per_second"
    noise = _noise(judged, LIGHT * seen[0] if open_loop else 0.0)
    if noise is None:
        return None
    limit_error = 0.0
    if baseline is not None:
        count = max(1, len(baseline.point.counted))
        limit_error = min(1.0, math.sqrt(math.pi / 2 / count))  # of a median
    samples = [(math.log(load.point.load), margin) for load in judged for margin in load.margins]
    low, high = (math.log(load) for load in seen)
    middle, half = (low + high) / 2, max(1.5 * (high - low), 10 * noise)
    edges = middle + half * (2 * (np.arange(GRID) + 0.5) / GRID - 1)
    failing = next(load for load in judged if load.point.load == seen[1])
    smooth = not open_loop and any(r.code.startswith("latency:") for r in failing.reasons)
    if smooth:
        reach = max(math.log(REACH), (high - low) / 2) + 1e-9
        samples = [
            (x, m) for x, m in samples if abs(x - middle) <= reach and math.isfinite(m.latency)
        ]
    fit, tail = (_line, TAIL_OF_LINES) if smooth else (_threshold, TAIL_OF_THRESHOLDS)
    ends = _quantiles(list(fit(samples, edges, noise, limit_error)), tail)
    return LoadRange(
        low=min(seen[0], math.exp(ends[0])),
        high=max(seen[1], math.exp(ends[1])),
        confidence=CONFIDENCE,
        windows=len(samples),
        method="line through log latency" if smooth else "psychometric function",
    )


def _noise(judged: Sequence[Assessed], light: float) -> float | None:
    """Standard deviation of the logarithm of a latency, from the repetitions of loads that pass.

    Near its edge an open loop amplifies noise: there the steps up to the load `light` count, if
    there are enough.
    """
    groups = latencies_of_repeated(judged)
    pairs = (sum(math.comb(len(each), 2) for each in loads) for loads in groups.values())
    if max(pairs, default=0) < PAIRS_LEAST:  # operations of one step scatter together
        return None
    below = [m.latency for load in judged if load.point.load <= light for m in load.margins]
    quiet = [margin for margin in below if math.isfinite(margin)]
    noise = scale(quiet) if len(quiet) >= LIGHT_LEAST else latency_noise(judged)
    return max(NOISE_LEAST, noise)


def _line(
    samples: Sequence[Sample], edges: Floats, noise: float, limit_error: float
) -> Iterator[Weights]:
    """Weigh each edge by how well lines through it fit the latencies."""
    latencies = np.array([margin.latency for _, margin in samples])
    distances = np.array([x for x, _ in samples]) - edges[:, None]
    for slope in SLOPES:
        squares = (latencies - slope * distances) ** 2
        for deviation in (times * noise for times in SCALES):
            odds = np.log1p(squares / deviation**2 / DEGREES).sum(axis=1)
            fits = -0.5 * (DEGREES + 1) * odds - len(samples) * math.log(deviation)
            for k, weight in _errors(limit_error):
                yield Weights(edges + k * deviation * limit_error / slope, fits + math.log(weight))


def _threshold(
    samples: Sequence[Sample], edges: Floats, noise: float, limit_error: float
) -> Iterator[Weights]:
    """Weigh each edge by how well passes and failures fall to its two sides."""
    loads, places = np.unique([x for x, _ in samples], return_inverse=True)
    latencies = np.array([m.latency for _, m in samples])
    otherwise = np.array([m.failed_otherwise for _, m in samples], dtype=bool)
    outcomes = []
    for k, weight in _errors(limit_error):
        failed = otherwise | (latencies > k * noise * limit_error)
        tallies = (np.bincount(places[each], minlength=len(loads)) for each in (failed, ~failed))
        outcomes.append((*tallies, math.log(weight)))
    for spread in SPREADS:
        chances = _chance_to_fail((loads - edges[:, None]) / (spread * noise))
        to_fail, to_pass = np.log(chances), np.log1p(-chances)
        for fails, passes, log_weight in outcomes:
            yield Weights(edges, to_fail @ fails + to_pass @ passes + log_weight)


def _errors(limit_error: float) -> Sequence[tuple[float, float]]:
    return LIMIT_ERRORS if limit_error else ((0.0, 1.0),)


def _chance_to_fail(deviations: Floats) -> Floats:
    beyond: Floats = np.vectorize(math.erfc)(-deviations / math.sqrt(2)) / 2
    return FAIL_ANYWAY + (1 - FAIL_ANYWAY - PASS_ANYWAY) * beyond


def _quantiles(weights: Sequence[Weights], tail: float) -> tuple[float, float]:
    """Give the ends that leave so much of the weight on either side."""
    edges, fits = (np.concatenate(each) for each in zip(*weights, strict=True))
    order = np.argsort(edges, kind="stable")
    sums = np.exp(fits[order] - fits.max()).cumsum()
    low, high = edges[order][np.searchsorted(sums, [tail * sums[-1], (1 - tail) * sums[-1]])]
    return float(low), float(high)
