"""The edge: the load beyond which most windows fail, as a range with a stated coverage.

The bracket of a KNEE is what was observed: a load that passed and one that failed. With noise, the
true edge is outside of it about half of the time. The range here is Bayesian, from every step near
the bracket, with a flat prior on the logarithm of the edge:

- Closed loop: callers wait for each other, and latency grows smoothly with the load. The model is a
  straight line of log(latency / limit) over log(load) with Student's t errors, which are robust
  against bad windows (Lange, Little and Taylor 1989).
- Open loop, or if the deciding failure is not of latency: a window passes or fails. The model is a
  psychometric function: the probability to fail is a normal distribution function of log(load),
  with a share of windows that fail, or pass, at any load (Wichmann and Hill 2001).

A relative limit is as uncertain as the latency that it is a multiple of, and that moves the whole
edge; ignoring this would leave too many true edges outside the range. The range always includes
the observed bracket.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.capacity.passing.assess import (
    Assessed,
    Margin,
    estimate_latency_noise,
    list_repeated_latencies,
)
from plimsoll.capacity.statistics.intervals import compute_robust_deviation
from plimsoll.model.judging.capacity import Axis, LoadRange

CONFIDENCE = 0.90
TAIL_OF_LINES = 0.015  # left out on either side; less than 0.05, because no curve is quite straight
TAIL_OF_THRESHOLDS = 0.05
PAIRS_LEAST = 3  # pairs of steps per operation: fewer cannot show the scatter of windows
NOISE_LEAST = 0.001  # noise of the logarithm; avoids a division by zero for a target without noise
REACH = 2.0  # loads within this factor of the bracket's middle are used
GRID = 120  # number of candidate edges
DEGREES = 3  # degrees of freedom of Student's t
SCALES = (0.5, 0.75, 1.0, 1.4, 2.0)  # scatter of log(latency), as multiples of the noise
# Slope of log(latency) over log(load); 1 in a saturated closed loop
SLOPES = (0.35, 0.5, 0.7, 1.0, 1.4)
# Width of the transition from passing to failing, as multiples of the noise
SPREADS = (0.25, 0.5, 1.0, 2.0)
FAIL_ANYWAY = 0.05  # share of the windows below the edge that fail
PASS_ANYWAY = 0.01  # share of the windows above the edge that pass
# Errors of a relative limit in standard errors, with their likelihood (not normalized).
LIMIT_ERRORS = tuple((k, math.exp(-k * k / 2)) for k in (-2.0, -1.2, -0.4, 0.4, 1.2, 2.0))

# Share of the load that passed, below which queues do not amplify the noise of an open loop
LIGHT = 0.5
LIGHT_LEAST = 5  # steps below that share that are needed to use only them

Sample = tuple[float, Margin]  # log(load), distance from failing
Floats = NDArray[np.float64]


class Weights(NamedTuple):
    """Candidate edges with the likelihood of each."""

    edges: Floats  # log(load)
    fits: Floats  # logarithms of the likelihoods


def estimate_edge(
    judged: Sequence[Assessed],
    seen: tuple[float, float],
    axis: Axis,
    *,
    baseline: Assessed | None,
) -> LoadRange | None:
    """Return the range of loads that contains the edge in 90 of 100 searches.

    Args:
        judged: every load, lightest first.
        seen: a load that passed and a heavier one that failed.
        axis: axis of the load.
        baseline: load whose latency the limits are multiples of; None if there are no such limits.

    Returns:
        None if too few repetitions show the noise.
    """
    open_loop = axis == "rate_ops_per_second"
    noise = _estimate_noise(judged, LIGHT * seen[0] if open_loop else 0.0)
    if noise is None:
        return None
    limit_error = 0.0
    if baseline is not None:
        count = max(1, len(baseline.point.counted))
        limit_error = min(1.0, math.sqrt(math.pi / 2 / count))  # standard error of a median
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
    fit, tail = (
        (_weigh_by_line, TAIL_OF_LINES) if smooth else (_weigh_by_threshold, TAIL_OF_THRESHOLDS)
    )
    ends = _find_quantiles(list(fit(samples, edges, noise, limit_error)), tail)
    return LoadRange(
        low=min(seen[0], math.exp(ends[0])),
        high=max(seen[1], math.exp(ends[1])),
        confidence=CONFIDENCE,
        windows=len(samples),
        method="line through log latency" if smooth else "psychometric function",
    )


def _estimate_noise(judged: Sequence[Assessed], light: float) -> float | None:
    """Return the standard deviation of a latency's logarithm, from repeated loads that pass.

    Near its edge, an open loop amplifies noise. There only steps up to the load `light` are used,
    if there are enough.
    """
    groups = list_repeated_latencies(judged)
    pairs = (sum(math.comb(len(each), 2) for each in loads) for loads in groups.values())
    # Operations of one step scatter together, so they count as one
    if max(pairs, default=0) < PAIRS_LEAST:
        return None
    below = [m.latency for load in judged if load.point.load <= light for m in load.margins]
    quiet = [margin for margin in below if math.isfinite(margin)]
    noise = (
        compute_robust_deviation(quiet)
        if len(quiet) >= LIGHT_LEAST
        else estimate_latency_noise(judged)
    )
    return max(NOISE_LEAST, noise)


def _weigh_by_line(
    samples: Sequence[Sample], edges: Floats, noise: float, limit_error: float
) -> Iterator[Weights]:
    """Yield the likelihood of each edge under lines of log(latency), for each slope and scatter."""
    latencies = np.array([margin.latency for _, margin in samples])
    distances = np.array([x for x, _ in samples]) - edges[:, None]
    for slope in SLOPES:
        squares = (latencies - slope * distances) ** 2
        for deviation in (times * noise for times in SCALES):
            odds = np.log1p(squares / deviation**2 / DEGREES).sum(axis=1)
            fits = -0.5 * (DEGREES + 1) * odds - len(samples) * math.log(deviation)
            for k, weight in _estimate_limit_errors(limit_error):
                yield Weights(edges + k * deviation * limit_error / slope, fits + math.log(weight))


def _weigh_by_threshold(
    samples: Sequence[Sample], edges: Floats, noise: float, limit_error: float
) -> Iterator[Weights]:
    """Yield the likelihood of each edge from the passes and failures on either side of it."""
    loads, places = np.unique([x for x, _ in samples], return_inverse=True)
    latencies = np.array([m.latency for _, m in samples])
    otherwise = np.array([m.failed_otherwise for _, m in samples], dtype=bool)
    outcomes = []
    for k, weight in _estimate_limit_errors(limit_error):
        failed = otherwise | (latencies > k * noise * limit_error)
        tallies = (np.bincount(places[each], minlength=len(loads)) for each in (failed, ~failed))
        outcomes.append((*tallies, math.log(weight)))
    for spread in SPREADS:
        chances = _compute_chance_to_fail((loads - edges[:, None]) / (spread * noise))
        to_fail, to_pass = np.log(chances), np.log1p(-chances)
        for fails, passes, log_weight in outcomes:
            yield Weights(edges, to_fail @ fails + to_pass @ passes + log_weight)


def _estimate_limit_errors(limit_error: float) -> Sequence[tuple[float, float]]:
    return LIMIT_ERRORS if limit_error else ((0.0, 1.0),)


def _compute_chance_to_fail(deviations: Floats) -> Floats:
    beyond: Floats = np.vectorize(math.erfc)(-deviations / math.sqrt(2)) / 2
    return FAIL_ANYWAY + (1 - FAIL_ANYWAY - PASS_ANYWAY) * beyond


def _find_quantiles(weights: Sequence[Weights], tail: float) -> tuple[float, float]:
    """Return the two ends that each leave a given share of the weight outside."""
    edges, fits = (np.concatenate(each) for each in zip(*weights, strict=True))
    order = np.argsort(edges, kind="stable")
    sums = np.exp(fits[order] - fits.max()).cumsum()
    low, high = edges[order][np.searchsorted(sums, [tail * sums[-1], (1 - tail) * sums[-1]])]
    return float(low), float(high)
