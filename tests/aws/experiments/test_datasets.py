"""What the workflow of an experiment does for a dataset that its runs share."""

from datetime import timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_records import now
from plimsoll.errors import DatasetError, RunStoppedError, UsageError
from plimsoll.experiments.conclude_experiment import conclude_experiment
from plimsoll.experiments.datasets import delete_datasets
from plimsoll.experiments.lifecycle import get_experiment, stop_experiment, submit_experiment
from plimsoll.experiments.records import RESULT, open_experiment_files, open_experiments
from plimsoll.experiments.workflow_states import (
    plan_experiment,
    settle_cells,
    submit_cell,
    submit_dataset,
)
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.run.experiment_record import ExperimentResult
from plimsoll.model.run.run_record import RunState, TargetAddress
from plimsoll.requests.cells import CheckedExperiment, validate_experiment
from plimsoll.targets.snapshots import find_snapshot
from plimsoll.workflow.snapshot import keep_dataset
from plimsoll.workflow.submit import require_allowed
from tests.aws.workflow.conftest import REQUESTED
from tests.support.aws_resources import make_state_machine
from tests.support.every_setting import NO_LIMITS, EverySetting

ASKED = {name: value for name, value in REQUESTED.items() if name != "name"}


def experiment(**changes: Any) -> CheckedExperiment:
    value = {
        "name": "matrix",
        "team": "dba",
        "request": ASKED,
        "axes": {"mix": {m: {"workload": {"name": f"ycsb-{m}"}} for m in "abc"}},
        "dataset": {},
        "seed": 11,
    }
    return validate_experiment(value | changes)


@pytest.fixture
def place(deployment: EverySetting) -> EverySetting:
    for name in ("run", "experiment"):
        make_state_machine(name)
    teams = {"dba": Team.model_validate(NO_LIMITS)}
    return deployment.model_copy(update={"teams": teams})


@pytest.fixture
def started(place: EverySetting) -> str:
    experiment_id = submit_experiment(place, experiment())
    plan_experiment(place, experiment_id)
    return experiment_id


def prepared(place: EverySetting, experiment_id: str) -> str:
    """Have its run come as far as the snapshot."""
    run_id = str(submit_dataset(place, experiment_id, 1)["run_id"])
    clients.rds().create_db_instance(
        DBInstanceIdentifier=f"plimsoll-{run_id}",
        Engine="mysql",
        DBInstanceClass="db.m5.large",
        AllocatedStorage=100,
        MasterUsername="plimsoll",
        ManageMasterUserPassword=True,
    )
    address = TargetAddress(
        host="h", port=3306, database="d", identifier=f"plimsoll-{run_id}", protocol="mysql"
    )
    place.records.change(run_id, state=RunState.RUNNING, target=address, rows=1000)
    assert keep_dataset(place, run_id) == {"taken": True, "wait_s": 1}
    return run_id


def schedules() -> list[str]:
    return [one["Name"] for one in clients.scheduler().list_schedules()["Schedules"]]


def test_datasets_are_planned_only_where_they_are_asked_for(place: EverySetting) -> None:
    for asked, datasets in ((experiment(), [1]), (experiment(dataset=None), [])):
        assert plan_experiment(place, submit_experiment(place, asked))["datasets"] == datasets


def test_the_run_that_prepares_leaves_a_snapshot_whose_end_is_armed(
    place: EverySetting, started: str
) -> None:
    run_id = prepared(place.model_copy(update={"tags": {"cost-center": "42"}}), started)
    record = place.records.get(run_id)
    name = f"plimsoll-dataset-{run_id}"
    assert (record.name, record.snapshot) == ("dataset-1", name)
    assert record.prepares_until is not None
    assert record.prepares_until > now() + timedelta(seconds=4 * record.time_limit_s)
    assert schedules() == [name]
    seen = find_snapshot("rds", run_id)
    assert seen is not None
    assert seen.tags["cost-center"] == "42"
    expires = seen.tags["plimsoll:expires-at"]
    assert expires == f"{record.prepares_until:%Y-%m-%dT%H:%M:%SZ}"
    assert keep_dataset(place, run_id)["taken"] is True  # a repeated call


def test_a_run_restores_what_was_prepared(place: EverySetting, started: str) -> None:
    run_id = prepared(place, started)
    place.records.change(run_id, state=RunState.SUCCEEDED)
    for cell in range(3):
        restored = place.records.get(str(submit_cell(place, started, cell)["run_id"])).restores
        assert restored is not None
        assert restored.snapshot == f"plimsoll-dataset-{run_id}"
        assert restored.prepared_by == run_id


