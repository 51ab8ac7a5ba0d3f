"""What a pipeline is told of a run: whether it gave what was expected. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from plimsoll import words
from plimsoll.capacity.expectations import has_answer
from plimsoll.model.capacity import Capacity
from plimsoll.model.expectations import Expectation
from plimsoll.model.results import RunResult
from plimsoll.model.run_record import RunState
from plimsoll.report.headline import headline
from plimsoll.report.limit_words import limit_cell
from plimsoll.report.target_words import target_words

Told = Literal["met", "not met", "no answer", "failed"]


@dataclass(frozen=True)
class Case:
    """One thing that was asked.

    Attributes:
        name: The rule, or what else was asked.
        told: What became of it.
        because: With the figures.
    """

    name: str
    told: Told
    because: str


@dataclass(frozen=True)
class Summary:
    """A run, or a table of steps, for a pipeline.

    Attributes:
        name: What it is called.
        cases: What was asked: that the run succeeds, where it did not; each rule, or without
            rules that there is an answer.
        facts: Name and text of what else is told.
        began: When; None: not known.
        seconds: How long it took; None: not known.
    """

    name: str
    cases: tuple[Case, ...]
    facts: tuple[tuple[str, str], ...] = field(default=())
    began: datetime | None = None
    seconds: float | None = None

    @property
    def told(self) -> Told:
        """What became of all of it: the worst of its cases."""
        order: tuple[Told, ...] = ("failed", "not met", "no answer")
        met = {case.told for case in self.cases}
        return next((one for one in order if one in met), "met")


def summary_of_run(result: RunResult) -> Summary:
    """Sum up a run, with what became of its rules."""
    moments, cases = result.moments, []
    if result.state is not RunState.SUCCEEDED:
        why = result.failure.cause if result.failure else "it has no result"
        cases.append(Case("the run", "failed", f"it ended {result.state.value}: {why}"))
    if result.capacity is not None:
        cases += _cases(result.capacity, result.expect)
    else:
        cases += map(_case, result.expect)
    top = headline(result)
    limits = [("limited by", limit_cell(result.limiting))] if result.limiting else []
    return Summary(
        name=result.name,
        cases=tuple(cases),
        facts=(
            ("target", target_words(result)),
            *_figures(result.capacity),
            *_changes(result.expect),
            *limits,
            ("answer", top.sentence),
        ),
        began=moments.submitted,
        seconds=(moments.ended - moments.submitted).total_seconds() if moments.ended else None,
    )


def summary_of_table(
    name: str, capacity: Capacity, expectations: Sequence[Expectation] = ()
) -> Summary:
    """Sum up a verdict on a table of steps."""
    facts = (*_figures(capacity), *_changes(expectations), ("answer", capacity.summary))
    return Summary(name=name, cases=tuple(_cases(capacity, expectations)), facts=facts)


def _cases(capacity: Capacity, expectations: Sequence[Expectation]) -> list[Case]:
    """The rules; and that there is an answer, where there is none or nothing else was asked."""
    answered = has_answer(capacity)
    cases = list(map(_case, expectations))
    if not answered or not cases:
        because = f"{capacity.verdict}: {capacity.summary}"
        cases.insert(0, Case("the verdict", "met" if answered else "no answer", because))
    return cases


def _case(expectation: Expectation) -> Case:
    return Case(expectation.rule, expectation.answer, expectation.because)


def _figures(capacity: Capacity | None) -> Iterable[tuple[str, str]]:
    if capacity is None:
        return
    yield "verdict", capacity.verdict
    figure = capacity.max_sustainable_throughput_ops_per_second
    if figure is not None:
        at = f" at {words.load(capacity.at, capacity.axis)}" if capacity.at is not None else ""
        yield "capacity", words.bounded(words.throughput(figure), capacity.bound) + at
    if (sure := capacity.interval) is not None and figure is not None:
        low, high = sure.low_ops_per_second, sure.high_ops_per_second
        yield "95 % interval", f"{words.rate(low)} to {words.throughput(high)}"


def _changes(expectations: Iterable[Expectation]) -> Iterable[tuple[str, str]]:
    """What changed against each baseline."""
    for one in expectations:
        if one.rule.startswith("not worse than "):  # of another version, perhaps: it is not read
            yield "change", one.because
