"""An experiment on one machine: every cell a run of its own, whatever becomes of the others."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.experiments.records import experiments_of
from plimsoll.experiments.service import stop_experiment
from plimsoll.local.experiments import LocalExperiment
from plimsoll.local.twin import LocalTwin
from plimsoll.model.experiment import Experiment, order
from plimsoll.model.results import RunResult
from plimsoll.model.runs import RunState
from tests.local.runs.conftest import tiny, wait_until

MACHINE = "experiment"
TIMEOUT_S = 20  # long enough for two targets to be made


@pytest.fixture(scope="module")
def experiment_twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalTwin]:
    with LocalTwin(tmp_path_factory.mktemp("experiments")) as twin:
        yield twin


def matrix(**changes: Any) -> Experiment:
    """Two volumes by two versions, of which one does not exist."""
    shared = tiny("cell", load__duration_s=2, load__timeout_ms=30_000).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    del shared["target"]["volume"]
    value: dict[str, Any] = {
        "name": "matrix",
        "request": shared,
        "at_once": 2,
        "seed": 5,
        "axes": {
            "storage": {
                "slow": {"target": {"volume": {"type": "io1", "size_gib": 100, "iops": 1000}}},
                "fast": {"target": {"volume": {"type": "io1", "size_gib": 100, "iops": 2000}}},
            },
            "server": {
                "known": {"target": {"engine_version": "11.4.5"}},
                "unknown": {"target": {"engine_version": "99.1"}},
            },
        },
    }
    return Experiment.model_validate({**value, **changes})


def assert_nothing_left(twin: LocalTwin) -> None:
    assert twin.databases == {}
    stacks = twin.client("cloudformation").list_stacks()["StackSummaries"]
    assert {stack["StackStatus"] for stack in stacks} <= {"DELETE_COMPLETE"}
    machine = twin.state_machine_arn("run")
    going = twin.client("stepfunctions").list_executions(
        stateMachineArn=machine, statusFilter="RUNNING"
    )
    assert going["executions"] == []


def test_cells_that_fail_are_told_and_the_matrix_goes_on(
    experiment_twin: LocalTwin, tmp_path: Path
) -> None:
    running = LocalExperiment(experiment_twin, matrix(batch_size=3))
    at_once: list[int] = []
    ended = running.wait(lambda now: at_once.append(len(now.running)))
    assert ended.record.state is RunState.SUCCEEDED
    assert ended.record.failure is None
    assert max(at_once) == 2
    result = running.save(tmp_path)
    names = ["slow-known", "slow-unknown", "fast-known", "fast-unknown"]
    assert [cell.name for cell in result.cells] == names
    assert result.order == tuple(names[i] for i in order(4, 5))
    for cell in result.cells:
        run = RunResult.model_validate_json((tmp_path / cell.name / "result.json").read_bytes())
        assert run.name == cell.name
        assert run.run_id == cell.run_id
        assert run.moments.teardown is not None
        if cell.variants["server"] == "known":
            assert cell.state is RunState.SUCCEEDED
            assert cell.verdict is not None
        else:
            assert cell.state is RunState.FAILED
            assert "Cannot find version 99.1 for mariadb" in str(cell.no_answer)
    assert_nothing_left(experiment_twin)


def test_stopping_it_stops_every_run_and_tears_every_target_down(
    experiment_twin: LocalTwin,
) -> None:
    shared = tiny("c", load__duration_s=60).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    axes = {"time": {f"s{n}": {"load": {"seed": n}} for n in range(4)}}
    running = LocalExperiment(experiment_twin, matrix(request=shared, axes=axes))
    wait_until(lambda: len(experiment_twin.databases) == 2, "two targets")
    running.stop()
    ended = running.wait()
    assert ended.record.state is RunState.STOPPED
    assert sorted(str(cell.state) for cell in ended.cells) == [
        "None", "None", "STOPPED", "STOPPED",
    ]  # fmt: skip
    assert_nothing_left(experiment_twin)
    again = stop_experiment(
        running.deployment,
        "default",
        running.experiment_id,
        state_machine_arn=experiment_twin.state_machine_arn(MACHINE),
    )
    assert again == ended.record  # one that has ended stays as it is
    assert sum("it was not started" in told for told in running.result.warnings) == 2


@pytest.mark.parametrize("status", ["ABORTED", "TIMED_OUT"])
def test_an_execution_that_ends_from_outside_leaves_no_run(
    experiment_twin: LocalTwin, status: str, tmp_path: Path
) -> None:
    """Not even where nothing in the experiment's own workflow can act any more."""
    shared = tiny("c", load__duration_s=60).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    axes = {"time": {"a": {"load": {"seed": 1}}, "b": {"load": {"seed": 2}}}}
    states = experiment_twin.client("stepfunctions")
    machine = experiment_twin.state_machine_arn(MACHINE)
    written = states.describe_state_machine(stateMachineArn=machine)["definition"]
    if status == "TIMED_OUT":
        brief = json.dumps({**json.loads(written), "TimeoutSeconds": TIMEOUT_S})
        states.update_state_machine(stateMachineArn=machine, definition=brief)
    running = LocalExperiment(experiment_twin, matrix(request=shared, axes=axes))
    states.update_state_machine(stateMachineArn=machine, definition=written)
    wait_until(lambda: len(experiment_twin.databases) == 2, "two targets")
    execution = f"{machine.replace(':stateMachine:', ':execution:')}:{running.experiment_id}"
    if status == "ABORTED":
        states.stop_execution(executionArn=execution)
    ended = running.wait()
    assert states.describe_execution(executionArn=execution)["status"] == status
    wanted = RunState.STOPPED if status == "ABORTED" else RunState.TIMED_OUT
    assert ended.record.state is wanted
    assert [cell.state for cell in ended.cells] == [RunState.STOPPED, RunState.STOPPED]
    assert_nothing_left(experiment_twin)
    assert running.save(tmp_path).state is wanted


def test_a_cell_is_never_submitted_to_an_experiment_that_is_being_stopped(
    experiment_twin: LocalTwin,
) -> None:
    running = LocalExperiment(experiment_twin, matrix())
    experiments = experiments_of(running.deployment)
    record = experiments.get("default", running.experiment_id)
    going = (RunState.PENDING, RunState.RUNNING)
    assert experiments.change(record, states=going, state=RunState.STOPPING)
    ended = running.wait()
    assert ended.record.state.ended
    assert_nothing_left(experiment_twin)
