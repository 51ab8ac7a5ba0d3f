"""An experiment on one machine: every cell a run of its own, whatever becomes of the others."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.experiments.lifecycle import stop_experiment
from plimsoll.experiments.records import open_experiments
from plimsoll.local.experiment_runner import LocalExperiment
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request.experiment import Experiment, shuffle_cells
from plimsoll.model.run.results import Moments, RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.requests.cells import check_experiment
from tests.local.workflow.conftest import ANSWERED, tiny, wait_until

MACHINE = "experiment"


def matrix(**changes: Any) -> Experiment:
    """Two volumes by two versions, of which one does not exist."""
    shared = tiny("cell", load__duration_s=5).model_dump(
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
                "known": {"target": {"parameters": {"max_connections": 100}}},
                "unknown": {"target": {"parameters": {"no_such_parameter": 1}}},
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


def most_at_once(runs: list[Moments]) -> int:
    """Count the most runs that went on at one moment, by when each began and ended."""
    spans = [(run.record, run.ended) for run in runs if run.record and run.ended]
    assert len(spans) == len(runs)
    return max(sum(begin <= at < end for begin, end in spans) for at, _ in spans)


@pytest.mark.whole  # a search for the boundary runs cells as well
def test_cells_that_fail_are_told_and_the_matrix_goes_on(
    run_twin: LocalTwin, tmp_path: Path
) -> None:
    running = LocalExperiment(run_twin, check_experiment(matrix(batch_size=3)))
    ended = running.wait()
    assert ended.record.failure is None, ended.record.failure
    assert ended.record.state is RunState.SUCCEEDED
    result = running.save(tmp_path)
    names = ["slow-known", "slow-unknown", "fast-known", "fast-unknown"]
    assert [cell.name for cell in result.cells] == names
    assert result.order == tuple(names[i] for i in shuffle_cells(4, 5))
    runs: list[RunResult] = []
    for cell in result.cells:
        run = RunResult.model_validate_json((tmp_path / cell.name / "result.json").read_bytes())
        assert run.name == cell.name
        assert run.run_id == cell.run_id
        runs.append(run)
        assert run.moments.teardown is not None
        if cell.variants["server"] == "known":
            assert cell.state is RunState.SUCCEEDED, cell.no_answer
            assert cell.verdict is not None
        else:
            assert cell.state is RunState.FAILED
            assert "no_such_parameter" in str(cell.no_answer)
    assert most_at_once([run.moments for run in runs]) == 2
    assert_nothing_left(run_twin)


def test_a_search_for_the_boundary_runs_cell_by_cell_until_the_cheapest_is_known(
    run_twin: LocalTwin, tmp_path: Path
) -> None:
    """Each carries one operation a second: the middle is run, then the cheapest, no other.

    It reads only: seconds of writes may be what a log lends, which is no answer. No audit of a
    machine that other tests keep busy may leave a cell without one.
    """
    limits_us = {"read": 30e6}
    axes = {
        "volume": {f"iops-{n}": {"target": {"volume": {"iops": n}}} for n in (1000, 2000, 3000)}
    }
    shared = tiny("cell", workload__name="ycsb-c", **ANSWERED).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    want = {"ops_per_second": 1, "limits_us": limits_us}
    asked = matrix(search="boundary", want=want, request=shared, axes=axes, at_once=1)
    running = LocalExperiment(run_twin, check_experiment(asked))
    ended = running.wait()
    assert ended.record.failure is None, ended.record.failure
    result = running.save(tmp_path)
    assert result.boundary is not None
    assert result.order == ("iops-2000", "iops-1000"), result.answer
    assert (result.boundary.outcome, result.boundary.cell) == ("decided", "iops-1000")
    assert [cell.status for cell in result.boundary.cells] == ["measured", "measured", "predicted"]
    assert {path.parent.name for path in tmp_path.glob("*/result.json")} == set(result.order)
    assert_nothing_left(run_twin)


@pytest.mark.whole  # tests/unit has the same of synthetic runs
def test_a_cell_that_is_repeated_has_a_fresh_target_for_each_run(
    run_twin: LocalTwin, tmp_path: Path
) -> None:
    """What becomes of the figures is in the units' tests: a busy machine may give any."""
    shared = tiny("cell", workload__name="ycsb-c", **ANSWERED).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    axes = {"volume": {"io1": {"target": {"volume": {"iops": 2000}}}}}
    asked = matrix(request=shared, axes=axes, repeat={"fresh": 2}, at_once=1)
    running = LocalExperiment(run_twin, check_experiment(asked))
    ended = running.wait()
    assert ended.record.failure is None, ended.record.failure
    result = running.save(tmp_path)
    assert result.order == ("io1-r1", "io1-r2")  # a round after the other
    runs = [
        RunResult.model_validate_json((tmp_path / name / "result.json").read_bytes())
        for name in result.order
    ]
    first, second = (run.moments for run in runs)
    assert first.deleted is not None
    assert second.provision is not None
    assert first.deleted <= second.provision
    (fresh,) = result.fresh
    assert [run.run_id for run in fresh.runs] == [run.run_id for run in runs]
    figures = [run.figure_ops_per_second for run in fresh.runs]
    assert all(figures), fresh.sentence
    assert fresh.load == "1 client"
    assert fresh.mean_ops_per_second == pytest.approx(math.prod(f or 0 for f in figures) ** 0.5)
    assert_nothing_left(run_twin)


