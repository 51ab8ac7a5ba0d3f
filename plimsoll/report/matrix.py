"""The decision matrix of an experiment: workloads down, targets across, and what to buy. Pure."""

from collections.abc import Sequence

from plimsoll.model.base import Model
from plimsoll.model.results import RunResult
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report.answer import target_name
from plimsoll.report.differences import labels, loads_asked, question, target_key
from plimsoll.report.dollars import hourly_usd
from plimsoll.report.ratios import Ratio, ratio_of


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


class Choice(Model):
    """Which of several targets, for one question."""

    best: str | None  # None: none has a figure
    like: tuple[str, ...] = ()  # targets from which no difference can be shown
    cheapest: str | None = None  # None: not every cost is known
    sentence: str


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
    prices = list(usd_per_hour) or [hourly_usd(result) for result in results]
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
    for key, title in zip(questions, question_labels(asked), strict=True):
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
    names = tuple(target_name(e.request) for e in examples)
    unsaid = any(label in {e.run_id, e.name} for label, e in zip(found, examples, strict=True))
    return names if unsaid and len(set(names)) == len(names) else found


def question_labels(asked: Sequence[RunResult]) -> tuple[str, ...]:
    """A name for each question: its workload where that tells them apart, else what differs."""
    workloads = tuple(result.request.workload.name or result.name for result in asked)
    if len(set(workloads)) == len(asked):
        return workloads
    target = asked[0].request.target
    alike = []
    for result in asked:
        search = loads_asked(result.request.search)
        request = result.request.model_copy(
            update={"target": target, "search": search, "faults": ()}
        )
        alike.append(result.model_copy(update={"request": request}))
    return labels(alike)


Found = Sequence[tuple[RunResult, float | None] | None]  # results with dollars an hour


def _row(title: str, found: Found, names: Sequence[str]) -> MatrixRow:
    choice = decide(found, names)
    cells = [cell and _cell(*cell) for cell in found]
    if choice.best is not None:
        best = names.index(choice.best)
        cells = [c and c.model_copy(update={"best": i == best}) for i, c in enumerate(cells)]
    return MatrixRow(workload=title, cells=tuple(cells), decision=choice.sentence)


def _cell(result: RunResult, price: float | None) -> MatrixCell:
    capacity = result.capacity
    figure = figure_of(result)
    sign = {"=": "", ">=": "≥ ", "<": "< "}[capacity.bound] if capacity and capacity.bound else ""
    return MatrixCell(
        run_id=result.run_id,
        figure=f"{sign}{figure:,.0f} ops/s" if figure else "no figure",
        verdict=capacity.verdict if capacity else result.state.value,
        errors=sum(done.step.errors or 0 for done in result.steps),
        usd_per_million=usd_per_million(capacity, price),
    )


def figure_of(result: RunResult) -> float | None:
    """What the target sustains, in operations per second; an upper bound is no such figure."""
    capacity = result.capacity
    if capacity is None or capacity.bound not in {"=", ">="}:
        return None
    return capacity.max_sustainable_throughput_ops_per_second or None


def decide(found: Found, names: Sequence[str]) -> Choice:
    """Choose among targets that were asked the same: by throughput, and by cost where it is known.

    Args:
        found: A result for each target, with what it costs an hour; None: no such run.
        names: The targets' names, in the same order.
    """
    ranked = sorted(
        (
            (-figure, index)
            for index, cell in enumerate(found)
            if cell is not None and (figure := figure_of(cell[0])) is not None
        ),
    )
    places = [index for _, index in ranked]
    if not places:
        return Choice(best=None, sentence="no target gave a figure")
    runs = [cell[0] for index in places if (cell := found[index]) is not None]
    shown = [names[index] for index in places]
    ratios = [
        ratio_of(shown[0], runs[0].capacity, name, run.capacity)
        for name, run in zip(shown[1:], runs[1:], strict=True)
    ]
    like = tuple(
        name
        for name, ratio in zip(shown[1:], ratios, strict=True)
        if ratio is not None and ratio.differs is False
    )
    sentence = _most(shown, ratios)
    cheapest = _cheapest(found, places)
    if cheapest is not None:
        cost, index = cheapest
        sentence += f"; cheapest an operation: {names[index]} at ${cost:.3g} per million"
    return Choice(
        best=shown[0],
        like=like,
        cheapest=None if cheapest is None else names[cheapest[1]],
        sentence=sentence,
    )


def _most(shown: Sequence[str], ratios: Sequence[Ratio | None]) -> str:
    """The best target by throughput, against the next."""
    if not ratios:
        return f"{shown[0]}: the only one with a figure"
    ratio = ratios[0]
    if ratio is not None and ratio.differs is False:
        return f"{shown[0]} or {shown[1]}: no difference can be shown"
    times = f"{ratio.value:.2f} times {shown[1]}" if ratio else f"the most, before {shown[1]}"
    if ratio is not None and ratio.low is not None:
        times += f" (95 % {ratio.low:.2f} to {ratio.high:.2f})"
    unknown = ratio is None or ratio.differs is None
    return f"{shown[0]}: {times}" + ("; whether they differ is not known" if unknown else "")


def _cheapest(found: Found, places: Sequence[int]) -> tuple[float, int] | None:
    costs = [
        (cost, index)
        for index in places
        if (cell := found[index]) is not None
        and (cost := usd_per_million(cell[0].capacity, cell[1])) is not None
    ]
    return min(costs) if len(costs) == len(places) else None
