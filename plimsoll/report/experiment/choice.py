"""Chooses among targets for one question, and lays out an experiment's decision matrix. Pure.

A target without a figure either *cannot bear* the load, which is an answer (its lightest step
failed, so its figure is an upper bound), or nothing is known of it (it failed, was stopped or was
too noisy). In the latter case the choice among the others is *partial*.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound, Capacity
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.run.results import RunResult
from plimsoll.quoting.costs import divide_cost
from plimsoll.report.comparing.comparing import (
    make_question_key,
    name_runs,
    name_target,
    reduce_search,
)
from plimsoll.report.comparing.fresh_targets import (
    divide_fresh,
    make_fresh_cell_key,
    sample_fresh,
)
from plimsoll.report.comparing.ratios import Ratio, divide_figures, name_sample
from plimsoll.report.words import compute_hourly_usd

ChoiceOutcome = Literal[
    "chosen",  # one sustains more than every other
    "alike",  # the best two differ by too little to matter: buy the cheaper one
    "not told apart",  # the interval holds both 1 and a difference that matters, or there is none
    "partial",  # nothing is known of some target
    "only one",  # there is no alternative
    "none",  # no target has a figure
]
ONE_TARGET = "the target"  # label if no axis changes the target


@dataclass(frozen=True)
class Candidate:
    """A target's runs for one question.

    Attributes:
        results: The result of each run; None for a run without one. One run, unless `fresh`.
        usd_per_hour: The target's price per hour in dollars; None if it is not known.
        fresh: Whether each run had a fresh target, so that their figures are compared, and not
            repetitions within a run.
    """

    results: tuple[RunResult | None, ...]
    usd_per_hour: float | None
    fresh: bool = False

    @property
    def capacities(self) -> tuple[Capacity | None, ...]:
        """The capacity that each run found; None if it has none."""
        return tuple(result.capacity if result else None for result in self.results)

    @property
    def bound(self) -> Bound | None:
        """The bound of its figure, or of the mean of its figures; None if there is none."""
        if self.fresh:
            return sample_fresh(self.capacities).bound
        capacity = self.capacities[0]
        return capacity.bound if capacity else None

    @property
    def figure(self) -> float | None:
        """What the target sustains, in ops/s; None if that is only an upper bound."""
        if self.bound not in {"=", ">="}:
            return None
        if self.fresh:
            return sample_fresh(self.capacities).mean
        capacity = self.capacities[0]
        return capacity.max_sustainable_throughput_ops_per_second or None if capacity else None

    @property
    def fails(self) -> bool:
        """Whether it fails at the lightest load, in every run that says something."""
        bounds = {c.bound for c in self.capacities if c is not None and c.bound is not None}
        return bounds == {"<"}


class Choice(Model):
    """A choice among several targets for one question."""

    outcome: ChoiceOutcome
    best: str | None = None  # sustains the most; None if nothing can be said
    buy: str | None = None  # None if the figures do not decide
    like: tuple[str, ...] = ()  # targets not shown to differ from the best in a way that matters
    second: str | None = None
    ratio: Ratio | None = None  # best target to second
    cannot: tuple[str, ...] = ()  # targets that do not bear the lightest load
    unknown: tuple[str, ...] = ()  # targets of which nothing is known
    cheapest: str | None = None  # lowest cost per operation; None with fewer than two known prices
    usd_per_million: float | None = None  # price of a million operations on the target to buy
    usd_per_hour: float | None = None  # price per hour of the target to buy
    sentence: str


@dataclass(frozen=True)
class Contender:
    """A target with a figure."""

    name: str
    ops_per_second: float
    candidate: Candidate
    usd_per_million: float | None  # None if its price is not known


def find_sustained_figure(result: RunResult) -> float | None:
    """Return what the target sustains, in ops/s; None if that is only an upper bound."""
    capacity = result.capacity
    if capacity is None or capacity.bound not in {"=", ">="}:
        return None
    return capacity.max_sustainable_throughput_ops_per_second or None


def choose_target(
    candidates: Sequence[Candidate | None], names: Sequence[str], *, apart_s: float | None = None
) -> Choice:
    """Choose among targets with the same question, by throughput and, if known, by cost.

    Args:
        candidates: The runs of each target; None if there are none.
        names: The targets' names, in the same order.
        apart_s: The most seconds between the two steps of a pair, if some runs took turns.
    """
    contenders: list[Contender] = []
    cannot: list[str] = []
    unknown: list[str] = []
    for name, candidate in zip(names, candidates, strict=True):
        if candidate is not None and (figure := candidate.figure) is not None:
            cost = divide_cost(candidate.usd_per_hour, figure)
            contenders.append(Contender(name, figure, candidate, cost))
        else:
            (cannot if candidate and candidate.fails else unknown).append(name)
    contenders.sort(key=lambda contender: -contender.ops_per_second)
    without = {"cannot": tuple(cannot), "unknown": tuple(unknown)}
    if not contenders:
        return _choose_none(cannot, unknown)
    if len(contenders) == 1:
        return _choose_only(contenders[0], cannot, unknown)
    chosen = _choose_among(contenders, apart_s)
    tail = _describe_costs(contenders)
    if cannot:
        tail += f"; {words.join_names(cannot)} {_fail_words(cannot)}"
    if unknown:
        tail += f"; no answer from {words.join_names(unknown)}"
        chosen = chosen.model_copy(update={"outcome": "partial"})
    return chosen.model_copy(update={**without, "sentence": chosen.sentence + tail})


def _choose_none(cannot: Sequence[str], unknown: Sequence[str]) -> Choice:
    told = "no target gave a figure"
    if cannot and not unknown:
        told = (
            f"no target passes the lightest load: {words.join_names(cannot)} {_fail_words(cannot)}"
        )
    return Choice(outcome="none", cannot=tuple(cannot), unknown=tuple(unknown), sentence=told)


def _choose_only(one: Contender, cannot: Sequence[str], unknown: Sequence[str]) -> Choice:
    """Choose the only target with a figure, unless some of the others are unknown."""
    measured = f"{one.name} ({words.format_throughput(one.ops_per_second)})"
    if unknown:
        nothing = f"of {words.join_names(unknown)} nothing is known"
        told = f"not decided: {nothing}, {measured} alone was measured"
        return Choice(
            outcome="partial", cannot=tuple(cannot), unknown=tuple(unknown), sentence=told
        )
    told = (
        f"only {measured} passes it: {words.join_names(cannot)} {_fail_words(cannot)}"
        if cannot
        else measured
    )
    return Choice(
        outcome="chosen" if cannot else "only one",
        best=one.name,
        buy=one.name,
        cannot=tuple(cannot),
        usd_per_million=one.usd_per_million,
        usd_per_hour=one.candidate.usd_per_hour,
        sentence=told + _describe_costs([one]),
    )


def _choose_among(contenders: Sequence[Contender], apart_s: float | None) -> Choice:
    """Choose among two or more, ordered from the highest figure."""
    best, second, *_ = contenders
    ratios = [
        divide_candidates(best.name, best.candidate, c.name, c.candidate, apart_s=apart_s)
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
        buy = _find_cheaper([best, *(c for c in contenders if like.get(c.name))])
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
        usd_per_hour=buy.candidate.usd_per_hour if buy else None,
        sentence=_write_sentence(best.name, second.name, first),
    )


def divide_candidates(
    of: str, a: Candidate, to: str, b: Candidate, *, apart_s: float | None = None
) -> Ratio | None:
    """Divide `a`'s figure by `b`'s; None if one has none, or both are only bounds.

    Args:
        of: The name of the first target.
        a: The runs of the first.
        to: The name of the second target.
        b: The runs of the second.
        apart_s: The most seconds between the two steps of a pair, if the runs took turns.
    """
    if a.fresh or b.fresh:
        return divide_fresh(of, a.capacities, to, b.capacities)
    one, other = a.results[0], b.results[0]
    if one is None or other is None:
        return None
    return divide_figures(of, one, to, other, apart_s=apart_s)


def _find_cheaper(alike: Sequence[Contender]) -> Contender:
    """Return the cheapest of the alike targets; the first one if a price is not known."""
    return min(alike, key=_usd) if all(c.usd_per_million is not None for c in alike) else alike[0]


def _usd(contender: Contender) -> float:
    return float("inf") if contender.usd_per_million is None else contender.usd_per_million


def _write_sentence(best: str, second: str, ratio: Ratio | None) -> str:
    """Describe which target sustains the most, and how much more than the next one."""
    if ratio is None:
        return f"{best}: the most, before {second}; the difference may be noise"
    times = f"{words.format_ratio(ratio.value, ratio.bound)} times"
    interval = f"95 % {words.format_ratio_interval(ratio.low, ratio.high)}"
    interval += name_sample(ratio.pairs, ratio.fresh_targets)
    if ratio.too_small:
        return f"{best} or {second}: they differ by too little to matter ({times}, {interval})"
    if ratio.differs is False:
        return f"{best} or {second}: no difference can be shown ({times}, {interval})"
    told = f"{best}: {times} {second}" + (f" ({interval})" if ratio.low is not None else "")
    return told + ("; the difference may be noise" if ratio.differs is None else "")


def _describe_costs(contenders: Sequence[Contender]) -> str:
    """Rank the targets with known prices, and name the others."""
    priced = sorted((c for c in contenders if c.usd_per_million is not None), key=_usd)
    if not priced:
        return "; what they cost is not known" if len(contenders) > 1 else "; its cost is not known"
    cost = f"{words.format_unit_usd(_usd(priced[0]))} per million"
    unpriced = [c.name for c in contenders if c.usd_per_million is None]
    lacking = f"; no price is known of {words.join_names(unpriced)}" if unpriced else ""
    if len(priced) == 1:
        return f"; {priced[0].name} costs {cost}{lacking}"
    return f"; cheapest an operation: {priced[0].name} at {cost}{lacking}"


def _fail_words(names: Sequence[str]) -> str:
    return f"fail{'s' if len(names) == 1 else ''} at the lightest load"


# The decision matrix: one row for each question, one column for each target, and what to buy.


class MatrixCell(Model):
    """One run of the matrix, or all runs of a repeated cell."""

    run_id: str  # the cell's run; the first of several
    figure: str  # with its bound; a dash if there is none
    verdict: str
    errors: int  # over all steps
    usd_per_million: float | None
    best: bool = False


class MatrixRow(Model):
    """One question, over all targets."""

    workload: str
    cells: tuple[MatrixCell | None, ...]  # None if there is no such run
    decision: str


class Matrix(Model):
    """An experiment's decision."""

    targets: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def build_matrix(
    results: Sequence[RunResult], usd_per_hour: Sequence[float | None] = ()
) -> Matrix | None:
    """Lay out runs by question and target; None unless there are several of both.

    If several runs ask the same question of the same target, the last one counts; of a repeated
    cell, all of them count.
    """
    prices = list(usd_per_hour) or [compute_hourly_usd(result) for result in results]
    cells: dict[tuple[str, str], tuple[RunResult, Candidate]] = {}
    for result, price in zip(results, prices, strict=True):
        place = make_question_key(result), name_target(result)
        candidate = Candidate(
            (result,), price, fresh=(cell := make_fresh_cell_key(result)) is not None
        )
        before = cells.get(place)
        if before is not None and cell is not None and make_fresh_cell_key(before[0]) == cell:
            candidate = replace(before[1], results=(*before[1].results, result))
        cells[place] = result, candidate
    questions = list(dict.fromkeys(key for key, _ in cells))
    targets = list(dict.fromkeys(key for _, key in cells))
    if len(questions) < 2 or len(targets) < 2:
        return None
    examples = [next(r for (_, t), (r, _) in cells.items() if t == key) for key in targets]
    names = _name_targets(examples)
    asked = [next(r for (q, _), (r, _) in cells.items() if q == key) for key in questions]
    rows = []
    for key, title in zip(questions, name_questions(asked), strict=True):
        row = [cells.get((key, target)) for target in targets]
        rows.append(_make_row(title, [found and found[1] for found in row], names))
    return Matrix(targets=names, rows=tuple(rows))


