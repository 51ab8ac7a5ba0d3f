"""Comparison of runs for a page that draws their curves together. Pure."""

from collections.abc import Sequence

from pydantic import Field

from plimsoll.capacity.search import find_axis
from plimsoll.console.live import show_loads
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Axis
from plimsoll.model.run.results import RunResult
from plimsoll.model.service.live import LiveLoad
from plimsoll.report.comparing.comparing import Comparison, compare_runs


class CurveOfRun(Model):
    """Every judged load of one run."""

    run_id: str
    axis: Axis = Field(description="What `load` counts: clients, connections or arrival rate.")
    loads: tuple[LiveLoad, ...] = Field(
        description="Loads from the lightest; empty if none was judged."
    )


class ComparisonShown(Comparison):
    """A comparison of two or more runs, with their curves."""

    curves: tuple[CurveOfRun, ...] = Field(
        description="Runs in the order in which they were asked for."
    )


def show_comparison(results: Sequence[RunResult]) -> ComparisonShown:
    """Compare runs with the first of them that has the same request, and add each one's curve."""
    compared = compare_runs(results)
    parts = {name: getattr(compared, name) for name in Comparison.model_fields}
    return ComparisonShown(**parts, curves=tuple(map(_make_curve, results)))


def _make_curve(result: RunResult) -> CurveOfRun:
    return CurveOfRun(
        run_id=result.run_id,
        axis=find_axis(result.request.search),
        loads=tuple(show_loads(result.capacity)),
    )
