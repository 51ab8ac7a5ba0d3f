"""The limiting resource is named from figures, and never without them."""

from typing import Literal, get_args

import pytest

from plimsoll import words
from plimsoll.capacity.judge import judge
from plimsoll.limiting import find_limiting_resource
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.judging.capacity import Resource, Rules
from plimsoll.model.judging.debt import DebtGrowth
from plimsoll.model.run.fleet import ServerCounters
from plimsoll.model.run.results import LimitingResource, ServerFigures, ServerLooks, StepResult
from plimsoll.report.words import list_limit_facts, name_limit
from tests.unit.workflow.limit_samples import BUSY, GP2, IO1, knee, result


@pytest.mark.parametrize(
    ("figures", "volume", "resource", "reached", "told"),
    [
        (BUSY, IO1, "storage_iops", True, "990 of 1,000 IOPS (99 %), 12.0 of them waiting"),
        ({**BUSY, "cpu_percent": 99.5, "queue": 0.4}, IO1, "cpu", True,
         "cpu: the server used 99.5 % of its CPU"),
        ({**BUSY, "cpu_percent": 99.5}, IO1, "storage_iops", True, "12.0 of them waiting"),
        ({**BUSY, "read_iops": 100.0}, IO1, "cpu", False, "390 of 1,000 IOPS (39 %)"),
        ({**BUSY, "read_mib_s": 200.0, "write_mib_s": 45.0, "read_iops": 0.0}, IO1,
         "storage_throughput", True, "245 of 250 MiB/s"),
        ({**BUSY, "host_late_percent": 30.0}, IO1, "machine", True,
         "disk caused 30 % of the time in I/O"),
        ({**BUSY, "burst_balance_percent": 50.0}, GP2, "cpu", False, "990 of 3,000 IOPS (33 %)"),
        ({"read_iops": 300.0, "write_iops": 0.0, "burst_balance_percent": 0.0}, GP2,
         "storage_iops", True, "300 of 300 IOPS (100 %)"),
        ({"ebs_io_balance_percent": 0.0}, IO1, "storage_iops", True, "I/O credits fell to 0 %"),
        ({"ebs_byte_balance_percent": 0.0}, IO1, "storage_throughput", True,
         "throughput credits fell to 0 %"),
        ({}, IO1, "unknown", False, "could not be read"),
        (None, IO1, "unknown", False, "could not be read"),
        (BUSY, None, "cpu", False, "cpu: the server used 40 %"),
        # one machine: what the server does not have, its clients have, others, or nobody
        ({"cpu_percent": 86.0, "host_idle_percent": 2.0, "host_others_percent": 1.0}, IO1,
         "cpu", True, "cpu: the server used 86 % of its CPU; 2 % of this machine's CPU was idle"),
        ({"cpu_percent": 44.0, "host_idle_percent": 50.0, "host_others_percent": 1.0}, IO1,
         "cpu", False, "cpu: the server used 44 % of its CPU; 50 % of this machine's CPU was idle"),
        ({"cpu_percent": 72.0, "host_idle_percent": 0.0, "host_others_percent": 20.0}, IO1,
         "cpu", False, "other processes used 20 % of its CPU, the run's clients 8 %"),
        ({"cpu_percent": 30.0, "host_idle_percent": 1.0, "host_others_percent": 60.0}, IO1,
         "machine", True, "other processes used 60 % of its CPU, the run's clients 9 %"),
        ({"cpu_percent": 35.0, "host_idle_percent": 0.0, "host_others_percent": 1.0}, IO1,
         "machine", True, "the run's clients 64 %, the server 35 %; 0 % was idle"),
    ],
)  # fmt: skip
def test_the_failed_step_names_the_resource(
    figures: object,
    volume: VolumeLimits | None,
    resource: str,
    reached: bool,
    told: str,
) -> None:
    limiting = find_limiting_resource(*knee(figures), volume)
    assert (limiting.resource, limiting.reached) == (resource, reached)
    assert limiting.step == 2
    assert told in "; ".join(limiting.evidence)
    assert (limiting.to_change is None) == (resource == "unknown")


def server(
    *, looks: ServerLooks | None = None, restarted: bool = False, **counters: int
) -> ServerFigures:
    """A server's figures of 10 s, whose counters grew so; gauges are among them."""
    return ServerFigures(
        interval_s=10, counters=counters, gauges=counters, restarted=restarted,
        statements_by_clients=None, statements_by_server=None, buffer_pool_miss_share=None,
        looks=looks,
    )  # fmt: skip


def looked(**seen: float) -> ServerLooks:
    nothing = dict.fromkeys(("row_lock_waiters", "table_lock_waiters", "checkpoint_share"))
    return ServerLooks.model_validate({"looks": 10, **nothing, **seen})


