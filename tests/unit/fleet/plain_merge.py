"""What a step's figures mean, written down plainly, with every client's whole result at hand.

The product folds results one at a time; `test_fold.py` holds it against this.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from statistics import fmean, median

import plimsoll_engine
from plimsoll.model.engine.answered import LatencySummary, LoadReport, SecondReport
from plimsoll.model.judging.steps import Half
from plimsoll.model.run.fleet import ClientResult, FailedClient, ServerLook, StepPlan
from plimsoll.model.run.results import FleetFigures, OperationTotals, SecondTotals, ServerLooks

SAME_WINDOW_MS = 100  # clients whose windows differ by less ran together


class Window:
    """The time in which all clients ran, and whether it is each client's own window."""

    def __init__(self, results: Sequence[ClientResult]) -> None:
        """Intersect the windows of clients that ran."""
        starts = [result.report.window_start_epoch_ms for result in results]
        ends = [result.report.window_end_epoch_ms for result in results]
        self.start_epoch_ms = max(starts)
        self.end_epoch_ms = min(ends)
        self.whole = max(max(starts) - min(starts), max(ends) - min(ends)) < SAME_WINDOW_MS

    @property
    def length_s(self) -> float:
        """Its length in seconds; 0 where there was no time in which all ran."""
        return max(0, self.end_epoch_ms - self.start_epoch_ms) / 1000


def operations(results: Sequence[ClientResult]) -> dict[str, OperationTotals]:
    """Add up each operation over all clients, and merge its histograms."""
    names = {name: None for result in results for name in result.report.operations}
    return {name: _operation(name, [result.report for result in results]) for name in names}


def _operation(name: str, reports: Sequence[LoadReport]) -> OperationTotals:
    parts = [report.operations[name] for report in reports if name in report.operations]
    histogram = plimsoll_engine.merge_histograms([part.histogram for part in parts])
    errors: Counter[str] = Counter()
    for part in parts:
        errors.update(part.errors)
    return OperationTotals(
        succeeded=sum(part.succeeded for part in parts),
        records=sum(part.records for part in parts),
        errors=dict(errors),
        latency_us=LatencySummary.model_validate_json(plimsoll_engine.histogram_summary(histogram)),
        histogram=histogram,
    )


def seconds(plan: StepPlan, results: Iterable[ClientResult]) -> tuple[SecondTotals, ...]:
    """Add up each second of the load over all clients, warm-up included."""
    first = plan.start_at_epoch_ms // 1000
    rows: dict[tuple[int, str], list[SecondTotals]] = defaultdict(list)
    for result in results:
        for second in result.report.seconds:
            row = SecondTotals(
                epoch_s=first + second.second,
                step=plan.index,
                operation=second.operation,
                succeeded=second.succeeded,
                errors=second.errors,
                max_us=second.max_us,
                buckets=getattr(second, "buckets", {}),
            )
            rows[row.epoch_s, row.operation].append(row)
    return tuple(_second(rows[key]) for key in sorted(rows))


def _second(rows: Sequence[SecondTotals]) -> SecondTotals:
    longest = [row.max_us for row in rows if row.max_us is not None]
    buckets: Counter[int] = Counter()
    for row in rows:
        buckets.update(row.buckets)
    return rows[0].model_copy(
        update={
            "succeeded": sum(row.succeeded for row in rows),
            "errors": sum(row.errors for row in rows),
            "max_us": max(longest, default=None),
            "buckets": dict(sorted(buckets.items())),
        }
    )


def halves(plan: StepPlan, window: Window, results: Sequence[ClientResult]) -> tuple[Half, Half]:
    """Describe both halves of the window by their whole seconds, for the steady-state audit."""
    middle = (window.start_epoch_ms + window.end_epoch_ms) / 2
    first, second = (
        _half(plan, results, window.start_epoch_ms, middle),
        _half(plan, results, middle, window.end_epoch_ms),
    )
    return first, second


