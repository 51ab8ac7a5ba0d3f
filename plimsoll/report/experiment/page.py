"""The page of an experiment: what to buy, what IOPS gain, every cell. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll import words
from plimsoll.model.judging.verdicts import find_verdict_facts
from plimsoll.model.request.boundary import Boundary, BoundaryCell
from plimsoll.model.run.experiment_record import (
    CellOutcome,
    Effect,
    ExperimentResult,
    Factorial,
    Gain,
)
from plimsoll.quoting.costs import divide_cost
from plimsoll.report.charts import scale, theme
from plimsoll.report.charts.chart import Box, Chart, Key, Label, Mark, Panel, Point
from plimsoll.report.charts.scale import Scale
from plimsoll.report.comparing.fresh_targets import FRESH_NOTE, make_fresh_table
from plimsoll.report.comparing.ratios import name_sample
from plimsoll.report.experiment.summary import divide_axes
from plimsoll.report.page import fill_template
from plimsoll.report.phase_tables import make_phases_table
from plimsoll.report.size_tables import MARKED, PREDICTED, describe_wanted
from plimsoll.report.tables import ReportCell, ReportTable
from plimsoll.report.words import AS_IF

# A search for the boundary: measured cells are plain, predicted ones are marked.


COLUMNS = (
    "", "$/month", "cell", "measured ops/s", "predicted ops/s", "binds first", "error",
    "carries it",
)  # fmt: skip


def make_boundary_table(found: Boundary) -> ReportTable:
    """Build a table with one row for each cell, the cheapest first; predictions are marked."""
    rows = []
    for cell in found.cells:
        kind = "strong" if cell.status == "measured" else "predicted"
        rows.append(tuple(ReportCell(text, kind) for text in _list_cell_texts(cell)))
    return ReportTable(columns=COLUMNS, rows=tuple(rows))


def _list_cell_texts(cell: BoundaryCell) -> Iterator[str]:
    yield cell.status
    yield words.NOTHING if cell.usd_per_month is None else f"{cell.usd_per_month:,.2f}"
    yield cell.name
    yield words.prepend_bound(words.format_rate(cell.measured_ops_per_second), cell.bound)
    held = cell.predicted
    between = f" ({words.format_rate(held.low)} to {words.format_rate(held.high)})" if held else ""
    yield f"{PREDICTED}{words.format_rate(held.ops_per_second)}{between}" if held else words.NOTHING
    yield held.binds if held else words.NOTHING
    yield words.NOTHING if cell.error is None else f"{cell.error:+.0%}"
    yield _describe_carries(cell)


def _describe_carries(cell: BoundaryCell) -> str:
    if cell.why is not None:
        return cell.why
    mark = "" if cell.status == "measured" else PREDICTED
    if cell.carries is None:
        return "perhaps" if cell.predicted else words.NOTHING
    return f"{mark}{'yes' if cell.carries else 'no'}"


def describe_boundary(found: Boundary) -> Iterator[str]:
    """Yield the question, the source of prices, and the assumptions of predictions."""
    yield f"Asked: {describe_wanted(found)}, 730 hours a month. {MARKED}"
    yield from found.assumptions


# Factorials.


def make_factorials_table(factorials: Sequence[Factorial]) -> ReportTable | None:
    """Build a table with one row for each factorial whose effects are known."""
    known = [each for each in factorials if each.gain_on is not None]
    if not known:
        return None
    rows = []
    for each in known:
        assert each.gain_on is not None  # noqa: S101 - those without are left out
        gains = zip(each.beside_levels, each.gain_on, strict=True)
        rows.append(
            (
                ReportCell(each.question),
                ReportCell(f"{each.axis}: {each.levels[0]} to {each.levels[1]}"),
                *(ReportCell(f"{name}: {_effect_times(gain)}", "strong") for name, gain in gains),
                ReportCell(_effect_times(each.main)),
                ReportCell(f"{each.beside}: {_effect_times(each.beside_main)}"),
                ReportCell(_effect_times(each.interaction)),
            )
        )
    columns = (
        "",
        "axis",
        "gain on one",
        "on the other",
        "main effect",
        "of the other",
        "interaction",
    )
    return ReportTable(columns=columns, rows=tuple(rows))


def describe_factorials_basis(result: ExperimentResult) -> str:
    """Describe what the intervals of effects cover."""
    if result.fresh:
        covered = "cover what scatters from one fresh target to the next"
    elif not all(each.covers_choice for each in result.factorials):
        covered = (
            "of an older result: they cover the scatter of repetitions alone, so where searches"
            " chose the loads they are too narrow"
        )
    else:
        covered = (
            "cover what scatters from one repetition to the next on these targets, and where noise"
            " may have chosen the loads of the answers, that choice"
        )
    return f"95 % intervals {covered}."


def _effect_times(effect: Effect | None) -> str:
    """Format a ratio with its interval: `1.41 (1.30 to 1.53)`."""
    if effect is None:
        return words.NOTHING
    return (
        f"{words.format_ratio(effect.ratio)}"
        f" ({words.format_ratio_interval(effect.low, effect.high)})"
    )


BAR_PX = 22
LABEL_ROOM = 1.25  # room for a figure beyond the longest bar


def render_experiment(result: ExperimentResult) -> str:
    """Render the page of an experiment."""
    chart = draw_figures(result)
    return fill_template(
        "experiment.html.j2",
        [chart] if chart else [],
        printed=f"{result.name} · {words.format_moment(result.submitted)}",
        result=result,
        priced=any(cell.usd_per_hour is not None for cell in result.cells),
        as_if=AS_IF,
        matrix=None if result.boundary else make_matrix_table(result),
        boundary=make_boundary_table(result.boundary) if result.boundary else None,
        boundary_lines=list(describe_boundary(result.boundary)) if result.boundary else [],
        fresh=make_fresh_table(result.fresh),
        fresh_note=describe_fresh_basis(result),
        gains=make_gains_table(result),
        factorials=make_factorials_table(result.factorials),
        factorials_note=describe_factorials_basis(result),
        phases=make_phases_table(result),
        cells=make_cells_table(result),
        datasets=describe_datasets(result),
    )


def describe_datasets(result: ExperimentResult) -> list[str]:
    """Describe the size of each dataset that was prepared once, and its deletion."""
    return [
        f"{one.name}, for {words.format_count(one.runs, 'run')}: {words.format_number(one.rows)}"
        " rows,"
        f" {one.layout.size_words if one.layout else words.NOTHING};"
        f" {one.layout.order_words if one.layout else 'it was not prepared'}."
        f" Its snapshot was gone at {words.format_moment(one.deleted_at)}."
        for one in result.datasets
    ]


def format_figure(cell: CellOutcome) -> str:
    """Format a cell's figure in ops/s with its bound; a dash if it has none."""
    return words.prepend_bound(words.format_rate(cell.figure_ops_per_second), cell.bound)


