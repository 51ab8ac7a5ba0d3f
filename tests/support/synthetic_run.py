"""A finished run made up through the models, in the shape of reference experiment R1.

Its figures follow from a formula, so that tests can tell what a report must show.
"""

import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import NormalDist

import numpy as np

from plimsoll.capacity.judge import judge
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.engine.answered import LatencySummary
from plimsoll.model.judging.capacity import Confirmation, Rules
from plimsoll.model.judging.steps import Half, Step, TargetFigures, TargetSample
from plimsoll.model.request.load_request import Load, WorkloadChoice
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import StepsSearch
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import (
    FleetFigures,
    LimitingResource,
    Moments,
    OperationTotals,
    RunResult,
    Seconds,
    SecondTotals,
    StepResult,
    Versions,
)
from plimsoll.model.run.run_record import RunState

START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
LEAD_S = 20  # from the start to the first step's barrier
WARMUP_S = 3
WINDOW_S = 12
GAP_S = 2
CONNECTIONS_PER_CLIENT = 8
CLIENTS = (1, 2, 3, 4, 6, 8)
REPEATED = 3  # extra steps at the load of the answer
OPERATIONS = ("read", "update")


# sixty latencies of a second, against their median: a lognormal distribution's quantiles
_OCTAVES = np.array([NormalDist(0, 0.41).inv_cdf((n + 0.5) / 60) for n in range(60)]) / math.log(2)


def start_epoch_s() -> int:
    """When the run began."""
    return int(START.timestamp())


def _knee(clients: int, knee: float) -> tuple[float, dict[str, float]]:
    """Throughput, and the p50 of each operation in microseconds, at a number of clients."""
    connections = clients * CONNECTIONS_PER_CLIENT
    overload = max(0.0, clients / knee - 1)
    read = 600 * (1 + 0.06 * clients)
    update = 800 * (1 + 0.08 * clients) * (1 + 9 * overload)
    return 1e6 * connections / ((read + update) / 2 * 1.2), {"read": read, "update": update}


def _summary(p50: float) -> LatencySummary:
    return LatencySummary(
        mean=p50 * 1.15,
        p50=round(p50),
        p95=round(p50 * 1.9),
        p99=round(p50 * 2.6),
        p999=round(p50 * 4.4),
        max=round(p50 * 7),
    )