def _half(plan: StepPlan, results: Sequence[ClientResult], start: float, end: float) -> Half:
    within = _seconds_within(plan, results, start, end)
    length_s = len({second.second for second in within})
    p99s: dict[str, list[int]] = defaultdict(list)
    for second in within:
        if second.p99_us is not None:
            p99s[second.operation].append(second.p99_us)
    return Half(
        throughput_ops_per_second=sum(s.succeeded for s in within) / length_s if length_s else None,
        latency_us={name: median(values) for name, values in p99s.items()},
    )


def _seconds_within(
    plan: StepPlan, results: Sequence[ClientResult], start: float, end: float
) -> list[SecondReport]:
    return [
        second
        for result in results
        for second in result.report.seconds
        if start <= plan.start_at_epoch_ms + second.second * 1000
        and plan.start_at_epoch_ms + (second.second + 1) * 1000 <= end
    ]


def second_by_second(
    plan: StepPlan, window: Window, results: Sequence[ClientResult]
) -> list[float]:
    """Give the successful operations of each whole second of the window, all clients together."""
    succeeded: Counter[int] = Counter()
    for second in _seconds_within(plan, results, window.start_epoch_ms, window.end_epoch_ms):
        succeeded[second.second] += second.succeeded
    return [float(succeeded[second]) for second in sorted(succeeded)]


def throughput(plan: StepPlan, window: Window, results: Sequence[ClientResult]) -> float | None:
    """Give the successful operations per second in the window; None where it holds no time.

    Where a client was late beyond the warm-up, only the whole seconds in which all ran count.
    """
    if window.whole:
        succeeded = sum(op.succeeded for r in results for op in r.report.operations.values())
        return succeeded / window.length_s if window.length_s else None
    whole = _half(plan, results, window.start_epoch_ms, window.end_epoch_ms)
    return whole.throughput_ops_per_second


def fleet_figures(
    plan: StepPlan, results: Sequence[ClientResult], failed: Sequence[FailedClient]
) -> FleetFigures:
    """Say how the clients did: who ran, who failed, who never answered, who was late."""
    ran = {result.client for result in results}
    without = set(range(plan.clients)) - ran
    failed_now = tuple(client for client in failed if client.client in without)
    reports = [result.report for result in results]
    started = [result.invoked_epoch_ms for result in results]
    cpu_s = reduce(add, (r.client.cpu_user_s + r.client.cpu_system_s for r in reports), 0.0)
    succeeded = sum(op.succeeded for r in reports for op in r.operations.values())
    busy = [r.client.busy_fraction for r in reports if r.client.busy_fraction is not None]
    return FleetFigures(
        planned=plan.clients,
        ran=len(ran),
        failed=failed_now,
        missing=tuple(sorted(without - {client.client for client in failed_now})),
        late={r.client: r.report.late_start_ms for r in results if r.report.late_start_ms > 0},
        start_spread_ms=max(started) - min(started) if started else None,
        cold_starts=sum(result.cold_start for result in results),
        memory_max_mib=max((result.memory_max_mib for result in results), default=None),
        cpu_us_per_operation=cpu_s * 1e6 / succeeded if succeeded else None,
        busiest_client=max(busy, default=None),
        most_waiting_percent=max(_waiting_percents(reports), default=None),
        engine_version=next((report.engine_version for report in reports), None),
    )


def server_looks(looks: Sequence[ServerLook]) -> ServerLooks | None:
    """Summarize what was seen of a server; None where nobody looked."""
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


def _waiting_percents(reports: Iterable[LoadReport]) -> Iterator[float]:
    """Give for each client how much of the time with work it had no processor for it."""
    for client in (report.client for report in reports):
        waited_s, worked_s = client.processor_wait_s, client.cpu_user_s + client.cpu_system_s
        if waited_s is not None and waited_s + worked_s > 0:
            yield 100 * waited_s / (waited_s + worked_s)
