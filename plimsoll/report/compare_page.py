"""The page of several runs side by side. Pure: figures in, text out."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.model.results import RunResult
from plimsoll.report import overlay, text
from plimsoll.report.answer import SIGNS, VERDICTS
from plimsoll.report.comparing import Comparison, EqualLoad, RunLine
from plimsoll.report.differences import question
from plimsoll.report.matrix import Matrix, question_labels
from plimsoll.report.page import fill
from plimsoll.report.ratios import Ratio
from plimsoll.report.report_tables import Cell, Table


def render(results: Sequence[RunResult], comparison: Comparison, decision: Matrix | None) -> str:
    """Write the page of a comparison."""
    names = [line.label for line in comparison.runs]
    groups = _by_question(results, names)
    found = [
        chart
        for group in groups
        for chart in (
            *(overlay.curve(group.runs, group.names, name, group.id) for name in group.operations),
            overlay.throughput(group.runs, group.names, group.id),
        )
    ]
    return fill(
        "compare.html.j2",
        [chart for chart in found if chart is not None],
        comparison=comparison,
        groups=groups,
        runs=runs_table(comparison),
        loads=loads_table(comparison),
        differing=_differing(comparison),
        decision=decision and _matrix(decision),
    )


@dataclass(frozen=True)
class Group:
    """Runs that ask the same: their curves lie over each other."""

    id: str
    title: str  # empty where all runs ask the same
    runs: Sequence[RunResult]
    names: Sequence[str]
    operations: Sequence[str]


def _by_question(results: Sequence[RunResult], names: Sequence[str]) -> list[Group]:
    asked: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        asked.setdefault(question(result), []).append(index)
    titles = question_labels([results[places[0]] for places in asked.values()])
    groups = []
    for number, (title, places) in enumerate(zip(titles, asked.values(), strict=True), 1):
        runs = [results[place] for place in places]
        groups.append(
            Group(
                id="over" if len(asked) == 1 else f"over-{number}",
                title="" if len(asked) == 1 else title,
                runs=runs,
                names=[names[place] for place in places],
                operations=overlay.operations(runs),
            )
        )
    return groups


def figure(line: RunLine) -> str:
    """A capacity with its bound."""
    if line.figure_ops_per_second is None or line.bound is None:
        return text.NOTHING
    return f"{SIGNS[line.bound]}{text.throughput(line.figure_ops_per_second)}"


def ratio(found: Ratio | None) -> str:
    """A ratio with its interval."""
    if found is None:
        return text.NOTHING
    sign = {"=": "", ">=": "≥ ", "<": "≤ "}[found.bound]
    span = f" ({found.low:.2f} to {found.high:.2f})" if found.low is not None else ""
    return f"{sign}{found.value:.2f}{span}"


def runs_table(comparison: Comparison) -> Table:
    """One row for each run."""
    operations = list(dict.fromkeys(name for line in comparison.runs for name in line.latency_us))
    priced = any(line.usd_per_million is not None for line in comparison.runs)
    columns = [
        "run",
        "capacity, ops/s",
        "95 % interval",
        "x the first (95 %)",
        "at",
        *(f"{name} there" for name in operations),
        *(["$ per million ops"] if priced else []),
        "limited by",
        "verdict",
    ]
    return Table(
        groups=(),
        columns=tuple(columns),
        rows=tuple(tuple(_cells(line, operations, priced)) for line in comparison.runs),
    )


def _cells(line: RunLine, operations: Sequence[str], priced: bool) -> list[Cell]:
    interval = text.NOTHING
    if line.interval is not None:
        ends = (line.interval.low_ops_per_second, line.interval.high_ops_per_second)
        interval = " to ".join(text.throughput(end) for end in ends)
    cost = text.NOTHING if line.usd_per_million is None else f"{line.usd_per_million:.3g}"
    return [
        Cell(line.label),
        Cell(figure(line), "strong"),
        Cell(interval),
        Cell(ratio(line.ratio)),
        Cell(line.load or text.NOTHING),
        *(Cell(text.latency(line.latency_us.get(name))) for name in operations),
        *([Cell(cost)] if priced else []),
        Cell(line.limiting_resource or text.NOTHING),
        Cell(VERDICTS[line.verdict] if line.verdict else "none"),
    ]


def loads_table(comparison: Comparison) -> Table | None:
    """Latency and throughput of each run at the loads that all tried."""
    if not comparison.equal_loads:
        return None
    names = [line.label for line in comparison.runs]
    groups = (("", 2), *((name, 2) for name in names))
    statistic = text.STATISTIC_NAMES[comparison.equal_loads[0].statistic]
    columns = ["load", "operation", *([statistic, "ops/s"] * len(names))]
    return Table(
        groups=groups,
        columns=tuple(columns),
        rows=tuple(tuple(_load_cells(row)) for row in comparison.equal_loads),
    )


def _load_cells(row: EqualLoad) -> list[Cell]:
    cells = [Cell(row.load), Cell(row.operation)]
    for latency, rate in zip(row.latency_us, row.throughput_ops_per_second, strict=True):
        cells += [Cell(text.latency(latency), "strong"), Cell(text.throughput(rate))]
    return cells


def _differing(comparison: Comparison) -> Table | None:
    if not comparison.differences:
        return None
    return Table(
        groups=(),
        columns=("asked", *(line.label for line in comparison.runs)),
        rows=tuple(
            (Cell(found.field), *(Cell(value or text.NOTHING) for value in found.values))
            for found in comparison.differences
        ),
    )


def _matrix(decision: Matrix) -> Table:
    rows = []
    for row in decision.rows:
        cells = [Cell(row.workload)]
        for cell in row.cells:
            if cell is None:
                cells.append(Cell(text.NOTHING))
                continue
            parts = [cell.figure, cell.verdict]
            if cell.errors:
                parts.append(f"{cell.errors:,} errors")
            if cell.usd_per_million is not None:
                parts.append(f"${cell.usd_per_million:.3g} per million")
            cells.append(Cell(" · ".join(parts), "strong" if cell.best else ""))
        rows.append((*cells, Cell(row.decision)))
    columns = ("workload", *decision.targets, "decision")
    return Table(groups=(), columns=columns, rows=tuple(rows))
