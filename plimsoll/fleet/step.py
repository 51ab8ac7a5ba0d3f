"""A step's result, computed from all of its clients and the server's counters.

Counts are added and histograms merged: percentiles are never averaged, they come from the merged
histogram. A step's window is the time in which all clients ran.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, median

import plimsoll_engine
from plimsoll import words
from plimsoll.capacity.statistics.trends import detect_trend, find_wave_s
from plimsoll.capacity.steps.debt import UNFILLED, TimedDebt, measure_growth
from plimsoll.databases.family import find_family
from plimsoll.fleet.background import add_background_results
from plimsoll.fleet.failures import CLIENTS_NAMED, describe_failures, describe_refusal
from plimsoll.fleet.fold import Fold
from plimsoll.fleet.spans import add_soak_figures
from plimsoll.model.histograms import BOUNDS_US, list_buckets
from plimsoll.model.judging.steps import STATISTICS, Half, Statistic, Step
from plimsoll.model.run.fleet import FailedClient, ServerCounters, ServerLook, StepPlan
from plimsoll.model.run.results import (
    FleetFigures,
    OperationTotals,
    SecondTotals,
    ServerFigures,
    ServerLooks,
    StepResult,
    split_known_rows,
)

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
        """Length in seconds; 0 if the windows do not overlap."""
        return max(0, self.end_epoch_ms - self.start_epoch_ms) / 1000


def build_step(
    fold: Fold,
    failed: Sequence[FailedClient],
    *,
    server_after: ServerCounters | None,
    statistic: Statistic,
    beside: Sequence[Fold] = (),
) -> StepResult:
    """Compute a step's result.

    Args:
        fold: The sums over the clients that ran.
        failed: The clients whose invocation ended in an error, including those of the background.
        server_after: The server's counters after the load; None if it did not answer.
        statistic: The latency statistic by which a soak is judged.
        beside: The sums of each background load's clients, in order.
    """
    fleet = summarize_fleet(fold, failed)
    server = _make_server_figures((fold, *beside), server_after)
    operations, seconds = fold.operations(), fold.seconds()
    window = Window(fold) if fold.ran else None
    plan = fold.plan
    # a pass to completion lasts as long as it takes
    if window is not None and plan.operations is not None:
        plan = plan.model_copy(update={"duration_s": window.length_s})
    step = _make_step(fold, operations, window=window, fleet=fleet, server=server)
    commits = _count_commits(plan, server, server_after)
    if commits:
        writes = sum(second.succeeded for second in seconds if second.operation in fold.writing)
        step = step.model_copy(update={"writes": writes, "commits": commits})
    if window is not None:
        throughput = compute_throughput(fold, window, seconds)
        if throughput is None and step.refused is not None:
            throughput = 0.0  # the load has failed, however briefly those that were let in ran
        each_second = list_second_counts(fold, window, seconds)
        read = {
            "throughput_ops_per_second": throughput,
            "halves": compute_halves(fold, window, seconds),
            "trend": detect_trend(each_second),
            "wave_s": find_wave_s(each_second) if step.debt is None else None,
        }
        step = step.model_copy(update=read)
        if plan.purpose == "soak":
            step = step.model_copy(update=_list_load_times(fold))
    result = StepResult(
        plan=plan,
        window_start_epoch_ms=window.start_epoch_ms if window else None,
        window_end_epoch_ms=window.end_epoch_ms if window else None,
        operations=operations,
        nodes=fold.nodes(),
        fleet=fleet,
        server=server,
        problems=tuple(_list_problems(plan, fleet, server, window)),
        step=step,
        seconds=seconds,
    )
    return add_soak_figures(add_background_results(result, beside, failed), statistic)


def _list_load_times(fold: Fold) -> dict[str, int | None]:
    """Return when the first client was called, and the first and last time of any client's load."""
    starts = fold.window_starts.least
    return {
        "called_epoch_ms": fold.invoked_epoch_ms.least,
        "load_start_epoch_ms": starts and starts - round(1000 * fold.plan.warmup_s),
        "load_end_epoch_ms": fold.window_ends.most,
    }


def _make_server_figures(
    folds: Sequence[Fold], after: ServerCounters | None
) -> ServerFigures | None:
    """Return the server's counts and the statements that all clients sent.

    The first fold is that of the step's own clients.
    """
    plan = folds[0].plan
    if plan.server_before is None or after is None:
        return None
    complete = sum(len(fold.ran) for fold in folds) == plan.clients_in_all
    # The next fleet of a relay connects meanwhile, and the server counts its statements too.
    complete = complete and plan.relay is None
    sent = sum(fold.statements_sent for fold in folds) if complete else None
    family = find_family(after.family)
    figures = family.server_figures(plan.server_before, after, statements_by_clients=sent)
    return figures.model_copy(update={"looks": summarize_server_looks(folds[0].looks)})


def _count_commits(
    plan: StepPlan, server: ServerFigures | None, after: ServerCounters | None
) -> int | None:
    """Return the commits that the server counted over the whole load; None if unknown."""
    if server is None or after is None or server.restarted or plan.relay is not None:
        return None  # the counters of a relay are read a moment after its windows end
    return find_family(after.family).waits(server).commits


