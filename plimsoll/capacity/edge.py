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
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from plimsoll.capacity.assess import Assessed, Margin, latencies_of_repeated, latency_noise
from plimsoll.capacity.intervals import scale
from plimsoll.model.capacity import Axis, LoadRange

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
Weight = tuple[float, float]  # log(edge), logarithm of its likelihood


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
    edges = [middle + half * (2 * (place + 0.5) / GRID - 1) for place in range(GRID)]
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
    samples: Sequence[Sample], edges: Sequence[float], noise: float, limit_error: float
) -> Iterator[Weight]:
    """Weigh each edge by how well lines through it fit the latencies."""
    for deviation in (times * noise for times in SCALES):
        for slope in SLOPES:
            shifts = [(k * deviation * limit_error / slope, weight) for k, weight in LIMIT_ERRORS]
            for edge in edges:
                odds = [
                    1 + ((m.latency - slope * (x - edge)) / deviation) ** 2 / DEGREES
                    for x, m in samples
                ]
                fit = -0.5 * (DEGREES + 1) * _log_product(odds)
                fit -= len(samples) * math.log(deviation)
                for shift, weight in shifts if limit_error else [(0.0, 1.0)]:
                    yield edge + shift, fit + math.log(weight)


def _log_product(factors: Sequence[float]) -> float:
    """Sum their logarithms: one for sixteen, whose product is finite still."""
    return sum(math.log(math.prod(factors[at : at + 16])) for at in range(0, len(factors), 16))


def _threshold(
    samples: Sequence[Sample], edges: Sequence[float], noise: float, limit_error: float
) -> Iterator[Weight]:
    """Weigh each edge by how well passes and failures fall to its two sides."""
    loads = sorted({x for x, _ in samples})
    errors = LIMIT_ERRORS if limit_error else ((0.0, 1.0),)
    outcomes = []
    for k, weight in errors:
        error = k * noise * limit_error
        failed = [(x, m.failed_otherwise or m.latency > error) for x, m in samples]
        tallies = [(failed.count((load, True)), failed.count((load, False))) for load in loads]
        outcomes.append((tallies, math.log(weight)))
    for spread in SPREADS:
        for edge in edges:
            chances = [_chance_to_fail((load - edge) / (spread * noise)) for load in loads]
            logs = [(math.log(chance), math.log1p(-chance)) for chance in chances]
            for tallies, log_weight in outcomes:
                pairs = zip(tallies, logs, strict=True)
                fit = sum(f * fail + p * passed for (f, p), (fail, passed) in pairs)
                yield edge, fit + log_weight


def _chance_to_fail(deviations: float) -> float:
    beyond = 0.5 * math.erfc(-deviations / math.sqrt(2))
    return FAIL_ANYWAY + (1 - FAIL_ANYWAY - PASS_ANYWAY) * beyond


def _quantiles(weights: list[Weight], tail: float) -> tuple[float, float]:
    """Give the ends that leave so much of the weight on either side."""
    weights.sort()
    most = max(fit for _, fit in weights)
    sums = list(accumulate(math.exp(fit - most) for _, fit in weights))
    low, high = (weights[bisect_left(sums, share * sums[-1])][0] for share in (tail, 1 - tail))
    return low, high
