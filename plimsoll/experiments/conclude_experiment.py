"""The end of an experiment: its cells compared, its decision drawn, its record's last word."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.aws import run_files
from plimsoll.aws.run_files import files_of
from plimsoll.aws.run_records import now, records_of
from plimsoll.errors import RunNotFoundError, UnreadableRecordError
from plimsoll.experiments.datasets import dataset_outcomes
from plimsoll.experiments.records import (
    REPORT,
    RESULT,
    asked,
    experiment_files,
    experiments_of,
    run_id_of,
)
from plimsoll.experiments.turns import turn_of
from plimsoll.fleet.failures import plain_cause
from plimsoll.model.experiment import Cell, Experiment, order
from plimsoll.model.experiment_record import (
    DatasetOutcome,
    ExperimentFailure,
    ExperimentRecord,
    ExperimentResult,
)
from plimsoll.model.function_settings import RunSettings, ServiceSettings
from plimsoll.model.results import RunResult
from plimsoll.model.run_record import RunState
from plimsoll.model.timings import AWS_TIMINGS, ONE_MACHINE_TIMINGS
from plimsoll.report.answer import answer
from plimsoll.report.experiment_summary import CellRun, by_question, decisions, layout, outcome
from plimsoll.report.factorials import factorials
from plimsoll.report.gains import gains
from plimsoll.report.phase_answer import phase_answers
from plimsoll.requests.cells import cells_of

WAYS_OUT = {  # the outcome of an execution that could not record its own end
    "ABORTED": (RunState.STOPPED, "Stopped", "the experiment was stopped from outside"),
    "TIMED_OUT": (RunState.TIMED_OUT, "States.Timeout", "the workflow ran past its own time-out"),
    "FAILED": (RunState.FAILED, "States.Runtime", "the workflow itself failed"),
}
BEFORE_END = (RunState.PENDING, RunState.RUNNING, RunState.STOPPING)


def conclude_experiment(
    settings: ServiceSettings,
    experiment_id: str,
    *,
    refused: Sequence[Mapping[str, Any]] = (),
    failure: Mapping[str, Any] | None = None,
    ended: str | None = None,
) -> dict[str, object]:
    """Write `result.json` and the record's last word; one that has ended already stays as it is.

    Args:
        settings: Where.
        experiment_id: Which.
        refused: Cells that could not be submitted: cell, error and cause.
        failure: What the workflow caught, if it failed: error and cause.
        ended: How the execution ended, where it could not say so itself.
    """
    experiment = asked(settings, experiment_id)
    experiments = experiments_of(settings)
    record = experiments.get(experiment.team, experiment_id)
    if not record.state.ended:
        state, failed = _outcome(failure, ended)
        last: dict[str, Any] = {"state": state, "failure": failed, "ended_at": now()}
        last["concluded"] = True
        reasons = {refusal["cell"]: plain_cause(str(refusal["cause"])) for refusal in refused}
        cells = [
            _measured(settings, experiment_id, cell, reasons.get(cell.index))
            for cell in cells_of(experiment)
        ]
        datasets = dataset_outcomes(settings, experiment, record)
        result = concluded(record.model_copy(update=last), experiment, cells, datasets)
        experiment_files(settings, experiment_id).put_model(RESULT, result)
        experiments.change(
            record, states=BEFORE_END, **last
        )  # written first: whoever sees the end then finds the result
        _draw_report(settings, experiment_id, result)
    final = experiments.get(experiment.team, experiment_id).failure
    return {"failure": None if final is None else final.model_dump()}


def _outcome(
    failure: Mapping[str, Any] | None, ended: str | None
) -> tuple[RunState, ExperimentFailure | None]:
    if failure is not None:
        error = str(failure["error"])
        state = RunState.STOPPED if error == "RunStoppedError" else RunState.FAILED
        return state, ExperimentFailure(error=error, cause=plain_cause(str(failure["cause"])))
    if ended is not None:
        state, error, cause = WAYS_OUT[ended]
        return state, ExperimentFailure(error=error, cause=cause)
    return RunState.SUCCEEDED, None


def _measured(
    settings: RunSettings, experiment_id: str, cell: Cell, refused: str | None
) -> CellRun:
    run_id = run_id_of(experiment_id, cell)
    try:
        record = records_of(settings).get(run_id)
    except RunNotFoundError:
        return CellRun(cell, run_id, None, None, refused)
    except UnreadableRecordError as error:
        return CellRun(cell, run_id, None, None, str(error))
    if record.started_at is None:  # it left no files
        why = record.failure.cause if record.failure else refused
        return CellRun(cell, run_id, record.state, None, why)
    files = files_of(settings, run_id)
    return CellRun(cell, run_id, record.state, files.find_model(run_files.RESULT, RunResult))


def concluded(
    record: ExperimentRecord,
    experiment: Experiment,
    cells: Sequence[CellRun],
    datasets: tuple[DatasetOutcome, ...] = (),
) -> ExperimentResult:
    """Draw an experiment's decision from its cells. Pure."""
    places = layout(experiment)
    rows = by_question(cells, places)
    outcomes = tuple(outcome(cell) for cell in cells)
    apart_s = _apart_s(experiment, cells, local=record.local)
    decided = decisions(rows, apart_s=apart_s)
    laid = factorials(experiment, cells)
    assert record.ended_at is not None  # noqa: S101 - the caller has set it
    return ExperimentResult(
        experiment_id=record.experiment_id,
        name=record.name,
        team=record.team,
        local=record.local,
        state=record.state,
        failure=record.failure,
        seed=record.seed,
        order=tuple(cells[index].cell.name for index in order(len(cells), record.seed)),
        submitted=record.submitted_at,
        started=record.started_at,
        ended=record.ended_at,
        targets=tuple(dict.fromkeys(name for row in rows.values() for name in row)),
        questions=tuple(rows),
        datasets=datasets,
        cells=outcomes,
        answer=" ".join([*phase_answers(laid), answer(decided)]),
        decisions=decided,
        gains=gains(rows, apart_s=apart_s),
        factorials=laid,
        warnings=tuple(
            f"{outcome.name}: {outcome.no_answer}" for outcome in outcomes if outcome.no_answer
        ),
        experiment=experiment,
    )


def _apart_s(experiment: Experiment, cells: Sequence[CellRun], *, local: bool) -> float | None:
    """Give how far apart the steps of a pair may be: a slot, and half of one; None: no turns."""
    timings = ONE_MACHINE_TIMINGS if local else AWS_TIMINGS
    turns = (turn_of(experiment, "", run.cell, timings) for run in cells)
    return max((1.5 * turn.slot_s for turn in turns if turn is not None), default=None)


def _draw_report(settings: RunSettings, experiment_id: str, result: ExperimentResult) -> None:
    """Put the page beside the result; as for a run, a failure here is only logged."""
    from plimsoll.report.experiment_page import render  # noqa: PLC0415 - for the end alone

    files = experiment_files(settings, experiment_id)
    try:
        page = render(result)
        files.put(REPORT, page, content_type="text/html; charset=utf-8")
    except Exception as error:  # noqa: BLE001 - it can be drawn again from the files
        print(f"{files.key(REPORT)} is not drawn: {error!r}", file=sys.stderr, flush=True)
