"""Drift and waves: whether the target itself changed while it was measured.

A search takes many minutes. If the target becomes faster meanwhile, its first steps cannot be
compared with its last: a baseline with cold caches gives generous limits. Two tests use the steps
of the search and the sentinels, which repeat the lightest load at the end:

- *Sentinels*: the opening and the closing steps do not overlap, and differ by more than noise.
- *Trend*: Kendall's test within the repetitions of each load, summed (Hirsch, Slack and Smith 1982,
  "Techniques of Trend Analysis for Monthly Water Quality Data", with loads in place of seasons). It
  uses ranks, so a bad window counts as a single observation. It leaves out steps that were run
  because an earlier step at their load was slow: the next one is then mostly faster.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from plimsoll import words
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.capacity.statistics.intervals import estimate_pooled_noise
from plimsoll.capacity.steps.littles_law import weigh_operations
from plimsoll.capacity.steps.loads import Repetition
from plimsoll.model.judging.capacity import Axis, Rules
from plimsoll.model.judging.closing import Drift

LEAST = 0.03  # a smaller change is no drift, however significant
DRIFT_APART = 2.1  # standard errors between the opening steps and the nearest closing one
TREND_P = 0.01  # two-sided p-value


def compute_log_speed(repetition: Repetition) -> float:
    """Return the log of a step's speed: log(throughput); open loop: log(1 / mean latency).

    Minus infinity if no operation succeeded.
    """
    step, figures = repetition.step, repetition.figures
    if figures.rate is None:
        return math.log(figures.throughput) if figures.throughput > 0 else -math.inf
    known = {n: step.latency_us[n].get("mean", us) for n, us in figures.latency_us.items()}
    weighed = weigh_operations(step, known)  # the weights alone; equal shares if they are unknown
    weights = weighed[0] if weighed else dict.fromkeys(known, 1 / max(1, len(known)))
    mean_us = sum(weights[name] * us for name, us in known.items())
    return -math.log(mean_us) if mean_us > 0 else -math.inf


def find_drift(
    judged: Sequence[Assessed], sentinels: Sequence[Repetition], *, tried: bool = False
) -> Drift:
    """Return whether the target changed.

    Args:
        judged: every load of the search, lightest first; repetitions in order of time.
        sentinels: closing steps at the lightest load that count.
        tried: whether there were closing steps at it, even if none counts.
    """
    opening = [compute_log_speed(r) for r in judged[0].point.counted]
    closing = [compute_log_speed(r) for r in sentinels]
    groups = [
        [*opening, *closing],
        *([compute_log_speed(r) for r in _select_unbiased(load)] for load in judged[1:]),
    ]
    p_value, direction = run_kendall_test(groups)
    noise = _estimate_noise([opening, closing, *groups[1:]])
    # Open loop: latency near the knee scatters far more
    if judged[0].point.figures.rate is not None:
        noise = max(_estimate_noise([opening, closing]), noise / 2)
    change_share = math.expm1(median(closing) - median(opening)) if opening and closing else None
    found = change_share is not None and (
        _are_apart(opening, closing, noise)
        or (p_value is not None and p_value < TREND_P and direction * change_share > 0)
    )
    found = found and change_share is not None and abs(change_share) >= LEAST
    return Drift(
        found=found,
        change_share=change_share,
        sentinels=len(closing),
        trend_p=p_value,
        detail=_describe_drift(change_share, p_value, found=found, tried=tried),
    )


def _select_unbiased(load: Assessed) -> list[Repetition]:
    return [r for r in load.point.counted if r.step.purpose == "confirm"]


def _estimate_noise(groups: Sequence[Sequence[float]]) -> float:
    return estimate_pooled_noise([math.exp(value) for value in group] for group in groups)


def _are_apart(opening: Sequence[float], closing: Sequence[float], noise: float) -> bool:
    """Return whether every closing step is on one side of the opening ones, beyond the noise.

    The nearest one decides, so that a single bad window does not.
    """
    if min(len(opening), len(closing)) < 2:
        return False
    begun = [median(opening)] if len(opening) > 2 else opening
    shifts = [last - first for last in closing for first in begun]
    if min(shifts) < 0 < max(shifts):
        return False
    error = noise * math.sqrt(1 + 1 / len(opening))
    return min(abs(shift) for shift in shifts) > DRIFT_APART * error


def run_kendall_test(groups: Sequence[Sequence[float]]) -> tuple[float | None, int]:
    """Return the two-sided p-value of Kendall's S, summed over groups, and the sign of S.

    Normal approximation with continuity correction.
    """
    s = sum((y > x) - (y < x) for group in groups for x, y in combinations(group, 2))
    sizes = [len(group) for group in groups]
    variance = sum(n * (n - 1) * (2 * n + 5) for n in sizes) / 18
    if not variance:
        return None, 0
    z = max(0, abs(s) - 1) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2)), (s > 0) - (s < 0)


def _describe_drift(
    change_share: float | None, p_value: float | None, *, found: bool, tried: bool
) -> str:
    trend = "" if p_value is None else f" (trend among repetitions: p = {p_value:.2g})"
    if change_share is None and tried:
        return f"no repetition of the lightest load at the end counts{trend}"
    if change_share is None:
        return f"the lightest load was not repeated at the end{trend}"
    how = "faster" if change_share > 0 else "slower"
    noise = "" if found else "; noise alone may explain that"
    ran = f"the lightest load ran {words.format_percent(abs(change_share))} {how} at the end"
    return f"{ran}{trend}{noise}"


# --- waves: some windows of a load within a limit, others far beyond it ---


# Longest / shortest latency. Noise alone moves a percentile by less.
WAVE_APART = 3.0
# Share of the windows: a smaller group consists of bad windows, or lucky ones
MINORITY_LEAST = 0.25


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An operation within its limit in some windows of a load and far beyond it in others."""

    load: float
    operation: str
    limit_us: float
    latencies_us: tuple[float, ...]  # one for each window that counts, ascending

    @property
    def beyond(self) -> int:
        """The number of windows beyond the limit."""
        return sum(us > self.limit_us for us in self.latencies_us)

    @property
    def apart(self) -> float:
        """The longest latency / the shortest."""
        return self.latencies_us[-1] / self.latencies_us[0]


