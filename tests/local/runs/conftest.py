"""A twin for all tests of runs: its functions are the real ones, each behind a gate.

A test closes a gate to hold a function where it is, waits until the function has reached it, does
its worst, and opens it again.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from plimsoll.local.runner import LocalRun, deployment_of
from plimsoll.local.twin import LocalTwin, RunningDatabase
from plimsoll.model.functions import FUNCTIONS
from plimsoll.model.prices import PriceOverrides
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult
from plimsoll.model.runs import RunRecord
from plimsoll.runs import services
from plimsoll.runs.files import RESULT
from plimsoll.runs.watch import Snapshot

ROOT = Path(__file__).parents[3]
LOOK_S = 0.1  # between two looks at a run, each some calls that the twin answers
PATIENCE_S = 240.0  # a test that waits longer has failed; a Cassandra takes a while to start
HANDLER = """\
import importlib.util, time
from pathlib import Path

spec = importlib.util.spec_from_file_location("real_{folder}", {real!r})
real = importlib.util.module_from_spec(spec)
spec.loader.exec_module(real)


def handler(event, context):
    client = "" if "client" not in event else f"-{{event['client']}}"
    gate = Path({gates!r}) / f"{name}{{client}}-{{event.get('run_id')}}"
    if gate.exists():
        gate.with_suffix(".reached").touch()
        while gate.exists():
            time.sleep(0.02)
    return real.handler(event, context)
"""


@dataclass
class Gate:
    """Holds one function of one run."""

    path: Path

    def await_arrival(self) -> None:
        wait_until(self.path.with_suffix(".reached").exists, f"{self.path.name} reached", 0.02)

    def open(self) -> None:
        self.path.unlink()


def wait_until(true: Callable[[], bool], what: str, every_s: float = LOOK_S) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(every_s)


class Bench:
    """Starts runs on a twin, and knows what must not be left of them."""

    def __init__(self, twin: LocalTwin, gates: Path) -> None:
        self.twin = twin
        self._gates = gates
        deployment_of(twin)

    def start(
        self,
        request: Request,
        key: str | None = None,
        prices: Mapping[str, Any] | None = None,
    ) -> LocalRun:
        own = PriceOverrides.model_validate(prices or {})
        return LocalRun(self.twin, request, idempotency_key=key, prices=own)

    def gate(self, function: str, run: LocalRun) -> Gate:
        path = self._gates / f"{function}-{run.run_id}"
        path.touch()
        return Gate(path)

    def until(self, run: LocalRun, true: Callable[[Snapshot], bool], what: str) -> None:
        def now() -> bool:
            snapshot = run.look()
            assert true(snapshot) or not snapshot.record.state.ended, snapshot.record
            return true(snapshot)

        wait_until(now, what)

    def database(self, run: LocalRun) -> RunningDatabase:
        name = f"plimsoll-{run.run_id}"
        wait_until(lambda: name in self.twin.databases, f"database of {run.run_id}")
        return self.twin.databases[name]

    def await_load(self, run: LocalRun, *, clients: int) -> None:
        """Wait until all clients of a step are connected, however late, and may send."""
        port = self.database(run).port

        def loading(now: Snapshot) -> bool:
            begun = now.plan is not None and time.time() * 1000 > now.plan.start_at_epoch_ms
            return begun and sum(_connected(pid, port) for pid in self.client_pids()) == clients

        self.until(run, loading, "load")

    def client_pids(self) -> list[int]:
        running = self.twin.invocations()
        return [one["pid"] for one in running if one["function"] == "load-client"]

    def end(self, run: LocalRun) -> tuple[RunRecord, RunResult]:
        """Wait for a run's end, and see that nothing is left of it."""
        wait_until(lambda: run.look().record.state.ended, f"end of {run.run_id}")
        record = run.look().record
        self.assert_nothing_left(run, record)
        return record, run.deployment.files(run.run_id).get(RESULT, RunResult)

    def assert_nothing_left(self, run: LocalRun, record: RunRecord) -> None:
        assert f"plimsoll-{run.run_id}" not in self.twin.databases
        folder = self.twin.directory / "databases" / f"plimsoll-{run.run_id}"
        assert not folder.exists()
        servers = [
            process
            for process in psutil.process_iter(["cmdline"])
            if any(run.run_id in word for word in process.info["cmdline"] or [])
        ]
        assert servers == []
        stacks = services.cloudformation().list_stacks()["StackSummaries"]
        left = [s["StackStatus"] for s in stacks if s["StackName"] == record.stack_name]
        assert set(left) <= {"DELETE_COMPLETE"}
        if record.stack_id is not None:
            assert record.deleted_at is not None
            schedules = services.scheduler().list_schedules()["Schedules"]
            assert record.stack_name not in {schedule["Name"] for schedule in schedules}


def _connected(pid: int, port: int) -> bool:
    try:
        connections = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:  # it has ended meanwhile
        return False
    return any(c.raddr and c.raddr.port == port for c in connections)


@pytest.fixture(scope="session")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gates")


def gated_functions(folder: Path, gates: Path) -> Path:
    for name, function in FUNCTIONS.items():
        real = ROOT / "functions" / function.folder / "handler.py"
        place = folder / function.folder / "handler.py"
        place.parent.mkdir(parents=True)
        place.write_text(
            HANDLER.format(folder=function.folder, real=str(real), gates=str(gates), name=name)
        )
    return folder


@pytest.fixture(scope="session")
def shared_bench(tmp_path_factory: pytest.TempPathFactory, gates: Path) -> Iterator[Bench]:
    functions = gated_functions(tmp_path_factory.mktemp("functions"), gates)
    home = tmp_path_factory.mktemp("twin")
    with LocalTwin(home, functions_directory=functions) as twin:
        yield Bench(twin, gates)


@pytest.fixture
def bench(shared_bench: Bench) -> Iterator[Bench]:
    deployment_of(shared_bench.twin)  # another twin may have been reached since
    yield shared_bench
    assert shared_bench.twin.databases == {}


def tiny(name: str, **changes: Any) -> Request:
    """A run of seconds: 300 rows, one step of one client.

    What it does is tested, not how fast: where this machine's own disk is slow, no step of it is
    repeated.
    """
    requested: dict[str, Any] = {
        "name": name,
        "target": {
            "kind": "rds",
            "engine": "mariadb",
            "engine_version": "11.4.5",
            "instance_class": "db.m5.large",
            "volume": {"type": "io1", "size_gib": 100, "iops": 2000},
        },
        "workload": {"name": "ycsb-a", "records": 300},
        "search": {"strategy": "steps", "clients": [1]},
        "load": {"warmup_s": 0.5, "duration_s": 1, "recovery_max_s": 1, "timeout_ms": 1000},
        "limits": {"confirmation": None, "audits_off": ["undisturbed"]},
        "prepare": {"warm_s": 0, "clients": 2},
        "time_limit_s": 300,
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = requested
        for parent in parents:
            place = place[parent]
        place[last] = value
    return Request.model_validate(requested)
