"""The decision matrix of an experiment: workloads down, targets across, and what to buy. Pure."""

from collections.abc import Sequence

from plimsoll.model.base import Model
from plimsoll.model.results import RunResult
from plimsoll.report.answer import target_name, usd_per_million
from plimsoll.report.differences import labels, question, target_key
from plimsoll.report.ratios import ratio_of


class MatrixCell(Model):
    """One run of the matrix."""

    run_id: str
    figure: str  # with its bound; a dash where there is none
    verdict: str
    errors: int  # over all of its steps
    usd_per_million: float | None
    best: bool = False


class MatrixRow(Model):
    """One workload with its load, over all targets."""

    workload: str
    cells: tuple[MatrixCell | None, ...]  # None: no such run
    decision: str


class Matrix(Model):
    """An experiment's decision."""

    targets: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def matrix(
    results: Sequence[RunResult], usd_per_hour: Sequence[float | None] = ()
) -> Matrix | None:
    """Lay out runs by question and target; None unless there are several of both.

    Runs of one question on one target are repetitions of the cell: the last one stands.
    """
    prices = list(usd_per_hour) or [None] * len(results)
    cells = {
        (question(result), target_key(result)): (result, price)
        for result, price in zip(results, prices, strict=True)
    }
    questions = list(dict.fromkeys(key for key, _ in cells))
    targets = list(dict.fromkeys(key for _, key in cells))
    if len(questions) < 2 or len(targets) < 2:
        return None
    examples = [next(r for (_, t), (r, _) in cells.items() if t == key) for key in targets]
    names = _target_labels(examples)
    asked = [next(r for (q, _), (r, _) in cells.items() if q == key) for key in questions]
    rows = []
    for key, title in zip(questions, _question_labels(asked), strict=True):
        found = [cells.get((key, target)) for target in targets]
        rows.append(_row(title, found, names))
    return Matrix(targets=names, rows=tuple(rows))


def _target_labels(examples: Sequence[RunResult]) -> tuple[str, ...]:
    same = examples[0].request
    alike = [
        e.model_copy(update={"request": same.model_copy(update={"target": e.request.target})})
        for e in examples
    ]
    found = labels(alike)
    if any(label == e.run_id for label, e in zip(found, examples, strict=True)):
        return tuple(target_name(e.request) for e in examples)
    return found


def _question_labels(asked: Sequence[RunResult]) -> tuple[str, ...]:
    target = asked[0].request.target
    search = asked[0].request.search
    alike = [
        r.model_copy(
            update={"request": r.request.model_copy(update={"target": target, "search": search})}
        )
        for r in asked
    ]
    return labels(alike)


def _row(
    title: str, found: Sequence[tuple[RunResult, float | None] | None], names: Sequence[str]
) -> MatrixRow:
    cells = [cell and _cell(*cell) for cell in found]
    ranked = sorted(
        (
            (_figure(cell[0]), index)
            for index, cell in enumerate(found)
            if cell is not None and _figure(cell[0]) > 0
        ),
        reverse=True,
    )
    if not ranked:
        return MatrixRow(workload=title, cells=tuple(cells), decision="no target gave a figure")
    best = ranked[0][1]
    cells = [c and c.model_copy(update={"best": i == best}) for i, c in enumerate(cells)]
    decision = _decision([index for _, index in ranked], found, names)
    return MatrixRow(workload=title, cells=tuple(cells), decision=decision)


def _cell(result: RunResult, price: float | None) -> MatrixCell:
    capacity = result.capacity
    figure = _figure(result)
    sign = {"=": "", ">=": "≥ ", "<": "< "}[capacity.bound] if capacity and capacity.bound else ""
    return MatrixCell(
        run_id=result.run_id,
        figure=f"{sign}{figure:,.0f} ops/s" if figure else "no figure",
        verdict=capacity.verdict if capacity else result.state.value,
        errors=sum(done.step.errors or 0 for done in result.steps),
        usd_per_million=usd_per_million(capacity, price),
    )


def _figure(result: RunResult) -> float:
    """What the target sustains; an upper bound is nothing that it sustains."""
    capacity = result.capacity
    if capacity is None or capacity.bound not in {"=", ">="}:
        return 0.0
    return capacity.max_sustainable_throughput_ops_per_second or 0.0


def _decision(
    ranked: Sequence[int],
    found: Sequence[tuple[RunResult, float | None] | None],
    names: Sequence[str],
) -> str:
    """The best target by throughput, against the next; the cheapest where all prices are known."""
    runs = [cell[0] for index in ranked if (cell := found[index]) is not None]
    shown = [names[index] for index in ranked]
    text = f"{shown[0]}: the only one with a figure"
    if len(runs) > 1:
        ratio = ratio_of(shown[0], runs[0].capacity, shown[1], runs[1].capacity)
        times = f"{ratio.value:.2f} times {shown[1]}" if ratio else f"the most, before {shown[1]}"
        if ratio is not None and ratio.low is not None:
            times += f" (95 % {ratio.low:.2f} to {ratio.high:.2f})"
        text = f"{shown[0]}: {times}"
        if ratio is None or ratio.differs is None:
            text += "; whether they differ is not known"
        elif not ratio.differs:
            text = f"{shown[0]} or {shown[1]}: no difference can be shown"
    costs = [
        (cost, names[index])
        for index in ranked
        if (cell := found[index]) is not None
        and (cost := usd_per_million(cell[0].capacity, cell[1])) is not None
    ]
    if len(costs) == len(ranked):
        cost, cheapest = min(costs)
        text += f"; cheapest an operation: {cheapest} at ${cost:.3g} per million"
    return text