def _name_targets(examples: Sequence[RunResult]) -> tuple[str, ...]:
    """Name each target: by what differs among them, or in full if that is too much."""
    same = examples[0].request
    alike = [
        e.model_copy(update={"request": same.model_copy(update={"target": e.request.target})})
        for e in examples
    ]
    short = name_runs(alike)
    whole = tuple(describe_target(e.request.target) for e in examples)
    unsaid = any(label in {e.run_id, e.name} for label, e in zip(short, examples, strict=True))
    return whole if unsaid and len(set(whole)) == len(whole) else short


def name_questions(asked: Sequence[RunResult]) -> tuple[str, ...]:
    """Name each question: by its workload if that is unique, else by what differs."""
    workloads = tuple(result.request.workload.name or result.name for result in asked)
    if len(set(workloads)) == len(asked):
        return workloads
    target = asked[0].request.target
    alike = []
    for result in asked:
        search = reduce_search(result.request.search)
        request = result.request.model_copy(
            update={"target": target, "search": search, "faults": ()}
        )
        alike.append(result.model_copy(update={"request": request}))
    return name_runs(alike)


def _make_row(
    title: str, candidates: Sequence[Candidate | None], names: Sequence[str]
) -> MatrixRow:
    choice = choose_target(candidates, names)
    cells = [candidate and _make_cell(candidate) for candidate in candidates]
    if choice.best is not None:
        best = names.index(choice.best)
        cells = [c and c.model_copy(update={"best": i == best}) for i, c in enumerate(cells)]
    return MatrixRow(workload=title, cells=tuple(cells), decision=choice.sentence)


def _make_cell(candidate: Candidate) -> MatrixCell:
    results = [result for result in candidate.results if result is not None]
    figure = candidate.figure
    verdicts = [r.capacity.verdict if r.capacity else r.state.value for r in results]
    return MatrixCell(
        run_id=results[0].run_id,
        figure=words.prepend_bound(words.format_throughput(figure), candidate.bound)
        if figure
        else "no figure",
        verdict=", ".join(dict.fromkeys(verdicts)),
        errors=sum(done.step.errors or 0 for result in results for done in result.steps),
        usd_per_million=divide_cost(candidate.usd_per_hour, figure),
    )
