"""The decision matrix of an experiment: workloads down, targets across, and what to buy. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.capacity import Capacity
from plimsoll.model.results import RunResult
from plimsoll.quoting.costs import usd_per_million
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
    whole = tuple(words.target(e.request.target) for e in examples)
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


# A result for each target, with what the target costs in dollars an hour; None: no such run.
Candidates = Sequence[tuple[RunResult, float | None] | None]


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


def figure_of(result: RunResult) -> float | None:
    """What the target sustains, in operations per second; an upper bound is no such figure."""
    capacity = result.capacity
    if capacity is None or capacity.bound not in {"=", ">="}:
        return None
    return capacity.max_sustainable_throughput_ops_per_second or None


@dataclass(frozen=True)
class _Contender:
    """A target with a figure."""

    name: str
    ops_per_second: float
    capacity: Capacity | None
    usd_per_million: float | None  # None: its cost is not known


def decide(candidates: Candidates, names: Sequence[str]) -> Choice:
    """Choose among targets that were asked the same: by throughput, and by cost where it is known.

    Args:
        candidates: One for each target.
        names: The targets' names, in the same order.
    """
    contenders = []
    for name, candidate in zip(names, candidates, strict=True):
        if candidate is not None and (figure := figure_of(candidate[0])) is not None:
            capacity = candidate[0].capacity
            cost = usd_per_million(capacity, candidate[1])
            contenders.append(_Contender(name, figure, capacity, cost))
    if not contenders:
        return Choice(best=None, sentence="no target gave a figure")
    best, *others = sorted(contenders, key=lambda contender: -contender.ops_per_second)
    ratios = [ratio_of(best.name, best.capacity, other.name, other.capacity) for other in others]
    like = [ratio.to for ratio in ratios if ratio is not None and ratio.differs is False]
    sentence = _sentence(best.name, [other.name for other in others], ratios)
    costs = [(c.usd_per_million, c.name) for c in contenders if c.usd_per_million is not None]
    cheapest = None
    if len(costs) == len(contenders):
        cost, cheapest = min(costs, key=lambda priced: priced[0])
        sentence += f"; cheapest an operation: {cheapest} at {words.usd_each(cost)} per million"
    return Choice(best=best.name, like=tuple(like), cheapest=cheapest, sentence=sentence)


def _sentence(best: str, others: Sequence[str], ratios: Sequence[Ratio | None]) -> str:
    """Say which target sustains the most, and how much more than the next one."""
    if not others:
        return f"{best}: the only one with a figure"
    second, ratio = others[0], ratios[0]
    if ratio is None:
        return f"{best}: the most, before {second}; whether they differ is not known"
    if ratio.differs is False:
        return f"{best} or {second}: no difference can be shown"
    times = f"{best}: {words.ratio(ratio.value)} times {second}"
    if ratio.low is not None:
        times += f" (95 % {words.ratio_interval(ratio.low, ratio.high)})"
    return times + ("; whether they differ is not known" if ratio.differs is None else "")
