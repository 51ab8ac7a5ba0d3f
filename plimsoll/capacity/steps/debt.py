"""Write debt: whether a window measured what the database sustains, or what its log lends. Pure.

An update costs a log record now and the writing of its page later. Until the log is nearly full,
the server may put the second off: a window that begins with an empty log measures how fast the log
is written, not how fast pages are. docs/evidence/write-debt.md has the worlds in which the rules
here were tried.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import linear_regression, median
from typing import NamedTuple

from plimsoll import words
from plimsoll.model.judging.debt import FILL_CONNECTIONS, DebtGrowth, WriteDebt
from plimsoll.model.judging.steps import Purpose, Step

GROWTH_MAX = 0.03  # growth of the debt, as a share of what was written, that counts as balance
PAID_MAX = 0.25  # decrease, likewise, beyond which a window mostly pays what was owed before it
FILLED_SHARE = 0.8  # share of its limit from which on a log counts as filled
# Share of the limit from which on growth shows that pages cannot be written as fast as the log:
# below it, a server that adapts to the log's level does not try to
ADAPTS_SHARE = 0.5
WAVE_SHARE = 0.1  # rises and falls of less than this share of the limit are no wave
LASTS_S = 86_400.0  # a log that takes longer to fill lends nothing worth mentioning
# I/Os of purging a transaction: its page is read, if it has left the buffer pool, and written again
PURGE_IOS = 2
# Nor does one whose operations put off at most `GROWTH_MAX` of their I/Os, since they change the
# same few pages; where I/Os are not counted, at most so many page writes for each operation
PAGES_LEAST = 0.01
BALANCE_S = 10.0  # growth of a filling log is looked at over so long

# Windows hold a wave if they last for so many times in which an empty log fills; in InnoDB a wave
# takes most of the log
WAVES_HELD = 1.5
WAVE_FACTOR_MOST, WAVE_WINDOW_MOST_S = 16, 240.0

# Time that a step may take to fill the log, as a multiple of its warm-up and window; where it ends
# as soon as the log is filled, at least so many seconds
FILL_FACTOR = 2.0
FILL_LEAST_S = 60.0
STEPS_TO_FILL = 3.0  # a log that several steps together do not fill is not worth the time
RESERVE_FACTOR = 2.0  # on the estimated time, since pages are written meanwhile
# Their latency, without any load before them, is what other steps are compared with
UNFILLED: frozenset[Purpose | str] = frozenset({"baseline", "sentinel", "warm", "phase"})


class TimedDebt(NamedTuple):
    """A reading of write debt, and when it was taken, in seconds."""

    at_s: float
    debt: WriteDebt


# What a window's readings say.


def measure_growth(
    readings: Sequence[TimedDebt], *, judged: bool, operations_per_s: float | None = None
) -> DebtGrowth | None:
    """Return how write debt changed over a window; None with fewer than two readings.

    Args:
        readings: The readings within the window, in the order of their times.
        operations_per_s: The window's throughput; None if unknown.
        judged: Whether the step's purpose is judged by it (`UNFILLED`).
    """
    if len(readings) < 2 or readings[-1].at_s <= readings[0].at_s:
        return None
    debts = [reading.debt for reading in readings]
    first, last = debts[0], debts[-1]
    written = last.written_bytes - first.written_bytes
    if written < 0:
        return None  # another server answered, or its log was made anew
    growth = DebtGrowth(
        limit_bytes=last.limit_bytes,
        start_bytes=first.owed_bytes,
        end_bytes=last.owed_bytes,
        peak_bytes=max(debt.owed_bytes for debt in debts),
        written_bytes=written,
        lent_bytes=_sum_lent(debts),
        interval_s=readings[-1].at_s - readings[0].at_s,
        waves=count_waves([debt.owed_bytes / debt.limit_bytes for debt in debts]),
        judged=judged,
    )
    if not operations_per_s:
        return growth
    operations = operations_per_s * growth.interval_s
    unpurged_per_s = _fit_slope([(r.at_s, r.debt.unpurged) for r in readings])
    ios = None if first.ios is None or last.ios is None else max(0, last.ios - first.ios)
    return growth.model_copy(
        update={
            "pages_per_operation": _count_pages_per_operation(readings, growth, operations_per_s),
            "ios_per_operation": None if ios is None else ios / operations,
            "unpurged_per_operation": None
            if unpurged_per_s is None
            else unpurged_per_s / operations_per_s,
        }
    )


def _count_pages_per_operation(
    readings: Sequence[TimedDebt], growth: DebtGrowth, operations_per_s: float
) -> float | None:
    """Return the greater of what the window added, and of what is owed once for each full log.

    What it added is the least-squares slope over all readings: a page cleaner takes hundreds of
    pages at once, so the difference of two readings is mostly chance.
    """
    owed, lasts = readings[-1].debt.owed_pages, lasts_s(growth)
    added = _fit_slope([(r.at_s, r.debt.owed_pages) for r in readings])
    if owed is None or added is None:
        return None
    return max(0.0, added, owed / lasts if lasts else 0.0) / operations_per_s


def _fit_slope(timed: Sequence[tuple[float, int | None]]) -> float | None:
    """Return the least-squares slope of readings over seconds; None if one is missing."""
    known = [(at_s, float(value)) for at_s, value in timed if value is not None]
    if len(known) < len(timed):
        return None
    return linear_regression(*zip(*known, strict=True)).slope


def _sum_lent(debts: Sequence[WriteDebt]) -> int:
    """Return by how much debt grew; where checkpoints pay it, what was written without one.

    A page cleaner that wakes each second makes ripples. They say nothing of growth, so debt is
    compared from one trough to another, or from peak to peak, where the window holds two.
    """
    if all(debt.paying is not None for debt in debts):
        pairs = [pair for pair in pairwise(debts) if not pair[1].paying]
        return sum(max(0, after.written_bytes - before.written_bytes) for before, after in pairs)
    first, last = debts[0], debts[-1]
    written = last.written_bytes - first.written_bytes
    turns = max(_find_turns([d.owed_bytes for d in debts], WAVE_SHARE * written), key=len)
    if len(turns) > 1:
        early, late = debts[turns[0]], debts[turns[-1]]
        between = late.written_bytes - early.written_bytes
        if between:
            return round((late.owed_bytes - early.owed_bytes) * written / between)
    return last.owed_bytes - first.owed_bytes


def count_waves(levels: Sequence[float]) -> int:
    """Return the number of whole waves: from one peak to the next, or from trough to trough.

    >>> count_waves([0.2, 0.8, 0.3, 0.8, 0.4])
    1

    Args:
        levels: The debt's share of its limit at each reading.
    """
    return max(0, max(map(len, _find_turns(levels, WAVE_SHARE))) - 1)


def _find_turns(values: Sequence[float], least: float) -> tuple[list[int], list[int]]:
    """Return where a series turns up again, and where down, by at least so much."""
    troughs: list[int] = []
    peaks: list[int] = []
    rising: bool | None = None
    lowest = highest = extreme = 0
    for place, value in enumerate(values):
        if rising is None:
            lowest = place if value < values[lowest] else lowest
            highest = place if value > values[highest] else highest
            if least > 0 and values[highest] - values[lowest] >= least:
                rising, extreme = highest > lowest, place
        elif (value > values[extreme]) == rising:
            extreme = place
        elif abs(value - values[extreme]) >= least:
            (peaks if rising else troughs).append(extreme)
            rising, extreme = not rising, place
    return troughs, peaks


def compute_growth(debt: DebtGrowth) -> float:
    """Return the growth of debt as a share of what was written; negative if it shrank."""
    return debt.lent_bytes / debt.written_bytes if debt.written_bytes else 0.0


def lasts_s(debt: DebtGrowth) -> float | None:
    """Return how long an empty log lasts at this growth, in seconds; None if it does not grow."""
    return debt.limit_bytes / debt.lent_bytes * debt.interval_s if debt.lent_bytes > 0 else None


def is_lent(debt: DebtGrowth) -> bool:
    """Return whether a window measured what the log lends: it filled, and held no whole wave.

    What is lent is I/Os. A window whose operations took c I/Os each and left p page writes for
    later would have taken c + p without the log, so it claims too much by p / c at most.
    """
    lasts = lasts_s(debt)
    if lasts is None or lasts > LASTS_S or debt.waves or compute_growth(debt) <= GROWTH_MAX:
        return False
    if debt.pages_per_operation is None:
        return True
    if debt.ios_per_operation is None:
        return debt.pages_per_operation >= PAGES_LEAST
    return debt.pages_per_operation > GROWTH_MAX * debt.ios_per_operation


def describe_outgrown(debt: DebtGrowth | None) -> str | None:
    """Return why a load writes more than its pages can follow; None if nothing shows that.

    The log has to be half full: below that, a server that adapts does not try.
    """
    if debt is None or not is_lent(debt) or debt.start_bytes < ADAPTS_SHARE * debt.limit_bytes:
        return None
    return (
        f"the log only filled: {words.format_percent(compute_growth(debt))} of what was written to"
        " it is"
        f" not written back, {words.format_percent(GROWTH_MAX)} allowed"
    )


def is_unproven(step: Step) -> bool:
    """Return whether a window says nothing of what lasts: its log only filled, and was not full."""
    debt = step.debt
    return debt is not None and is_lent(debt) and describe_outgrown(debt) is None


def is_only_filling(step: Step) -> bool:
    """Return whether that is so although the step was to fill the log before its window."""
    return step.debt is not None and step.debt.judged and is_unproven(step)


def is_repaying(debt: DebtGrowth | None) -> bool:
    """Return whether a window wrote back much of what the filling left, and so shows too little."""
    if debt is None or not debt.judged or debt.waves:
        return False
    purged = -(_count_unpurged_share(debt) or 0.0)
    return compute_growth(debt) < -PAID_MAX or purged > PAID_MAX


def _count_unpurged_share(debt: DebtGrowth) -> float | None:
    """Return what purging would have taken that a window put off, as a share of its I/Os.

    Negative if the purge caught up; None if unknown.
    """
    if debt.unpurged_per_operation is None or not debt.ios_per_operation:
        return None
    return PURGE_IOS * debt.unpurged_per_operation / debt.ios_per_operation


def count_windows_for_wave(step: Step) -> int | None:
    """Return the multiple of the request's window that holds a whole wave of a log that only fills.

    Returns:
        None if the window needs no longer one, or if a wave is too long for any.
    """
    debt = step.debt
    if debt is None or step.window_s is None or not is_lent(debt) or not debt.judged:
        return None
    factor = step.window_factor or 1
    usual_s = step.window_s / factor
    needed = math.ceil(WAVES_HELD * (lasts_s(debt) or 0.0) / usual_s)
    most = min(WAVE_FACTOR_MOST, WAVE_WINDOW_MOST_S / usual_s)
    return needed if factor < needed <= most else None


def describe_debt(steps: Sequence[Step]) -> str | None:
    """Say how write debt changed in the windows of an answer; where it is not known, their waves.

    None for loads that write next to nothing, and for windows without waves.
    """
    debts = [step.debt for step in steps if step.debt is not None and fills_soon(step.debt)]
    if debts:
        growth = max(map(compute_growth, debts))
        level = min(debt.start_bytes / debt.limit_bytes for debt in debts)
        grew = "did not grow"
        if growth > 0:
            grew = f"grew by at most {words.format_percent(growth)} of what was written"
        put_off = [share for share in map(_count_put_off_share, debts) if share is not None]
        pages = [debt.pages_per_operation for debt in debts if debt.pages_per_operation is not None]
        if growth > GROWTH_MAX and put_off:
            grew += f" (page writes put off: {words.format_percent(max(put_off))} of the I/Os)"
        elif growth > GROWTH_MAX and pages:  # the server does not tell its I/Os
            grew += (
                f" (page writes put off: {words.format_number(round(max(pages), 4))} per operation)"
            )
        return (
            f"write debt was read: in the windows of the answer it {grew}, and the log was at least"
            f" {words.format_percent(level)} full when they began"
        )
    waves = [step.wave_s for step in steps if step.debt is None and step.wave_s is not None]
    if 2 * len(waves) <= len(steps):
        return None
    return (
        "write debt cannot be read, but throughput comes in waves of about"
        f" {words.format_duration(round(median(waves)))}: a window has to hold several of them"
    )


def _count_put_off_share(debt: DebtGrowth) -> float | None:
    """Return the page writes that a window put off, as a share of its I/Os; None if unknown."""
    if debt.pages_per_operation is None or not debt.ios_per_operation:
        return None
    return debt.pages_per_operation / debt.ios_per_operation


def describe_purge(steps: Sequence[Step]) -> str | None:
    """Say that the purge of old row versions fell behind in the windows of an answer.

    Nothing limits how far, so no window is judged by it. None if it kept up, or is not known.
    """
    shares = [_count_unpurged_share(step.debt) for step in steps if step.debt is not None]
    known = [share for share in shares if share is not None]
    if not known or median(known) <= GROWTH_MAX:
        return None
    return (
        "the purge of old row versions fell behind in the windows of the answer, which puts off up"
        f" to {words.format_percent(median(known))} of the I/Os: limits.soak_s shows what lasts"
    )


def fills_soon(debt: DebtGrowth) -> bool:
    """Return whether a window wrote enough to fill the log within a day (`LASTS_S`)."""
    return debt.written_bytes / debt.interval_s * LASTS_S >= debt.limit_bytes


# How long a step fills the log.


def began_filled(step: Step) -> bool:
    """Return whether a step's window began with a log that was filled, at least by half."""
    debt = step.debt
    return debt is not None and debt.start_bytes >= ADAPTS_SHARE * debt.limit_bytes


