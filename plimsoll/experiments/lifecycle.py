"""Starting, reading and stopping an experiment, as the API and the command line call it."""

import hashlib
import secrets
from datetime import timedelta
from functools import cache
from typing import Protocol

from plimsoll.aws.drain import require_no_drain
from plimsoll.aws.items import log_unreadable
from plimsoll.aws.run_records import now, records_of
from plimsoll.complaints import Complaint
from plimsoll.errors import LimitReachedError, UnreadableRecordError, UsageError
from plimsoll.experiments.datasets import read_dataset_outcomes
from plimsoll.experiments.records import (
    EXPERIMENT,
    RESULT,
    Experiments,
    make_cell_run_id,
    open_experiment_files,
    open_experiments,
    read_experiment,
)
from plimsoll.model.deployment.function_settings import (
    ExperimentSettings,
    RunSettings,
    ServiceSettings,
    SubmitSettings,
)
from plimsoll.model.request.experiment import Cell
from plimsoll.model.run.experiment_record import (
    CellStatus,
    ExperimentRecord,
    ExperimentResult,
    ExperimentStatus,
)
from plimsoll.model.run.run_record import RunState
from plimsoll.quoting.extents import Given
from plimsoll.quoting.prices import override_prices
from plimsoll.requests.cells import CheckedExperiment, expand_cells
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.requests.prepared_datasets import plan_shared_datasets
from plimsoll.sizing.cheapest import require_searchable
from plimsoll.targets.engine_version import AskRds, resolve_rds_version
from plimsoll.teams.registry import find_team
from plimsoll.workflow.start_and_stop import stop_execution
from plimsoll.workflow.submit import begin_execution, name_run, require_possible_run

SEEDS = 2**31


class RequireRun(Protocol):
    """Refuses a run that a deployment would refuse at any time."""

    def __call__(
        self,
        settings: SubmitSettings,
        checked: CheckedRequest,
        /,
        *,
        given: Given | None,
        ask: AskRds,
    ) -> object:
        """Raise UsageError or LimitReachedError for such a run."""


def submit_experiment(
    settings: ExperimentSettings,
    checked: CheckedExperiment,
    *,
    idempotency_key: str | None = None,
) -> str:
    """Record an experiment and start its workflow; returns its id.

    Args:
        settings: The settings of the deployment.
        checked: The experiment.
        idempotency_key: A key; with the same key and experiment, the call returns the same id.

    Raises:
        UsageError: One of its runs is not possible, or the key was used for another experiment.
        LimitReachedError: A limit of the team never leaves room for one of its runs.
        DrainingError: The deployment starts nothing new for a while.
    """
    require_no_drain(settings.service_table, now())
    experiment, cells = checked.experiment, checked.cells
    local, results_days = settings.on_one_machine, settings.results_days
    require_possible_experiment(settings, checked)
    digest = hashlib.sha256(experiment.model_dump_json().encode()).hexdigest()
    experiment_id = name_run(experiment.team, idempotency_key)
    submitted_at = now()
    forget_at = submitted_at + timedelta(days=results_days) if results_days else None
    record = ExperimentRecord(
        experiment_id=experiment_id,
        name=experiment.name,
        team=experiment.team,
        state=RunState.PENDING,
        local=local,
        experiment_sha256=digest,
        cells=len(cells),
        seed=secrets.randbelow(SEEDS) if experiment.seed is None else experiment.seed,
        submitted_at=submitted_at,
        forget_at_epoch_s=int(forget_at.timestamp()) if forget_at else None,
    )
    experiments = open_experiments(settings)
    known = not experiments.create(record)
    if known and experiments.get(experiment.team, experiment_id).experiment_sha256 != digest:
        problem = "was used for another experiment"
        raise UsageError(Complaint(("Idempotency-Key",), problem, idempotency_key))
    open_experiment_files(settings, experiment_id).put(EXPERIMENT, experiment.model_dump_json())
    machine = settings.experiment_machine_arn
    begin_execution(machine, experiment_id, {"experiment_id": experiment_id})
    return experiment_id


