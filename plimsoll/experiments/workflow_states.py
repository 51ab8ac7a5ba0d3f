"""What the workflow of an experiment calls: planning it, submitting its cells, settling them."""

from plimsoll.aws.items import pass_over
from plimsoll.aws.run_records import now, records_of
from plimsoll.errors import (
    LimitReachedError,
    NoRoomYetError,
    RunNotFoundError,
    RunStoppedError,
    UnreadableRecordError,
)
from plimsoll.experiments.records import asked, experiments_of, run_id_of
from plimsoll.experiments.turns import turn_of
from plimsoll.model.experiment import Cell, order, planned_batches
from plimsoll.model.experiment_record import ExperimentRecord
from plimsoll.model.function_settings import (
    SettleCellsSettings,
    StopSettings,
    SubmitSettings,
    TeamSettings,
)
from plimsoll.model.run_record import RunState
from plimsoll.model.timings import AWS_TIMINGS, ONE_MACHINE_TIMINGS
from plimsoll.requests.cells import cells_of
from plimsoll.runs.stop import stop_run
from plimsoll.runs.submit import record_request


def plan(settings: TeamSettings, experiment_id: str) -> dict[str, object]:
    """Mark the experiment as started and put its cells in order, so many at once.

    No more at once than the team may have: each that asks in vain lengthens the workflow's history,
    of which AWS allows 25,000 events (docs.aws.amazon.com/step-functions, service quotas).

    Raises:
        RunStoppedError: It was stopped before it began.
    """
    experiment = asked(settings, experiment_id)
    experiments = experiments_of(settings)
    record = experiments.get(experiment.team, experiment_id)
    changes = {"state": RunState.RUNNING, "started_at": now()}
    begun = experiments.change(record, states=(RunState.PENDING,), **changes)
    if not begun:
        _require_running(experiments.get(experiment.team, experiment_id))
    drawn = order(record.cells, record.seed)
    team = settings.teams.get(experiment.team)
    asked_at_once = experiment.runs_at_once
    at_once = min(asked_at_once, team.concurrent_runs if team else asked_at_once)
    return {"batches": planned_batches(experiment, drawn), "at_once": at_once}


def submit_cell(settings: SubmitSettings, experiment_id: str, cell: int) -> dict[str, object]:
    """Record the run of a cell, which the workflow starts with the id that this gives.

    Raises:
        NoRoomYetError: The team's limits leave no room for it until other runs have ended.
        LimitReachedError: They never do.
        RunStoppedError: The experiment is being stopped.
        UsageError: The run cannot be.
    """
    experiment = asked(settings, experiment_id)
    experiments = experiments_of(settings)
    record = experiments.get(experiment.team, experiment_id)
    _require_running(record)
    this = cells_of(experiment)[cell]
    run_id = run_id_of(experiment_id, this)
    try:
        timings = ONE_MACHINE_TIMINGS if settings.on_one_machine else AWS_TIMINGS
        turn = turn_of(experiment, experiment_id, this, timings)
        record_request(settings, this.request, run_id=run_id, turn=turn)
    except LimitReachedError as error:
        if error.waiting_helps:
            raise NoRoomYetError(str(error)) from error
        raise
    # a stop marks the experiment first and then goes through its runs: either it has seen this run,
    # or this look sees the mark
    record = experiments.get(experiment.team, experiment_id)
    if record.state is not RunState.RUNNING:
        stop_run(settings, run_id)
    _require_running(record)
    return {"run_id": run_id}


def _require_running(record: ExperimentRecord) -> None:
    if record.state is not RunState.RUNNING:
        raise RunStoppedError(
            f"experiment {record.experiment_id} is {record.state}: nothing new is made for it"
        )


def settle_cells(
    settings: SettleCellsSettings, experiment_id: str, *, stop: bool
) -> dict[str, object]:
    """Say whether every cell has ended, its target gone; one never started is closed.

    Args:
        settings: Where.
        experiment_id: Which.
        stop: Stop the cells that run, too, and let no further one begin.
    """
    experiment = asked(settings, experiment_id)
    if stop:
        experiments = experiments_of(settings)
        record = experiments.get(experiment.team, experiment_id)
        going = (RunState.PENDING, RunState.RUNNING)
        experiments.change(record, states=going, state=RunState.STOPPING)
    cells = cells_of(experiment)
    left = [cell for cell in cells if not _settled(settings, experiment_id, cell, stop=stop)]
    return {"settled": not left, "wait_s": settings.poll_seconds}


def _settled(settings: StopSettings, experiment_id: str, cell: Cell, *, stop: bool) -> bool:
    run_id = run_id_of(experiment_id, cell)
    try:
        record = records_of(settings).get(run_id)
    except RunNotFoundError:  # it was never started, and the experiment has ended
        return True
    except UnreadableRecordError as error:  # waiting would never end; a schedule deletes its target
        pass_over(error)
        return True
    if stop or record.state is RunState.PENDING:  # pending: its workflow could not be started
        record = stop_run(settings, run_id)
    return record.state.ended
