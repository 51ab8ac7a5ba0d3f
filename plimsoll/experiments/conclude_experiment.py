"""The end of an experiment: compares its cells, draws its conclusion and closes its record."""

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.aws.function_log import log_line
from plimsoll.aws.run_records import now
from plimsoll.experiments.boundary import find_boundary
from plimsoll.experiments.cell_runs import list_begun, read_cell_runs
from plimsoll.experiments.datasets import read_dataset_outcomes
from plimsoll.experiments.records import (
    REPORT,
    RESULT,
    open_experiment_files,
    open_experiments,
    read_experiment,
)
from plimsoll.experiments.turns import find_turn
from plimsoll.fleet.failures import extract_cause
from plimsoll.model.deployment.function_settings import PricedSettings, RunSettings
from plimsoll.model.request.boundary import Boundary
from plimsoll.model.request.experiment import Experiment, draw_order
from plimsoll.model.run.experiment_record import (
    DatasetOutcome,
    ExperimentFailure,
    ExperimentRecord,
    ExperimentResult,
)
from plimsoll.model.run.run_record import BEFORE_END, RunState
from plimsoll.model.timings import AWS_TIMINGS, ONE_MACHINE_TIMINGS
from plimsoll.quoting.prices import override_prices
from plimsoll.report.experiment.answer import (
    combine_decisions,
    describe_fresh,
    describe_phase_gains,
)
from plimsoll.report.experiment.factorials import compute_factorials, gains
from plimsoll.report.experiment.summary import (
    CellRun,
    arrange_by_question,
    decide_questions,
    divide_axes,
    summarize_fresh_cells,
    summarize_outcome,
)

WAYS_OUT = {  # outcomes of an execution that could not record its own end
    "ABORTED": (RunState.STOPPED, "Stopped", "the experiment was stopped from outside"),
    "TIMED_OUT": (RunState.TIMED_OUT, "States.Timeout", "the workflow ran past its own time-out"),
    "FAILED": (RunState.FAILED, "States.Runtime", "the workflow itself failed"),
}


def conclude_experiment(
    settings: PricedSettings,
    experiment_id: str,
    *,
    refused: Sequence[Mapping[str, Any]] = (),
    failure: Mapping[str, Any] | None = None,
    ended: str | None = None,
) -> dict[str, object]:
    """Write `result.json` and close the record; an experiment that has ended stays as it is.

    Args:
        settings: The settings of the deployment.
        experiment_id: The id of the experiment.
        refused: The cells that could not be submitted: cell, error and cause.
        failure: The error and cause that the workflow caught; None if it did not fail.
        ended: The status of an execution that could not record its own end; None otherwise.
    """
    experiment = read_experiment(settings, experiment_id)
    experiments = open_experiments(settings)
    record = experiments.get(experiment.team, experiment_id)
    if not record.state.ended:
        state, failed = _end_state(failure, ended)
        last: dict[str, Any] = {"state": state, "failure": failed, "ended_at": now()}
        last["concluded"] = True
        cells = read_cell_runs(settings, experiment_id, experiment, refused)
        datasets = read_dataset_outcomes(settings, experiment, record)
        prices = override_prices(settings.prices)
        try:
            boundary = find_boundary(experiment, cells, prices)
            ended_as = record.model_copy(update=last)
            result = build_result(ended_as, experiment, cells, datasets, boundary)
        except Exception as error:  # noqa: BLE001 - without an end, whoever waits for it waits for ever
            log_line("ERROR", f"the cells of {experiment_id} are not compared: {error!r}")
            last |= {"state": RunState.FAILED, "failure": failed or _explain_no_comparison(error)}
            ended_as = record.model_copy(update=last)
            outcomes = tuple(summarize_outcome(cell) for cell in cells)
            result = build_result(ended_as, experiment, (), datasets)
            result = result.model_copy(update={"cells": outcomes})
        open_experiment_files(settings, experiment_id).put_model(RESULT, result)
        experiments.change(
            record, states=BEFORE_END, **last
        )  # written first: whoever sees the end then finds the result
        _draw_report(settings, experiment_id, result)
    final = experiments.get(experiment.team, experiment_id).failure
    return {"failure": None if final is None else final.model_dump()}