def waiting(
    figures: ServerFigures,
    target: object,
    latency_us: float = 5000,
    refused: str | None = None,
    at_rest_us: float | None = None,
) -> LimitingResource:
    """What is named where step 2 of 3 s, of two connections with 200 ops/s each, fails so."""
    capacity, (first, last) = knee(target)
    latency = {"update": {"p99": 5000.0, "mean": latency_us}}
    known = {"latency_us": latency, "throughput_ops_per_second": 400.0, "refused": refused}
    before = ServerCounters(epoch_ms=0, values={}, family="mysql")
    last = last.model_copy(
        update={
            "server": figures,
            "step": last.step.model_copy(update=known),
            "plan": last.plan.model_copy(update={"server_before": before}),
        }
    )
    if at_rest_us is not None:
        light = {"latency_us": {"update": {"p99": 500.0, "mean": at_rest_us}}}
        first = first.model_copy(update={"step": first.step.model_copy(update=light)})
    return find_limiting_resource(capacity, [first, last], IO1)


IDLE = {"read_iops": 10.0, "write_iops": 5.0, "cpu_percent": 5.0}
QUICK = {**IDLE, "read_latency_us": 500.0, "write_latency_us": 1000.0, "flush_latency_us": 800.0}


@pytest.mark.parametrize(
    ("figures", "resource", "share", "told"),
    [
        (server(Innodb_row_lock_time=4800, Innodb_row_lock_waits=99), "row_locks", 0.8,
         "row locks: 99 waits, 80 % of the operations' time"),
        (server(Innodb_row_lock_time=0, looks=looked(row_lock_waiters=1.5)), "row_locks", 0.75,
         "75 % of the operations' time"),
        (server(looks=looked(table_lock_waiters=1.2), Table_locks_waited=70), "table_locks", 0.6,
         "table locks: 70 waits, 60 % of the operations' time"),
        (server(wait_us_table_locks=5_400_000), "table_locks", 0.9,
         "table locks: waits, 90 % of the operations' time"),
        (server(Innodb_buffer_pool_reads=9600), "buffer_pool", 0.8,
         "3,200 page reads/s missed it, 8.00 per operation, 80 % of the operations' time"),
        (server(Innodb_buffer_pool_reads=3, wait_us_data_reads=4_200_000), "buffer_pool", 0.7,
         "1.0 page reads/s missed it"),
        (server(looks=looked(checkpoint_share=0.9)), "log", 0.9,
         "redo log: pages that were not yet written held 90 % of it (median of 10 samples)"),
        (server(Innodb_log_writes=1500, Innodb_data_fsyncs=1600, Handler_commit=3000),
         "storage_latency", 0.9,
         "log flushes: 500/s, at 1.80 ms each, so one is in progress 90 % of the time"),
        (server(Innodb_os_log_fsyncs=1500, wait_us_log_io=2_850_000), "storage_latency", 0.95,
         "log flushes: 500/s, at 1.90 ms each, so one is in progress 95 % of the time"),
    ],
)  # fmt: skip
def test_what_operations_wait_for_is_named_by_its_share_of_their_time(
    figures: ServerFigures, resource: str, share: float, told: str
) -> None:
    limiting = waiting(figures, QUICK)
    assert (limiting.resource, limiting.reached) == (resource, True)
    assert limiting.share == pytest.approx(share)
    assert told in "; ".join(limiting.evidence)
    assert limiting.to_change
    assert limiting.second is not None


def test_a_server_that_was_restarted_tells_of_no_waits() -> None:
    assert waiting(server(Innodb_row_lock_time=4800, restarted=True), QUICK).resource == "cpu"


def test_a_full_device_explains_waits_and_waits_come_second() -> None:
    """What waits for a row waits for a transaction that waits for the volume."""
    limiting = waiting(server(Innodb_row_lock_time=4800), BUSY)
    assert limiting.resource == "storage_iops"
    assert limiting.second is not None
    assert (limiting.second.resource, limiting.second.reached) == ("row_locks", True)
    assert "more than 1,000 IOPS, or fewer I/Os per operation (2.48 now)" in (
        limiting.to_change or ""
    )


@pytest.mark.parametrize(
    ("mean_us", "share"),
    [(2500, 0.6), (900, 0.36), (5000, 1.0)],  # the last: what little was added may be scatter
)
def test_waits_for_others_are_held_against_what_the_load_added(
    mean_us: float, share: float
) -> None:
    """A 99th percentile is far beyond its limit while a third of the operations wait."""
    figures, target = server(Innodb_row_lock_time=1800, Innodb_row_lock_waits=9), QUICK
    limiting = waiting(figures, target, at_rest_us=mean_us)
    assert limiting.resource == "row_locks"
    assert limiting.share == pytest.approx(share, abs=0.01)
    assert limiting.reached is (share >= 0.5)
    told = "30 % of the operations' time and"
    assert told in "; ".join(limiting.evidence)