def _list_lines(result: ExperimentResult) -> list[tuple[str, str, CellOutcome]]:
    """List question, target and cell, in the order of the axes; a repeated cell is listed once."""
    places = divide_axes(result.experiment)
    cells = list(_merge_fresh(result)) if result.fresh else result.cells
    return [(places.question(c.variants), places.target(c.variants), c) for c in cells]


def _merge_fresh(result: ExperimentResult) -> Iterator[CellOutcome]:
    """Yield each repeated cell as one, with the mean over its fresh targets as its figure."""
    by_name = {cell.name: cell for cell in result.cells}
    for fresh in result.fresh:
        runs = [by_name[run.name] for run in fresh.runs]
        limits = dict.fromkeys(run.limited_by for run in runs if run.limited_by is not None)
        sustained = fresh.bound in {"=", ">="}
        prices = [run.usd_per_hour for run in runs if run.usd_per_hour is not None]
        cost = divide_cost(prices[0], fresh.mean_ops_per_second) if prices and sustained else None
        yield runs[0].model_copy(
            update={
                "name": fresh.name,
                "figure_ops_per_second": fresh.mean_ops_per_second,
                "bound": fresh.bound,
                "limited_by": " or ".join(limits) or None,
                "verdict": next((run.verdict for run in runs if run.verdict is not None), None),
                "usd_per_million": cost,
                "no_answer": None if sustained else fresh.sentence,
            }
        )


