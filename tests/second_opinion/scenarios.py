"""What functions answer in each scenario: success, the failure of each state, a faulty fleet."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.model.deployment.functions import FUNCTIONS, Setting
from plimsoll.model.timings import AWS_TIMINGS, ENVIRONMENTS_AT_ONCE, ENVIRONMENTS_PER_S
from plimsoll.statemachines import (
    STATE_MACHINES,
    fill_placeholders,
    name_machine_placeholder,
    read_definition,
)
from tests.second_opinion.scripted_aws import (
    SERVICE_FAULT,
    THROTTLED,
    WRITTEN,
    Answer,
    Ended,
    Failed,
    Refused,
    Script,
    Starts,
)

BROKEN = Failed("OperationalError", 'it said "no" in C:\\temp, ünd\nthen nothing')
LONG = Failed("Sandbox.Timedout", "x" * 400)
BUS_IS_GONE = Refused("ResourceNotFoundException", 400)
UNTYPED = "AWS's guide calls an error without a type Lambda.Unknown; LocalStack calls it Exception"
CELL_RAN = Ended("SUCCEEDED")
CELL_FAILED = Ended("FAILED", "TargetError", "it did not start")


def _told(payload: Any) -> Answer:
    """Answer as `end-run` and `conclude-experiment` do: the failure that the record keeps."""
    failure = payload.get("failure")
    told = failure and {"error": failure["error"], "cause": failure["cause"]}
    return {"failure": told}


def _step(number: int, clients: int) -> Answer:
    return _next("step", step=number, clients=list(range(clients)), start_at_epoch_ms=1_800_000_000)


def _next(kind: str, **members: Any) -> Answer:
    none = {
        "wait_s": 0, "step": 0, "state": "", "clients": [], "start_at_epoch_ms": 0, "turns": []
    }  # fmt: skip
    return {"next": kind, **none, **members}


def _relay(first: int, windows: int, clients: int) -> Answer:
    """A relay whose turns have all come: none of them waits."""
    lanes = [
        {"role": role, "step": first + later, "stride": stride, "last": first + windows - less,
         "at_epoch_ms": 0, "next_at_epoch_ms": 0, "every_ms": 0}
        for role, stride, later, less in (
            ("client", 2, 0, 1), ("client", 2, 1, 1), ("reader", 1, 0, 2), ("judge", 1, 0, 2)
        )
    ]  # fmt: skip
    fleet = [10_000 * lane + client for lane in (0, 1) for client in range(clients)]
    last = first + windows - 1
    return _next("relay", step=last, clients=[*fleet, 20_000, 30_000], turns=lanes)


def _parts(count: int) -> Answer:
    return {"parts": [{"table": 0, "share": n, "shares": count} for n in range(count)]}


def _looked(*, ready: bool = False, again: bool = False) -> Answer:
    return {"ready": ready, "again": again, "wait_s": 0}


PAUSE, CONCLUDE = _next("pause"), _next("conclude")
SWITCH = _next("switch", step=2, state="feature-off")
CONCLUDED = {"concluded": True, "wait_s": 0}
GONE = {"gone": True, "wait_s": 0}
SETTLED = {"settled": True, "wait_s": 0}
JUDGED = {
    "run_id": "@",
    "step": 1,
    "passed": None,
    "reasons": [],
    "latency_us": {"read": {"p99": 1.5}},
}

RECORDED = {"provisioned": True, "prepares": False, "load_clients": 2, "clients_in": ""}
# The answers of a success, by machine.
BASE: Mapping[str, Script] = {
    "run": {
        "record-run": [RECORDED],
        "arm-deletion": [None],
        "create-target": [{"clients_in": ""}],
        "await-target": [_looked(), _looked(ready=True)],
        "create-schema": [_parts(3)],
        "load-dataset": [None],
        "verify-dataset": [{"rows": 10}],
        "take-snapshot": [{"taken": False, "wait_s": 0}, {"taken": True, "wait_s": 0}],
        "plan-step": [_step(0, 1), _step(1, 2), PAUSE, SWITCH, _step(2, 3), CONCLUDE],
        "switch-target": [_looked(), _looked(ready=True)],
        "load-client": [None],
        WRITTEN: [None],
        "judge-step": [JUDGED],
        "bus": [None],
        "conclude": [{"concluded": False, "wait_s": 0}, CONCLUDED],
        "publish-target": [None],
        "delete-target": [{"gone": False, "wait_s": 0}, GONE],
        "end-run": _told,
    },
    "teardown": {"delete-target": [{"gone": False, "wait_s": 0}, GONE], "end-run": _told},
    "experiment": {
        "plan-experiment": [{"datasets": [], "batches": [[2, 0], [1]], "at_once": 1}],
        "choose-cell": [{"batches": [[1]]}, {"batches": [[0]]}, {"batches": []}],
        "submit-cell": lambda payload: {"run_id": f"@--cell-{payload['cell']}"},
        "run": [CELL_RAN],
        "settle-cells": [{"settled": False, "wait_s": 0}, SETTLED],
        "delete-datasets": [GONE],
        "conclude-experiment": _told,
    },
    "experiment-end": {
        "settle-cells": [{"settled": False, "wait_s": 0}, SETTLED],
        "delete-datasets": [GONE],
        "conclude-experiment": _told,
    },
}


@dataclass(frozen=True)
class Scenario:
    """One execution of a machine.

    Attributes:
        machine: Its name.
        title: What happens in it.
        answers: Where the script differs from a success.
        status: How the execution must end; None where that is the machine's own affair.
        differs: Why the interpreters are known to differ; empty if they agree.
        cells_at_once: Of an experiment.
        slow: Whether it is for `make check-aws` alone: retries take a minute, or it differs from
            another one in the name of an error only.
        whole_fleet: Whether no client's failure may be written.
        relays: Whether clients, readers and judges of a relay take turns at the same time.
    """

    machine: str
    title: str
    answers: Script = field(default_factory=dict)
    status: str | None = "SUCCEEDED"
    differs: str = ""
    cells_at_once: int = 1
    slow: bool = False
    whole_fleet: bool = False
    relays: bool = False

    @property
    def name(self) -> str:
        """A name that AWS takes, of its own."""
        words = "".join(c if c.isalnum() else "-" for c in f"{self.machine} {self.title}".lower())
        return words[:60]

    @property
    def script(self) -> Script:
        """The answer to every call."""
        return {**BASE[self.machine], **self.answers}

    @property
    def given(self) -> Mapping[str, str]:
        """The execution's input: the id, by which every call says whose it is."""
        which = "experiment_id" if self.machine.startswith("experiment") else "run_id"
        ended = {} if self.machine in {"run", "experiment"} else {"ended": "ABORTED"}
        return {which: self.name, **ended}


