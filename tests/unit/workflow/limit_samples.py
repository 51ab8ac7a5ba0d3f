"""Steps with figures of their target, of which a limit is to be named."""

from plimsoll.capacity.judge import judge
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step, TargetFigures
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import FleetFigures, StepResult

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
