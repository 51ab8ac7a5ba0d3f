"""Which of several targets to buy for one question, and how sure that is. Pure.

A target whose run gave no figure is one of two: it *cannot bear* the load (its lightest step
failed, so that its figure is an upper bound), which is an answer, or nothing is known of it (it
failed, was stopped, was too noisy), and then the choice among the others is *partial*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.run.results import RunResult
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report.comparing.comparing import labels, loads_asked, question, target_key
from plimsoll.report.comparing.ratios import Ratio, ratio_between
from plimsoll.report.words import hourly_usd

ChoiceOutcome = Literal[
    "chosen",  # one gives more than every other
    "alike",  # the first two differ by too little to matter: the cheaper one is to be bought
    "not told apart",  # the interval holds 1 and more than what matters, or there is none
    "partial",  # nothing is known of some target
    "only one",  # there is nothing to choose from
    "none",  # no target has a figure
]
ONE_TARGET = "the target"  # the name of the only one, where no axis changes it
# A result for each target, with what the target costs in dollars an hour; None: no such run.
Candidates = Sequence[tuple[RunResult, float | None] | None]


class Choice(Model):
    """Which of several targets, for one question."""

    outcome: ChoiceOutcome
    best: str | None = None  # the most; None: nothing can be said
    buy: str | None = None  # None: the figures do not say
    like: tuple[str, ...] = ()  # targets from which nothing that matters is shown to differ
    second: str | None = None
    ratio: Ratio | None = None  # of the best to the second
    cannot: tuple[str, ...] = ()  # targets that do not bear the lightest load
    unknown: tuple[str, ...] = ()  # targets of which nothing is known
    cheapest: str | None = None  # an operation, of those whose price is known; None: fewer than two
    usd_per_million: float | None = None  # operations on what is to be bought
    usd_per_hour: float | None = None  # of what is to be bought
    sentence: str


@dataclass(frozen=True)
class Contender:
    """A target with a figure."""

    name: str
    ops_per_second: float
    result: RunResult
    usd_per_hour: float | None  # None: its cost is not known
    usd_per_million: float | None


def figure_of(result: RunResult) -> float | None:
    """What the target sustains, in operations per second; an upper bound is no such figure."""
    capacity = result.capacity
    if capacity is None or capacity.bound not in {"=", ">="}:
        return None
    return capacity.max_sustainable_throughput_ops_per_second or None


def decide(candidates: Candidates, names: Sequence[str], *, apart_s: float | None = None) -> Choice:
    """Choose among targets that were asked the same: by throughput, and by cost where it is known.

    Args:
        candidates: One for each target.
        names: The targets' names, in the same order.
        apart_s: The most seconds from one step to the other of a pair, where some took turns.
    """
    contenders: list[Contender] = []
    cannot: list[str] = []
    unknown: list[str] = []
    for name, candidate in zip(names, candidates, strict=True):
        result, price = candidate or (None, None)
        capacity = result.capacity if result else None
        if result is not None and (figure := figure_of(result)) is not None:
            cost = usd_per_million(capacity, price)
            contenders.append(Contender(name, figure, result, price, cost))
        else:
            (cannot if capacity and capacity.bound == "<" else unknown).append(name)
    contenders.sort(key=lambda contender: -contender.ops_per_second)
    without = {"cannot": tuple(cannot), "unknown": tuple(unknown)}
    if not contenders:
        return _none(cannot, unknown)
    if len(contenders) == 1:
        return _alone(contenders[0], cannot, unknown)
    chosen = _among(contenders, apart_s)
    tail = _cost_words(contenders)
    if cannot:
        tail += f"; {words.listed(cannot)} {_fails(cannot)}"
    if unknown:
        tail += f"; no answer from {words.listed(unknown)}"
        chosen = chosen.model_copy(update={"outcome": "partial"})
    return chosen.model_copy(update={**without, "sentence": chosen.sentence + tail})


def _none(cannot: Sequence[str], unknown: Sequence[str]) -> Choice:
    told = "no target gave a figure"
    if cannot and not unknown:
        told = f"no target bears the lightest load: {words.listed(cannot)} {_fails(cannot)}"
    return Choice(outcome="none", cannot=tuple(cannot), unknown=tuple(unknown), sentence=told)


def _alone(one: Contender, cannot: Sequence[str], unknown: Sequence[str]) -> Choice:
    """The only target with a figure: an answer only where something is known of all others."""
    measured = f"{one.name} ({words.throughput(one.ops_per_second)})"
    if unknown:
        nothing = f"of {words.listed(unknown)} nothing is known"
        told = f"not decided: {nothing}, {measured} alone was measured"
        return Choice(
            outcome="partial", cannot=tuple(cannot), unknown=tuple(unknown), sentence=told
        )
    told = (
        f"{measured} alone bears it: {words.listed(cannot)} {_fails(cannot)}"
        if cannot
        else measured
    )
    return Choice(
        outcome="chosen" if cannot else "only one",
        best=one.name,
        buy=one.name,
        cannot=tuple(cannot),
        usd_per_million=one.usd_per_million,
        usd_per_hour=one.usd_per_hour,
        sentence=told + _cost_words([one]),
    )


def _among(contenders: Sequence[Contender], apart_s: float | None) -> Choice:
    """Choose among two or more, the most first."""
    best, second, *_ = contenders
    ratios = [
        ratio_between(best.name, best.result, c.name, c.result, apart_s=apart_s)
        for c in contenders[1:]
    ]
    like = {
        ratio.to: ratio.too_small
        for ratio in ratios
        if ratio is not None and (ratio.differs is False or ratio.too_small)
    }
    first = ratios[0]
    buy: Contender | None = best
    outcome: ChoiceOutcome = "chosen"
    if first is not None and first.too_small:
        outcome = "alike"
        buy = _cheaper([best, *(c for c in contenders if like.get(c.name))])
    elif first is None or not first.differs:
        outcome, buy = "not told apart", None
    priced = [c for c in contenders if c.usd_per_million is not None]
    cheapest = min(priced, key=_usd) if len(priced) > 1 else None
    return Choice(
        outcome=outcome,
        best=best.name,
        buy=buy.name if buy else None,
        like=tuple(like),
        second=second.name,
        ratio=first,
        cheapest=cheapest.name if cheapest else None,
        usd_per_million=buy.usd_per_million if buy else None,
        usd_per_hour=buy.usd_per_hour if buy else None,
        sentence=_sentence(best.name, second.name, first),
    )


def _cheaper(alike: Sequence[Contender]) -> Contender:
    """The cheapest of what is alike; the first one where a price is not known."""
    return min(alike, key=_usd) if all(c.usd_per_million is not None for c in alike) else alike[0]


def _usd(contender: Contender) -> float:
    return float("inf") if contender.usd_per_million is None else contender.usd_per_million


def _sentence(best: str, second: str, ratio: Ratio | None) -> str:
    """Say which target sustains the most, and how much more than the next one."""
    if ratio is None:
        return f"{best}: the most, before {second}; whether they differ is not known"
    times = f"{words.ratio(ratio.value, ratio.bound)} times"
    interval = f"95 % {words.ratio_interval(ratio.low, ratio.high)}"
    interval += f", {ratio.pairs} pairs" if ratio.pairs else ""
    if ratio.too_small:
        return f"{best} or {second}: they differ by too little to matter ({times}, {interval})"
    if ratio.differs is False:
        return f"{best} or {second}: no difference can be shown ({times}, {interval})"
    told = f"{best}: {times} {second}" + (f" ({interval})" if ratio.low is not None else "")
    return told + ("; whether they differ is not known" if ratio.differs is None else "")


def _cost_words(contenders: Sequence[Contender]) -> str:
    """Rank those whose price is known, and name the others."""
    priced = sorted((c for c in contenders if c.usd_per_million is not None), key=_usd)
    if not priced:
        return "; what they cost is not known" if len(contenders) > 1 else "; its cost is not known"
    cost = f"{words.usd_each(_usd(priced[0]))} per million"
    unpriced = [c.name for c in contenders if c.usd_per_million is None]
    lacking = f"; no price is known of {words.listed(unpriced)}" if unpriced else ""
    if len(priced) == 1:
        return f"; {priced[0].name} costs {cost}{lacking}"
    return f"; cheapest an operation: {priced[0].name} at {cost}{lacking}"


def _fails(names: Sequence[str]) -> str:
    return f"fail{'s' if len(names) == 1 else ''} at the lightest load"


# The decision matrix of an experiment: workloads down, targets across, and what to buy. Pure.


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
