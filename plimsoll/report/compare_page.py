"""The page of several runs side by side. Pure: figures in, text out."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.judging.verdicts import find_verdict_facts
from plimsoll.model.run.results import RunResult
from plimsoll.report.charts import overlay
from plimsoll.report.charts.rows import Curve, collect_curve
from plimsoll.report.comparing.comparing import Comparison, EqualLoad, RunLine, make_question_key
from plimsoll.report.comparing.fresh_targets import FRESH_NOTE, make_fresh_table
from plimsoll.report.comparing.ratios import Ratio
from plimsoll.report.experiment.choice import Matrix, name_questions
from plimsoll.report.page import fill_template
from plimsoll.report.published import MULTIPLES, NEVER_ABSOLUTE, Against, make_shape_table
from plimsoll.report.tables import ReportCell, ReportTable


def render_comparison(
    results: Sequence[RunResult],
    comparison: Comparison,
    decision: Matrix | None,
    laid: Against | None = None,
) -> str:
    """Render the page of a comparison.

    Args:
        results: The runs.
        comparison: Their comparison.
        decision: The matrix of what to buy; None if the runs form none.
        laid: The runs beside published figures; None without published figures.
    """
    names = [line.label for line in comparison.runs]
    groups = _group_by_question(results, names)
    charts = [
        chart
        for group in groups
        for chart in (
            *(
                overlay.draw_curves(group.curves, operation, group.id)
                for operation in group.operations
            ),
            overlay.draw_throughputs(group.runs, group.names, group.id),
        )
    ]
    return fill_template(
        "compare.html.j2",
        [chart for chart in charts if chart is not None],
        printed=" and ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else ""),
        comparison=comparison,
        groups=groups,
        runs=make_runs_table(comparison),
        fresh=make_fresh_table(comparison.fresh),
        fresh_note=FRESH_NOTE,
        loads=make_loads_table(comparison),
        differing=_make_differences_table(comparison),
        decision=decision and _make_matrix_table(decision),
        laid=laid,
        shapes=[(shape, make_shape_table(shape)) for shape in laid.shapes] if laid else [],
        never_absolute=NEVER_ABSOLUTE,
        multiples=MULTIPLES,
    )


@dataclass(frozen=True)
class QuestionGroup:
    """Runs with the same question, whose curves share a chart."""

    id: str
    title: str  # empty if all runs have the same question
    runs: Sequence[RunResult]
    names: Sequence[str]
    operations: Sequence[str]

    @property
    def curves(self) -> dict[str, Curve | None]:
        """The curve of each run by its name; None if it has no verdict."""
        return {
            name: collect_curve(run.capacity) if run.capacity else None
            for name, run in zip(self.names, self.runs, strict=True)
        }


def _group_by_question(results: Sequence[RunResult], names: Sequence[str]) -> list[QuestionGroup]:
    asked: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        asked.setdefault(make_question_key(result), []).append(index)
    titles = name_questions([results[places[0]] for places in asked.values()])
    groups = []
    for number, (title, places) in enumerate(zip(titles, asked.values(), strict=True), 1):
        runs = [results[place] for place in places]
        groups.append(
            QuestionGroup(
                id="over" if len(asked) == 1 else f"over-{number}",
                title="" if len(asked) == 1 else title,
                runs=runs,
                names=[names[place] for place in places],
                operations=overlay.list_all_operations(runs),
            )
        )
    return groups


def format_compared_ratio(ratio: Ratio | None) -> str:
    """Format a ratio with its interval."""
    if ratio is None:
        return words.NOTHING
    interval = (
        f" ({words.format_ratio_interval(ratio.low, ratio.high)})" if ratio.low is not None else ""
    )
    return words.format_ratio(ratio.value, ratio.bound) + interval


def make_runs_table(comparison: Comparison) -> ReportTable:
    """Build a table with one row for each run."""
    operations = list(dict.fromkeys(name for line in comparison.runs for name in line.latency_us))
    priced = any(line.usd_per_million is not None for line in comparison.runs)
    columns = [
        "run",
        "capacity, ops/s",
        "95 % interval",
        "x the first (95 %)",
        "at",
        *(f"{name} there" for name in operations),
        *(["per million ops"] if priced else []),
        "limited by",
        "verdict",
    ]
    return ReportTable(
        columns=tuple(columns),
        rows=tuple(tuple(_list_cells(line, operations, priced)) for line in comparison.runs),
    )


def _list_cells(line: RunLine, operations: Sequence[str], priced: bool) -> list[ReportCell]:
    interval = words.NOTHING
    if line.interval is not None:
        ends = (line.interval.low_ops_per_second, line.interval.high_ops_per_second)
        interval = " to ".join(words.format_rate(end) for end in ends)
    cost = (
        words.NOTHING
        if line.usd_per_million is None
        else words.format_unit_usd(line.usd_per_million)
    )
    return [
        ReportCell(line.label),
        ReportCell(
            words.prepend_bound(words.format_rate(line.figure_ops_per_second), line.bound), "strong"
        ),
        ReportCell(interval),
        ReportCell(format_compared_ratio(line.ratio)),
        ReportCell(line.load or words.NOTHING),
        *(ReportCell(words.format_latency(line.latency_us.get(name))) for name in operations),
        *([ReportCell(cost)] if priced else []),
        ReportCell(line.limiting_resource or words.NOTHING),
        ReportCell(find_verdict_facts(line.verdict).name if line.verdict else "none"),
    ]


def make_loads_table(comparison: Comparison) -> ReportTable | None:
    """Build a table of latency and throughput at the loads that all runs tried."""
    if not comparison.equal_loads:
        return None
    names = [line.label for line in comparison.runs]
    groups = (("", 2), *((name, 2) for name in names))
    statistic = words.name_statistic(comparison.equal_loads[0].statistic)
    columns = ["load", "operation", *([statistic, "ops/s"] * len(names))]
    return ReportTable(
        groups=groups,
        columns=tuple(columns),
        rows=tuple(tuple(_load_cells(row)) for row in comparison.equal_loads),
    )


def _load_cells(row: EqualLoad) -> list[ReportCell]:
    cells = [ReportCell(row.load), ReportCell(row.operation)]
    for latency, rate in zip(row.latency_us, row.throughput_ops_per_second, strict=True):
        cells += [
            ReportCell(words.format_latency(latency), "strong"),
            ReportCell(words.format_rate(rate)),
        ]
    return cells


def _make_differences_table(comparison: Comparison) -> ReportTable | None:
    if not comparison.differences:
        return None
    return ReportTable(
        columns=("asked", *(line.label for line in comparison.runs)),
        rows=tuple(
            (
                ReportCell(asked.field),
                *(ReportCell(value or words.NOTHING) for value in asked.values),
            )
            for asked in comparison.differences
        ),
    )


def _make_matrix_table(decision: Matrix) -> ReportTable:
    rows = []
    for row in decision.rows:
        cells = [ReportCell(row.workload)]
        for cell in row.cells:
            if cell is None:
                cells.append(ReportCell(words.NOTHING))
                continue
            parts = [cell.figure, cell.verdict]
            if cell.errors:
                parts.append(words.format_count(cell.errors, "error"))
            if cell.usd_per_million is not None:
                parts.append(f"{words.format_unit_usd(cell.usd_per_million)} per million")
            cells.append(ReportCell(" · ".join(parts), "strong" if cell.best else ""))
        rows.append((*cells, ReportCell(row.decision)))
    columns = ("workload", *decision.targets, "decision")
    return ReportTable(columns=columns, rows=tuple(rows))
