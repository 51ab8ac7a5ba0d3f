"""A dataset that is prepared once on one machine, restored for each run, and gone in the end."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.local.experiment_runner import LocalExperiment
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.requests.cells import check_experiment
from plimsoll.targets.snapshots import list_snapshots
from tests.local.experiments.test_experiment import assert_nothing_left
from tests.local.workflow.conftest import tiny, wait_until

POSTGRES = {"engine": "postgres", "engine_version": "18"}
CASSANDRA = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "gp3", "size_gib": 10},
}


def shared(target: dict[str, Any] | None = None, **changes: Any) -> Experiment:
    """Two mixes on the same rows."""
    request = tiny("cell", load__duration_s=2).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    if target is not None:
        whole = "kind" in target
        request["target"] = target if whole else {**request["target"], **target}
    mixes = {"reads": {"workload": {"name": "ycsb-c"}}, "both": {"workload": {"name": "ycsb-a"}}}
    asked = {"name": "shared", "request": request, "axes": {"mix": mixes}, "dataset": {}, "seed": 1}
    return Experiment.model_validate(asked | changes)


def snapshots(twin: LocalTwin) -> list[str]:
    """Name those that the stand-in knows, and the folders of those that lie there."""
    clients.use_factory(twin.client)
    known = [one.name for kind in ("rds", "cassandra") for one in list_snapshots(kind)]
    return known + [folder.name for folder in twin.directory.rglob("snapshot-*")]


def assert_no_snapshot_left(twin: LocalTwin) -> None:
    assert_nothing_left(twin)
    assert snapshots(twin) == []
    schedules = twin.client("scheduler").list_schedules()["Schedules"]
    assert not [one for one in schedules if one["Name"].startswith("plimsoll-dataset-")]


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(None, id="mariadb"),
        pytest.param(POSTGRES, id="postgres", marks=pytest.mark.whole),
        pytest.param(CASSANDRA, id="cql", marks=pytest.mark.whole),
    ],
)
def test_every_run_has_the_rows_that_one_run_loaded(
    run_twin: LocalTwin, target: dict[str, Any] | None, tmp_path: Path
) -> None:
    running = LocalExperiment(run_twin, check_experiment(shared(target)))
    ended = running.wait()
    assert ended.record.state is RunState.SUCCEEDED, ended.record.failure
    result = running.save(tmp_path)
    (dataset,) = result.datasets
    assert (dataset.name, dataset.runs, dataset.state) == ("dataset-1", 2, RunState.SUCCEEDED)
    assert dataset.deleted_at is not None
    assert dataset.layout is not None
    for cell in result.cells:
        assert cell.state is RunState.SUCCEEDED, cell.no_answer
        run = RunResult.model_validate_json((tmp_path / cell.name / "result.json").read_bytes())
        assert run.rows == dataset.rows
        assert run.dataset is not None
        assert run.dataset.restored_from == dataset.snapshot
        assert run.dataset.order == dataset.layout.order  # as the preparing run loaded them
        assert run.dataset.pages == dataset.layout.pages
    assert_no_snapshot_left(run_twin)


def begun(twin: LocalTwin) -> LocalExperiment:
    """Start one whose runs last long, and wait until a run stands beside the snapshot."""
    request = tiny("cell", load__duration_s=300, time_limit_s=900).model_dump(
        mode="json", exclude={"name", "team", "tags"}
    )
    running = LocalExperiment(twin, check_experiment(shared(request=request)))
    wait_until(
        lambda: bool(running.look().running) or running.look().record.state.ended, "a run begins"
    )
    assert snapshots(twin)
    return running


@pytest.mark.whole  # where the preparing fails none is left either
def test_a_snapshot_goes_when_the_experiment_is_stopped(run_twin: LocalTwin) -> None:
    running = begun(run_twin)
    running.stop()
    assert running.wait().record.state is RunState.STOPPED
    assert_no_snapshot_left(run_twin)


@pytest.mark.whole  # when it is stopped, it goes as well
def test_a_snapshot_goes_when_the_execution_is_aborted_from_outside(
    run_twin: LocalTwin,
) -> None:
    running = begun(run_twin)
    machine = run_twin.state_machine_arn("experiment").replace(":stateMachine:", ":execution:")
    run_twin.client("stepfunctions").stop_execution(
        executionArn=f"{machine}:{running.experiment_id}"
    )
    assert running.wait().record.state is RunState.STOPPED
    assert running.result.datasets[0].deleted_at is not None
    assert_no_snapshot_left(run_twin)


def test_where_the_preparing_fails_its_runs_are_refused_and_nothing_is_left(
    run_twin: LocalTwin,
) -> None:
    broken = {"target": {"parameters": {"no_such_parameter": 1}}}
    running = LocalExperiment(run_twin, check_experiment(shared(dataset=broken)))
    assert running.wait().record.state is RunState.SUCCEEDED
    for cell in running.result.cells:
        assert cell.state is None
        assert "dataset-1, which it shares, was not prepared" in str(cell.no_answer)
        assert "no_such_parameter" in str(cell.no_answer)
    assert_no_snapshot_left(run_twin)


@pytest.mark.whole  # tests/local/test_twin.py has its databases
def test_a_snapshot_is_gone_with_its_twin(tmp_path: Path) -> None:
    """Whether it ends in good order, or its stand-in is killed."""
    for how in ("closed", "killed"):
        twin = LocalTwin(tmp_path / how).start()
        begun(twin)
        if how == "killed":
            assert twin._aws is not None
            twin._aws._process.kill()
        twin.close()
        assert list((tmp_path / how).rglob("snapshot-*")) == []
