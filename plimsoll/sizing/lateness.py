"""What a database's own history says about the volumes that it could stand on. Pure.

A history has minutes' means. A volume's limits are buckets, as the emulated volume has them
(`volumes/config.py`): what is taken ahead of a rate is a deficit, and I/Os queue once it exceeds
the bucket's credits. Deficits of hours (burst credits) follow from the minutes' means exactly; the
seconds within a minute do not, and are bounded:

- A minute that stands out of its neighbors held a burst of 1 to `LONGEST_S` seconds, or none.
- Today's volume says which of these: a burst above its limits would have queued there, and by
  Little's law the queue's mean length is what its I/Os waited.
- The bursts of a database resemble each other: they have about one rate and one size of I/O. Which
  rate is not known, so each one is a *world* with a probability. It has to explain all bursts by 1
  to `LONGEST_S` seconds, and how many of them the end of a minute divides: of bursts of 20 s that
  begin at any time it divides a third, of bursts of 2 s one of 30.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
EVEN = 0.002  # likelihood that a minute that stands out held no burst
CONTRADICTED = 0.02  # a world that is less likely than this share of the likeliest is ruled out
LATENCY_QUANTILE = 0.25  # I/Os of the fastest quarter of the minutes are taken not to queue
LENGTH_STEP = 0.15  # difference of the natural logarithms of two lengths that are told apart
RATE_STEP = 0.1  # the same of two worlds' rates
SPREAD = 0.25  # standard deviation of the natural logarithm of the rates of a database's bursts
STRANGE = 0.001  # likelihood of a burst unlike the others; 1 for one of the world's rate
ENOUGH = 50.0  # more bursts than these tell no more: they are alike only about
RISK = 0.1  # probability with which more may be late than is said
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
        held: Whether a period may have held a burst.
        chance: The probability of each length: worlds, periods that may have held one, lengths.
        weight: The probability of each world.
    """

    lengths_s: Series
    base: Series
    excess: Series
    held: NDArray[np.bool_]
    chance: Series
    weight: Series

    def grow(self, factor: float) -> "Bursts":
        """Return the bursts with so many times the load."""
        return replace(self, base=factor * self.base, excess=factor * self.excess)


