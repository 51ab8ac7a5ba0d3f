"""The phases of a run, and of an experiment's cells, as tables. Pure."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.experiment_record import ExperimentResult
from plimsoll.model.phase_result import PhaseLoad, PhaseResult
from plimsoll.report.report_tables import ReportCell, ReportTable


def run_phases_table(phases: Sequence[PhaseResult]) -> ReportTable | None:
    """One row for each load of each phase; None where there are no phases."""
    if not phases:
        return None
    rows = [
        (
            ReportCell(phase.name),
            ReportCell(phase.workload),
            ReportCell(words.number(load.connections)),
            ReportCell(words.number(load.clients)),
            ReportCell(words.rate(load.middle_records_per_second), "strong"),
            ReportCell(_interval(load)),
            ReportCell(words.number(len(load.steps))),
            ReportCell(words.number(load.unfinished)),
            ReportCell(words.number(load.errors)),
            ReportCell(load.limit or words.NOTHING),
        )
        for phase in phases
        for load in phase.loads
    ]
    columns = ("phase", "workload", "connections", "clients", "records/s", "95 % interval")
    more = ("passes", "cut off", "failed operations", "limit")
    return ReportTable(columns=(*columns, *more), rows=tuple(rows))


def _interval(load: PhaseLoad) -> str:
    low, high = load.low_records_per_second, load.high_records_per_second
    if low is None or high is None:
        return words.NOTHING
    return f"{words.rate(low)} to {words.rate(high)}"


def phases_table(result: ExperimentResult) -> ReportTable | None:
    """One row for each load of each phase, one column for each cell; None without phases."""
    by_cell = [
        {(phase.name, load.connections): load for phase in cell.phases for load in phase.loads}
        for cell in result.cells
    ]
    places = dict.fromkeys(place for loads in by_cell for place in loads)
    if not places:
        return None
    rows = [
        (
            ReportCell(f"{name}, {words.load(connections, 'connections')}"),
            *(ReportCell(_figure(loads.get((name, connections)))) for loads in by_cell),
        )
        for name, connections in places
    ]
    return ReportTable(columns=("records/s", *(c.name for c in result.cells)), rows=tuple(rows))


def _figure(load: PhaseLoad | None) -> str:
    """A load's records per second, with what was at its limit."""
    if load is None:
        return words.NOTHING
    limit = f" ({words.RESOURCES[load.resource]})" if load.resource and load.reached else ""
    return f"{words.rate(load.middle_records_per_second)}{limit}"