def definition(machine: str) -> str:
    """Give a machine's file with an ARN for each function and machine that it names."""
    functions = {
        row.arn_placeholder: f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
        for name, row in FUNCTIONS.items()
    }
    machines = {
        name_machine_placeholder(name): f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:{name}"
        for name in STATE_MACHINES
    }
    named = {str(Setting.EVENT_BUS): "bus", str(Setting.RESULTS_BUCKET): "results"}
    return fill_placeholders(read_definition(machine), {**functions, **machines, **named})


def _called(state: Mapping[str, Any]) -> str:
    """The short name of what a Task state calls."""
    functions = {f"${{{row.arn_placeholder}}}": name for name, row in FUNCTIONS.items()}
    arguments = json.dumps(state["Arguments"])
    named = [name for placeholder, name in functions.items() if placeholder in arguments]
    if "s3:putObject" in state["Resource"]:
        return WRITTEN
    return named[0] if named else "run" if "RunStateMachineArn" in arguments else "bus"


def _tasks(block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every Task of a machine, in Maps too: its name and what it calls."""
    for name, state in block["States"].items():
        if state["Type"] == "Task":
            yield name, _called(state)
        if "ItemProcessor" in state:
            yield from _tasks(state["ItemProcessor"])


def tasks(machine: str) -> list[tuple[str, str]]:
    """List every Task of a machine by its name, with the function, machine or bus that it calls."""
    return list(_tasks(json.loads(read_definition(machine))))


# After whose failure the execution still succeeds: the record tells it, or nobody waits for it.
PASSED_OVER = {"load-dataset", "load-client", "bus", "publish-target", "submit-cell", "run"}

RETRIED_LONG = {"delete-target", "settle-cells"}

# States of a relay, which scenarios of their own come by.
RELAYED = {"RelayClient", "ReadCounters", "JudgeWindow", "TellWindow"}

# What leads to a state that a run, or an experiment, comes by only then.
LEADING: Mapping[str, Script] = {
    "choose-cell": {
        "plan-experiment": [{"datasets": [], "batches": [], "at_once": 1, "seeks": True}]
    },
    "take-snapshot": {"record-run": [{**RECORDED, "prepares": True}]},
}


def _failures_of_every_state() -> Iterator[Scenario]:
    for machine in STATE_MACHINES:
        for state, called in tasks(machine):
            if called == WRITTEN or state in RELAYED:  # nothing has failed that would be written
                continue
            status = "SUCCEEDED" if called in PASSED_OVER else "FAILED"
            always = {"bus": BUS_IS_GONE, "run": CELL_FAILED}.get(called, BROKEN)
            slow, leading = called in RETRIED_LONG, LEADING.get(called, {})
            fails = {**leading, called: [always]}
            yield Scenario(machine, f"{state} always fails", fails, status, slow=slow)
            if called in ("bus", "run"):
                continue
            first = BASE[machine][called]
            if not callable(first):
                answers = {**leading, called: [THROTTLED, *first]}
                yield Scenario(machine, f"{state} is throttled once", answers, None)
                yield Scenario(
                    machine,
                    f"{state} meets a fault once",
                    {**leading, called: [SERVICE_FAULT, *first]},
                    None,
                    slow=True,
                )


def _of_runs() -> Iterator[Scenario]:
    for count in (0, 1):
        yield Scenario("run", f"{count} parts", {"create-schema": [_parts(count)]})
        yield Scenario("run", f"{count} clients", {"plan-step": [_step(0, count), CONCLUDE]})
    yield Scenario("run", "40 clients", {"plan-step": [_step(0, 40), CONCLUDE]})
    yield Scenario(
        "run",
        "an endpoint",
        {"record-run": [{**RECORDED, "provisioned": False, "load_clients": 1}]},
    )
    elsewhere = {
        "create-target": [{"clients_in": ""}, {"clients_in": "-2"}],
        "await-target": [_looked(), _looked(again=True), _looked(ready=True)],
        "load-client-2": [None],
    }
    yield Scenario("run", "the second zone has room", elsewhere)
    yield Scenario("run", "nothing to measure", {"plan-step": [CONCLUDE]})
    yield Scenario("run", "a dataset is prepared", LEADING["take-snapshot"])
    for what, answer in {"fails": BROKEN, "runs long": LONG}.items():
        yield Scenario("run", f"one client {what}", {"load-client:1": [answer]})
    many: Script = {
        "create-schema": [_parts(30)],
        "load-dataset": [LONG],
        "plan-step": [_step(1, 1000), CONCLUDE],
        "load-client": [LONG],
    }
    yield Scenario("run", "30 parts and 1000 clients fail", many, slow=True)
    unwritten: Script = {"load-client": [BROKEN], WRITTEN: [Refused("SlowDown", 503)]}
    yield Scenario("run", "failures that cannot be written", unwritten, slow=True)
    untyped = {"load-client:1": [Failed(None)]}
    yield Scenario("run", "one client says no type", untyped, differs=UNTYPED)
    for what, refusal in {"throttled": THROTTLED, "faulty": SERVICE_FAULT}.items():
        yield Scenario(
            "run",
            f"one client {what} once",
            {"load-client:1": [refusal, None]},
            whole_fleet=refusal is THROTTLED,  # 429 says that nothing was invoked
        )
        yield Scenario("run", f"all parts {what} for good", {"load-dataset": [refusal]})
        yield Scenario("run", f"all parts {what} once", {"load-dataset": [refusal, None]})
    yield Scenario("run", "clients of one step fail", {"load-client": [None, BROKEN, None]})
    lacking: dict[str, Answer] = {
        "record-run": {},
        "await-target": {"ready": True},
        "create-schema": {},
        "create-target": {},
        "plan-step": {},
        "switch-target": {"ready": False},
        "conclude": {"concluded": True},
    }
    for called, answer in lacking.items():
        yield Scenario("run", f"{called} answers too little", {called: [answer]}, "FAILED")
    wrong = {"create-schema": [{"parts": "none"}]}
    yield Scenario("run", "parts that are no list", wrong, "FAILED")
    failed_twice = {"verify-dataset": [BROKEN], "delete-target": [BROKEN]}
    yield Scenario("run", "fails and is not torn down", failed_twice, "FAILED", slow=True)
    yield Scenario("run", "torn down at the third try", {"delete-target": [BROKEN, LONG, GONE]})
    yield Scenario(
        "run", "its end written at the second try", {"end-run": [BROKEN, {"failure": None}]}
    )
    told = {"failure": {"error": "RunStoppedError", "cause": 'by "me"'}}
    yield Scenario(
        "run", "stopped", {"judge-step": [Failed("RunStoppedError")], "end-run": [told]}, "FAILED"
    )
    odd = {**JUDGED, "reasons": ['"', "\\", "ü€😀", "{% $x %}", ""]}
    yield Scenario("run", "odd words in an event", {"judge-step": [odd]})


# An interpreter on two cores carries out some hundred calls a second, where thousands of clients
# would ask at once. A fleet of one in fifty, started by a bucket of one in fifty, takes as long.
ONE_IN = 50


def _of_large_fleets() -> Iterator[Scenario]:
    for clients in (1_000, 5_000, 10_000):
        starts = Starts(
            at_once=ENVIRONMENTS_AT_ONCE / ONE_IN,
            per_s=ENVIRONMENTS_PER_S / ONE_IN,
            lead_s=AWS_TIMINGS.lead_s(clients),
        )
        answers: Script = {
            "plan-step": [_step(1, clients // ONE_IN), CONCLUDE],
            "load-client": [starts],
        }
        yield Scenario(
            "run",
            f"a fleet of {clients} starts before its barrier",
            answers,
            slow=clients > ENVIRONMENTS_AT_ONCE,
            whole_fleet=True,
        )


def _of_relays() -> Iterator[Scenario]:
    def judged(payload: Any) -> Answer:
        over = payload["step"] >= 5
        match payload.get("role"):
            case "reader":
                return {"over": over}
            case "judge":
                told = {**JUDGED, "run_id": payload["run_id"], "step": payload["step"]}
                return {"over": over, "judged": None if over else told}
        return JUDGED

    base: Script = {
        "plan-step": [_step(0, 1), _relay(1, 5, 2), CONCLUDE],
        "load-client": [{"over": False}],
        "judge-step": judged,
    }
    different: Mapping[str, Script] = {
        "of five windows": {},
        "of two windows": {"plan-step": [_relay(1, 2, 1), CONCLUDE]},
        "whose last windows are not wanted": {
            "plan-step": [_relay(1, 9, 2), CONCLUDE],
            "load-client": lambda payload: {"over": payload["step"] > 5},
        },
        "with a client that fails once": {
            "load-client": lambda payload: (
                LONG if (payload["step"], payload["client"]) == (3, 1) else {"over": False}
            )
        },
        "with a client throttled once": {"load-client:1:1": [THROTTLED, {"over": False}]},
        "without counters": {
            "judge-step": lambda payload: (
                BROKEN if payload.get("role") == "reader" else judged(payload)
            )
        },
        "without a bus": {"bus": [BUS_IS_GONE]},
    }
    for title, answers in different.items():
        yield Scenario("run", f"a relay {title}", {**base, **answers}, relays=True)


def _of_experiments() -> Iterator[Scenario]:
    yield Scenario(
        "experiment",
        "no cells",
        {"plan-experiment": [{"datasets": [], "batches": [], "at_once": 1}]},
    )
    yield Scenario(
        "experiment",
        "an empty batch",
        {"plan-experiment": [{"datasets": [], "batches": [[]], "at_once": 1}]},
    )
    two = {"plan-experiment": [{"datasets": [], "batches": [[0, 1], [2, 3]], "at_once": 2}]}
    yield Scenario("experiment", "two cells at once", two, cells_at_once=2)
    no_room = Failed("NoRoomYetError")
    yield Scenario(
        "experiment",
        "one cell waits for room",
        {"submit-cell:0": [no_room, {"run_id": "@--cell-0"}]},
    )
    for cell in (0, 1, 2):
        yield Scenario("experiment", f"cell {cell} is refused", {f"submit-cell:{cell}": [BROKEN]})
    yield Scenario(
        "experiment", "a cell is throttled", {"submit-cell:0": [THROTTLED, {"run_id": "@--cell-0"}]}
    )
    full = Refused("ExecutionLimitExceeded", 400)
    yield Scenario("experiment", "a run cannot start yet", {"run": [full, CELL_RAN]})
    seeking = LEADING["choose-cell"]
    yield Scenario("experiment", "a search for the boundary", seeking)
    refusing = {**seeking, "submit-cell:1": [BROKEN]}
    yield Scenario("experiment", "a cell of a search is refused", refusing)
    lacking = {"plan-experiment": [{"batches": [[0]]}]}
    yield Scenario("experiment", "a plan that says too little", lacking, "FAILED")


def scenarios() -> list[Scenario]:
    """List every scenario."""
    return [
        *(Scenario(machine, "success") for machine in STATE_MACHINES),
        *_failures_of_every_state(),
        *_of_runs(),
        *_of_large_fleets(),
        *_of_relays(),
        *_of_experiments(),
    ]