def test_a_run_whose_dataset_was_not_prepared_is_refused_with_the_reason(
    place: EverySetting, started: str
) -> None:
    with pytest.raises(DatasetError, match=r"dataset-1, .* it could not be submitted"):
        submit_cell(place, started, 0)
    run_id = str(submit_dataset(place, started, 1)["run_id"])
    failure = {"phase": "provision", "error": "TargetCreationError", "cause": "no room for it"}
    place.records.change(run_id, state=RunState.FAILED, failure=failure)
    with pytest.raises(DatasetError, match=r"was not prepared: it ended FAILED: no room for it"):
        submit_cell(place, started, 0)


def test_nothing_is_prepared_once_it_is_being_stopped(place: EverySetting, started: str) -> None:
    stop_experiment(place, "dba", started)
    with pytest.raises(RunStoppedError):
        submit_dataset(place, started, 1)


def test_a_stop_while_the_snapshot_is_taken_takes_it_back(
    place: EverySetting, started: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark comes between the look at the record and the note of the snapshot."""
    client: Any = clients.rds()
    take = client.create_db_snapshot

    def stop_first(**asked: Any) -> Any:
        settle_cells(place, started, stop=True)
        return take(**asked)

    monkeypatch.setattr(client, "create_db_snapshot", stop_first)
    monkeypatch.setattr(clients, "rds", lambda: client)
    with pytest.raises(RunStoppedError, match="while its snapshot was being taken"):
        prepared(place, started)
    assert find_snapshot("rds", f"{started}-d01") is None


def test_an_experiment_is_settled_only_when_its_preparing_runs_are(
    place: EverySetting, started: str
) -> None:
    run_id = prepared(place, started)
    assert settle_cells(place, started, stop=False)["settled"] is False
    place.records.change(run_id, state=RunState.SUCCEEDED)
    assert settle_cells(place, started, stop=False)["settled"] is True


def test_snapshots_are_deleted_seen_to_be_gone_and_that_is_told(
    place: EverySetting, started: str
) -> None:
    run_id = prepared(place, started)
    place.records.change(run_id, state=RunState.SUCCEEDED)
    assert delete_datasets(place, started) == {"gone": False, "wait_s": 1}
    assert delete_datasets(place, started) == {"gone": True, "wait_s": 1}
    assert find_snapshot("rds", run_id) is None
    assert schedules() == []
    gone_at = open_experiments(place).get("dba", started).datasets_deleted_at
    assert gone_at is not None
    delete_datasets(place, started)
    assert open_experiments(place).get("dba", started).datasets_deleted_at == gone_at
    conclude_experiment(place, started)
    (told,) = open_experiment_files(place, started).get(RESULT, ExperimentResult).datasets
    assert (told.name, told.runs, told.rows) == ("dataset-1", 3, 1000)
    assert told.deleted_at == gone_at


def test_a_snapshot_that_no_record_tells_of_is_deleted_by_its_name(
    place: EverySetting, started: str
) -> None:
    run_id = prepared(place, started)
    place.records.change(run_id, snapshot=None, state=RunState.FAILED)
    delete_datasets(place, started)
    assert find_snapshot("rds", run_id) is None


def test_where_nothing_is_shared_nothing_is_deleted(place: EverySetting) -> None:
    experiment_id = submit_experiment(place, experiment(dataset=None))
    assert delete_datasets(place, experiment_id)["gone"] is True
    assert open_experiments(place).get("dba", experiment_id).datasets_deleted_at is None


def test_where_it_stands_is_told(place: EverySetting, started: str) -> None:
    (one,) = get_experiment(place, "dba", started).datasets
    assert (one.name, one.state, one.snapshot) == ("dataset-1", None, None)
    prepared(place, started)
    (one,) = get_experiment(place, "dba", started).datasets
    assert one.state is RunState.RUNNING


def test_a_snapshot_that_the_deployment_does_not_allow_is_not_read(place: EverySetting) -> None:
    arns = [f"arn:aws:rds:us-east-1:123456789012:snapshot:{name}" for name in ("mine", "theirs")]
    allowing = place.model_copy(update={"allowed_snapshots": (arns[0],)})

    def asked(arn: str) -> Any:
        target = {**ASKED["target"], "snapshot": arn}
        return experiment(dataset=None, request={**ASKED, "target": target}).cells[1].request

    require_allowed(allowing, asked(arns[0]))
    with pytest.raises(UsageError, match="is not among the snapshots that this deployment allows"):
        require_allowed(allowing, asked(arns[1]))
