"""One step on a real server and an emulated volume, as a run does it, and what is named for it.

Steps run beside other tests. What is planted takes so long by the volume's clock or the server's
(`SLEEP`), and so little of a processor, that a busy machine adds little to it. Only a limit of the
processors needs a machine without others: `Ground.step_without_others`.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

from plimsoll.capacity.judge import judge
from plimsoll.databases.family import find_family
from plimsoll.databases.mysql import session as mysql_session
from plimsoll.databases.postgres import session as postgres_session
from plimsoll.errors import ConnectionsRefusedError
from plimsoll.fleet.plan import make_load_spec
from plimsoll.limiting import find_limiting_resource
from plimsoll.local.databases.database_server import DatabaseServer
from plimsoll.local.resources.sampler import compute_server_percent
from plimsoll.machine import CpuTimes, cpu_times, shares
from plimsoll.model.aws.volumes import Volume, VolumeLimits, VolumeSample, rates
from plimsoll.model.engine.asked import EngineOperation, EngineStatement, EngineWorkload
from plimsoll.model.engine.values import IntegerValue, Value
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import TargetFigures
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.run.fleet import ClientResult, FailedClient, StepPlan
from plimsoll.model.run.results import LimitingResource, StepResult
from plimsoll.volumes import EmulatedVolume, VolumeSettings
from plimsoll.workflow.client import sample_server, send_load
from tests.support.merged import merge_step

FAILS = Rules(confirmation=None, limits_us={"planted": 1.0})  # any step: a limit was reached
WARMUP_S = 0.5
DURATION_S = 2.0
LEAD_S = 0.5  # until all connections are open
LEAD_BEFORE_CHANGE_S = 3.0  # the same, before a volume becomes so slow that none would open in time
FAST = Volume(type="io2", size_gib=100, iops=50_000)
SLOW_US = 2_000.0  # an I/O takes so long that the server's own work is little beside it
# A volume's cap makes good up to this much of the time in which the machine held its I/Os up, so
# that a window's mean reaches the cap on a busy machine.
CATCH_UP_MS = 1000
TRIES = 10  # steps at most, while others keep the processors busy or the machine is stopped
TAKEN_MOST_PERCENT = 25.0
EARLIER_S = 0.2  # than the window's end: a look that comes late must not see the time after it
TICK_S = 0.02
STOOD_STILL_S = 0.15  # a tick later than that: this machine itself was stopped, as a guest can be


@dataclass(frozen=True)
class Measured:
    """What was measured of the target and of this machine.

    Attributes:
        figures: All that a run on one machine knows.
        taken_percent: Percent of this machine's processor time that was neither the run's nor idle:
            of other processes, of the hypervisor, and of the kernel on whoever's behalf, such as
            writing back what earlier tests have written. Only a part of it is "others".
        stood_still_s: By how much a tick was late, at most: this machine was stopped.
    """

    figures: TargetFigures
    taken_percent: float
    stood_still_s: float

    @property
    def told(self) -> str:
        """What had this machine's processors, for a test that fails."""
        seen = self.figures
        return (
            f"of this machine's CPU the server used {seen.cpu_percent} %, other processes"
            f" {seen.host_others_percent} %, the hypervisor {seen.host_stolen_percent} %, nobody"
            f" {seen.host_idle_percent} %; neither the run nor nobody: {self.taken_percent} %; it"
            f" stood still for {self.stood_still_s} s"
        )


@dataclass(frozen=True)
class Planted:
    """What was measured, and what is named."""

    step: StepResult
    capacity: Capacity
    limiting: LimitingResource
    measured: Measured

    @property
    def told(self) -> str:
        """The evidence, for a test that fails."""
        return "; ".join((*self.limiting.evidence, self.measured.told))


# Between its I/Os an operation waits for a processor: on a busy machine for up to 25 ms.
LONG_IO_US = 100_000.0


def with_long_ios(ground: "Ground") -> None:
    """Put the server on a volume whose I/Os take most of an operation's time."""
    ground.put_on(latency_us=LONG_IO_US)


def assert_named(planted: Planted, resource: str, *evidence: str) -> None:
    """Assert that a resource is named as the limit that was reached, with this evidence."""
    limiting = planted.limiting
    told = f"{planted.capacity.summary}; {planted.told}"
    assert (limiting.resource, limiting.reached) == (resource, True), told
    for words in evidence:
        assert words in limiting.evidence[0]
    assert limiting.to_change
    assert limiting.second is None or limiting.second.resource != resource


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
    """The volume, and the processor times of the machine, the run and its server, at one moment."""

    volume: VolumeSample
    cpu: CpuTimes


def as_of_an_instance(measured: Measured) -> TargetFigures:
    """Return the figures that CloudWatch has of an instance: none of the machine that it is on."""
    of_host = (name for name in TargetFigures.model_fields if name.startswith("host_"))
    return measured.figures.model_copy(update=dict.fromkeys(of_host))


def as_on_its_own(measured: Measured) -> TargetFigures:
    """Return the same of an instance that has just the processors that were left to the run."""
    left = 1 - measured.taken_percent / 100
    cpu_percent = (measured.figures.cpu_percent or 0.0) / left
    return as_of_an_instance(measured).model_copy(update={"cpu_percent": cpu_percent})


def as_on_one_machine(measured: Measured) -> TargetFigures:
    """Return all figures, the machine's too, as a run on one machine has them."""
    return measured.figures