def require_possible_experiment(
    settings: SubmitSettings,
    checked: CheckedExperiment,
    *,
    require_run: RequireRun = require_possible_run,
) -> None:
    """Refuse an experiment of which this deployment would refuse a run at any time.

    Args:
        settings: The deployment's settings.
        checked: The experiment.
        require_run: The function that refuses a run, or a dataset's preparation.

    Raises:
        UsageError: One of its runs is not possible, or they cannot take turns or be searched.
        LimitReachedError: A limit of the team never leaves room for one of its runs.
    """
    experiment, local = checked.experiment, settings.on_one_machine
    if not local:
        whose = "an experiment on one machine (--local)"
        checked.apply(lambda asked: asked.request.require_nothing_of_one_machine(whose))
    team = find_team(settings, experiment.team)
    if experiment.pairs is not None and team is not None and team.concurrent_runs < 2:
        problem = f"two runs go at once, and the team may have {team.concurrent_runs}"
        raise UsageError(Complaint(("pairs",), problem))
    require_searchable(checked, override_prices(settings.prices))
    ask = cache(resolve_rds_version)  # called once for cells with the same version
    datasets = plan_shared_datasets(checked, local=local)
    given: Given | None = "restored" if datasets else None
    checked.apply(lambda asked: require_run(settings, asked, given=given, ask=ask))
    for shared in datasets:
        try:
            require_run(settings, shared.checked, given="prepared", ask=ask)
        except UsageError as error:
            raise error.within("dataset") from None
        except LimitReachedError as error:
            raise error.move(lambda about: about.within("dataset")) from None


def get_experiment(settings: ServiceSettings, team: str, experiment_id: str) -> ExperimentStatus:
    """Return the state of an experiment and its cells.

    Raises:
        ExperimentNotFoundError: The team has no experiment with this id.
    """
    record = open_experiments(settings).get(team, experiment_id)
    experiment = read_experiment(settings, experiment_id)
    return ExperimentStatus(
        record=record,
        cells=tuple(
            _read_cell_status(settings, experiment_id, cell) for cell in expand_cells(experiment)
        ),
        datasets=read_dataset_outcomes(settings, experiment, record),
    )


def _read_cell_status(settings: RunSettings, experiment_id: str, cell: Cell) -> CellStatus:
    run_id = make_cell_run_id(experiment_id, cell)
    record, unreadable = None, False
    try:
        record = records_of(settings).find(run_id)
    except UnreadableRecordError as error:
        log_unreadable(error)
        unreadable = True
    return CellStatus(
        index=cell.index,
        name=cell.name,
        variants=cell.variants,
        run_id=run_id,
        state=record and record.state,
        phase=record and record.phase,
        verdict=record and record.verdict,
        capacity_ops_per_second=record and record.capacity_ops_per_second,
        bound=record.figures.bound if record and record.figures else None,
        unreadable=unreadable,
        waits_for_pair=bool(record and record.turn_ready_at and not record.step),
    )


def read_experiment_result(
    settings: RunSettings, record: ExperimentRecord
) -> ExperimentResult | None:
    """Read an experiment's result; None if it has not ended, or was stopped before it began."""
    if not record.concluded:  # S3 gives the same answer for a missing file and a forbidden one
        return None
    files = open_experiment_files(settings, record.experiment_id)
    return files.get(RESULT, ExperimentResult)


def stop_experiment(
    settings: ExperimentSettings, team: str, experiment_id: str
) -> ExperimentRecord:
    """Stop an experiment with all its runs; one that has ended stays as it is.

    The record is marked first, so that no further cell begins. The end of the workflow starts
    another workflow (by the rule on ABORTED), which stops the cells, waits for the teardown of each
    target and compares what was measured until then.

    Raises:
        ExperimentNotFoundError: The team has no experiment with this id.
    """
    experiments = open_experiments(settings)
    record = experiments.get(team, experiment_id)
    going = (RunState.PENDING, RunState.RUNNING)
    experiments.change(record, states=going, state=RunState.STOPPING)
    record = experiments.get(team, experiment_id)
    if record.state is RunState.STOPPING:
        _stop_workflow(experiments, record, settings.experiment_machine_arn)
    return experiments.get(team, experiment_id)


def _stop_workflow(
    experiments: Experiments, record: ExperimentRecord, state_machine_arn: str
) -> None:
    cause = "the experiment was stopped by its team"
    if not stop_execution(state_machine_arn, record.experiment_id, cause=cause):
        experiments.change(  # it was recorded, but never started
            record, states=(RunState.STOPPING,), state=RunState.STOPPED, ended_at=now()
        )
