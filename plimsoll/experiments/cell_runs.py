"""The runs of an experiment's cells, and their results."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from plimsoll.aws import run_files
from plimsoll.aws.run_files import files_of
from plimsoll.aws.run_records import records_of
from plimsoll.errors import RunNotFoundError, UnreadableRecordError
from plimsoll.experiments.records import make_cell_run_id
from plimsoll.fleet.failures import extract_cause
from plimsoll.model.deployment.function_settings import RunSettings
from plimsoll.model.request.experiment import Cell, Experiment
from plimsoll.model.run.results import RunResult
from plimsoll.report.experiment.summary import CellRun
from plimsoll.requests.cells import expand_cells


def read_cell_runs(
    settings: RunSettings,
    experiment_id: str,
    experiment: Experiment,
    refused: Sequence[Mapping[str, Any]],
) -> list[CellRun]:
    """Read the runs of all cells, in the order of the axes.

    Args:
        settings: The settings of the deployment.
        experiment_id: The id of the experiment.
        experiment: The experiment.
        refused: The cells that could not be submitted: cell, error and cause.
    """
    reasons = {refusal["cell"]: extract_cause(str(refusal["cause"])) for refusal in refused}
    return [
        _read_cell_run(settings, experiment_id, cell, reasons.get(cell.index))
        for cell in expand_cells(experiment)
    ]


def _read_cell_run(
    settings: RunSettings, experiment_id: str, cell: Cell, refused: str | None
) -> CellRun:
    run_id = make_cell_run_id(experiment_id, cell)
    try:
        record = records_of(settings).get(run_id)
    except RunNotFoundError:
        return CellRun(cell, run_id, None, None, refused)
    except UnreadableRecordError as error:
        return CellRun(cell, run_id, None, None, str(error))
    if record.started_at is None:  # it left no files
        why = record.failure.cause if record.failure else refused
        return CellRun(cell, run_id, record.state, None, why, record.submitted_at)
    result = files_of(settings, run_id).find_model(run_files.RESULT, RunResult)
    return CellRun(cell, run_id, record.state, result, submitted=record.submitted_at)


def list_begun(runs: Sequence[CellRun]) -> list[CellRun]:
    """Return the cells that were begun, in that order; those without a record come last."""
    last = datetime.max.replace(tzinfo=UTC)
    tried = [run for run in runs if run.state is not None or run.why is not None]
    return sorted(tried, key=lambda run: run.submitted or last)
