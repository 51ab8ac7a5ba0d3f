"""The page of an experiment: what to buy, what IOPS gain, every cell. Pure."""

from typing import Any

import altair as alt

from plimsoll.model.experiment_record import CellOutcome, ExperimentResult, Gain
from plimsoll.report import text, theme
from plimsoll.report.answer import SIGNS, VERDICTS
from plimsoll.report.chart import Chart
from plimsoll.report.experiment_summary import layout
from plimsoll.report.page import fill
from plimsoll.report.report_tables import Cell, Table

BAR_PX = 22


def render(result: ExperimentResult) -> str:
    """Write the page of an experiment."""
    chart = figures_chart(result)
    return fill(
        "experiment.html.j2",
        [chart] if chart else [],
        result=result,
        decided=any(decision.best for decision in result.decisions),
        matrix=matrix_table(result),
        gains=gains_table(result),
        cells=cells_table(result),
    )


def figure(cell: CellOutcome) -> str:
    """A cell's figure with its bound; a dash where it has none."""
    if cell.figure_ops_per_second is None or cell.bound is None:
        return text.NOTHING
    return f"{SIGNS[cell.bound]}{text.throughput(cell.figure_ops_per_second)}"


def _lines(result: ExperimentResult) -> list[tuple[str, str, CellOutcome]]:
    """Question, target and cell, in the order of the axes."""
    places = layout(result.experiment)
    return [(places.question(c.variants), places.target(c.variants), c) for c in result.cells]


def matrix_table(result: ExperimentResult) -> Table:
    """Questions down, targets across, the choice at the end."""
    found = {(question, target): cell for question, target, cell in _lines(result)}
    rows = []
    for decision in result.decisions:
        row = [found[decision.question, target] for target in result.targets]
        cells = [
            Cell(figure(cell), "strong" if target == decision.best else "")
            for target, cell in zip(result.targets, row, strict=True)
        ]
        rows.append((Cell(decision.question), *cells, Cell(decision.sentence)))
    columns = ("ops/s", *result.targets, "which")
    return Table(groups=(), columns=columns, rows=tuple(rows))


def gains_table(result: ExperimentResult) -> Table | None:
    """One row for each step up in IOPS."""
    if not result.gains:
        return None
    rows = [
        (
            Cell(gain.question),
            Cell(f"{gain.lower} to {gain.higher}"),
            Cell(text.number(gain.lower_iops)),
            Cell("no limit" if gain.higher_iops is None else text.number(gain.higher_iops)),
            Cell(_times(gain), "strong"),
            Cell(text.NOTHING if gain.low is None else f"{gain.low:.2f} to {gain.high:.2f}"),
            Cell(gain.outcome),
        )
        for gain in result.gains
    ]
    columns = ("", "step", "IOPS", "IOPS after", "x throughput", "95 % interval", "outcome")
    return Table(groups=(), columns=columns, rows=tuple(rows))


def _times(gain: Gain) -> str:
    """The ratio; one that is known to be a gain or a loss without an interval is a bound."""
    if gain.ratio is None:
        return text.NOTHING
    sign = {"gain": "≥ ", "loss": "≤ "}.get(gain.outcome, "") if gain.low is None else ""
    return f"{sign}{gain.ratio:.2f}"


def cells_table(result: ExperimentResult) -> Table:
    """One row for each cell, in the order in which they were started."""
    by_name = {cell.name: cell for cell in result.cells}
    rows = []
    for place, name in enumerate(result.order, 1):
        cell = by_name[name]
        failed = sum(cell.errors.values())
        said = VERDICTS[cell.verdict] if cell.verdict else "none"
        rows.append(
            (
                Cell(name),
                Cell(str(place)),
                Cell(figure(cell), "strong"),
                Cell(cell.load or text.NOTHING),
                Cell(text.number(failed) if cell.state else text.NOTHING),
                Cell(cell.limited_by or text.NOTHING),
                Cell(cell.state.value if cell.state else "not started"),
                Cell(said),
            )
        )
    columns = ("cell", "turn", "ops/s", "at", "failed operations", "limited by", "ended", "verdict")
    return Table(groups=(), columns=columns, rows=tuple(rows))


def figures_chart(result: ExperimentResult) -> Chart | None:
    """A bar for each cell with a figure, by question."""
    rows: list[dict[str, Any]] = [
        {
            "question": question,
            "target": target,
            "figure": cell.figure_ops_per_second,
            "label": figure(cell),
        }
        for question, target, cell in _lines(result)
        if cell.no_answer is None
    ]
    if not rows:
        return None
    colors = alt.Scale(domain=list(result.targets), range=theme.series(len(result.targets)))
    bars = len(result.targets) * len(result.questions)
    base = alt.Chart(alt.NamedData("figures")).encode(
        y=alt.Y("question:N", title=None, sort=list(result.questions)),
        yOffset=alt.YOffset("target:N", sort=list(result.targets)),
        x=alt.X("figure:Q", title="throughput, ops/s"),
    )
    drawn = alt.layer(
        base.mark_bar().encode(
            color=alt.Color("target:N", title=None, scale=colors),
            tooltip=[
                alt.Tooltip("question:N"),
                alt.Tooltip("target:N"),
                alt.Tooltip("label:N", title="ops/s"),
            ],
        ),
        base.mark_text(align="left", dx=4).encode(text=alt.Text("label:N")),
    ).properties(width="container", height=max(80, bars * BAR_PX))
    return Chart(id="figures", spec=drawn, data={"figures": rows})
