"""What an experiment comes to: its cells, what to buy for each question, and what IOPS gain. Pure.

Axes that change the target stand for targets, all others for questions: the workload, its load,
the search, the limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.model.experiment import Cell, Experiment, leaves
from plimsoll.model.experiment_record import CellOutcome, Decision
from plimsoll.model.results import RunResult
from plimsoll.model.run_record import RunState
from plimsoll.quoting.costs import usd_per_million
from plimsoll.report import text
from plimsoll.report.answer import VERDICTS
from plimsoll.report.matrix import decide, figure_of

ALL = "all"  # the name of the one target, or question, where no axis tells several apart


@dataclass(frozen=True)
class Measured:
    """A cell and what is left of its run.

    Attributes:
        cell: What was asked.
        run_id: Of its run.
        state: How it ended; None: it was never started.
        result: What it measured; None: nothing was written.
        why: Why there is no result.
    """

    cell: Cell
    run_id: str
    state: RunState | None
    result: RunResult | None
    why: str | None = None


@dataclass(frozen=True)
class Layout:
    """The axes as targets and questions."""

    target_axes: tuple[str, ...]
    question_axes: tuple[str, ...]

    def target(self, variants: Mapping[str, str]) -> str:
        """Name the target of a cell."""
        return ", ".join(variants[axis] for axis in self.target_axes) or ALL

    def question(self, variants: Mapping[str, str]) -> str:
        """Name the question of a cell."""
        return ", ".join(variants[axis] for axis in self.question_axes) or ALL


def layout(experiment: Experiment) -> Layout:
    """Tell the axes that change the target from the others."""
    changes = {
        axis: any(leaf[0] == "target" for patch in variants.values() for leaf in leaves(patch))
        for axis, variants in experiment.axes.items()
    }
    return Layout(
        target_axes=tuple(axis for axis, target in changes.items() if target),
        question_axes=tuple(axis for axis, target in changes.items() if not target),
    )


def by_question(cells: Sequence[Measured], layout: Layout) -> dict[str, dict[str, Measured]]:
    """Lay the cells out: {question: {target: cell}}, both in the order of the axes."""
    rows: dict[str, dict[str, Measured]] = {}
    for one in cells:
        row = rows.setdefault(layout.question(one.cell.variants), {})
        row[layout.target(one.cell.variants)] = one
    return rows


def outcome(one: Measured) -> CellOutcome:
    """Say what a cell came to."""
    result = one.result
    capacity = result.capacity if result else None
    figure = figure_of(result) if result else None
    errors: dict[str, int] = {}
    for step in result.steps if result else ():
        for totals in step.operations.values():
            for code, count in totals.errors.items():
                errors[code] = errors.get(code, 0) + count
    return CellOutcome(
        name=one.cell.name,
        variants=one.cell.variants,
        run_id=one.run_id,
        state=one.state,
        verdict=capacity.verdict if capacity else None,
        figure_ops_per_second=figure
        or (capacity.max_sustainable_throughput_ops_per_second if capacity else None),
        bound=capacity.bound if capacity else None,
        load=text.load(capacity.at, capacity.axis)
        if capacity and capacity.at is not None
        else None,
        limited_by=result.limiting.resource if result and result.limiting else None,
        errors=errors,
        usd_per_million=usd_per_million(capacity, _usd_per_hour(result)),
        no_answer=None if figure is not None else _why(one, errors),
    )


def _why(one: Measured, errors: Mapping[str, int]) -> str:
    """Why a cell has no figure, with its failed operations."""
    failed = ", ".join(f"{count:,} {code}" for code, count in sorted(errors.items()))
    tail = f" (failed operations: {failed})" if failed else ""
    result = one.result
    if result is None:
        return one.why or "it was not started"
    if result.capacity is not None:
        return f"{VERDICTS[result.capacity.verdict]}: {result.capacity.summary}{tail}"
    if result.failure is not None:
        phase = f" in its {result.failure.phase} phase" if result.failure.phase else ""
        return f"{result.state.value}{phase}: {result.failure.cause.rstrip('.')}{tail}"
    return f"it ended {result.state.value} without a verdict{tail}"


def decisions(rows: Mapping[str, Mapping[str, Measured]]) -> tuple[Decision, ...]:
    """Choose a target for each question."""
    made = []
    for question, row in rows.items():
        found = [
            None if one.result is None else (one.result, _usd_per_hour(one.result))
            for one in row.values()
        ]
        choice = decide(found, list(row))
        silent = [name for name, one in row.items() if not _answers(one)]
        sentence = choice.sentence
        if silent and choice.best is not None:
            sentence += f"; no answer from {', '.join(silent)}"
        made.append(
            Decision(
                question=question,
                best=choice.best,
                like=choice.like,
                cheapest=choice.cheapest,
                sentence=sentence,
            )
        )
    return tuple(made)


def _usd_per_hour(result: RunResult | None) -> float | None:
    """What the target costs an hour, by list prices."""
    return result.cost.target_usd_per_hour if result and result.cost else None


def _answers(one: Measured) -> bool:
    return one.result is not None and figure_of(one.result) is not None


def same_but_for_volume(one: Measured) -> str | None:
    """Equal for targets that differ in their volume alone; None: it has none of its own."""
    target = one.cell.request.target
    return target.model_dump_json(exclude={"volume"}) if target.provisioned else None
