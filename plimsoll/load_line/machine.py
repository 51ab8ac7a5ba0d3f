"""This machine during a step: other load on it, and the server's CPU if the database is here."""

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer

from plimsoll import words
from plimsoll.databases.reading_back import READS_MOST
from plimsoll.machine import (
    CpuTimes,
    MachineLoad,
    cpu_times,
    measure_load,
    servers,
    shares,
)
from plimsoll.model.engine.asked import POLL_US, EngineTarget
from plimsoll.model.judging.steps import TargetFigures
from plimsoll.model.request.dsn import is_loopback
from plimsoll.model.run.fleet import ClientResult, StepPlan
from plimsoll.model.run.results import FleetFigures, StepResult
from plimsoll.workflow.log_filling import LOOK_STATEMENTS, OPENING_STATEMENTS

SERVERS = {"mysqld", "mariadbd", "postgres", "java"}


def is_this_machine(host: str) -> bool:
    """Whether an address belongs to this machine: then a socket can be bound to it."""
    if is_loopback(host):
        return True
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True


def choose_poll_us(target: EngineTarget, threads: int) -> int:
    """Return for how long clients on this machine busy-poll before they sleep, in microseconds.

    0 if they share its processors with the database or with each other.
    """
    own = threads < len(os.sched_getaffinity(0)) and not is_this_machine(target.host)
    return POLL_US if own else 0


def choose_threads(target: EngineTarget, connections: int, rate: float | None) -> int:
    """Return the default number of sending threads on this machine.

    2 if they share its processors with the database, which then wakes clients less often
    (docs/evidence/performance.md). 1 if the database is elsewhere, so that a processor is left for
    busy-polling, and 1 at a given rate, where a thread waits for due times.
    """
    shared = rate is None and is_this_machine(target.host)
    return min(2, connections, len(os.sched_getaffinity(0))) if shared else 1


@dataclass
class Host:
    """This machine during a step.

    Attributes:
        shared: Whether the database runs on it.
        servers: The database's processes; empty if they are on another machine or not visible.
    """

    shared: bool
    servers: frozenset[int]
    _looks: list[CpuTimes | None] = field(default_factory=list)

    @classmethod
    def of(cls, target: EngineTarget) -> "Host":
        """Find out whether a database runs on this machine, and in which processes.

        If it runs in a container, its proxy listens on the port; that is not the server.
        """
        shared = is_this_machine(target.host)
        return cls(shared, frozenset(servers(target.port, SERVERS) if shared else ()))

    @property
    def ours(self) -> frozenset[int]:
        """The processes of the search and the database; empty if the database's are not visible."""
        return frozenset({os.getpid(), *self.servers} if self.servers or not self.shared else ())

    @contextmanager
    def watch(self, plan: StepPlan) -> Iterator[None]:
        """Record processor times when the step's window begins and when the load has ended."""
        begins_s = plan.start_at_epoch_ms / 1000 + plan.warmup_s - time.time()
        first = Timer(max(0.0, begins_s), self._look)
        first.start()
        try:
            yield
        finally:
            first.cancel()
            first.join()
            self._look()

    def _look(self) -> None:
        self._looks.append(cpu_times(self.ours, servers=self.servers))

    def add_figures(self, step: StepResult) -> StepResult:
        """Add this machine's figures and the server's CPU utilization to a step."""
        looks = self._looks
        now = shares(looks[0], looks[-1]) if looks else None
        figures = {
            "host_stolen_percent": 100 * now.stolen if now else None,
            "host_others_percent": 100 * now.others if now and self.ours else None,
            "host_idle_percent": 100 * now.idle if now else None,
        }
        waits = {"client_waiting_percent": self._client_waiting_percent(step.fleet)}
        step = step.model_copy(update={"step": step.step.model_copy(update=figures | waits)})
        if now is None or now.server is None:
            return step
        target = TargetFigures(
            period_s=round(now.length_s), points=1, cpu_percent=100 * now.server, **figures
        )
        return step.model_copy(update={"target": target})

    def _client_waiting_percent(self, fleet: FleetFigures) -> float | None:
        """Return how long clients waited for a processor, in percent.

        None if the database is on this machine: then they wait for the load that they cause
        themselves, and only other processes' share counts as a disturbance.
        """
        return None if self.shared else fleet.most_waiting_percent


def measure_machine(target: EngineTarget) -> MachineLoad | None:
    """Measure what keeps this machine busy besides a search of a database and the database."""
    return measure_load(Host.of(target).ours)


# Other users of the database during the search: a reader of the result should know of them.


SHARE_MOST = 0.01  # share of the server's statements, as the audit `server_count` allows
# Our own statements besides the load in a step: counters, recovery checks, rows that are read back
OWN_MOST = 50 + READS_MOST


def report_other_statements(
    step: StepResult, results: Sequence[ClientResult], filling: int = 0
) -> StepResult:
    """Report how many statements others sent to the server during a step.

    If they sent some, the server's count cannot audit ours and is dropped. MySQL counts every
    statement (`Questions`:
    dev.mysql.com/doc/refman/8.4/en/server-status-variables.html#statvar_Questions), so what our
    clients did not send came from others, as text or prepared. On a server that counts prepared
    statements alone, those show the others.

    Args:
        step: The step.
        results: What its clients measured.
        filling: The statements besides those of operations that filled the server's log.
    """
    server = step.server
    if server is None or server.statements_by_clients is None or server.interval_s <= 0:
        return step
    own = server.statements_by_clients
    own += sum(result.report.transaction_commands_sent for result in results)
    served = server.counters.get("Questions")
    if served is None:
        own, served = server.statements_by_clients, server.statements_by_server
    opened = sum(result.report.connection_report.opened for result in results)
    looks = sum(len(result.looks) for result in results)
    ours = OWN_MOST + OPENING_STATEMENTS * opened + LOOK_STATEMENTS * looks + filling
    if served is None or served - own <= max(ours, SHARE_MOST * served):
        return step
    a_second = words.format_rate((served - own) / server.interval_s)
    share = words.format_percent((served - own) / served)
    problem = f"others sent {a_second} statements/s to this server meanwhile ({share} of all)"
    return step.model_copy(
        update={
            "problems": (*step.problems, problem),
            "step": step.step.model_copy(update={"statements_served": None}),
        }
    )
