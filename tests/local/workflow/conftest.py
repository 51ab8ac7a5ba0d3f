"""Runs on the twin of this worker (`pool.py`): its functions are the real ones, behind gates.

A test starts a run with a gate closed, waits until the function has reached it, does its worst, and
opens it again. A client can be frozen in the midst of its load instead: the moment is then the
test's, however busy the machine is.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, get_args

import psutil
import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_files import RESULT, plan_path
from plimsoll.local.runner import LocalRun, make_twin_settings
from plimsoll.local.twin import LocalTwin, RunningDatabase
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.requests.checked_request import check_request
from plimsoll.workflow.submit import name_run
from tests.support.requested import REQUESTED

LOOK_S = 0.5  # between two looks at a run, each 16 ms of the processor time of test and twin
PATIENCE_S = 480.0  # a test that waits longer has failed; a Cassandra takes a while to start


@dataclass
class Gate:
    """Holds one function of one run, before it begins or in the midst of its load."""

    path: Path
    run: LocalRun

    def await_arrival(self) -> int:
        """Wait until the function is held; gives its process."""
        reached = self.path.with_suffix(".reached")
        wait_until(lambda: reached.exists() or ended(self.run), f"{self.path.name} reached")
        assert reached.exists(), why(self.run.look().record)
        return int(reached.read_text())

    def await_frozen(self) -> psutil.Process:
        """Wait until the function's process stands still."""
        process = psutil.Process(self.await_arrival())
        wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "it is frozen", 0.02)
        return process

    def open(self) -> None:
        self.path.unlink()


def wait_until(true: Callable[[], bool], what: str, every_s: float = LOOK_S) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(every_s)


def wait_for_the_end(run: LocalRun, *, step: int) -> None:
    """Wait until the window of a step, which has been planned, is over."""
    plan = run.files.get(plan_path(step), StepPlan)
    wait_until(lambda: time.time() * 1000 > plan.window_end_epoch_ms, "the window's end")


def hold_until_the_end(gate: Gate, run: LocalRun, *, step: int) -> None:
    """Hold a step's client until its window is over."""
    gate.await_arrival()
    wait_for_the_end(run, step=step)
    gate.open()


def ended(run: LocalRun) -> bool:
    return run.look().record.state.ended


def why(record: RunRecord) -> str:
    """Say how a run has ended; in whole, where pytest would cut what it shows."""
    if record.failure is None:
        return f"{record.state}, and nothing failed"
    failure = record.failure
    return f"{record.state} in its {failure.phase} phase: {failure.error}: {failure.cause}"


class Bench:
    """Starts runs on a twin, and knows what must not be left of them."""

    def __init__(self, twin: LocalTwin, gates: Path) -> None:
        self.twin = twin
        self._gates = gates
        self._count = count()
        make_twin_settings(twin)

    def start(
        self,
        request: Request,
        key: str | None = None,
        prices: Mapping[str, Any] | None = None,
        hold: Sequence[str] = (),
    ) -> LocalRun:
        """Start a run, with gates that are closed before it begins.

        Args:
            request: What it is to do.
            key: Names it.
            prices: Its own.
            hold: Functions, one client or part of one (`load-client-0`), or one that is frozen once
                its load is under way (`freeze-load-client-0`).
        """
        key = key or f"{request.name}-{next(self._count)}"
        for function in hold:
            (self._gates / f"{function}-{name_run(request.team, key)}").touch()
        own = PriceOverrides.model_validate(prices or {})
        return LocalRun(self.twin, check_request(request), idempotency_key=key, prices=own)

    def gate(self, function: str, run: LocalRun) -> Gate:
        """Give a gate that was closed at the run's start."""
        path = self._gates / f"{function}-{run.run_id}"
        assert path.exists()
        return Gate(path, run)

    def database(self, run: LocalRun) -> RunningDatabase:
        """Give the database of a run that has made it."""
        return self.twin.databases[f"plimsoll-{run.run_id}"]

    def running(self, function: str) -> int:
        """Count the invocations of a function that have not answered yet."""
        return sum(one["function"] == function for one in self.twin.invocations())

    def end(self, run: LocalRun) -> tuple[RunRecord, RunResult]:
        """Wait for a run's end, and see that nothing is left of it."""
        wait_until(lambda: ended(run), f"end of {run.run_id}")
        record = run.look().record
        self.assert_nothing_left(run, record)
        return record, run.files.get(RESULT, RunResult)

    def succeed(self, run: LocalRun) -> tuple[RunRecord, RunResult]:
        """Wait for the end of a run that is to go well; if it does not, its cause is told first."""
        record, result = self.end(run)
        assert record.failure is None, why(record)
        assert record.state is RunState.SUCCEEDED
        return record, result

    def assert_nothing_left(self, run: LocalRun, record: RunRecord) -> None:
        assert f"plimsoll-{run.run_id}" not in self.twin.databases
        folder = self.twin.directory / "databases" / f"plimsoll-{run.run_id}"
        assert not folder.exists()
        servers = [
            process
            for process in psutil.process_iter(["cmdline"])
            if any(str(folder) in word for word in process.info["cmdline"] or [])
        ]
        assert servers == []
        stacks = clients.cloudformation().list_stacks()["StackSummaries"]
        left = [s["StackStatus"] for s in stacks if s["StackName"] == record.stack_name]
        assert set(left) <= {"DELETE_COMPLETE"}
        if record.stack_id is not None:
            assert record.deleted_at is not None
            schedules = clients.scheduler().list_schedules()["Schedules"]
            assert record.stack_name not in {schedule["Name"] for schedule in schedules}


@pytest.fixture(scope="session")
def shared_bench(run_twin: LocalTwin, gates: Path) -> Bench:
    return Bench(run_twin, gates)


@pytest.fixture
def bench(shared_bench: Bench) -> Iterator[Bench]:
    make_twin_settings(shared_bench.twin)  # another twin may have been reached since
    yield shared_bench
    assert shared_bench.twin.databases == {}


def measured(result: RunResult) -> list[StepResult]:
    """Give the steps in which all clients ran: where this machine stood still, not all of them."""
    steps = [s for s in result.steps if s.step.void is None and s.fleet.ran == s.plan.clients]
    assert steps
    return steps


# of a request whose verdict has a figure however busy this machine is
ANSWERED: dict[str, Any] = {
    "limits__audits_off": sorted(get_args(AuditName)),
    "limits__client_busy_max": 1.0,
}


def tiny(name: str, **changes: Any) -> Request:
    """A run of seconds: 300 rows, one step of one client.

    What it does is tested, not how fast: where this machine's own disk is slow, no step of it is
    repeated, and its windows hold enough operations for a mean (10), not for a p99 (299).
    """
    requested: dict[str, Any] = {
        "name": name,
        "target": {**REQUESTED["target"], "volume": {"type": "io1", "size_gib": 100, "iops": 2000}},
        "workload": {"name": "ycsb-a", "records": 300},
        "search": {"strategy": "steps", "clients": [1]},
        "load": {"warmup_s": 0.5, "duration_s": 1, "recovery_max_s": 1, "timeout_ms": 30_000},
        "limits": {"confirmation": None, "audits_off": ["undisturbed"], "statistic": "mean"},
        "prepare": {"warm_s": 0, "clients": 2},
        "time_limit_s": 900,
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = requested
        for parent in parents:
            place = place[parent]
        place[last] = value
    return Request.model_validate(requested)