def plan_fill_s(
    purpose: Purpose | str,
    finished: Sequence[Step],
    now: WriteDebt | None,
    load_s: float,
    *,
    least_s: float = FILL_LEAST_S,
) -> float:
    """Return the longest time for which a step fills the log before its warm-up, in seconds.

    0 if its latency is what others are compared with, if write debt cannot be read, if no window so
    far was lent anything (read-only workloads take no extra time, nor do servers that write pages
    at once), or if the log is so large that a step cannot fill even half of it.

    Args:
        purpose: Why the search runs the step.
        finished: The finished steps.
        now: The server's write debt; None if it cannot be read.
        load_s: Warm-up and window of the step.
        least_s: The time that it may always take; 0 where it cannot end before that time.
    """
    lent = any(step.debt is not None and is_lent(step.debt) for step in finished)
    if now is None or not lent or purpose in UNFILLED:
        return 0.0
    speeds = [
        step.debt.written_bytes
        / step.debt.interval_s
        * math.sqrt(max(1.0, FILL_CONNECTIONS / (step.connections or FILL_CONNECTIONS)))
        for step in finished
        if step.debt is not None
    ]
    each_s = now.limit_bytes / max(speeds)
    most_s = max(least_s, FILL_FACTOR * load_s)
    if ADAPTS_SHARE * each_s > STEPS_TO_FILL * most_s:
        return 0.0
    return min(RESERVE_FACTOR * FILLED_SHARE * each_s, most_s)


def is_filled(readings: Sequence[TimedDebt], operations_per_s: float | None = None) -> bool:
    """Return whether a log is as full as a heavy load makes it, or lends nothing more.

    Args:
        readings: The readings since the filling began.
        operations_per_s: The throughput of the load that fills; None if unknown.
    """
    now = readings[-1]
    if now.debt.paying or now.debt.owed_bytes >= FILLED_SHARE * now.debt.limit_bytes:
        return True
    before = [reading for reading in readings if reading.at_s <= now.at_s - BALANCE_S]
    if not before:
        return False
    growth = measure_growth((before[-1], now), judged=True, operations_per_s=operations_per_s)
    return growth is not None and growth.written_bytes > 0 and not is_lent(growth)
