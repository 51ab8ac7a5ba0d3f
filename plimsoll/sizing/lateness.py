"""What a database's own history says about the volumes that it could stand on. Pure.

A history has minutes' means. A volume's limits are buckets, as the emulated volume has them
(`volumes/config.py`): what is taken ahead of a rate is a deficit, and I/Os queue once it exceeds
the bucket's credits. Deficits of hours (burst credits) follow from the minutes' means exactly; the
seconds within a minute do not, and are bounded:

- A minute that stands out of its neighbors held a burst of 1 to `LONGEST_S` seconds, or none.
- Today's volume says which of these: a burst above its limits would have queued there, and by
  Little's law the queue's mean length is what its I/Os waited. A burst below its limits leaves no
  trace, so each length that is left is taken to be equally likely.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.aws.volume_rules import IO_SIZE_BYTES

Series = NDArray[np.floating[Any]]
Buckets = Mapping[str, "Bucket"]

UNLIMITED = 1e18
LATE_S = 0.01  # an I/O that queues longer is late
LATE_SHARE = 0.001  # a volume carries a load if at most this share of the I/Os is late
LONGEST_S = 20  # longest burst that may hide in a minute's mean
NEIGHBORS = 31  # a minute is compared with so many minutes around it
STANDS_OUT = 3.0  # a minute stands out if it is so many deviations above their median
LEAST_DEVIATION = 0.02  # a deviation is taken to be at least this share of the median
UNTOLD_S = 0.0005  # a mean queueing time below this tells nothing
EVEN_SHARE = 0.02  # probability that a minute that stands out held no burst
CONTRADICTED = 0.02  # a length that is less likely than this share of the likeliest is ruled out
LATENCY_QUANTILE = 0.25  # I/Os of the fastest quarter of the minutes are taken not to queue
RESEMBLANCE = 0.1  # rates whose natural logarithms differ by less count as one
ROUNDS = 30  # iterations of the shares of bursts' rates
ERRORS = 2.0  # a minute's base may be wrong by so many deviations of its neighbors


@dataclass(frozen=True)
class Bucket:
    """One limit: a rate, and what may be taken ahead of it.

    Attributes:
        per_s: I/Os or bytes a second.
        credits: I/Os or bytes that may be taken ahead of the rate; 0 for a limit at every moment.
    """

    per_s: float
    credits: float = 0.0


@dataclass(frozen=True)
class History:
    """What a database asked of its volume, as means over periods of equal length.

    Attributes:
        period_s: Length of a period.
        begins_s: Beginning of each period, in seconds of the epoch; gaps are idle.
        rates: I/Os and bytes a second, read and written: one row for each period.
        queue: I/Os in progress; None if not known.
        cpu: CPU use as a share of the instance's; None if not known.
    """

    period_s: float
    begins_s: Series
    rates: Series
    queue: Series | None = None
    cpu: Series | None = None

    def grow(self, factor: float) -> "History":
        """Return the history with so many times the load."""
        cpu = None if self.cpu is None else factor * self.cpu
        return History(self.period_s, self.begins_s, factor * self.rates, None, cpu)


@dataclass(frozen=True)
class Bursts:
    """What may have happened within each period: a burst of each length, on a base.

    Attributes:
        lengths_s: The lengths; the last one is the whole period, which is no burst.
        base: I/Os and bytes a second beside the burst: one row for each period.
        excess: I/Os and bytes of the burst, if it had each length: periods, units, lengths.
        chance: The probability of each length: one row for each period.
    """

    lengths_s: Series
    base: Series
    excess: Series
    chance: Series

    def grow(self, factor: float) -> "Bursts":
        """Return the bursts with so many times the load."""
        return Bursts(self.lengths_s, factor * self.base, factor * self.excess, self.chance)


@dataclass(frozen=True)
class Lateness:
    """What a volume would have done with a history.

    Attributes:
        late: Share of I/Os that queue longer than 10 ms: at the best, expected, at the worst.
        over: Share of the periods in which a thousandth of the I/Os are expected to be late.
        binds: Name of the bucket that is nearest to its limit.
        credits_left: Least share of the burst credits that is left; None without such credits.
    """

    late: tuple[float, float, float]
    over: float
    binds: str
    credits_left: float | None


def find_bursts(history: History, today: Buckets | None) -> Bursts:
    """Find what each period may have held.

    Args:
        history: The history, at today's load.
        today: The limits of today's volume and instance; None if they are not known.
    """
    period_s, rates = history.period_s, history.rates
    lengths = np.array([*range(1, min(LONGEST_S, int(period_s) - 1) + 1), period_s], float)
    usual, spread = _describe_neighbors(rates)
    held: NDArray[np.bool_] = np.any(rates > usual + STANDS_OUT * spread, axis=1)
    known = np.zeros(len(rates), bool)
    if today is not None and history.queue is not None:
        waited = _find_waits(history)
        empty = _find_empty(history, today)[0]
        held |= (waited > 0) & ~empty
        known = held & ~empty
    base = np.minimum(usual, rates)
    burst = (rates - base) * period_s
    ios = np.maximum(burst[:, 0], burst[:, 1] / IO_SIZE_BYTES)
    size = np.where(ios > 0, burst[:, 1], rates[:, 1]) / np.maximum(
        np.where(ios > 0, ios, rates[:, 0]), 1e-9
    )
    prior = np.full(len(lengths), (1 - EVEN_SHARE) / max(1, len(lengths) - 1))
    prior[-1] = EVEN_SHARE if len(lengths) > 1 else 1
    chance = np.tile(prior, (len(rates), 1))
    chance[~held] = np.eye(len(lengths))[-1]
    told = np.tile(ios[:, None], len(lengths))
    if known.any():
        assert today is not None  # noqa: S101 - `known` says so
        free = _find_free(base[known], size[known], _find_peaks(today))
        told[known] = _explain_waits(ios[known], free, lengths, waited[known])
        error = ERRORS * (spread[known, 0] * period_s)[:, None]
        # Student's t: a minute may hold two bursts, or the end of the last minute's queue
        fit = -2 * np.log1p(((told[known] - ios[known, None]) / error) ** 2 / 3)
        likely = prior * np.exp(fit - fit.max(axis=1, keepdims=True))
        chance[known] = _share_rates(prior, likely, told[known] / lengths)
    excess = told[:, None] * np.stack((np.ones_like(size), size), axis=1)[..., None]
    return Bursts(lengths, base, excess, chance)


def _describe_neighbors(rates: Series) -> tuple[Series, Series]:
    """Return the median of each period's neighbors, and their deviation from it."""
    half = min(NEIGHBORS, len(rates) - (len(rates) + 1) % 2) // 2
    padded = np.pad(rates, ((half, half), (0, 0)), mode="reflect" if half else "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0)
    usual = np.median(windows, axis=-1)
    deviation = np.median(np.abs(windows - usual[..., None]), axis=-1)
    return usual, 1.4826 * deviation + LEAST_DEVIATION * usual


def _find_waits(history: History) -> Series:
    """Return the time that the I/Os of each period spent queueing, in seconds, by Little's law."""
    assert history.queue is not None  # noqa: S101 - the caller has looked
    iops = history.rates[:, 0]
    latency_s = history.queue[iops > 0] / iops[iops > 0]
    alone_s = float(np.quantile(latency_s, LATENCY_QUANTILE)) if len(latency_s) else 0.0
    waits = (history.queue - alone_s * iops) * history.period_s
    return np.where(waits > UNTOLD_S * iops * history.period_s, waits, 0.0)


def _find_peaks(buckets: Buckets) -> Series:
    """Return the most I/Os and bytes a second that the limits of every moment admit."""
    return np.array(
        [
            min(
                (b.per_s for name, b in buckets.items() if not b.credits and name.endswith(unit)),
                default=UNLIMITED,
            )
            for unit in ("iops", "bytes")
        ]
    )


def _find_free(base: Series, size: Series, peaks: Series) -> Series:
    """Return the I/Os of a burst that the limits of every moment admit beside the base, a second.

    Args:
        base: I/Os and bytes a second beside the burst.
        size: Bytes of an I/O of the burst.
        peaks: I/Os and bytes that the limits admit.
    """
    free = peaks - base
    admitted: Series = np.minimum(free[:, 0], free[:, 1] / np.maximum(size, 1.0)).clip(1e-9)
    return admitted


def _explain_waits(ios: Series, free: Series, lengths: Series, waited_s: Series) -> Series:
    """Return the I/Os of a burst that explain how long I/Os queued, for each of its lengths.

    The backlog grows over the burst to I/Os - free x length, and drains at what is free: a
    triangle, in which I/Os queue for half of its height by I/Os / free. Without a queue the burst
    had what is free at most.
    """
    admitted = free[:, None] * lengths
    queued = 8 * waited_s[:, None] * free[:, None]
    explained = (admitted + np.sqrt(admitted**2 + queued)) / 2
    told: Series = np.where(queued > 0, explained, np.minimum(ios[:, None], admitted))
    return told


def _share_rates(prior: Series, likely: Series, rates: Series) -> Series:
    """Return each length's probability, given that the bursts of a database resemble each other.

    A rate is the more likely, the more it is told by all bursts than it is assumed of each alone.
    """
    cells = np.round(np.log(np.maximum(rates, 1.0)) / RESEMBLANCE).astype(int)
    smooth = np.array([0.25, 0.5, 0.25])
    count = int(cells.max(initial=0)) + 1
    assumed = np.bincount(cells.ravel(), np.broadcast_to(prior, cells.shape).ravel(), count)
    chance: Series = likely / likely.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        told = np.bincount(cells.ravel(), chance.ravel(), count)
        ratio = np.convolve(told, smooth, "same") / (np.convolve(assumed, smooth, "same") + 1e-3)
        chance = likely * ratio[cells] + 1e-300
        chance /= chance.sum(axis=1, keepdims=True)
    return chance


def _find_empty(history: History, buckets: Buckets) -> tuple[NDArray[np.bool_], float | None]:
    """Return the periods in which some burst credits are used up, and the least share left.

    The deficit is the bucket's own arithmetic: it rises by what is taken, falls at the rate, and
    is never below 0. It begins at 0, with full credits.
    """
    empty = np.zeros(len(history.rates), bool)
    left: float | None = None
    between_s = np.diff(history.begins_s, append=history.begins_s[-1:] + history.period_s)
    for name, bucket in buckets.items():
        if bucket.credits:
            taken = history.rates[:, 0 if name.endswith("iops") else 1]
            walk = np.cumsum(taken * history.period_s - bucket.per_s * between_s)
            deficit = walk - np.minimum.accumulate(np.minimum(walk, 0.0))
            empty |= deficit > bucket.credits
            share = max(0.0, 1 - float(deficit.max(initial=0.0)) / bucket.credits)
            left = share if left is None else min(left, share)
    return empty, left


def judge(history: History, bursts: Bursts, buckets: Buckets) -> Lateness:
    """Follow a history through a volume's limits, and say how many I/Os would have queued."""
    empty, left = _find_empty(history, buckets)
    ios = history.rates[:, 0] * history.period_s
    late = np.zeros((len(ios), 3))
    late[empty] = ios[empty, None]
    highest = bursts.base + bursts.excess[..., 0] / bursts.lengths_s[0]
    at = np.flatnonzero((highest > _find_peaks(buckets)).any(axis=1) & ~empty)
    if len(at):
        chance = bursts.chance[at]
        each = _count_late(
            Bursts(bursts.lengths_s, bursts.base[at], bursts.excess[at], chance), buckets
        )
        possible = chance >= CONTRADICTED * chance.max(axis=1, keepdims=True)
        late[at, 0] = np.where(possible, each, np.inf).min(axis=1)
        late[at, 1] = (each * chance).sum(axis=1)
        late[at, 2] = np.where(possible, each, 0).max(axis=1)
    least, expected, most = (late.sum(axis=0) / max(1.0, ios.sum())).clip(0, 1)
    return Lateness(
        late=(float(least), float(expected), float(most)),
        over=float(np.mean(late[:, 1] > LATE_SHARE * ios)),
        binds=_find_binding(bursts, buckets, empty=bool(empty.any())),
        credits_left=left,
    )


def _count_late(bursts: Bursts, buckets: Buckets) -> Series:
    """Count the late I/Os of each period for each length of its burst.

    The backlog grows at rate - cap; an I/O is late once the backlog takes `LATE_S` to serve, and
    what comes after the burst is late until the backlog is that small again.
    """
    late = []
    lengths = bursts.lengths_s
    for unit, cap in enumerate(_find_peaks(buckets)):
        base = bursts.base[:, unit, None]
        grows = np.maximum(base + bursts.excess[:, unit] / lengths - cap, 1e-9)
        late_s = lengths - LATE_S * cap / grows
        drains_s = (grows * lengths - LATE_S * cap) / np.maximum(cap - base, 1e-9)
        rate = bursts.base[:, 0, None] + bursts.excess[:, 0] / lengths
        late.append(np.where(late_s > 0, rate * late_s + bursts.base[:, 0, None] * drains_s, 0.0))
    return np.maximum(*late)


def _find_binding(bursts: Bursts, buckets: Buckets, *, empty: bool) -> str:
    """Return the name of the bucket that is nearest to its limit at the busiest moment."""
    rates = bursts.excess * (bursts.chance / bursts.lengths_s)[:, None]
    likely = bursts.base + rates.sum(axis=-1)

    def use(name: str) -> float:
        bucket = buckets[name]
        if bucket.credits:
            return np.inf if empty else 0.0
        return float(likely[:, 0 if name.endswith("iops") else 1].max(initial=0.0)) / bucket.per_s

    return max(buckets, key=use)
