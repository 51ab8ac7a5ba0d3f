"""Annotations of the throughput curve, which never change the verdict: USL fit, power point."""

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import median

import numpy as np

from plimsoll import words
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.capacity.steps.littles_law import compute_concurrent_operations
from plimsoll.capacity.steps.loads import LoadPoint
from plimsoll.model.judging.capacity import Axis, PowerPoint, UslFit

USL_LOADS_MIN = 4  # three parameters, and at least one more load to test them
# Root mean square of relative residuals, above which the law does not describe the curve
USL_RESIDUAL_MAX = 0.10


def fit_usl(points: Sequence[LoadPoint], axis: Axis) -> UslFit:
    """Fit X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)).

    Source: Gunther, "Guerrilla Capacity Planning" (2007), chapters 4 to 6. Sigma is contention,
        kappa the cost of coherency, and the peak is at sqrt((1 - sigma) / kappa). N / X is linear
        in 1/lambda, sigma/lambda and kappa/lambda. The fit minimizes relative residuals with none
        of the three negative, so it needs no starting point and its minimum is unique.
    """
    known = [
        (point.load, point.figures.throughput)
        for point in points
        if point.consistent and point.figures.throughput > 0
    ]
    if axis == "rate_ops_per_second":
        return UslFit(
            converged=False, why_not="the law is about clients, not about an arrival rate"
        )
    if len(known) < USL_LOADS_MIN:
        why = f"{words.format_count(len(known), 'load')}; it needs {USL_LOADS_MIN}"
        return UslFit(converged=False, why_not=why)
    load, throughput = np.array(known, dtype=float).T
    weight = (throughput / load)[:, None]
    terms = np.column_stack([np.ones_like(load), load - 1, load * (load - 1)]) * weight
    best = _solve_not_negative(terms)
    if best is None or best[0] <= 0:
        return UslFit(converged=False, why_not="no lambda, sigma and kappa of the right sign fit")
    per_ideal, sigma, kappa = best[0], best[1] / best[0], best[2] / best[0]
    residual = float(np.sqrt(np.mean((terms @ best - 1) ** 2)))
    if residual > USL_RESIDUAL_MAX:
        why = f"the best fit is off by {words.format_percent(residual)} (root mean square)"
        return UslFit(converged=False, why_not=why, residual=residual)
    peak = math.sqrt((1 - sigma) / kappa) if kappa > 0 and sigma < 1 else None
    return UslFit(
        converged=True,
        ideal_ops_per_second=1 / per_ideal,
        contention=sigma,
        coherency=kappa,
        peak_load=peak,
        peak_ops_per_second=None
        if peak is None
        else peak / per_ideal / (1 + sigma * (peak - 1) + kappa * peak * (peak - 1)),
        residual=residual,
    )


def _solve_not_negative(
    terms: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
) -> list[float] | None:
    """Solve terms @ x = 1 for x >= 0, trying every set of coefficients that may be 0.

    Three unknowns have seven such sets. The best feasible solution is the constrained optimum,
    because the problem is convex, and no iteration could fail to converge.
    """
    target, columns = np.ones(len(terms)), terms.shape[1]
    best, least = None, math.inf
    for size in range(1, columns + 1):
        for kept in combinations(range(columns), size):
            solution, _, rank, _ = np.linalg.lstsq(terms[:, kept], target, rcond=None)
            error = float(np.sum((terms[:, kept] @ solution - target) ** 2))
            if rank == size and (solution >= 0).all() and error < least - 1e-15:
                least = error
                best = [0.0] * columns
                for column, value in zip(kept, solution, strict=True):
                    best[column] = float(value)
    return best


def find_power_point(judged: Sequence[Assessed]) -> PowerPoint | None:
    """Return the step with the highest throughput / latency; None without an overall latency.

    Source: Kleinrock 1979 ("Power and deterministic rules of thumb", after Giessler et al. 1978).
    Beyond this step, latency grows faster than throughput.
    """
    candidates = []
    for point in (assessed.point for assessed in judged):
        latency_us = _compute_latency_us(point)
        if point.consistent and point.figures.throughput and latency_us:
            candidates.append(
                PowerPoint(
                    load=point.load,
                    throughput_ops_per_second=point.figures.throughput,
                    latency_us=latency_us,
                )
            )
    return max(candidates, key=lambda c: c.throughput_ops_per_second / c.latency_us, default=None)


def _compute_latency_us(point: LoadPoint) -> float | None:
    """Return the latency of all operations: their mean, since percentiles cannot be combined."""
    if len(point.figures.latency_us) == 1:
        return next(iter(point.figures.latency_us.values()))
    found = [compute_concurrent_operations(repetition.step) for repetition in point.counted]
    means = [each.most_mean_us for each in found if each is not None and each.shares]
    return median(means) if means else None