def _make_step(
    fold: Fold,
    operations: dict[str, OperationTotals],
    *,
    window: Window | None,
    fleet: FleetFigures,
    server: ServerFigures | None,
) -> Step:
    """Return the step without the figures that come from its seconds."""
    plan, succeeded = fold.plan, fold.succeeded
    failed = sum(sum(totals.errors.values()) for totals in operations.values())
    refused = describe_refusal(fleet.failed, plan.clients)
    let_in = bool(fold.ran)
    meant, missing = split_known_rows(operations)
    return Step(
        index=plan.index,
        source=f"steps/{plan.index}",
        purpose=None if plan.purpose in {"warm", "phase"} else plan.purpose,
        state=plan.state,
        clients=plan.clients,
        connections=plan.connections,
        rate_ops_per_second=plan.rate_ops_per_second,
        throughput_ops_per_second=0.0 if refused is not None and not let_in else None,
        refused=refused,
        operations=succeeded if let_in else None,
        errors=failed if let_in else None,
        window_s=window.length_s or None if window else None,
        latency_us={
            name: latency
            for name, totals in operations.items()
            # An operation of a refused load may have had no answer, and then has no latency.
            if (latency := _select_known_latencies(totals)) or refused is None
        },
        latency_counts={
            name: list_buckets(plimsoll_engine.histogram_counts(totals.histogram, list(BOUNDS_US)))
            for name, totals in operations.items()
            if totals.histogram
        },
        shares={name: t.succeeded / succeeded for name, t in operations.items() if succeeded},
        operation_counts={name: totals.succeeded for name, totals in operations.items()},
        rows_meant=meant,
        rows_missing=missing,
        written_back=fold.read_back.written if fold.read_back else None,
        read_back=fold.read_back.kept if fold.read_back else None,
        clients_ran=fleet.ran,
        clients_late=sum(late_ms > plan.warmup_s * 1000 for late_ms in fleet.late.values()),
        client_busy=min(fleet.busiest_client, 1.0) if fleet.busiest_client is not None else None,
        send_lateness_us=fold.send_lateness_us,
        backlog_end=fold.backlog_end,
        window_factor=plan.window_factor,
        poll_us=plan.poll_us,
        recovered=plan.recovered,
        debt=measure_growth(
            list_debts(fold.looks),
            judged=plan.purpose not in UNFILLED,
            operations_per_s=succeeded / window.length_s if window and window.length_s else None,
        ),
        calm_waited_s=plan.calm_waited_s,
        statements_sent=server.statements_by_clients if server else None,
        statements_served=server.statements_by_server if server else None,
    )


def _select_known_latencies(totals: OperationTotals) -> dict[str, float]:
    summary = totals.latency_us.model_dump()
    return {name: summary[name] for name in STATISTICS if summary[name] is not None}


def _list_clients(clients: Sequence[int]) -> str:
    named = [str(client) for client in clients[:CLIENTS_NAMED]]
    return ", ".join([*named, "..."] if len(clients) > CLIENTS_NAMED else named)


def _list_problems(
    plan: StepPlan,
    fleet: FleetFigures,
    server: ServerFigures | None,
    window: Window | None,
) -> list[str]:
    """Describe the problems of a step for its reader."""
    problems = describe_failures(fleet.failed)
    if fleet.missing:
        missing = words.format_count(len(fleet.missing), "client")
        problems.append(f"{missing} never answered: {_list_clients(fleet.missing)}")
    if fleet.late:
        worst = words.format_duration(max(fleet.late.values()) / 1000)
        latest = sorted(fleet.late, key=lambda client: -fleet.late[client])
        late = words.format_count(len(fleet.late), "client was", "clients were")
        problems.append(f"{late} late, at most by {worst}: {_list_clients(latest)}")
    if window is not None and not window.whole:
        problems.append(
            f"all clients ran together for {words.format_duration(window.length_s)} only, not"
            f" {words.format_duration(plan.duration_s)}: throughput is that of this time,"
            " latencies are"
            " those of each client's own window"
        )
    if server is None:
        problems.append("the server's own counters could not be read")
    elif server.restarted:
        problems.append("the server was restarted during the step")
    if plan.recovered is False:
        why = f": {plan.recovery}" if plan.recovery else ""
        problems.append(f"the target had not recovered from the step before{why}")
    elif plan.recovery:
        problems.append(f"before it the target did not recover any further: {plan.recovery}")
    return problems


# The figures of a step that need all of its clients.


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


def compute_throughput(fold: Fold, window: Window, seconds: Sequence[SecondTotals]) -> float | None:
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


def list_debts(looks: Sequence[ServerLook]) -> list[TimedDebt]:
    """Return the readings of a server's write debt, in the order of their times."""
    readings = [
        TimedDebt(look.epoch_ms / 1000, look.debt)
        for look in looks
        if look.debt is not None and look.epoch_ms is not None
    ]
    return sorted(readings, key=lambda reading: reading.at_s)


def summarize_server_looks(looks: Sequence[ServerLook]) -> ServerLooks | None:
    """Summarize the observations of a server; None if there are none."""
    if not looks:
        return None
    shares = [look.checkpoint_share for look in looks if look.checkpoint_share is not None]
    checkpoints = [look.checkpoint for look in looks if look.checkpoint is not None]
    return ServerLooks(
        looks=len(looks),
        row_lock_waiters=_average_known(look.row_lock_waiters for look in looks),
        table_lock_waiters=_average_known(look.table_lock_waiters for look in looks),
        checkpoint_share=median(shares) if shares else None,
        page_read_waiters=_average_known(look.page_read_waiters for look in looks),
        inner_lock_waiters=_average_known(look.inner_lock_waiters for look in looks),
        log_waiters=_average_known(look.log_waiters for look in looks),
        log_io_share=_average_known(look.log_io for look in looks),
        autovacuum_workers=_average_known(look.autovacuum_workers for look in looks),
        checkpoint_looks=sum(checkpoints) if checkpoints else None,
    )


def _average_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