@dataclass(frozen=True)
class Lateness:
    """What a volume would have done with a history.

    Attributes:
        late: Share of I/Os that queue longer than 10 ms: at the best, not exceeded with a
            probability of 90 %, at the worst.
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
    longest_s = min(LONGEST_S, max(1.0, period_s - 1))
    count = 1 + round(np.log(longest_s) / LENGTH_STEP) if period_s > 1 else 0
    lengths = np.append(np.geomspace(1, longest_s, count), period_s)
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
    ios, size, by_bytes = _measure_bursts(burst, spread, held)
    told = np.tile(ios[:, None], len(lengths))
    fit = np.zeros(told.shape)
    noise = np.where(by_bytes, spread[:, 1] / size, spread[:, 0]) * period_s
    if known.any():
        assert today is not None  # noqa: S101 - `known` says so
        free = _find_free(base[known], size[known], _find_peaks(today))
        told[known] = _explain_waits(ios[known], free, lengths, waited[known])
        error = ERRORS * noise[known, None]
        # Student's t: a minute may hold two bursts, or the end of the last minute's queue
        fit[known] = -2 * np.log1p(((told[known] - ios[known, None]) / error) ** 2 / 3)
    excess = told[:, None] * np.stack((np.ones_like(size), size), axis=1)[..., None]
    if not count:
        held = np.zeros(len(rates), bool)
    visible = (ios - 2 * STANDS_OUT * noise)[held]
    chance, weight = _imagine_worlds(
        told[held], fit[held], lengths, _count_divided(held, visible) if held.any() else None
    )
    return Bursts(lengths, base, excess, held, chance, weight)


def _measure_bursts(
    burst: Series, spread: Series, held: NDArray[np.bool_]
) -> tuple[Series, Series, NDArray[np.bool_]]:
    """Return the I/Os of each burst, their size in bytes, and whether bytes told their number.

    Bursts of a database have I/Os of about one size, so that the unit in which a minute stands out
    most tells both.
    """
    total = burst[held].sum(axis=0)
    each = max(1.0, total[1] / total[0]) if total[0] > 0 else float(IO_SIZE_BYTES)
    by_bytes = burst[:, 1] * spread[:, 0] > burst[:, 0] * spread[:, 1]
    ios = np.where(by_bytes, burst[:, 1] / each, burst[:, 0])
    return ios, np.full(len(burst), each), by_bytes


@dataclass(frozen=True)
class _Divided:
    """How many bursts the end of a minute divided.

    Attributes:
        count: Pairs of minutes that stand out one after the other, beyond those two minutes apart,
            which chance gives.
        variance: The variance of the count by chance.
        visible_ios: I/Os of all bursts that would be seen on both sides.
    """

    count: float
    variance: float
    visible_ios: float


def _count_divided(held: NDArray[np.bool_], visible_ios: Series) -> _Divided:
    """Count the bursts that the end of a minute divided.

    Of bursts at regular intervals it divides all or none, so that together they tell nothing.
    """
    gaps = np.diff(np.flatnonzero(held & ~np.concatenate(([False], held[:-1]))))
    alone = 1 - np.bincount(gaps).max() / len(gaps) if len(gaps) else 0.0
    by_chance = float(np.sum(held[2:] & held[:-2]))
    count = float(np.sum(held[1:] & held[:-1])) - by_chance
    visible = float(visible_ios.clip(0).sum())
    return _Divided(alone * count, alone * 2 * by_chance + 1, alone * visible)


def _imagine_worlds(
    told: Series, fit: Series, lengths: Series, divided: _Divided | None
) -> tuple[Series, Series]:
    """Return the probability of each length in each world that is possible, and of these worlds.

    Args:
        told: I/Os of each burst for each length.
        fit: Natural logarithm of how well each length explains the queue.
        lengths: The lengths; the last one is the whole period, which is no burst.
        divided: What the ends of minutes tell; None without a burst.
    """
    if divided is None:
        return np.zeros((1, *told.shape)), np.ones(1)
    rates = np.log(np.maximum(told / lengths, 1e-9))
    worlds = np.arange(rates[:, :-1].min(), rates[:, :-1].max() + RATE_STEP, RATE_STEP)
    likely = np.exp(fit - fit.max(axis=1, keepdims=True))
    # beforehand, each length of the usual burst is equally likely
    prior = np.minimum(np.median(rates[:, 0]) - worlds, np.log(LONGEST_S))
    chance, weight = np.empty((len(worlds), *told.shape)), np.empty(len(worlds))
    for at, world in enumerate(worlds):
        each = likely * (np.exp(-0.5 * ((rates - world) / SPREAD) ** 2) + STRANGE)
        each[:, :-1] /= len(lengths) - 1
        each[:, -1] = likely[:, -1] * EVEN
        total = each.sum(axis=1, keepdims=True)
        chance[at] = each / total
        expected = divided.visible_ios / (60 * np.exp(world))
        variance = divided.variance + expected
        explained = min(1.0, ENOUGH / len(told)) * float(np.log(total).sum())
        divides = -0.5 * ((divided.count - expected) ** 2 / variance + np.log(variance))
        weight[at] = explained + divides + prior[at]
    weight = np.exp(weight - weight.max())
    kept = weight > CONTRADICTED
    return chance[kept], weight[kept] / weight[kept].sum()


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
    late = np.zeros((len(bursts.weight), len(ios)))
    late[:, empty] = ios[empty]
    highest = bursts.base + bursts.excess[..., 0] / bursts.lengths_s[0]
    at = np.flatnonzero((highest > _find_peaks(buckets)).any(axis=1) & ~empty)
    if len(at):
        each = _count_late(bursts.lengths_s, bursts.base[at], bursts.excess[at], buckets)
        late[:, at] = each[:, -1]
        held = bursts.held[at]
        rows = (np.cumsum(bursts.held) - 1)[at[held]]
        late[:, at[held]] = (each[held] * bursts.chance[:, rows]).sum(axis=-1)
    shares = (late.sum(axis=1) / max(1.0, ios.sum())).clip(0, 1)
    order = shares.argsort()
    worlds = int(np.searchsorted(np.cumsum(bursts.weight[order]), 1 - RISK))
    return Lateness(
        late=(float(shares.min()), float(shares[order[worlds]]), float(shares.max())),
        over=float(np.mean(bursts.weight @ late > LATE_SHARE * ios)),
        binds=_find_binding(bursts, buckets, empty=bool(empty.any())),
        credits_left=left,
    )


def _count_late(lengths: Series, bases: Series, excess: Series, buckets: Buckets) -> Series:
    """Count the late I/Os of each period for each length of its burst.

    The backlog grows at rate - cap; an I/O is late once the backlog takes `LATE_S` to serve, and
    what comes after the burst is late until the backlog is that small again.
    """
    late = []
    for unit, cap in enumerate(_find_peaks(buckets)):
        base = bases[:, unit, None]
        grows = np.maximum(base + excess[:, unit] / lengths - cap, 1e-9)
        late_s = lengths - LATE_S * cap / grows
        drains_s = (grows * lengths - LATE_S * cap) / np.maximum(cap - base, 1e-9)
        rate = bases[:, 0, None] + excess[:, 0] / lengths
        late.append(np.where(late_s > 0, rate * late_s + bases[:, 0, None] * drains_s, 0.0))
    return np.maximum(*late)


def _find_binding(bursts: Bursts, buckets: Buckets, *, empty: bool) -> str:
    """Return the name of the bucket that is nearest to its limit at the busiest moment."""
    chance = np.tensordot(bursts.weight, bursts.chance, 1)
    likely = bursts.base + bursts.excess[..., -1] / bursts.lengths_s[-1]
    rates = bursts.excess[bursts.held] * (chance / bursts.lengths_s)[:, None]
    likely[bursts.held] = bursts.base[bursts.held] + rates.sum(axis=-1)

    def use(name: str) -> float:
        bucket = buckets[name]
        if bucket.credits:
            return np.inf if empty else 0.0
        return float(likely[:, 0 if name.endswith("iops") else 1].max(initial=0.0)) / bucket.per_s

    return max(buckets, key=use)