def test_of_an_open_loop_most_connections_may_be_idle() -> None:
    """Two connections, but by Little's law 0.4 operations under way: what waits, waits of those."""
    limiting = waiting(server(Innodb_row_lock_time=960), QUICK, latency_us=1000)
    assert (limiting.resource, limiting.reached) == ("row_locks", True)
    assert limiting.share == pytest.approx(0.8)


def test_refused_connections_are_the_limit_whatever_else_is_full() -> None:
    refused = "the target refused connections of 1 of 2 clients: Too many connections"
    limiting = waiting(server(max_connections=1), BUSY, refused=refused)
    assert (limiting.resource, limiting.reached) == ("connections", True)
    assert limiting.evidence[0] == f"connections: 2 of at most 1; {refused}"
    assert (limiting.to_change or "").startswith("max_connections above 1, or fewer")


def with_counters(step: StepResult, *, reads: int, family: Literal["mysql", "cql"]) -> StepResult:
    """A step whose points stayed away; its server did some reads and 6,000 writes in 10 s."""
    counters = {
        "Innodb_data_reads": reads, "Innodb_data_writes": 6_000, "Innodb_data_fsyncs": 500,
        "Innodb_data_read": 64 * 2**20, "Innodb_data_written": 96 * 2**20,
    }  # fmt: skip
    server = ServerFigures(
        interval_s=10, counters=counters, gauges={}, restarted=False, statements_by_clients=None,
        statements_by_server=None, buffer_pool_miss_share=None,
    )  # fmt: skip
    before = ServerCounters(epoch_ms=0, values={}, family=family)
    plan = step.plan.model_copy(update={"server_before": before})
    return step.model_copy(update={"server": server, "plan": plan})


@pytest.mark.parametrize(
    ("figures", "reads", "resource", "told"),
    [
        (None, 3_600, "storage_iops", ("storage: at least 960 of 1,000 IOPS (96 %), from the"
         " server's counters, over 10 s that include the start of its clients")),
        (None, 1_000, "storage_iops",
         "at least 700 of 1,000 IOPS (70 %), from the server's counters"),
        ({"cpu_percent": 97.0}, 1_000, "cpu", "at least 700 of 1,000 IOPS (70 %), from the server"),
    ],
)  # fmt: skip
def test_where_points_stay_away_the_servers_counters_tell_of_the_storage(
    figures: object, reads: int, resource: str, told: str
) -> None:
    capacity, steps = knee(figures)
    steps = [with_counters(step, reads=reads, family="mysql") for step in steps]
    limiting = find_limiting_resource(capacity, steps, IO1)
    assert limiting.resource == resource
    assert told in "; ".join(limiting.evidence)


def test_the_servers_counters_are_not_asked_where_there_are_points() -> None:
    capacity, steps = knee({**BUSY, "read_iops": 100.0})
    steps = [with_counters(step, reads=9_000, family="mysql") for step in steps]
    limiting = find_limiting_resource(capacity, steps, IO1)
    assert limiting.resource == "cpu"
    assert not [text for text in limiting.evidence if "server's counters" in text]


def test_a_cassandra_tells_nothing_of_its_storage() -> None:
    capacity, steps = knee(None)
    steps = [with_counters(step, reads=9_000, family="cql") for step in steps]
    assert find_limiting_resource(capacity, steps, IO1).resource == "unknown"


def test_where_neither_processor_nor_volume_is_seen_nothing_is_called_the_nearest() -> None:
    capacity, (first, last) = knee(None)
    before = ServerCounters(epoch_ms=0, values={}, family="mysql")
    plan = last.plan.model_copy(update={"server_before": before})
    figures = server(looks=looked(checkpoint_share=0.36))
    last = last.model_copy(update={"server": figures, "plan": plan})
    limiting = find_limiting_resource(capacity, [first, last], None)
    assert (limiting.resource, limiting.reached, limiting.second) == ("unknown", False, None)
    assert "its CPU and its I/O are not excluded as the limit" in limiting.evidence[0]
    assert "held 36 % of it" in limiting.evidence[1]
    full = last.model_copy(update={"server": server(looks=looked(checkpoint_share=0.9))})
    limiting = find_limiting_resource(capacity, [first, full], None)
    assert (limiting.resource, limiting.reached) == ("log", True)
    assert "not excluded" in limiting.evidence[-1]


def test_a_machine_slower_than_the_volume_is_said_to_be() -> None:
    limiting = find_limiting_resource(*knee({**BUSY, "host_late_percent": 30.0}), IO1)
    assert limiting.host_bound is True
    quick = find_limiting_resource(*knee({**BUSY, "host_late_percent": 1.0}), IO1)
    assert (quick.resource, quick.host_bound) == ("storage_iops", False)


