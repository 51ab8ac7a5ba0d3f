"""What clients measured is added up: histograms are merged, percentiles never averaged."""

import pytest
from hdrh.histogram import HdrHistogram

from plimsoll.databases.mysql.counters import EXECUTED
from plimsoll.fleet.fold import fold_clients
from plimsoll.fleet.step import Window, compute_halves, summarize_fleet
from plimsoll.model.engine.answered import (
    ConnectionReport,
    LatencySummary,
    LoadReport,
    OperationReport,
    SecondReport,
    SelfReport,
)
from plimsoll.model.run.fleet import ClientResult, FailedClient, ServerCounters, StepPlan
from tests.support.merged import merge_step

START_MS = 1_000_000
NONE = LatencySummary(mean=None, p50=None, p95=None, p99=None, p999=None, max=None)


def planned(clients: int = 2, *, warmup_s: float = 1, duration_s: float = 4) -> StepPlan:
    values = {EXECUTED: 1000, "Uptime": 10}
    before = ServerCounters(epoch_ms=START_MS - 500, values=values, family="mysql")
    return StepPlan(
        index=1, purpose="climb", why="", clients=clients, connections=clients,
        rate_ops_per_second=None, warmup_s=warmup_s, duration_s=duration_s, timeout_ms=1000,
        seed=1, start_at_epoch_ms=START_MS, recovered=None, server_before=before,
    )  # fmt: skip


def histogram(values: list[int]) -> str:
    recorded = HdrHistogram(1, 300_000_000, 3)
    for value in values:
        recorded.record_value(value)
    return str(recorded.encode().decode())


def result(
    client: int,
    values: list[int],
    *,
    per_second: int = 10,
    late_ms: int = 0,
    window: tuple[int, int] = (1_000, 5_000),
    errors: dict[str, int] | None = None,
) -> ClientResult:
    """One client that did `per_second` reads in each of five seconds."""
    start, end = window
    seconds = tuple(
        SecondReport(
            second=second, operation="read", succeeded=per_second, errors=0, p50_us=100,
            p99_us=200 + second, max_us=300 + client, buckets={100: per_second},
        )
        for second in range(5)
    )  # fmt: skip
    report = LoadReport(
        engine_version="1.2.3",
        window_start_epoch_ms=START_MS + start,
        window_end_epoch_ms=START_MS + end,
        window_s=(end - start) / 1000,
        late_start_ms=late_ms,
        connections=1,
        threads=1,
        rate_ops_per_second=None,
        operations={
            "read": OperationReport(
                succeeded=len(values), records=len(values), errors=errors or {},
                latency_us=NONE, histogram=histogram(values),
            )
        },
        seconds=seconds,
        client=SelfReport(
            cpu_user_s=0.3, cpu_system_s=0.1, cpu_us_per_operation=None,
            busy_fraction=0.1 * (client + 1), processor_wait_s=0.1 * (client + 1),
            send_lateness_us=None, backlog_max=None, backlog_end=None, unsent=None,
            unanswered=0, oldest_unanswered_us=None,
        ),
        connection_report=ConnectionReport(opened=1, replaced=0, failed={}),
        statements_sent=50,
        transaction_commands_sent=0,
        error_examples={},
        operations_sent=50,
        ended="duration",
    )  # fmt: skip
    return ClientResult(
        run_id="r", step=1, client=client, invoked_epoch_ms=START_MS - 400 + 30 * client,
        cold_start=client == 0, memory_max_mib=50 + client, report=report,
    )  # fmt: skip


def after(executed: int, uptime: int = 20) -> ServerCounters:
    values = {EXECUTED: executed, "Uptime": uptime}
    return ServerCounters(epoch_ms=START_MS + 6_000, values=values, family="mysql")


def test_percentiles_are_those_of_all_operations_together() -> None:
    fast, slow = [100] * 99, [10_000] * 11  # the mean of their medians would be 5,050
    both = [result(0, fast), result(1, slow, errors={"1213": 2})]
    merged = fold_clients(planned(), both).operations()["read"]
    assert merged.succeeded == 110
    assert merged.errors == {"1213": 2}
    assert merged.latency_us.p50 == 100
    assert merged.latency_us.p95 == pytest.approx(10_000, rel=0.001)
    again = HdrHistogram.decode(merged.histogram)
    assert again.get_total_count() == 110


def test_a_step_counts_its_latencies_by_bucket_so_that_windows_can_be_added() -> None:
    clients = [result(0, [100] * 99), result(1, [10_000] * 11)]
    counts = merge_step(planned(), clients, [], server_after=after(1100)).step.latency_counts
    (low, fast), (high, slow) = sorted(counts["read"].items())
    assert (fast, slow) == (99, 11)
    assert 100 <= low <= 110
    assert 10_000 <= high <= 11_000