def _end_state(
    failure: Mapping[str, Any] | None, ended: str | None
) -> tuple[RunState, ExperimentFailure | None]:
    if failure is not None:
        error = str(failure["error"])
        state = RunState.STOPPED if error == "RunStoppedError" else RunState.FAILED
        return state, ExperimentFailure(error=error, cause=extract_cause(str(failure["cause"])))
    if ended is not None:
        state, error, cause = WAYS_OUT[ended]
        return state, ExperimentFailure(error=error, cause=cause)
    return RunState.SUCCEEDED, None


def _explain_no_comparison(error: Exception) -> ExperimentFailure:
    return ExperimentFailure(
        error=type(error).__name__,
        cause="its runs could not be compared, which is a fault of Plimsoll; each run's own result"
        " stands",
    )


def build_result(
    record: ExperimentRecord,
    experiment: Experiment,
    cells: Sequence[CellRun],
    datasets: tuple[DatasetOutcome, ...] = (),
    boundary: Boundary | None = None,
) -> ExperimentResult:
    """Draw an experiment's conclusion from its cells. Pure.

    In a search for the boundary, the boundary is the conclusion: most cells were not run, so others
    are not compared.
    """
    places = divide_axes(experiment)
    rows = arrange_by_question(cells, places)
    outcomes = tuple(summarize_outcome(cell) for cell in cells)
    apart_s = _pair_distance_s(experiment, cells, local=record.local)
    decided = () if boundary else decide_questions(rows, apart_s=apart_s)
    fresh = summarize_fresh_cells(rows)
    laid = () if boundary else compute_factorials(experiment, cells)
    ran = {run.cell.name for run in list_begun(cells)}
    drawn = [cells[index] for index in draw_order(experiment, record.seed)] if cells else []
    assert record.ended_at is not None  # noqa: S101 - the caller has set it
    return ExperimentResult(
        experiment_id=record.experiment_id,
        name=record.name,
        team=record.team,
        local=record.local,
        state=record.state,
        failure=record.failure,
        seed=record.seed,
        order=tuple(run.cell.name for run in (list_begun(cells) if boundary else drawn)),
        submitted=record.submitted_at,
        started=record.started_at,
        ended=record.ended_at,
        targets=tuple(dict.fromkeys(name for row in rows.values() for name in row)),
        questions=tuple(rows),
        datasets=datasets,
        cells=outcomes,
        fresh=fresh,
        answer=f"{boundary.sentence} {boundary.stopped}"
        if boundary
        else " ".join(
            [*describe_phase_gains(laid), combine_decisions(decided), *describe_fresh(fresh)]
        ),
        decisions=decided,
        boundary=boundary,
        gains=() if boundary else gains(rows, apart_s=apart_s),
        factorials=laid,
        warnings=tuple(
            f"{outcome.name}: {outcome.no_answer}"
            for outcome in outcomes
            if outcome.no_answer and (boundary is None or outcome.name in ran)
        ),
        experiment=experiment,
    )


def _pair_distance_s(
    experiment: Experiment, cells: Sequence[CellRun], *, local: bool
) -> float | None:
    """Return how far apart the steps of a pair may be: 1.5 slots; None if no runs take turns."""
    timings = ONE_MACHINE_TIMINGS if local else AWS_TIMINGS
    turns = (find_turn(experiment, "", run.cell, timings) for run in cells)
    return max((1.5 * turn.slot_s for turn in turns if turn is not None), default=None)


def _draw_report(settings: RunSettings, experiment_id: str, result: ExperimentResult) -> None:
    """Write the page beside the result; as for a run, a failure is only logged."""
    from plimsoll.report.experiment.page import render_experiment  # noqa: PLC0415 - needed only at the end

    files = open_experiment_files(settings, experiment_id)
    try:
        page = render_experiment(result)  # it can be drawn again from the files
        files.put(REPORT, page, content_type="text/html; charset=utf-8")
    except Exception as error:  # noqa: BLE001 - it can be drawn again from the files
        log_line("ERROR", f"{files.key(REPORT)} is not drawn: {error!r}")