def _buckets(p50: float, count: int, draws: random.Random) -> dict[int, int]:
    octaves = math.log2(p50 * draws.uniform(0.95, 1.05)) + _OCTAVES
    eighths, times = np.unique(np.ceil(8 * octaves), return_counts=True)
    uppers = np.ceil(2 ** (eighths / 8)).astype(int)
    each = max(1, count // len(_OCTAVES))
    return dict(zip(uppers.tolist(), (each * times).tolist(), strict=True))


def _seconds(
    index: int, start_s: int, rate: float, p50s: dict[str, float], draws: random.Random
) -> Iterator[SecondTotals]:
    for second in range(WARMUP_S + WINDOW_S):
        for operation, p50 in p50s.items():
            succeeded = round(rate / 2 * draws.uniform(0.94, 1.06))
            buckets = _buckets(p50, succeeded, draws)
            yield SecondTotals(
                epoch_s=start_s + second,
                step=index,
                operation=operation,
                succeeded=succeeded,
                errors=0,
                max_us=max(buckets),
                buckets=buckets,
            )


def _step(index: int, clients: int, knee: float, draws: random.Random) -> StepResult:
    rate, p50s = _knee(clients, knee)
    rate *= draws.uniform(0.99, 1.01)
    start_s = start_epoch_s() + LEAD_S + (index - 1) * (WARMUP_S + WINDOW_S + GAP_S)
    count = round(rate * WINDOW_S / 2)
    totals = {
        name: OperationTotals(
            succeeded=count, records=count, errors={}, latency_us=_summary(p50), histogram=""
        )
        for name, p50 in p50s.items()
    }
    latency = {
        name: {k: v for k, v in total.latency_us.model_dump().items() if v is not None}
        for name, total in totals.items()
    }
    plan = StepPlan(
        index=index,
        purpose="climb" if index > 1 else "baseline",
        why=f"the next of the list: {clients} clients",
        clients=clients,
        connections=clients * CONNECTIONS_PER_CLIENT,
        rate_ops_per_second=None,
        warmup_s=WARMUP_S,
        duration_s=WINDOW_S,
        timeout_ms=60_000,
        seed=1,
        start_at_epoch_ms=start_s * 1000,
        recovered=True,
        server_before=None,
    )
    half = Half(
        throughput_ops_per_second=rate, latency_us={n: v["p99"] for n, v in latency.items()}
    )
    busy = min(0.7, 0.05 * clients + 0.1)
    return StepResult(
        plan=plan,
        window_start_epoch_ms=plan.window_start_epoch_ms,
        window_end_epoch_ms=plan.window_end_epoch_ms,
        operations=totals,
        fleet=FleetFigures(
            planned=clients,
            ran=clients,
            failed=(),
            missing=(),
            late={},
            start_spread_ms=40,
            engine_version="0.1.0",
            cold_starts=clients if index == 1 else 0,
            memory_max_mib=88.0,
            cpu_us_per_operation=31.0,
            busiest_client=busy,
        ),
        server=None,
        target=TargetFigures(
            period_s=1,
            points=WARMUP_S + WINDOW_S,
            read_iops=min(rate * 0.05, 400),
            write_iops=min(rate * 0.3, 600),
            queue=clients / knee * 8,
            cpu_percent=min(95.0, clients * 11.0),
        ),
        problems=(),
        step=Step(
            index=index,
            source=f"steps/{index}",
            clients=clients,
            connections=clients * CONNECTIONS_PER_CLIENT,
            throughput_ops_per_second=rate,
            operations=2 * count,
            errors=0,
            window_s=WINDOW_S,
            latency_us=latency,
            shares=dict.fromkeys(OPERATIONS, 0.5),
            operation_counts=dict.fromkeys(OPERATIONS, count),
            clients_ran=clients,
            clients_late=0,
            client_busy=busy,
            halves=(half, half),
            recovered=True,
        ),
        seconds=tuple(_seconds(index, start_s, rate, p50s, draws)),
    )


def _samples(steps: list[StepResult], end_s: int) -> Iterator[TargetSample]:
    figures_of = {second.epoch_s: step.target for step in steps for second in step.seconds}
    for epoch_s in range(start_epoch_s() + 8, end_s):
        figures = figures_of.get(epoch_s)
        yield TargetSample(
            epoch_ms=epoch_s * 1000,
            read_iops=figures.read_iops if figures else 0,
            write_iops=figures.write_iops if figures else 0,
            read_mib_s=4.0 if figures else 0,
            write_mib_s=9.0 if figures else 0,
            queue=figures.queue if figures else 0,
            cpu_percent=figures.cpu_percent if figures else 1.5,
        )


def request(*, iops: int = 1000, name: str = "r1-demo") -> Request:
    """What the made-up run was asked."""
    return Request(
        name=name,
        description="Workload A on MariaDB: where does update latency give way?",
        target=RdsTarget(
            engine="mariadb",
            engine_version="11.4.5",
            instance_class="db.m6i.large",
            volume=Volume(type="io1", size_gib=100, iops=iops),
            parameters={"innodb_buffer_pool_size": 67108864},
        ),
        workload=WorkloadChoice(name="ycsb-a", records=100_000),
        load=Load(warmup_s=WARMUP_S, duration_s=WINDOW_S),
        search=StepsSearch(clients=CLIENTS, connections_per_client=CONNECTIONS_PER_CLIENT),
        limits=Rules(confirmation=Confirmation(least=3)),
    )


def synthetic_run(
    *, knee: float = 3.2, iops: int = 1000, run_id: str = "r1-demo-1000-iops", seed: int = 5
) -> tuple[RunResult, Seconds]:
    """A run whose update latency gives way beyond `knee` clients."""
    draws = random.Random(seed)
    answer = int(knee)
    loads = [*CLIENTS, *[answer] * REPEATED]
    steps = [_step(index, clients, knee, draws) for index, clients in enumerate(loads, 1)]
    asked = request(iops=iops)
    assert isinstance(asked.target, RdsTarget)
    capacity = judge([step.step for step in steps], asked.limits)
    end_s = max(second.epoch_s for second in steps[-1].seconds) + 4
    ended = datetime.fromtimestamp(end_s + 9, UTC)
    result = RunResult(
        run_id=run_id,
        name=asked.name,
        team="default",
        local=True,
        state=RunState.SUCCEEDED,
        failure=None,
        capacity=capacity.model_copy(update={"limiting_resource": "storage"}),
        limiting=LimitingResource(
            resource="storage",
            host_bound=False,
            step=4,
            evidence=(f"volume: {iops:,} of {iops:,} IOPS in step 4", "CPU 44 %"),
        ),
        steps=tuple(step.model_copy(update={"seconds": ()}) for step in steps),
        rows=100_000,
        volume_limits=limits(asked.target.volume, service=asked.target.service),
        moments=Moments(
            submitted=START,
            record=START + timedelta(seconds=1),
            provision=START + timedelta(seconds=2),
            target_ready=START + timedelta(seconds=7),
            prepare=START + timedelta(seconds=8),
            step=START + timedelta(seconds=18),
            conclude=ended - timedelta(seconds=6),
            teardown=ended - timedelta(seconds=4),
            deleted=ended - timedelta(seconds=1),
            ended=ended,
        ),
        versions=Versions(
            plimsoll="0.1.0",
            engine="0.1.0",
            server="11.4.5-MariaDB",
            workload_sha256="ab" * 32,
        ),
        notes=("A made-up run.",),
        request=asked,
    )
    operations = tuple(second for step in steps for second in step.seconds)
    samples = tuple(_samples(steps, end_s))
    return result, Seconds(run_id=run_id, operations=operations, target=samples)
