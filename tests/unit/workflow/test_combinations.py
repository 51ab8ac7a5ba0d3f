"""What goes together in a request: each combination can be run to its end, or is refused by name.

The run is planned as on AWS (`plan_next`), against a database of known speed; its files and its
record are held in memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.aws.run_files import REQUEST, RunFiles, plan_path, step_path
from plimsoll.aws.run_records import now
from plimsoll.capacity.beside import WITH, WITHOUT, measure_background_cost
from plimsoll.capacity.confirm.toggled import judge_toggle
from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import find_axis
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.databases import find_protocol
from plimsoll.model.judging.steps import STATISTICS, Step
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ServerCounters, StepPlan
from plimsoll.model.run.results import OperationTotals, StepResult
from plimsoll.model.run.run_record import RunRecord, RunState, Switch, TargetAddress
from plimsoll.requests.checked_request import CheckedRequest, validate_request
from plimsoll.workflow import barrier, plan_step
from plimsoll.workflow import toggle as toggle_state
from plimsoll.workflow.history import note_step, read_judged_steps, read_search_steps
from plimsoll.workflow.phases import summarize_phases
from tests.support.requested import REQUESTED
from tests.unit.fleet.test_merge import NONE
from tests.unit.workflow.limit_samples import result

RUN = "run"
MANY = 150  # answers of a plan; more is no end
VOLUME = {"type": "gp3", "size_gib": 100}
TARGETS: dict[str, dict[str, Any]] = {
    "rds": REQUESTED["target"],
    "own snapshot": {
        **REQUESTED["target"],
        "snapshot": "arn:aws:rds:eu-west-1:123456789012:snapshot:orders",
    },
    "cassandra": {"kind": "cassandra", "instance_type": "m5.large", "volume": VOLUME},
    "aurora": {
        "kind": "aurora",
        "engine": "aurora-mysql",
        "engine_version": "8.0",
        "instance_class": "db.r6g.large",
    },
    "endpoint": {"kind": "endpoint", "engine": "mariadb", "host": "db", "port": 3306},
}
SEARCHES: dict[str, dict[str, Any]] = {
    "steps": {"strategy": "steps", "clients": [1, 2], "open_loop_probe": False},
    "rate": {
        "strategy": "rate",
        "rate_first_ops_per_second": 1000,
        "rate_max_ops_per_second": 2000,
        "factor": 2,
    },
}
BACKGROUNDS: dict[str, list[Any]] = {
    "none": [],
    "its own tables": [
        {"name": "beside", "workload": {"name": "batch-full-scan", "records": 1000}}
    ],
    "the same tables": [
        {"name": "beside", "workload": {"name": "ycsb-c", "records": 1000}, "tables": "same"}
    ],
}
STATES = [{"name": name, "parameters": {"sync_binlog": name}} for name in ("0", "1")]
WAYS = [{"name": "direct"}, {"name": "proxy", "endpoint": {"port": 3307}}]
TOGGLES: dict[str, Any] = {
    "none": None,
    "two states": {"states": STATES, "pairs": 3},
    "two ways": {"states": WAYS, "pairs": 3},
}
COMPLETED = {"name": "job", "to_completion": {"records": 100, "connections": [1, 4]}}
SOUGHT = {"name": "ask", "workload": {"name": "ycsb-c"}, "search": SEARCHES["steps"]}
PHASES: dict[str, list[Any]] = {"none": [], "both": [COMPLETED, SOUGHT]}
ALL = list(product(TARGETS, SEARCHES, BACKGROUNDS, TOGGLES, PHASES))


def asked(names: tuple[str, ...]) -> dict[str, Any]:
    target, search, background, toggle, phases = names
    return {
        **REQUESTED,
        "target": TARGETS[target],
        "workload": {"name": "ycsb-b", "records": 1000},
        "search": SEARCHES[search],
        "background": BACKGROUNDS[background],
        "background_pairs": 3,
        "toggle": TOGGLES[toggle],
        "phases": PHASES[phases],
        "prepare": {"warm_s": 0},
        "limits": {"confirmation": None},
    }


class InMemory(RunFiles):
    """The files of a run."""

    def __init__(self) -> None:
        super().__init__("bucket", RUN)
        self.held: dict[str, bytes] = {}

    def put(self, path: str, content: str | bytes, *, content_type: str = "") -> None:
        del content_type
        self.held[path] = content.encode() if isinstance(content, str) else content

    def _read(self, path: str) -> bytes:
        return self.held[path]

    def paths(self, under: str = "") -> list[str]:
        return sorted(path for path in self.held if path.startswith(under))


class OneRecord:
    """The record of a run that goes on."""

    def __init__(self, request: Request) -> None:
        address = TargetAddress(
            protocol=find_protocol(request.target.engine),
            host="db",
            port=1,
            database="d",
            identifier=None,
        )
        self.record = RunRecord(
            run_id=RUN,
            name="n",
            team="t",
            state=RunState.RUNNING,
            request_sha256="",
            submitted_at=now(),
            time_limit_s=7200,
            target=address,
        )

    def require_running(self, _: str) -> RunRecord:
        return self.record

    def change(self, _: str, **changes: Any) -> bool:
        self.record = self.record.model_copy(update=changes)
        return True


class Server:
    """A database that is always ready, and tells in which state it is."""

    def __init__(self, records: OneRecord) -> None:
        self.records = records

    @contextmanager
    def open_datasets(self, _: object) -> Iterator[Any]:
        yield self

    def begin_load(self, _: object) -> int:
        return 1

    def read_counters(self, _: object) -> ServerCounters:
        return ServerCounters(epoch_ms=0, values={}, family="mysql")

    def find_unfinished_work(self, _: object) -> None:
        return None

    def read_parameters(self, _: object, names: list[str]) -> dict[str, str]:
        switch = self.records.record.switch
        assert switch is not None
        return dict.fromkeys(names, switch.state)


def answered(plan: StepPlan, checked: CheckedRequest) -> StepResult:
    """Four connections are as many as it serves at once, each operation in a millisecond."""
    us = 1000.0 * max(1.0, plan.connections / 4)
    rate = plan.rate_ops_per_second or plan.connections / us * 1e6
    names = checked.of_phase(plan.phase).operation_names
    count = plan.operations or round(rate * plan.duration_s)
    step = Step(
        index=plan.index,
        source=f"steps/{plan.index}",
        purpose=None if plan.operations is not None else plan.purpose,
        state=plan.state,
        clients=plan.clients,
        connections=plan.connections,
        rate_ops_per_second=plan.rate_ops_per_second,
        throughput_ops_per_second=rate,
        operations=count,
        errors=0,
        window_s=count / rate,
        latency_us={name: dict.fromkeys(STATISTICS, us) for name in names},
        clients_ran=plan.clients,
    )
    totals = OperationTotals(
        succeeded=count, records=count, errors={}, latency_us=NONE, histogram=""
    )
    made = result(plan.index, plan.clients, rate, us, None)
    return made.model_copy(update={"plan": plan, "step": step, "operations": {names[0]: totals}})


def ran(checked: CheckedRequest, monkeypatch: pytest.MonkeyPatch) -> InMemory:
    """Run a request to its end."""
    files, records = InMemory(), OneRecord(checked.request)
    files.put(REQUEST, checked.request.model_dump_json())
    server = Server(records)
    for module in (plan_step, barrier, toggle_state):
        monkeypatch.setattr(module, "find_family", lambda _: server)
    for module in (plan_step, barrier):
        monkeypatch.setattr(module, "files_of", lambda *_: files)
        monkeypatch.setattr(module, "records_of", lambda _: records)
        target = SimpleNamespace(protocol="mysql")
        monkeypatch.setattr(module, "connect_as_master", lambda *_, target=target: target)
    monkeypatch.setattr(barrier, "has_metrics", lambda *_: False)
    settings: Any = SimpleNamespace(
        start_lead_ms=1, start_lead_ms_per_client=0, poll_us=0, poll_seconds=1,
        metric_period_seconds=60, on_one_machine=False,
    )  # fmt: skip
    for _ in range(MANY):
        coming = plan_step.plan_next_step(settings, RUN)
        step, state = coming["step"], str(coming["state"])
        match coming["next"]:
            case "conclude":
                return files
            case "switch":
                records.change(RUN, switch=Switch(step=int(str(step)), state=state, stage="done"))
            case "step":
                done = answered(files.get(plan_path(int(str(step))), StepPlan), checked)
                files.put_model(step_path(done.plan.index), done)
                note_step(files, done)
            case other:
                raise AssertionError(f"nothing is to be waited for: {other}")
    raise AssertionError(f"no end after {MANY} answers")


@pytest.mark.parametrize("names", ALL, ids=", ".join)
def test_what_is_asked_together_is_run_to_its_end_or_refused_with_its_field(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    value = asked(names)
    refused: tuple[Complaint, ...] = ()
    checked: CheckedRequest | None
    try:
        checked = validate_request(value)
    except UsageError as error:
        checked, refused = None, error.complaints
    if checked is None:
        assert refused
        assert all(complaint.path and complaint.path[0] in value for complaint in refused)
        return
    request, files = checked.request, ran(checked, monkeypatch)
    everything, searching = read_judged_steps(files), read_search_steps(files)
    plans = [step.plan for step in everything]
    names_of_phases = [plan.phase for plan in plans]
    assert names_of_phases == sorted(names_of_phases, key=["job", "ask", None].index)
    assert not any(plan.background for plan in plans if plan.phase is not None)
    steps = [step.step for step in searching]
    assert judge(steps, request.limits, axis=find_axis(request.search)).verdict
    phases = summarize_phases(checked, everything, None)
    assert [phase.name for phase in phases] == [phase.name for phase in request.phases]
    assert all(phase.loads or phase.capacity for phase in phases)
    paired = [step for step in steps if step.purpose in (WITH, WITHOUT)]
    assert len(paired) == request.steps_beside
    if request.background:
        cost = measure_background_cost(request, steps)
        assert cost is not None
        assert cost.throughput.pairs == 3
        beside = {plan.purpose for plan in plans if plan.background}
        assert WITH in beside
        assert WITHOUT not in beside
    if request.toggle is not None:
        axis = find_axis(request.search)
        found = judge_toggle(
            request.toggle, steps, request.limits, axis=axis, readings={}, addresses={}
        )
        assert len(found.steps) == request.toggle.pairs
        assert {step.state for step in paired} <= {"0", "direct"}, "that of the answer"


def test_what_does_not_go_together() -> None:
    """The table of docs/pairs.md, "What goes together"."""
    refused = set()
    for names in ALL:
        try:
            validate_request(asked(names))
        except UsageError as error:
            refused.add((names, error.complaints[0].path[0]))
    of_toggle = {names for names, field in refused if field == "toggle"}
    assert of_toggle == {
        names
        for names in ALL
        if (names[3] == "two states" and names[0] not in {"rds", "own snapshot"})
        or (names[3] == "two ways" and names[0] != "endpoint")
        or (names[3] != "none" and names[1] == "rate")
    }
    others = {names for names, field in refused} - of_toggle
    assert others == {
        names
        for names in ALL
        if names not in of_toggle
        and names[0] in {"own snapshot", "cassandra"}
        and names[2] == "its own tables"
    }, "nor has Cassandra one of the built-in ones, which are in SQL"
