"""The search of a matrix for its cheapest cell that carries a load, run by run.

The workflow runs the cell that `choose_cell` returns, and asks again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.errors import NoGroundError, UsageError
from plimsoll.experiments.cell_runs import list_begun, read_cell_runs
from plimsoll.experiments.records import open_experiments, read_experiment, require_running
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.deployment.function_settings import PricedSettings
from plimsoll.model.request.boundary import Boundary
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.experiment import Experiment
from plimsoll.quoting.prices import override_prices
from plimsoll.report.experiment.summary import CellRun, summarize_outcome
from plimsoll.sizing.cheapest import Survey, sort_by_price, summarize_boundary
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.rank import Wish
from plimsoll.workflow.past import extract_measured


def choose_cell(
    settings: PricedSettings, experiment_id: str, refused: Sequence[Mapping[str, Any]]
) -> dict[str, object]:
    """Return the cell to run next, as a batch of one; no batch if none is left to run.

    Args:
        settings: The settings of the deployment.
        experiment_id: The id of the experiment.
        refused: The cells that could not be submitted: cell, error and cause.

    Raises:
        RunStoppedError: The experiment is being stopped.
    """
    experiment = read_experiment(settings, experiment_id)
    require_running(open_experiments(settings).get(experiment.team, experiment_id))
    runs = read_cell_runs(settings, experiment_id, experiment, refused)
    survey = _make_survey(experiment, runs, override_prices(settings.prices))
    chosen = survey.choose_next().to_measure
    return {"batches": [] if chosen is None else [[survey.cells[chosen].index]]}


def find_boundary(
    experiment: Experiment, runs: Sequence[CellRun], prices: PriceTable
) -> Boundary | None:
    """Return the cheapest cell that carries the load; None if the experiment has no such search.

    Args:
        experiment: The experiment.
        runs: The runs of all cells, in the order of the axes.
        prices: The price table of the region.
    """
    if experiment.want is None:
        return None
    return summarize_boundary(
        _make_survey(experiment, runs, prices), runs[0].cell.request.limits.statistic
    )


def _make_survey(experiment: Experiment, runs: Sequence[CellRun], prices: PriceTable) -> Survey:
    want, first = experiment.want, runs[0].cell.request
    assert want is not None  # noqa: S101 - asked by the callers
    targets = {
        run.cell.name: run.cell.request.target
        for run in runs
        if not isinstance(run.cell.request.target, EndpointTarget)
    }
    return Survey(
        cells=sort_by_price(targets, prices),
        runs={run.cell.index: _read_ground(run) for run in list_begun(runs)},
        wish=Wish(want.ops_per_second, first.limits.limits_us, want.headroom, least_gib=1),
        prices=prices,
    )


def _read_ground(run: CellRun) -> Measured | str:
    """Return a run as the basis of predictions; otherwise the reason why it says nothing."""
    result = run.result
    if result is None or result.capacity is None or result.failure is not None:
        return summarize_outcome(run).no_answer or "it failed"
    limits = run.cell.request.limits
    try:
        return extract_measured(result, limits.statistic, limits.limits_us)
    except (NoGroundError, UsageError) as error:
        return str(error)