def test_stopping_it_stops_every_run_and_tears_every_target_down(
    run_twin: LocalTwin,
) -> None:
    shared = tiny("c", load__duration_s=60).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    axes = {"time": {f"s{n}": {"load": {"seed": n}} for n in range(4)}}
    running = LocalExperiment(run_twin, check_experiment(matrix(request=shared, axes=axes)))
    wait_until(lambda: len(run_twin.databases) == 2, "two targets")
    running.stop()
    ended = running.wait()
    assert ended.record.state is RunState.STOPPED
    assert sorted(str(cell.state) for cell in ended.cells) == [
        "None", "None", "STOPPED", "STOPPED",
    ]  # fmt: skip
    assert_nothing_left(run_twin)
    again = stop_experiment(
        running.settings,
        "default",
        running.experiment_id,
    )
    assert again == ended.record  # one that has ended stays as it is
    assert sum("it was not started" in told for told in running.result.warnings) == 2


def begun(twin: LocalTwin, timeout_s: int | None = None) -> tuple[LocalExperiment, str]:
    """Start two long runs at once, whose workflow may last so long; gives its execution too."""
    shared = tiny("c", load__duration_s=300, time_limit_s=900).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    axes = {"time": {"a": {"load": {"seed": 1}}, "b": {"load": {"seed": 2}}}}
    states, machine = twin.client("stepfunctions"), twin.state_machine_arn(MACHINE)
    written = states.describe_state_machine(stateMachineArn=machine)["definition"]
    if timeout_s is not None:
        brief = json.dumps({**json.loads(written), "TimeoutSeconds": timeout_s})
        states.update_state_machine(stateMachineArn=machine, definition=brief)
    running = LocalExperiment(twin, check_experiment(matrix(request=shared, axes=axes)))
    states.update_state_machine(stateMachineArn=machine, definition=written)
    execution = f"{machine.replace(':stateMachine:', ':execution:')}:{running.experiment_id}"
    wait_until(
        lambda: len(twin.databases) == 2 or status_of(twin, execution) != "RUNNING", "two targets"
    )
    return running, execution


def status_of(twin: LocalTwin, execution: str) -> str:
    told = twin.client("stepfunctions").describe_execution(executionArn=execution)
    return str(told["status"])


def aborted(twin: LocalTwin) -> tuple[LocalExperiment, str]:
    running, execution = begun(twin)
    twin.client("stepfunctions").stop_execution(executionArn=execution)
    return running, execution


def timed_out(twin: LocalTwin) -> tuple[LocalExperiment, str]:
    """Have its time end once both targets are there: how long they take depends on the machine."""
    for timeout_s in (15, 60, 240):
        running, execution = begun(twin, timeout_s)
        if len(twin.databases) == 2:
            return running, execution
        running.wait()
        assert_nothing_left(twin)
    raise AssertionError("two targets are not made in four minutes")


@pytest.mark.parametrize(
    ("end", "status", "state"),
    [
        (aborted, "ABORTED", RunState.STOPPED),
        pytest.param(timed_out, "TIMED_OUT", RunState.TIMED_OUT, marks=pytest.mark.whole),
    ],
)
def test_an_execution_that_ends_from_outside_leaves_no_run(
    run_twin: LocalTwin,
    end: Callable[[LocalTwin], tuple[LocalExperiment, str]],
    status: str,
    state: RunState,
    tmp_path: Path,
) -> None:
    """Not even where nothing in the experiment's own workflow can act any more."""
    running, execution = end(run_twin)
    ended = running.wait()
    assert status_of(run_twin, execution) == status
    assert ended.record.state is state
    assert [cell.state for cell in ended.cells] == [RunState.STOPPED, RunState.STOPPED]
    assert_nothing_left(run_twin)
    assert running.save(tmp_path).state is state


def test_a_cell_is_never_submitted_to_an_experiment_that_is_being_stopped(
    run_twin: LocalTwin,
) -> None:
    running = LocalExperiment(run_twin, check_experiment(matrix()))
    experiments = open_experiments(running.settings)
    record = experiments.get("default", running.experiment_id)
    going = (RunState.PENDING, RunState.RUNNING)
    assert experiments.change(record, states=going, state=RunState.STOPPING)
    ended = running.wait()
    assert ended.record.state.ended
    assert_nothing_left(run_twin)
