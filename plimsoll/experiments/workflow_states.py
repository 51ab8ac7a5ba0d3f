"""The states of an experiment's workflow: plan it, submit its cells, wait for their end."""

from plimsoll.aws.items import log_unreadable
from plimsoll.aws.run_records import now, records_of
from plimsoll.errors import (
    LimitReachedError,
    NoRoomYetError,
    RunNotFoundError,
    UnreadableRecordError,
)
from plimsoll.experiments.datasets import find_restored, plan_datasets, record_dataset
from plimsoll.experiments.records import (
    make_cell_run_id,
    open_experiments,
    read_experiment,
    require_running,
)
from plimsoll.experiments.turns import find_turn
from plimsoll.model.deployment.function_settings import (
    SettleCellsSettings,
    StopSettings,
    SubmitSettings,
    TeamSettings,
)
from plimsoll.model.request.experiment import Experiment, draw_order, plan_batches
from plimsoll.model.run.run_record import RunState
from plimsoll.model.timings import AWS_TIMINGS, ONE_MACHINE_TIMINGS
from plimsoll.requests.cells import expand_cells
from plimsoll.requests.checked_request import check_request
from plimsoll.teams.registry import find_team
from plimsoll.workflow.start_and_stop import stop_run
from plimsoll.workflow.submit import record_request


def plan_experiment(settings: TeamSettings, experiment_id: str) -> dict[str, object]:
    """Mark the experiment as started, and return its cells in batches.

    At most as many run at once as the team may have: each refused attempt lengthens the workflow's
    history, which AWS limits to 25,000 events (docs.aws.amazon.com/step-functions, service quotas).

    Raises:
        RunStoppedError: The experiment was stopped before it began.
    """
    experiment = read_experiment(settings, experiment_id)
    experiments = open_experiments(settings)
    record = experiments.get(experiment.team, experiment_id)
    changes = {"state": RunState.RUNNING, "started_at": now()}
    begun = experiments.change(record, states=(RunState.PENDING,), **changes)
    if not begun:
        require_running(experiments.get(experiment.team, experiment_id))
    drawn = draw_order(experiment, record.seed)
    team = find_team(settings, experiment.team)
    asked_at_once = experiment.runs_at_once
    at_once = min(asked_at_once, team.concurrent_runs if team else asked_at_once)
    shared = plan_datasets(experiment, experiments.get(experiment.team, experiment_id))
    seeks = experiment.want is not None  # each cell is chosen when the one before was measured
    return {
        "datasets": [one.number for one in shared],
        "batches": [] if seeks else plan_batches(experiment, drawn),
        "at_once": at_once,
        "seeks": seeks,
    }


def submit_dataset(settings: SubmitSettings, experiment_id: str, number: int) -> dict[str, object]:
    """Record the run that prepares a dataset; the workflow starts it by the returned id.

    Raises:
        As `submit_cell`.
    """
    experiment = read_experiment(settings, experiment_id)
    record = open_experiments(settings).get(experiment.team, experiment_id)
    require_running(record)
    run_id = record_dataset(settings, experiment, record, number)
    _require_still_running(settings, experiment, experiment_id, run_id)
    return {"run_id": run_id}


def submit_cell(settings: SubmitSettings, experiment_id: str, cell: int) -> dict[str, object]:
    """Record the run of a cell; the workflow starts it by the returned id.

    Raises:
        NoRoomYetError: The team's limits have no room until other runs have ended.
        LimitReachedError: The team's limits never have room for it, or not in this month.
        RunStoppedError: The experiment is being stopped.
        UsageError: The run is not possible.
        DatasetError: The shared dataset was not prepared.
    """
    experiment = read_experiment(settings, experiment_id)
    record = open_experiments(settings).get(experiment.team, experiment_id)
    require_running(record)
    this = expand_cells(experiment)[cell]
    run_id = make_cell_run_id(experiment_id, this)
    restores = find_restored(settings, experiment, record, this)
    try:
        timings = ONE_MACHINE_TIMINGS if settings.on_one_machine else AWS_TIMINGS
        turn = find_turn(experiment, experiment_id, this, timings)
        checked = check_request(this.request)
        record_request(settings, checked, run_id=run_id, turn=turn, restores=restores)
    except LimitReachedError as error:
        if error.runs_make_room:
            raise NoRoomYetError(str(error)) from error
        raise
    _require_still_running(settings, experiment, experiment_id, run_id)
    return {"run_id": run_id}


def _require_still_running(
    settings: StopSettings, experiment: Experiment, experiment_id: str, run_id: str
) -> None:
    """Stop a run that was recorded while its experiment was being stopped.

    A stop marks the experiment first, then goes through its runs: either it has seen this run, or
    this check sees the mark.
    """
    record = open_experiments(settings).get(experiment.team, experiment_id)
    if record.state is not RunState.RUNNING:
        stop_run(settings, run_id)
    require_running(record)


def settle_cells(
    settings: SettleCellsSettings, experiment_id: str, *, stop: bool
) -> dict[str, object]:
    """Return whether all cells have ended and their targets are gone; closes those never started.

    Args:
        settings: The settings of the deployment.
        experiment_id: The id of the experiment.
        stop: Whether to stop the running cells, too, and let no further one begin.
    """
    experiment = read_experiment(settings, experiment_id)
    if stop:
        experiments = open_experiments(settings)
        record = experiments.get(experiment.team, experiment_id)
        going = (RunState.PENDING, RunState.RUNNING)
        experiments.change(record, states=going, state=RunState.STOPPING)
    record = open_experiments(settings).get(experiment.team, experiment_id)
    runs = [make_cell_run_id(experiment_id, cell) for cell in expand_cells(experiment)]
    runs += [shared.run_id(experiment_id) for shared in plan_datasets(experiment, record)]
    left = [run_id for run_id in runs if not _is_settled(settings, run_id, stop=stop)]
    return {"settled": not left, "wait_s": settings.poll_seconds}


def _is_settled(settings: StopSettings, run_id: str, *, stop: bool) -> bool:
    try:
        record = records_of(settings).get(run_id)
    except RunNotFoundError:  # it was never started, and the experiment has ended
        return True
    except UnreadableRecordError as error:  # waiting would never end; a schedule deletes its target
        log_unreadable(error)
        return True
    if stop or record.state is RunState.PENDING:  # if pending, its workflow could not be started
        record = stop_run(settings, run_id)
    return record.state.ended