def test_a_disk_that_is_late_while_every_processor_is_busy_is_late_for_want_of_one() -> None:
    full = {"cpu_percent": 92.0, "host_idle_percent": 0.5, "host_late_percent": 11.4}
    limiting = find_limiting_resource(*knee({**BUSY, "read_iops": 100.0, **full}), IO1)
    assert (limiting.resource, limiting.reached, limiting.host_bound) == ("cpu", True, True)
    assert limiting.second is not None
    assert limiting.second.resource == "machine"
    idle = find_limiting_resource(
        *knee({**full, "cpu_percent": 40.0, "host_idle_percent": 50.0}), IO1
    )
    assert (idle.resource, idle.reached) == ("machine", True)


def test_where_nothing_failed_the_nearest_to_its_limit_is_named_and_no_more() -> None:
    steps = [result(1, 1, 1000, 500, BUSY), result(2, 2, 2000, 510, BUSY)]
    capacity = judge([step.step for step in steps], Rules(confirmation=None))
    assert capacity.verdict == "LOWER_BOUND"
    limiting = find_limiting_resource(capacity, steps, IO1)
    assert (limiting.resource, limiting.reached) == ("storage_iops", False)
    assert limiting.share == pytest.approx(0.99)
    assert limiting.second is not None
    assert (limiting.second.resource, limiting.second.share) == ("cpu", 0.4)


def test_busy_clients_are_blamed_before_the_database() -> None:
    capacity, steps = knee(BUSY)
    bound = capacity.model_copy(update={"verdict": "CLIENT_BOUND"})
    limiting = find_limiting_resource(bound, steps, IO1)
    assert (limiting.resource, limiting.reached) == ("client", True)
    assert limiting.evidence[0] == bound.summary
    assert limiting.second is not None
    assert limiting.second.resource == "storage_iops"


@pytest.mark.parametrize(("waiting_percent", "resource"), [(None, "machine"), (40.0, "client")])
def test_of_a_disturbed_run_the_limit_is_the_machine_that_was_busy(
    waiting_percent: float | None, resource: str
) -> None:
    """This one, where everything runs on it; on AWS a client's, which knows its own waits."""
    capacity, (first, last) = knee(BUSY)
    step = last.step.model_copy(update={"client_waiting_percent": waiting_percent})
    last = last.model_copy(update={"step": step})
    disturbed = capacity.model_copy(update={"verdict": "DISTURBED"})
    limiting = find_limiting_resource(disturbed, [first, last], IO1)
    assert (limiting.resource, limiting.reached) == (resource, True)
    assert limiting.evidence[0] == disturbed.summary


def test_each_resource_that_can_be_named_has_a_name_for_people() -> None:
    assert set(words.RESOURCES) == set(get_args(Resource))


def test_results_of_before_still_read() -> None:
    old = '{"resource": "storage", "host_bound": null, "step": 4, "evidence": ["IOPS"]}'
    limiting = LimitingResource.model_validate_json(old)
    assert list_limit_facts(limiting) == [("Limited by", "storage (step 4)")]
    assert name_limit(limiting) == "storage"


def test_the_limit_of_a_load_that_did_not_last_is_that_of_its_last_window() -> None:
    capacity, steps = knee({**BUSY, "cpu_percent": 20.0})
    held = result(3, 1, 1000, 5000, {"read_iops": 10.0, "write_iops": 5.0, "cpu_percent": 97.0})
    held = held.model_copy(update={"plan": held.plan.model_copy(update={"purpose": "soak"})})
    lasted_not = capacity.model_copy(update={"verdict": "NOT_SUSTAINED"})
    limiting = find_limiting_resource(lasted_not, [*steps, held], IO1)
    assert (limiting.resource, limiting.step) == ("cpu", 3)


def test_a_log_that_earlier_writes_filled_limits_no_load_that_only_reads() -> None:
    """A table that was just imported, then read: 82 % of the log was called the second limit."""
    capacity, (first, last) = knee(None)
    before = ServerCounters(epoch_ms=0, values={}, family="mysql")
    read_only = DebtGrowth(
        limit_bytes=80_000_000, start_bytes=66_000_000, end_bytes=66_000_000,
        peak_bytes=66_000_000, written_bytes=0, lent_bytes=0, interval_s=5, waves=0, judged=True,
    )  # fmt: skip
    figures = server(looks=looked(checkpoint_share=0.9))
    plan = last.plan.model_copy(update={"server_before": before})
    last = last.model_copy(update={"server": figures, "plan": plan})
    assert find_limiting_resource(capacity, [first, last], None).resource == "log"
    reading = last.step.model_copy(update={"debt": read_only})
    last = last.model_copy(update={"step": reading})
    assert find_limiting_resource(capacity, [first, last], None).resource == "unknown"
