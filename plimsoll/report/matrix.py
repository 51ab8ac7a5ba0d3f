"""The decision matrix of an experiment: workloads down, targets across, and what to buy. Pure."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.descriptions import describe_target
from plimsoll.model.results import RunResult
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report.choice import Candidates, decide, figure_of
from plimsoll.report.differences import labels, loads_asked, question, target_key
from plimsoll.report.dollars import hourly_usd


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

    Of several runs of one question on one target, the last one counts.
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
        rows.append(_row(title, [cells.get((key, target)) for target in targets], names))
    return Matrix(targets=names, rows=tuple(rows))


def _target_labels(examples: Sequence[RunResult]) -> tuple[str, ...]:
    """A name for each target: what differs among them, or all of it where that is too much."""
    same = examples[0].request
    alike = [
        e.model_copy(update={"request": same.model_copy(update={"target": e.request.target})})
        for e in examples
    ]
    short = labels(alike)
    whole = tuple(describe_target(e.request.target) for e in examples)
    unsaid = any(label in {e.run_id, e.name} for label, e in zip(short, examples, strict=True))
    return whole if unsaid and len(set(whole)) == len(whole) else short


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


def _row(title: str, candidates: Candidates, names: Sequence[str]) -> MatrixRow:
    choice = decide(candidates, names)
    cells = [candidate and _cell(*candidate) for candidate in candidates]
    if choice.best is not None:
        best = names.index(choice.best)
        cells = [c and c.model_copy(update={"best": i == best}) for i, c in enumerate(cells)]
    return MatrixRow(workload=title, cells=tuple(cells), decision=choice.sentence)


def _cell(result: RunResult, price: float | None) -> MatrixCell:
    capacity = result.capacity
    figure = figure_of(result)
    bound = capacity.bound if capacity else None
    return MatrixCell(
        run_id=result.run_id,
        figure=words.bounded(words.throughput(figure), bound) if figure else "no figure",
        verdict=capacity.verdict if capacity else result.state.value,
        errors=sum(done.step.errors or 0 for done in result.steps),
        usd_per_million=usd_per_million(capacity, price),
    )
