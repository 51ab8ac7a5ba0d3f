"""The state machines keep their promises by structure: every way out leads through teardown."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.model.deployment.functions import FUNCTIONS, Setting
from plimsoll.statemachines import STATE_MACHINES, name_machine_placeholder

FOLDER = Path(__file__).parents[3] / "statemachines"
MACHINES = sorted(path.name for path in FOLDER.glob("*.asl.json"))
BEFORE_TEARDOWN = {
    "Record", "ArmDeletion", "CreateTarget", "AwaitTarget", "CreateSchema", "LoadDataset",
    "VerifyDataset", "TakeSnapshot", "PlanStep", "SwitchTarget", "RunClients", "RunRelay",
    "JudgeStep", "Conclude",
}  # fmt: skip


def definition(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / name).read_text())
    return loaded


def states(machine: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, state in machine["States"].items():
        yield name, state
        if "ItemProcessor" in state:
            yield from states(state["ItemProcessor"])


def successors(state: dict[str, Any]) -> set[str]:
    following = {state.get("Next"), state.get("Default")}
    following |= {choice["Next"] for choice in state.get("Choices", [])}
    following |= {catch["Next"] for catch in state.get("Catch", [])}
    return {name for name in following if name}


@pytest.mark.parametrize("name", MACHINES)
def test_placeholders_are_functions_machines_or_settings_and_nothing_else(name: str) -> None:
    placeholders = set(re.findall(r"\$\{(\w+)\}", (FOLDER / name).read_text()))
    known = {function.arn_placeholder for function in FUNCTIONS.values()} | set(Setting)
    known |= {name_machine_placeholder(name) for name in STATE_MACHINES}
    assert placeholders
    assert placeholders <= known


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_is_reached_and_leads_to_one_that_exists(name: str) -> None:
    machine = definition(name)
    assert machine["QueryLanguage"] == "JSONata"
    assert machine["TimeoutSeconds"] > 0
    reached, waiting = set(), {machine["StartAt"]}
    while waiting:
        state = waiting.pop()
        reached.add(state)
        waiting |= successors(machine["States"][state]) - reached
    assert reached == set(machine["States"])


def test_every_task_before_teardown_catches_everything_and_goes_there() -> None:
    machine = definition("run.asl.json")
    working = {
        name for name, state in machine["States"].items() if state["Type"] in {"Task", "Map"}
    }
    assert (
        working - {"Teardown", "EndRun", "PublishTarget", "TellStep", "CheckConditions"}
        == BEFORE_TEARDOWN
    )
    for name in BEFORE_TEARDOWN:
        (catch,) = machine["States"][name]["Catch"]
        assert catch["ErrorEquals"] == ["States.ALL"], name
        assert catch["Next"] == "Teardown", name
        assert "failure" in catch["Assign"], f"{name} forgets that it failed"


def test_conditions_that_cannot_be_checked_keep_no_run_from_its_conclusion() -> None:
    check = definition("run.asl.json")["States"]["CheckConditions"]
    assert check["Catch"] == [{"ErrorEquals": ["States.ALL"], "Next": "Conclude"}]
    assert check["Next"] == "Conclude"


def test_a_store_of_metrics_never_fails_a_run() -> None:
    publish = definition("run.asl.json")["States"]["PublishTarget"]
    assert publish["Catch"] == [{"ErrorEquals": ["States.ALL"], "Next": "Teardown"}]
    assert publish["Next"] == "Teardown"


def test_an_event_that_cannot_be_sent_changes_nothing() -> None:
    tell = definition("run.asl.json")["States"]["TellStep"]
    assert tell["Catch"] == [{"ErrorEquals": ["States.ALL"], "Next": tell["Next"]}]
    assert "Assign" not in tell


def test_a_client_or_a_reader_that_fails_leaves_its_relay_going() -> None:
    """A judge that fails for good does not: nobody would see that the load is not sustained."""
    relay = dict(states(definition("run.asl.json")["States"]["RunRelay"]["ItemProcessor"]))
    for name in ("RelayClient", "NoteRelayFailure", "ReadCounters", "TellWindow"):
        (catch,) = relay[name]["Catch"]
        assert catch["ErrorEquals"] == ["States.ALL"]
        assert catch["Next"] in {"NoteRelayFailure", "NextTurn"}, name
    assert "Catch" not in relay["JudgeWindow"]
    assert relay["AnotherTurn?"]["Choices"][0]["Next"] == "RelayOver"
    assert {name for name, state in relay.items() if state.get("End")} == {"RelayOver"}


def test_no_end_is_reached_without_teardown_and_no_failure_reads_succeeded() -> None:
    machine = definition("run.asl.json")["States"]
    ends = {name for name, state in machine.items() if state["Type"] in {"Succeed", "Fail"}}
    assert ends == {"RunSucceeded", "RunFailed"}
    assert not any("End" in state for state in machine.values())
    parents = {name for name, state in machine.items() if successors(state) & ends}
    assert parents == {"Failed?"}
    assert {name for name, state in machine.items() if "Failed?" in successors(state)} == {"EndRun"}
    before_end = {name for name, state in machine.items() if "EndRun" in successors(state)}
    assert before_end == {"Teardown", "TargetGone?"}
    assert machine["Failed?"]["Default"] == "RunSucceeded"


def test_every_way_out_of_an_experiment_settles_its_cells_and_concludes() -> None:
    machine = definition("experiment.asl.json")["States"]
    for name in ("Plan", "PrepareDatasets", "RunBatches", "ChooseCell"):
        (catch,) = machine[name]["Catch"]
        assert (catch["ErrorEquals"], catch["Next"]) == (["States.ALL"], "SettleCells"), name
        assert "failure" in catch["Assign"], f"{name} forgets that it failed"
    ends = {name for name, state in machine.items() if state["Type"] in {"Succeed", "Fail"}}
    assert {name for name, state in machine.items() if successors(state) & ends} == {"Failed?"}
    assert {n for n, state in machine.items() if "Failed?" in successors(state)} == {"Conclude"}
    before = {n for n, state in machine.items() if "Conclude" in successors(state)}
    assert before == {"DatasetsGone?"}


@pytest.mark.parametrize("name", ["experiment", "experiment-end"])
def test_no_experiment_is_concluded_before_its_datasets_are_gone(name: str) -> None:
    machine = definition(f"{name}.asl.json")["States"]
    to = {state: {n for n, s in machine.items() if state in successors(s)} for state in machine}
    assert to["Conclude"] == {"DatasetsGone?"}
    assert to["DatasetsGone?"] == {"DeleteDatasets"}
    assert to["DeleteDatasets"] == {"Settled?", "PauseForDatasets"}


def test_a_dataset_that_is_not_prepared_leaves_the_others_going() -> None:
    found = dict(states(definition("experiment.asl.json")))
    for name in ("SubmitDataset", "RunDataset"):
        (catch,) = found[name]["Catch"]
        assert (catch["ErrorEquals"], catch["Next"]) == (["States.ALL"], "DatasetFailed")


def test_a_cell_that_fails_or_is_refused_leaves_the_matrix_going() -> None:
    cells = dict(states(definition("experiment.asl.json")))
    for name, after in (("SubmitCell", "CellRefused"), ("RunCell", "CellFailed")):
        (catch,) = cells[name]["Catch"]
        assert (catch["ErrorEquals"], catch["Next"]) == (["States.ALL"], after)
        assert cells[after] == {"Type": "Pass", "End": True}


# what AWS advises to retry: docs.aws.amazon.com/step-functions/latest/dg/sfn-best-practices.html
TRANSIENT = {
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
}


LOADS = {"Client", "RelayClient"}


@pytest.mark.parametrize("name", MACHINES)
def test_every_call_but_a_load_survives_a_transient_error(name: str) -> None:
    calls = {
        state_name: state
        for state_name, state in states(definition(name))
        if state.get("Resource") == "arn:aws:states:::lambda:invoke" and state_name not in LOADS
    }
    assert calls
    for state_name, state in calls.items():
        retriers = [
            retrier
            for retrier in state.get("Retry", [])
            if retrier["ErrorEquals"] == ["States.ALL"] or set(retrier["ErrorEquals"]) >= TRANSIENT
        ]
        assert retriers, f"{state_name} loses the run at the first transient error"
        assert retriers[0]["BackoffRate"] > 1, state_name
        assert retriers[0]["JitterStrategy"] == "FULL", f"{state_name}: all would come at once"


def test_a_load_is_retried_only_where_nothing_was_invoked() -> None:
    loads = [state for name, state in states(definition("run.asl.json")) if name in LOADS]
    assert len(loads) == len(LOADS)
    for client in loads:
        (retrier,) = client["Retry"]
        assert retrier["ErrorEquals"] == ["Lambda.TooManyRequestsException"]
        assert client["Retry"] == loads[0]["Retry"]
    assert FUNCTIONS["load-client"].retries == 0


@pytest.mark.parametrize("name", MACHINES)
def test_payloads_carry_no_secret_and_no_request(name: str) -> None:
    text = (FOLDER / name).read_text().lower()
    assert "secret" not in text
    assert "password" not in text
    assert "request" not in text.replace('"comment": "reads the request', "").replace(
        "toomanyrequests", ""
    )
