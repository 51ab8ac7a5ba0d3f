"""The limiting resource is named from figures, and never without them."""

from typing import Literal

import pytest

from plimsoll.capacity import judge
from plimsoll.model.capacity import Capacity, Rules
from plimsoll.model.fleet import ServerCounters, StepPlan
from plimsoll.model.results import FleetFigures, ServerFigures, StepResult, TargetFigures
from plimsoll.model.steps import Step
from plimsoll.model.volumes import Volume, VolumeLimits, limits
from plimsoll.runs.bottleneck import limiting_resource

IO1 = limits(Volume(type="io1", size_gib=100, iops=1000), service="rds-mysql")
GP2 = limits(Volume(type="gp2", size_gib=100), service="rds-mysql")
BUSY = {"read_iops": 700.0, "write_iops": 290.0, "queue": 12.0, "cpu_percent": 40.0}


def result(index: int, clients: int, ops: float, us: float, figures: object) -> StepResult:
    step = Step(
        index=index,
        clients=clients,
        throughput_ops_per_second=ops,
        latency_us={"update": {"p99": us}},
    )
    plan = StepPlan(
        index=index, purpose="climb", why="", clients=clients, connections=clients,
        rate_ops_per_second=None, warmup_s=1, duration_s=2, timeout_ms=1000, seed=1,
        start_at_epoch_ms=0, recovered=None, server_before=None,
    )  # fmt: skip
    fleet = FleetFigures(
        planned=clients, ran=clients, failed=(), missing=(), late={}, start_spread_ms=0,
        cold_starts=0, memory_max_mib=None, cpu_us_per_operation=None, busiest_client=None,
        engine_version=None,
    )  # fmt: skip
    target = (
        TargetFigures.model_validate({"period_s": 1, "points": 2, **figures})
        if isinstance(figures, dict)
        else None
    )
    return StepResult(
        plan=plan, window_start_epoch_ms=None, window_end_epoch_ms=None, operations={},
        fleet=fleet, server=None, target=target, problems=(), step=step,
    )  # fmt: skip


def knee(figures: object) -> tuple[Capacity, list[StepResult]]:
    """Step 1 passes at rest, step 2 fails with the figures given."""
    idle = {"read_iops": 10.0, "write_iops": 5.0, "cpu_percent": 5.0}
    steps = [result(1, 1, 1000, 500, idle), result(2, 2, 1100, 5000, figures)]
    return judge([step.step for step in steps], Rules(confirmation=None)), steps


@pytest.mark.parametrize(
    ("figures", "volume", "resource", "told"),
    [
        (BUSY, IO1, "storage", "990 of 1,000 IOPS (99 %), 12.0 of them waiting"),
        ({**BUSY, "cpu_percent": 99.5}, IO1, "cpu", "cpu: 99.5 % of the server's"),
        ({**BUSY, "read_iops": 100.0}, IO1, "unknown", "390 of 1,000 IOPS (39 %)"),
        ({**BUSY, "read_mib_s": 200.0, "write_mib_s": 45.0, "read_iops": 0.0}, IO1, "storage",
         "245 of 250 MiB/s"),
        ({**BUSY, "host_late_percent": 30.0}, IO1, "unknown", "30 % of the time in I/O was due"),
        ({**BUSY, "burst_balance_percent": 50.0}, GP2, "unknown", "990 of 3,000 IOPS (33 %)"),
        ({"read_iops": 300.0, "write_iops": 0.0, "burst_balance_percent": 0.0}, GP2, "storage",
         "300 of 300 IOPS (100 %)"),
        ({"ebs_io_balance_percent": 0.0}, IO1, "storage", "I/O credits fell to 0 %"),
        ({}, IO1, "unknown", "could not be read"),
        (None, IO1, "unknown", "could not be read"),
        (BUSY, None, "unknown", "cpu: 40 %"),
    ],
)  # fmt: skip
def test_the_failed_step_names_the_resource(
    figures: object, volume: VolumeLimits | None, resource: str, told: str
) -> None:
    limiting = limiting_resource(*knee(figures), volume)
    assert limiting.resource == resource
    assert limiting.step == 2
    assert told in "; ".join(limiting.evidence)


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
        (None, 3_600, "storage", ("storage: at least 960 of 1,000 IOPS (96 %), from the server's"
         " counters, over 10 s with the start of its clients")),
        (None, 1_000, "unknown", "at least 700 of 1,000 IOPS (70 %), from the server's counters"),
        ({"cpu_percent": 97.0}, 1_000, "cpu", "at least 700 of 1,000 IOPS (70 %), from the server"),
    ],
)  # fmt: skip
def test_where_points_stay_away_the_servers_counters_tell_of_the_storage(
    figures: object, reads: int, resource: str, told: str
) -> None:
    capacity, steps = knee(figures)
    steps = [with_counters(step, reads=reads, family="mysql") for step in steps]
    limiting = limiting_resource(capacity, steps, IO1)
    assert limiting.resource == resource
    assert told in "; ".join(limiting.evidence)


def test_the_servers_counters_are_not_asked_where_there_are_points() -> None:
    capacity, steps = knee({**BUSY, "read_iops": 100.0})
    steps = [with_counters(step, reads=9_000, family="mysql") for step in steps]
    limiting = limiting_resource(capacity, steps, IO1)
    assert limiting.resource == "unknown"
    assert not [text for text in limiting.evidence if "server's counters" in text]


def test_a_cassandra_tells_nothing_of_its_storage() -> None:
    capacity, steps = knee(None)
    steps = [with_counters(step, reads=9_000, family="cql") for step in steps]
    assert limiting_resource(capacity, steps, IO1).resource == "unknown"


def test_a_machine_slower_than_the_volume_is_said_to_be() -> None:
    limiting = limiting_resource(*knee({**BUSY, "host_late_percent": 30.0}), IO1)
    assert limiting.host_bound is True
    assert limiting_resource(*knee({**BUSY, "host_late_percent": 1.0}), IO1).resource == "storage"


def test_nothing_is_blamed_where_nothing_failed() -> None:
    steps = [result(1, 1, 1000, 500, BUSY), result(2, 2, 2000, 510, BUSY)]
    capacity = judge([step.step for step in steps], Rules(confirmation=None))
    assert capacity.verdict == "LOWER_BOUND"
    assert limiting_resource(capacity, steps, IO1).resource == "unknown"


def test_busy_clients_are_blamed_before_the_database() -> None:
    capacity, steps = knee(BUSY)
    bound = capacity.model_copy(update={"verdict": "CLIENT_BOUND"})
    assert limiting_resource(bound, steps, IO1).resource == "client"