def describe_fresh_basis(result: ExperimentResult) -> str:
    """Say what the intervals over fresh targets cover."""
    if result.experiment.dataset is None:
        return FRESH_NOTE
    return (
        f"{FRESH_NOTE} All targets of a cell were restored from one dataset: what loading the rows"
        " again would change is in neither."
    )


def make_matrix_table(result: ExperimentResult) -> ReportTable:
    """Build the matrix: questions down, targets across, the choice in the last column."""
    cells_by_place = {(question, target): cell for question, target, cell in _list_lines(result)}
    rows = []
    for decision in result.decisions:
        # a damaged result lacks some
        row = [cells_by_place.get((decision.question, target)) for target in result.targets]
        # results of older versions have no outcome
        chosen = decision.buy if decision.outcome else decision.best
        cells = [
            ReportCell(
                _write_cell(cell) if cell else words.NOTHING,
                "strong" if target == chosen else "",
            )
            for target, cell in zip(result.targets, row, strict=True)
        ]
        rows.append((ReportCell(decision.question), *cells, ReportCell(decision.sentence)))
    columns = ("ops/s · limit · per million", *result.targets, "which")
    return ReportTable(columns=columns, rows=tuple(rows))


def _write_cell(cell: CellOutcome) -> str:
    """Format a cell's figure, limit and cost, as far as they are known."""
    parts = [format_figure(cell)]
    if cell.verdict is not None and cell.limited_by is not None:
        parts.append(cell.limited_by)
    if cell.usd_per_million is not None:
        parts.append(words.format_unit_usd(cell.usd_per_million))
    return " · ".join(parts)


def make_gains_table(result: ExperimentResult) -> ReportTable | None:
    """Build a table with one row for each step up in IOPS."""
    if not result.gains:
        return None
    rows = [
        (
            ReportCell(gain.question),
            ReportCell(f"{gain.lower} to {gain.higher}"),
            ReportCell(words.format_number(gain.lower_iops)),
            ReportCell(
                "no limit" if gain.higher_iops is None else words.format_number(gain.higher_iops)
            ),
            ReportCell(_format_gain(gain), "strong"),
            ReportCell(_format_interval(gain)),
            ReportCell(_describe_outcome(gain)),
        )
        for gain in result.gains
    ]
    columns = ("", "step", "IOPS", "IOPS after", "x throughput", "95 % interval", "outcome")
    return ReportTable(columns=columns, rows=tuple(rows))


def _format_interval(gain: Gain) -> str:
    interval = words.format_ratio_interval(gain.low, gain.high)
    return interval + name_sample(gain.pairs, gain.fresh_targets)


def _describe_outcome(gain: Gain) -> str:
    """Return the outcome, with its reason unless another cell of the row shows it."""
    return gain.outcome if gain.ratio is not None else gain.sentence.partition("): ")[2]


def _format_gain(gain: Gain) -> str:
    """Format the ratio; without an interval it comes from bounds and is itself a bound."""
    if gain.ratio is None:
        return words.NOTHING
    bounds = {"gain": ">=", "loss": "<"}
    return words.format_ratio(
        gain.ratio, bounds.get(gain.outcome, "=") if gain.low is None else "="
    )


