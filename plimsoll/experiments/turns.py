"""The turns of an experiment's paired runs, apart from `cell_runs.py`, which imports NumPy."""

from plimsoll.experiments.records import make_cell_run_id
from plimsoll.model.request.experiment import Cell, Experiment, Turn, find_partner, slot_s
from plimsoll.model.timings import Timings
from plimsoll.requests.cells import expand_cells


def find_turn(
    experiment: Experiment, experiment_id: str, cell: Cell, timings: Timings
) -> Turn | None:
    """Return a cell's turn; None if its run is not paired."""
    other = find_partner(experiment, cell.variants)
    if other is None or experiment.pairs is None:
        return None
    beside = next(one for one in expand_cells(experiment) if one.variants == other)
    loads = [one.request.load for one in (cell, beside)]
    longest_s = max(load.warmup_s + load.duration_s for load in loads)
    return Turn(
        beside=make_cell_run_id(experiment_id, beside),
        second=cell.variants[experiment.pairs.axis] == experiment.pairs.of[1],
        slot_s=slot_s(longest_s, timings.metric_period_s),
    )
