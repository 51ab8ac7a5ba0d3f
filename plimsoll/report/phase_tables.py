"""The phases of a run, and of an experiment's cells, as figures and tables. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.statistics.contrasts import Estimate
from plimsoll.model.run.experiment_record import ExperimentResult
from plimsoll.model.run.results import PhaseLoad, PhaseResult, RunResult
from plimsoll.report.comparing.ratios import estimate_answer, list_repetitions
from plimsoll.report.tables import ReportCell, ReportTable

# Figures of phases that can be compared with those of another run.


ITS_SEARCH = "its search"  # key of a phase's search, beside its loads to completion


@dataclass(frozen=True)
class Figures:
    """The repetitions of one load.

    Attributes:
        values: The throughput of each repetition, in one unit; empty if there is no exact figure.
        limit: What set the limit, as a part of a sentence; None if it is not known.
        estimate: The figure with what is uncertain of it; None if only the repetitions scatter.
    """

    values: tuple[float, ...]
    limit: str | None
    estimate: Estimate | None = None


def list_phase_figures(result: RunResult | None) -> dict[str, Figures]:
    """Return the figures of each phase and load, by a readable name: `charge, 16 connections`."""
    return {
        name: figures
        for phase in (result.phases if result else ())
        for name, figures in _list_figures_of_phase(phase)
    }


def _list_figures_of_phase(phase: PhaseResult) -> Iterator[tuple[str, Figures]]:
    for load in phase.loads:
        name = f"{phase.name}, {words.format_load(load.connections, 'connections')}"
        yield name, Figures(values=load.measured, limit=load.limit)
    if phase.capacity is not None:
        exact = phase.capacity.bound == "="
        values = tuple(list_repetitions(phase.capacity)) if exact else ()
        estimate = estimate_answer(phase.capacity) if values else None
        yield f"{phase.name}, {ITS_SEARCH}", Figures(values, phase.limit, estimate)


def make_run_phases_table(phases: Sequence[PhaseResult]) -> ReportTable | None:
    """Build a table of phases to completion, one row for each load; None if there are none."""
    rows = [
        (
            ReportCell(phase.name),
            ReportCell(phase.workload),
            ReportCell(words.format_number(load.connections)),
            ReportCell(words.format_number(load.clients)),
            ReportCell(words.format_rate(load.middle_records_per_second), "strong"),
            ReportCell(_format_interval(load)),
            ReportCell(words.format_number(len(load.steps))),
            ReportCell(words.format_number(load.unfinished)),
            ReportCell(words.format_number(load.errors)),
            ReportCell(load.limit or words.NOTHING),
        )
        for phase in phases
        for load in phase.loads
    ]
    columns = ("phase", "workload", "connections", "clients", "records/s", "95 % interval")
    more = ("passes", "cut off", "failed operations", "limit")
    return ReportTable(columns=(*columns, *more), rows=tuple(rows)) if rows else None


def _format_interval(load: PhaseLoad) -> str:
    low, high = load.low_records_per_second, load.high_records_per_second
    if low is None or high is None:
        return words.NOTHING
    return f"{words.format_rate(low)} to {words.format_rate(high)}"


def make_phases_table(result: ExperimentResult) -> ReportTable | None:
    """Build a table with a row for each load of each phase and a column for each cell.

    None without phases.
    """
    by_cell = [dict(_list_figures(cell.phases)) for cell in result.cells]
    places = dict.fromkeys(place for figures in by_cell for place in figures)
    if not places:
        return None
    rows = [
        (ReportCell(place), *(ReportCell(each.get(place, words.NOTHING)) for each in by_cell))
        for place in places
    ]
    return ReportTable(columns=("", *(c.name for c in result.cells)), rows=tuple(rows))


def _list_figures(phases: Sequence[PhaseResult]) -> Iterator[tuple[str, str]]:
    """Yield each load's records per second with its limit, and the answer of each search."""
    for phase in phases:
        for load in phase.loads:
            limit = f" ({words.RESOURCES[load.resource]})" if load.resource and load.reached else ""
            place = f"{phase.name}, {words.format_load(load.connections, 'connections')}, records/s"
            yield place, f"{words.format_rate(load.middle_records_per_second)}{limit}"
        if phase.capacity is not None:
            figure = phase.capacity.max_sustainable_throughput_ops_per_second
            bound = phase.capacity.bound
            yield (
                f"{phase.name}, {ITS_SEARCH}, ops/s",
                words.prepend_bound(words.format_rate(figure), bound),
            )
