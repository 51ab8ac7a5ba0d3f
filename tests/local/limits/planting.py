"""One step on a real server and an emulated volume, as a run does it, and what is named for it."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from plimsoll.capacity import judge
from plimsoll.errors import ConnectionsRefusedError
from plimsoll.families.family import family_of
from plimsoll.families.mysql import session as mysql_session
from plimsoll.families.postgres import session as postgres_session
from plimsoll.fleet.plan import load_spec
from plimsoll.fleet.step import merged_step
from plimsoll.local.databases.database_server import DatabaseServer
from plimsoll.machine import CpuTimes, cpu_seconds, cpu_times, shares
from plimsoll.model.capacity import Capacity, Rules
from plimsoll.model.dsn import parse_dsn
from plimsoll.model.engine import EngineOperation, EngineStatement, EngineWorkload
from plimsoll.model.fleet import ClientResult, FailedClient, StepPlan
from plimsoll.model.results import LimitingResource, StepResult
from plimsoll.model.target_figures import TargetFigures
from plimsoll.model.values import IntegerValue, Value
from plimsoll.model.volumes import Volume, VolumeLimits, VolumeSample, rates
from plimsoll.runs.limits import limiting_resource
from plimsoll.runs.sending import send
from plimsoll.runs.watched import watched
from plimsoll.volumes import EmulatedVolume

FAILS = Rules(confirmation=None, limits_us={"planted": 1.0})  # any step: a limit was reached
WARMUP_S = 0.5
DURATION_S = 2.0
LEAD_S = 0.5  # until all connections are open
TRIES = 10  # while others keep this machine busy, or it stands still
TICK_S = 0.02
STOOD_STILL_S = 0.15  # a tick later than that: this machine itself was stopped, as a guest can be


@dataclass(frozen=True)
class Planted:
    """What was measured, and what is named."""

    step: StepResult
    capacity: Capacity
    limiting: LimitingResource
    others_percent: float  # of this machine's processor time
    stood_still_s: float  # the machine, at most, between two ticks of the load

    @property
    def told(self) -> str:
        """The evidence, for a test that fails."""
        return "; ".join(self.limiting.evidence)


def operation(*statements: str, key_max: int = 0, transaction: bool = False) -> EngineOperation:
    """An operation of these statements; the place of each `?` or $1 is taken by a key from 1 on."""
    key: tuple[Value, ...] = (IntegerValue(low=1, high=key_max),)
    return EngineOperation(
        name="planted",
        weight=1,
        transaction=transaction,
        statements=tuple(
            EngineStatement(sql=(sql,), binds=key if "?" in sql or "$1" in sql else ())
            for sql in statements
        ),
    )


@dataclass(frozen=True)
class Look:
    """The volume, the server's processor time and the machine's at one moment."""

    at_s: float
    volume: VolumeSample
    server_cpu_s: float
    machine: CpuTimes


def as_on_its_own(seen: TargetFigures) -> TargetFigures:
    """Give the figures as AWS has them of an instance with the processors that others left here."""
    cpu_percent = 100 * (seen.cpu_percent or 0.0) / (100 - _others(seen))
    of_host = (name for name in TargetFigures.model_fields if name.startswith("host_"))
    return seen.model_copy(update={"cpu_percent": cpu_percent, **dict.fromkeys(of_host)})


def _others(seen: TargetFigures) -> float:
    """Percent of this machine's processor time that others had, its hypervisor's among them."""
    return (seen.host_others_percent or 0.0) + (seen.host_stolen_percent or 0.0)


def _ticks_until(end_s: float) -> float:
    """Wait until a time of the clock; gives by how much the latest tick was late, in seconds."""
    latest_s, now_s = 0.0, time.time()
    while now_s < end_s:
        asked_s = min(TICK_S, end_s - now_s)
        began_s = time.monotonic()
        time.sleep(asked_s)
        latest_s = max(latest_s, time.monotonic() - began_s - asked_s)
        now_s = time.time()
    return latest_s


class Ground:
    """A server on a volume, on which bottlenecks are planted."""

    def __init__(self, server: DatabaseServer, dsn: str, volume: EmulatedVolume) -> None:
        self.server = server
        self.volume = volume
        self.target = parse_dsn(dsn)
        self._family = family_of(self.target.protocol)
        self.volume_limits: VolumeLimits = volume.limits
        self.strangers: list[int] = []  # processes of the test that are none of the run's

    def sql(self, *statements: str) -> None:
        if self.target.protocol == "postgres":
            with closing(postgres_session.connect(self.target)) as connection:
                for statement in statements:
                    postgres_session.execute(connection, statement)
            return
        with closing(mysql_session.connect(self.target)) as other:
            for statement in statements:
                mysql_session.execute(other, statement)

    def put_on(self, **volume: object) -> None:
        """Change the volume."""
        self.volume.reconfigure(Volume.model_validate({"size_gib": 100, **volume}))
        self.volume_limits = self.volume.limits

    def step(
        self,
        planted: EngineOperation,
        *,
        connections: int,
        host: bool = False,
        rules: Rules = FAILS,
        looks_at_it: bool = True,
    ) -> Planted:
        """Do a step and judge it; again where this machine stood still meanwhile.

        Args:
            planted: The load.
            connections: Of one client.
            host: Whether the machine's figures are known, as they are in a run on one machine.
            rules: By default such that the step fails, whatever it measures.
            looks_at_it: Whether the client looks at the server in the window.
        """
        for _ in range(TRIES):
            done = self._step(
                planted, connections=connections, host=host, rules=rules, looks_at_it=looks_at_it
            )
            if done.stood_still_s < STOOD_STILL_S:
                break
        return done

    def _step(
        self,
        planted: EngineOperation,
        *,
        connections: int,
        host: bool,
        rules: Rules,
        looks_at_it: bool,
    ) -> Planted:
        plan = StepPlan(
            index=1, purpose="climb", why="", clients=1, connections=connections,
            rate_ops_per_second=None, warmup_s=WARMUP_S, duration_s=DURATION_S, timeout_ms=30_000,
            seed=1, start_at_epoch_ms=round((time.time() + LEAD_S) * 1000), recovered=None,
            server_before=self._family.read_counters(self.target),
        )  # fmt: skip
        figures: list[TargetFigures] = []
        stops: list[float] = []
        meter = threading.Thread(target=self._measure, args=(plan, figures.append, stops.append))
        meter.start()
        results, failed = self._send(plan, planted, looks_at_it=looks_at_it)
        meter.join()
        after = self._family.read_counters(self.target)
        step = merged_step(plan, results, failed, server_after=after)
        (seen,) = figures
        step = step.model_copy(update={"target": seen if host else as_on_its_own(seen)})
        capacity = judge([step.step], rules)
        limiting = limiting_resource(capacity, [step], self.volume_limits)
        return Planted(step, capacity, limiting, _others(seen), max(stops))

    def _send(
        self, plan: StepPlan, planted: EngineOperation, *, looks_at_it: bool
    ) -> tuple[list[ClientResult], list[FailedClient]]:
        workload = EngineWorkload(key_spaces=(), operations=(planted,))
        try:
            with watched(self.target, plan) as looks:
                report = send(load_spec(plan, 0, workload=workload, target=self.target))
        except ConnectionsRefusedError as error:
            name = type(error).__name__
            return [], [FailedClient(client=0, error=name, cause=str(error))]
        result = ClientResult(
            run_id="r", step=1, client=0, invoked_epoch_ms=plan.start_at_epoch_ms, cold_start=True,
            memory_max_mib=1, report=report, looks=tuple(looks) if looks_at_it else (),
        )  # fmt: skip
        return [result], []

    def _measure(
        self,
        plan: StepPlan,
        give: Callable[[TargetFigures], None],
        tell_stop: Callable[[float], None],
    ) -> None:
        """Measure what CloudWatch would of the window, and how long the machine stood still."""
        tell_stop(_ticks_until(plan.window_start_epoch_ms / 1000))
        before = self._look()
        tell_stop(_ticks_until(plan.window_end_epoch_ms / 1000))
        after = self._look()
        seen = rates(before.volume, after.volume)
        machine = shares(before.machine, after.machine)
        assert machine is not None
        cpu_s = (after.server_cpu_s - before.server_cpu_s) / (os.cpu_count() or 1)
        give(
            TargetFigures(
                period_s=1,
                points=2,
                read_iops=seen.read_iops,
                write_iops=seen.write_iops,
                read_mib_s=seen.read_mib_s,
                write_mib_s=seen.write_mib_s,
                queue=seen.queue,
                read_latency_us=seen.read_latency_us,
                write_latency_us=seen.write_latency_us,
                flush_latency_us=seen.flush_latency_us,
                cpu_percent=100 * cpu_s / (after.at_s - before.at_s),
                host_late_percent=None if seen.late_share is None else 100 * seen.late_share,
                host_stolen_percent=100 * machine.stolen,
                host_others_percent=100 * machine.others,
                host_idle_percent=100 * machine.idle,
            )
        )

    def _look(self) -> Look:
        machine, cpu_s = cpu_times({os.getpid()}, self.strangers), cpu_seconds({self.server.pid})
        assert machine is not None
        assert cpu_s is not None
        return Look(time.monotonic(), self.volume.sample(), cpu_s, machine)