def describe_waves(
    judged: Sequence[Assessed],
    limit_us: Mapping[str, float],
    failing: float | None,
    rules: Rules,
    axis: Axis,
) -> list[str]:
    """Describe the load at which windows disagree most; empty if none do.

    Args:
        judged: every load.
        limit_us: limit of each operation, in microseconds.
        failing: load that failed, above which no load is examined; None if none failed.
        rules: rules with the name of the statistic.
        axis: axis of the load.
    """
    counts = [load for load in judged if failing is None or load.point.load <= failing]
    found = [each for load in counts for each in _find_disagreements(load, limit_us)]
    if not found:
        return []
    worst = max(found, key=lambda each: each.apart)
    shortest, longest = (words.format_latency(worst.latencies_us[end]) for end in (0, -1))
    note = (
        f"at {words.format_load(worst.load, axis)}, latency comes in waves longer than a window:"
        f" {words.name_statistic(rules.statistic)} of {worst.operation} was {shortest} in one"
        " window and"
        f" {longest} in another, above its limit of {words.format_latency(worst.limit_us)} in"
        f" {worst.beyond} of {len(worst.latencies_us)}; use longer windows"
    )
    return [note]


def _find_disagreements(
    assessed: Assessed, limit_us: Mapping[str, float]
) -> Iterator[Disagreement]:
    for operation, limit in limit_us.items():
        windows = (r.figures.latency_us.get(operation) for r in assessed.point.counted)
        latencies = sorted(us for us in windows if us)
        if len(latencies) < 2:
            continue
        each = Disagreement(assessed.point.load, operation, limit, tuple(latencies))
        minority = min(each.beyond, len(latencies) - each.beyond) / len(latencies)
        if each.apart >= WAVE_APART and minority >= MINORITY_LEAST:
            yield each
