"""The figures of a step over all of its clients: counts are added, histograms merged.

Percentiles are never averaged; they come from the merged histogram. A step's window is the time in
which all clients ran.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median

from plimsoll.fleet.fold import Fold
from plimsoll.model.judging.steps import Half
from plimsoll.model.run.fleet import FailedClient, ServerLook
from plimsoll.model.run.results import FleetFigures, SecondTotals, ServerLooks

SAME_WINDOW_MS = 100  # clients whose windows differ by less count as running together


class Window:
    """The time in which all clients ran. `whole` if it is every client's full window."""

    def __init__(self, fold: Fold) -> None:
        """Intersect the windows of the clients that ran.

        Clients of a pass to completion end when they are done: its window lasts from first to last.

        Raises:
            ValueError: No client ran.
        """
        starts, ends = fold.window_starts, fold.window_ends
        if starts.least is None or starts.most is None or ends.least is None or ends.most is None:
            raise ValueError("no client ran")
        if fold.plan.operations is not None:
            self.start_epoch_ms, self.end_epoch_ms, self.whole = starts.least, ends.most, True
            return
        self.start_epoch_ms = starts.most
        self.end_epoch_ms = ends.least
        self.whole = max(starts.spread or 0, ends.spread or 0) < SAME_WINDOW_MS

    @property
    def length_s(self) -> float:
        """Its length in seconds; 0 if the windows do not overlap."""
        return max(0, self.end_epoch_ms - self.start_epoch_ms) / 1000


def compute_halves(
    fold: Fold, window: Window, seconds: Sequence[SecondTotals]
) -> tuple[Half, Half]:
    """Return the figures of both halves of the window, for the steady-state audit."""
    middle = (window.start_epoch_ms + window.end_epoch_ms) / 2
    return (
        _compute_half(fold, seconds, window.start_epoch_ms, middle),
        _compute_half(fold, seconds, middle, window.end_epoch_ms),
    )


def _compute_half(fold: Fold, seconds: Sequence[SecondTotals], start: float, end: float) -> Half:
    first, past = _find_whole_seconds(fold, start, end)
    each = _count_successes(fold, seconds, first, past)
    return Half(
        throughput_ops_per_second=sum(each.values()) / len(each) if each else None,
        latency_us=fold.p99_medians(first, past),
    )


def _find_whole_seconds(fold: Fold, start: float, end: float) -> tuple[int, int]:
    """Return the first whole second of the load within a time, and the one after the last."""
    barrier = fold.plan.start_at_epoch_ms
    return max(0, math.ceil((start - barrier) / 1000)), max(0, math.floor((end - barrier) / 1000))


def _count_successes(
    fold: Fold, seconds: Sequence[SecondTotals], first: int, past: int
) -> Counter[int]:
    """Count the successful operations in each second."""
    zero_s = fold.plan.start_at_epoch_ms // 1000
    succeeded: Counter[int] = Counter()
    for second in seconds:
        if first <= second.epoch_s - zero_s < past:
            succeeded[second.epoch_s] += second.succeeded
    return succeeded


def list_second_counts(fold: Fold, window: Window, seconds: Sequence[SecondTotals]) -> list[float]:
    """Return the successful operations in each whole second of the window."""
    whole = _find_whole_seconds(fold, window.start_epoch_ms, window.end_epoch_ms)
    succeeded = _count_successes(fold, seconds, *whole)
    return [float(succeeded[second]) for second in sorted(succeeded)]


def throughput(fold: Fold, window: Window, seconds: Sequence[SecondTotals]) -> float | None:
    """Return the throughput in the window; None if the window is empty.

    If a client was later than the warm-up, only whole seconds in which all clients ran count.
    """
    if window.whole:
        return fold.succeeded / window.length_s if window.length_s else None
    each = list_second_counts(fold, window, seconds)
    return sum(each) / len(each) if each else None


def summarize_fleet(fold: Fold, failed: Sequence[FailedClient]) -> FleetFigures:
    """Return the figures of the clients: which ran, failed, never answered or were late."""
    without = set(range(fold.plan.clients)) - fold.ran
    failed_now = tuple(client for client in failed if client.client in without)
    return FleetFigures(
        planned=fold.plan.clients,
        ran=len(fold.ran),
        failed=failed_now,
        missing=tuple(sorted(without - {client.client for client in failed_now})),
        late=fold.late,
        start_spread_ms=fold.invoked_epoch_ms.spread,
        cold_starts=fold.cold_starts,
        memory_max_mib=fold.memory_max_mib,
        cpu_us_per_operation=fold.cpu_s * 1e6 / fold.succeeded if fold.succeeded else None,
        busiest_client=fold.busiest,
        polled_share=fold.polled_share,
        most_waiting_percent=fold.most_waiting_percent,
        engine_version=fold.engine_version,
    )


def summarize_server_looks(looks: Sequence[ServerLook]) -> ServerLooks | None:
    """Summarize the observations of a server; None if there are none."""
    if not looks:
        return None
    shares = [look.checkpoint_share for look in looks if look.checkpoint_share is not None]
    checkpoints = [look.checkpoint for look in looks if look.checkpoint is not None]
    return ServerLooks(
        looks=len(looks),
        row_lock_waiters=_mean(look.row_lock_waiters for look in looks),
        table_lock_waiters=_mean(look.table_lock_waiters for look in looks),
        checkpoint_share=median(shares) if shares else None,
        page_read_waiters=_mean(look.page_read_waiters for look in looks),
        inner_lock_waiters=_mean(look.inner_lock_waiters for look in looks),
        log_waiters=_mean(look.log_waiters for look in looks),
        log_io_share=_mean(look.log_io for look in looks),
        autovacuum_workers=_mean(look.autovacuum_workers for look in looks),
        checkpoint_looks=sum(checkpoints) if checkpoints else None,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