def settings_with(latency_us: float) -> VolumeSettings:
    """Return the settings of a volume with that mean latency of an I/O."""
    return VolumeSettings(base_latency_us=latency_us, catch_up_ms=CATCH_UP_MS)


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
        self._family = find_family(self.target.protocol)
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

    def put_on(self, volume: Volume = FAST, *, latency_us: float = SLOW_US) -> None:
        """Change the volume, and the mean latency of its I/Os."""
        self.volume.settings = settings_with(latency_us)
        self.volume.reconfigure(volume)
        self.volume_limits = self.volume.limits

    def step_without_others(self, planted: EngineOperation, *, connections: int) -> Planted:
        """Return a step with the processors that were left to it, once that was most of them.

        It is repeated while too much of this machine is taken, or while it is stopped.
        """
        for _ in range(TRIES):
            done = self.step(planted, connections=connections, figures=as_on_its_own)
            quiet = done.measured.taken_percent < TAKEN_MOST_PERCENT
            if quiet and done.measured.stood_still_s < STOOD_STILL_S:
                break
        return done

    def step(
        self,
        planted: EngineOperation,
        *,
        connections: int,
        figures: Callable[[Measured], TargetFigures] = as_of_an_instance,
        at_start: Callable[[], None] | None = None,
        duration_s: float = DURATION_S,
        rules: Rules = FAILS,
        looks_at_it: bool = True,
    ) -> Planted:
        """Do one step and judge it.

        Args:
            planted: The load.
            connections: Connections of its one client.
            figures: Turns what was measured into what is known of the target.
            at_start: Called when the load starts, with its connections open: they read, too.
            duration_s: Length of the window.
            rules: By default such that the step fails, whatever it measures.
            looks_at_it: Whether the client looks at the server in the window.
        """
        lead_s = LEAD_S if at_start is None else LEAD_BEFORE_CHANGE_S
        plan = StepPlan(
            index=1, purpose="climb", why="", clients=1, connections=connections,
            rate_ops_per_second=None, warmup_s=WARMUP_S, duration_s=duration_s, timeout_ms=30_000,
            seed=1, start_at_epoch_ms=round((time.time() + lead_s) * 1000), recovered=None,
            server_before=self._family.read_counters(self.target),
        )  # fmt: skip
        with ThreadPoolExecutor(2) as pool:
            # of its own: a stop while the other one reads would be none of its ticks'
            ticks = pool.submit(_ticks_until, plan.window_end_epoch_ms / 1000 - EARLIER_S)
            looks = pool.submit(self._look_at_window, plan, at_start)
            results, failed = self._send(plan, planted, looks_at_it=looks_at_it)
        measured = _compute_figures(*looks.result(), stood_still_s=ticks.result())
        after = self._family.read_counters(self.target)
        step = merge_step(plan, results, failed, server_after=after)
        step = step.model_copy(update={"target": figures(measured)})
        capacity = judge([step.step], rules)
        limiting = find_limiting_resource(capacity, [step], self.volume_limits)
        return Planted(step, capacity, limiting, measured)

    def _send(
        self, plan: StepPlan, planted: EngineOperation, *, looks_at_it: bool
    ) -> tuple[list[ClientResult], list[FailedClient]]:
        workload = EngineWorkload(key_spaces=(), operations=(planted,))
        try:
            with sample_server(self.target, plan) as looks:
                report = send_load(make_load_spec(plan, 0, workload=workload, target=self.target))
        except ConnectionsRefusedError as error:
            name = type(error).__name__
            return [], [FailedClient(client=0, error=name, cause=str(error))]
        result = ClientResult(
            run_id="r", step=1, client=0, invoked_epoch_ms=plan.start_at_epoch_ms, cold_start=True,
            memory_max_mib=1, report=report, looks=tuple(looks) if looks_at_it else (),
        )  # fmt: skip
        return [result], []

    def _look_at_window(
        self, plan: StepPlan, at_start: Callable[[], None] | None
    ) -> tuple[Look, Look]:
        """Look at the begin of the window and shortly before its end."""
        _wait_until(plan.start_at_epoch_ms / 1000)
        if at_start is not None:
            at_start()
        _wait_until(plan.window_start_epoch_ms / 1000)
        before = self._look()
        _wait_until(plan.window_end_epoch_ms / 1000 - EARLIER_S)
        return before, self._look()

    def _look(self) -> Look:
        volume = self.volume.sample()
        cpu = cpu_times({os.getpid()}, self.strangers, {self.server.pid})
        assert cpu is not None
        return Look(volume, cpu)


def _wait_until(epoch_s: float) -> None:
    time.sleep(max(0.0, epoch_s - time.time()))


def _compute_figures(before: Look, after: Look, *, stood_still_s: float) -> Measured:
    """Compute what a run on one machine knows of the time between two looks."""
    seen, machine = rates(before.volume, after.volume), shares(before.cpu, after.cpu)
    cpu_percent = compute_server_percent(before.cpu, after.cpu)
    assert machine is not None
    assert cpu_percent is not None
    figures = TargetFigures(
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
        cpu_percent=cpu_percent,
        host_late_percent=None if seen.late_share is None else 100 * seen.late_share,
        host_stolen_percent=100 * machine.stolen,
        host_others_percent=100 * machine.others,
        host_idle_percent=100 * machine.idle,
    )
    run = (after.cpu.run - before.cpu.run) / (after.cpu.total - before.cpu.total)
    taken = max(0.0, 1 - machine.idle - run)
    return Measured(figures, taken_percent=100 * taken, stood_still_s=stood_still_s)