def make_cells_table(result: ExperimentResult) -> ReportTable:
    """Build a table with one row for each cell, in the order in which they were started."""
    by_name = {cell.name: cell for cell in result.cells}
    rows = []
    for place, name in enumerate(result.order, 1):
        cell = by_name[name]
        failed = sum(cell.errors.values())
        verdict = find_verdict_facts(cell.verdict).name if cell.verdict else "none"
        rows.append(
            (
                ReportCell(name),
                ReportCell(str(place)),
                ReportCell(format_figure(cell), "strong"),
                ReportCell(cell.load or words.NOTHING),
                ReportCell(words.format_number(failed if cell.state else None)),
                ReportCell(cell.limited_by or words.NOTHING),
                *_format_dollars(cell),
                ReportCell(
                    cell.state.value.lower().replace("_", " ") if cell.state else "not started"
                ),
                ReportCell(verdict),
            )
        )
    columns = (
        *("cell", "turn", "ops/s", "at", "failed operations", "limited by"),
        *("an hour", "per million", "ended", "verdict"),
    )
    return ReportTable(columns=columns, rows=tuple(rows))


def _format_dollars(cell: CellOutcome) -> tuple[ReportCell, ReportCell]:
    """Format the price per hour and per million operations, or say why it is unknown."""
    hour = words.NOTHING if cell.usd_per_hour is None else words.format_unit_usd(cell.usd_per_hour)
    million = cell.usd_per_million
    each = words.NOTHING if million is None else words.format_unit_usd(million)
    return ReportCell(cell.usd_unknown or hour), ReportCell(each)


def draw_figures(result: ExperimentResult) -> Chart | None:
    """Draw a bar for each cell with a figure: a panel for each question, the targets in order."""
    found = _list_lines(result)
    figures = [cell.figure_ops_per_second for _, _, cell in found if cell.no_answer is None]
    runs = {
        cell.name: [run.figure_ops_per_second for run in cell.runs if run.figure_ops_per_second]
        for cell in result.fresh
    }
    if not figures:
        return None
    colors = dict(zip(result.targets, theme.choose_series_colors(len(result.targets)), strict=True))
    ends = [*figures, *(figure for each in runs.values() for figure in each)]
    x = scale.make_linear_scale(ends, "throughput, ops/s", room=LABEL_ROOM)
    panels = []
    for place, asked in enumerate(result.questions):
        cells = {t: c for q, t, c in found if q == asked and c.no_answer is None}
        summary = "; ".join(
            f"{target}: {format_figure(cell)} ops/s" for target, cell in cells.items()
        )
        panels.append(
            Panel(
                id=f"figures-{place}",
                x=x,
                y=Scale(len(result.targets), 0, asked),
                marks=_figure_bars(asked, cells, colors, runs),
                height_px=BAR_PX * len(result.targets),
                keys=[Key(t, color, "square") for t, color in colors.items() if place == 0],
                summary=summary,
                axis=place == len(result.questions) - 1,
            )
        )
    return Chart("figures", panels)


def _figure_bars(
    asked: str,
    cells: Mapping[str, CellOutcome],
    colors: Mapping[str, str],
    runs: Mapping[str, Sequence[float]],
) -> list[Mark]:
    """Draw bars from the top, in the order of the targets; a cell without an answer is a gap.

    A repeated cell has a point for each of its runs.
    """
    marks: list[Mark] = []
    for place, (target, color) in enumerate(colors.items()):
        cell = cells.get(target)
        if cell is not None and cell.figure_ops_per_second is not None:
            end, shown = cell.figure_ops_per_second, format_figure(cell)
            tip = [("question", asked), ("target", target), ("ops/s", shown)]
            marks.append(Box((0, end), (place + 0.9, place + 0.1), color, tip=tip))
            figures = runs.get(cell.name, ())
            marks += (Point(x, place + 0.5, "var(--ink)", radius_px=2.5) for x in figures)
            marks.append(Label(shown, max([end, *figures]), place + 0.5, shift_px=(6, 4)))
    return marks