def test_throughput_is_of_the_window_in_which_all_ran() -> None:
    step = merge_step(planned(), [result(0, [100] * 40), result(1, [100] * 60)], [],
                       server_after=after(1100))  # fmt: skip
    assert step.step.window_s == 4
    assert step.step.throughput_ops_per_second == 25
    assert step.problems == ()


def test_a_client_late_beyond_the_warmup_shrinks_the_window_to_whole_seconds() -> None:
    late = result(1, [100] * 30, late_ms=2_500, window=(2_500, 5_000))
    step = merge_step(planned(), [result(0, [100] * 40), late], [], server_after=after(1100))
    assert step.step.window_s == 2.5
    assert step.step.throughput_ops_per_second == 20  # of seconds 3 and 4, both clients
    assert step.fleet.late == {1: 2_500}
    assert "1 client was late, at most by 2.5 s: 1" in step.problems
    assert any("ran together for 2.5 s only" in problem for problem in step.problems)


def test_seconds_are_added_over_clients_on_one_clock() -> None:
    seconds = fold_clients(planned(), [result(0, [1]), result(1, [1], per_second=5)]).seconds()
    assert [second.epoch_s for second in seconds] == [1000, 1001, 1002, 1003, 1004]
    assert {second.succeeded for second in seconds} == {15}
    assert {second.max_us for second in seconds} == {301}
    assert seconds[0].buckets == {100: 15}


def test_halves_of_the_window_leave_the_warmup_out() -> None:
    fold = fold_clients(planned(), [result(0, [1]), result(1, [1])])
    first, second = compute_halves(fold, Window(fold), fold.seconds())
    assert first.throughput_ops_per_second == second.throughput_ops_per_second == 20
    assert first.latency_us["read"] == 201.5  # seconds 1 and 2
    assert second.latency_us["read"] == 203.5


def test_a_step_names_who_failed_who_is_missing_and_how_busy_the_busiest_was() -> None:
    plan = planned(4)
    failed = [FailedClient(client=2, error="Lambda.Unknown", cause="killed")]
    step = merge_step(plan, [result(0, [1] * 8), result(1, [1] * 8)], failed,
                       server_after=after(1100))  # fmt: skip
    fleet = step.fleet
    assert (fleet.planned, fleet.ran, fleet.missing) == (4, 2, (3,))
    assert fleet.busiest_client == pytest.approx(0.2)
    assert fleet.most_waiting_percent == pytest.approx(100 * 0.2 / (0.2 + 0.3 + 0.1))
    assert fleet.start_spread_ms == 30
    assert fleet.cold_starts == 1
    assert fleet.memory_max_mib == 51
    assert fleet.cpu_us_per_operation == pytest.approx(0.8e6 / 16)
    assert step.step.clients_ran == 2
    assert "client 2 failed: Lambda.Unknown: killed" in step.problems
    assert "1 client never answered: 3" in step.problems


def test_looking_for_answers_is_told_apart_from_work() -> None:
    def polled(client: int, polled_s: float | None) -> ClientResult:
        one = result(client, [1] * 8)
        myself = one.report.client.model_copy(update={"polled_s": polled_s})
        return one.model_copy(update={"report": one.report.model_copy(update={"client": myself})})

    fleet = summarize_fleet(fold_clients(planned(), [polled(0, 0.2), polled(1, 0.1)]), [])
    assert fleet.polled_share == pytest.approx((0.2 + 0.1) / (4 + 4))
    assert fleet.cpu_us_per_operation == pytest.approx((0.8 - 0.3) * 1e6 / 16)
    unknown = fold_clients(planned(), [polled(0, 0.2), polled(1, None)])
    assert summarize_fleet(unknown, []).polled_share is None


def test_the_servers_count_is_compared_only_where_every_client_has_counted() -> None:
    both = [result(0, [1]), result(1, [1])]
    step = merge_step(planned(), both, [], server_after=after(1100)).step
    assert (step.statements_sent, step.statements_served) == (100, 100)
    alone = merge_step(planned(), both[:1], [], server_after=after(1100)).step
    assert alone.statements_sent is None


def test_a_restarted_server_is_noticed_and_its_count_not_compared() -> None:
    step = merge_step(planned(), [result(0, [1]), result(1, [1])], [],
                       server_after=after(70, uptime=2))  # fmt: skip
    assert step.server is not None
    assert step.server.restarted
    assert step.step.statements_sent is None
    assert "the server was restarted during the step" in step.problems


def test_a_server_that_does_not_answer_leaves_its_figures_unknown() -> None:
    step = merge_step(planned(), [result(0, [1]), result(1, [1])], [], server_after=None)
    assert step.server is None
    assert step.step.statements_served is None


def test_no_client_at_all_is_no_throughput_and_not_zero() -> None:
    step = merge_step(planned(), [], [], server_after=after(1000))
    assert step.step.throughput_ops_per_second is None
    assert step.step.latency_us == {}
    assert step.fleet.missing == (0, 1)
