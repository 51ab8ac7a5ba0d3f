"""The datasets of an experiment, as its workflow prepares them first and deletes them last."""

from datetime import timedelta

from plimsoll.aws.run_files import DATASET, files_of
from plimsoll.aws.run_records import now, records_of
from plimsoll.errors import DatasetError, LimitReachedError, NoRoomYetError
from plimsoll.experiments.records import open_experiments, read_experiment
from plimsoll.model.datasets import DatasetLayout, snapshot_name
from plimsoll.model.deployment.function_settings import (
    DeleteDatasetsSettings,
    RunSettings,
    SubmitSettings,
)
from plimsoll.model.request.experiment import Cell, Experiment
from plimsoll.model.run.experiment_record import DatasetOutcome, ExperimentRecord
from plimsoll.model.run.run_record import Restored, RunState
from plimsoll.requests.cells import check_experiment
from plimsoll.requests.prepared_datasets import (
    SharedDataset,
    compute_keeping_s,
    find_dataset_of_cell,
    plan_shared_datasets,
)
from plimsoll.targets.deletion_schedule import disarm_deletion
from plimsoll.targets.snapshots import delete_snapshot
from plimsoll.targets.target_stacks import Deletion
from plimsoll.workflow.snapshot import find_snapshot_kind
from plimsoll.workflow.submit import record_request


def plan_datasets(experiment: Experiment, record: ExperimentRecord) -> tuple[SharedDataset, ...]:
    """Return the datasets that an experiment prepares once."""
    if experiment.dataset is None:  # whoever follows an experiment asks twice a second
        return ()
    return plan_shared_datasets(check_experiment(experiment), local=record.local)


def record_dataset(
    settings: SubmitSettings, experiment: Experiment, record: ExperimentRecord, number: int
) -> str:
    """Record the run that prepares a dataset; returns the run's id.

    Raises:
        NoRoomYetError: The team's limits have no room until other runs have ended.
        LimitReachedError: The team's limits never have room for it, or not in this month.
        UsageError: The run is not possible.
    """
    shared = next(one for one in plan_datasets(experiment, record) if one.number == number)
    run_id = shared.run_id(record.experiment_id)
    until = (now() + timedelta(seconds=compute_keeping_s(experiment, shared))).replace(
        microsecond=0
    )
    try:
        record_request(settings, shared.checked, run_id=run_id, prepares_until=until)
    except LimitReachedError as error:
        if error.runs_make_room:
            raise NoRoomYetError(str(error)) from error
        raise
    return run_id


def find_restored(
    settings: RunSettings, experiment: Experiment, record: ExperimentRecord, cell: Cell
) -> Restored | None:
    """Return what a run's target is restored from; None if the run loads its own rows.

    Raises:
        DatasetError: The shared dataset was not prepared.
    """
    shared = find_dataset_of_cell(plan_datasets(experiment, record), cell)
    if shared is None:
        return None
    run_id = shared.run_id(record.experiment_id)
    run = records_of(settings).find(run_id)
    if run is None or run.snapshot is None or run.state is not RunState.SUCCEEDED:
        why = "it could not be submitted" if run is None else f"it ended {run.state}"
        cause = f": {run.failure.cause}" if run and run.failure else ""
        raise DatasetError(f"{shared.name}, which it shares, was not prepared: {why}{cause}")
    return Restored(snapshot=run.snapshot, prepared_by=run_id)


def delete_datasets(settings: DeleteDatasetsSettings, experiment_id: str) -> dict[str, object]:
    """Request the deletion of all snapshots of an experiment, and check whether all are gone.

    They are looked up by the names that they would have, whether or not a record mentions them.
    """
    experiment = read_experiment(settings, experiment_id)
    experiments = open_experiments(settings)
    record = experiments.get(experiment.team, experiment_id)
    left = 0
    shared = plan_datasets(experiment, record)
    for one in shared:
        run_id = one.run_id(experiment_id)
        if delete_snapshot(find_snapshot_kind(one.request), run_id) is Deletion.SEEN:
            disarm_deletion(stack_name=snapshot_name(run_id), group=settings.schedule_group)
        else:
            left += 1
    if shared and not left and record.datasets_deleted_at is None:
        experiments.change(record, datasets_deleted_at=now())
    return {"gone": not left, "wait_s": settings.poll_seconds}


def read_dataset_outcomes(
    settings: RunSettings, experiment: Experiment, record: ExperimentRecord
) -> tuple[DatasetOutcome, ...]:
    """Return the outcome of each dataset."""
    outcomes = []
    for shared in plan_datasets(experiment, record):
        run_id = shared.run_id(record.experiment_id)
        run = records_of(settings).find(run_id)
        counted = run is not None and run.rows is not None
        files = files_of(settings, run_id)
        outcomes.append(
            DatasetOutcome(
                name=shared.name,
                run_id=run_id,
                runs=len(shared.cells),
                state=run and run.state,
                phase=run and run.phase,
                rows=run and run.rows,
                layout=files.find_model(DATASET, DatasetLayout) if counted else None,
                snapshot=run and run.snapshot,
                deleted_at=record.datasets_deleted_at,
            )
        )
    return tuple(outcomes)
