"""Summarizes an experiment: its cells, and what to buy for each question. Pure.

The variants of axes that change the target are targets. Those of all other axes (workload, load,
search, limits) are questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll import words
from plimsoll.model.judging.verdicts import find_verdict_facts
from plimsoll.model.request.experiment import Cell, Experiment, name_cell
from plimsoll.model.run.experiment_record import CellOutcome, Decision, FreshFigures, FreshRun
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.quoting.costs import compute_usd_per_million
from plimsoll.report.comparing.fresh_targets import summarize_fresh
from plimsoll.report.experiment.choice import (
    ONE_TARGET,
    Candidate,
    choose_target,
    find_sustained_figure,
)
from plimsoll.report.words import compute_hourly_usd, explain_no_price, name_limit

ALL = "all"  # name of the only question


@dataclass(frozen=True)
class CellRun:
    """A cell and its run.

    Attributes:
        cell: The requested cell.
        run_id: The id of its run.
        state: The state in which it ended; None if it was never started.
        result: The run's result; None if none was written.
        why: The reason why there is no result.
        submitted: The time at which it was recorded; None if it was not.
    """

    cell: Cell
    run_id: str
    state: RunState | None
    result: RunResult | None
    why: str | None = None
    submitted: datetime | None = None


@dataclass(frozen=True)
class Layout:
    """The axes, divided into targets and questions."""

    target_axes: tuple[str, ...]
    question_axes: tuple[str, ...]

    def target(self, variants: Mapping[str, str]) -> str:
        """Return the name of a cell's target."""
        return ", ".join(variants[axis] for axis in self.target_axes) or ONE_TARGET

    def question(self, variants: Mapping[str, str]) -> str:
        """Return the name of a cell's question."""
        return ", ".join(variants[axis] for axis in self.question_axes) or ALL


def divide_axes(experiment: Experiment) -> Layout:
    """Divide the axes into those that change the target and the others."""
    targets = experiment.target_axes
    return Layout(
        target_axes=targets,
        question_axes=tuple(axis for axis in experiment.axes if axis not in targets),
    )


Runs = tuple[CellRun, ...]  # all runs of a cell: one, or one on each of its fresh targets


def arrange_by_question(cells: Sequence[CellRun], layout: Layout) -> dict[str, dict[str, Runs]]:
    """Arrange the cells as {question: {target: runs}}, in the order of the axes."""
    rows: dict[str, dict[str, Runs]] = {}
    for run in cells:
        row = rows.setdefault(layout.question(run.cell.variants), {})
        target = layout.target(run.cell.variants)
        row[target] = (*row.get(target, ()), run)
    return rows


def gather_candidate(runs: Runs) -> Candidate:
    """Return the runs of a cell as they are compared with those of another."""
    prices = (compute_hourly_usd(run.result) for run in runs if run.result is not None)
    return Candidate(
        results=tuple(run.result for run in runs),
        usd_per_hour=next((price for price in prices if price is not None), None),
        fresh=runs[0].cell.fresh_target is not None,
    )


def summarize_fresh_cells(rows: Mapping[str, Mapping[str, Runs]]) -> tuple[FreshFigures, ...]:
    """Summarize each repeated cell over its fresh targets; empty if no cell is repeated."""
    cells = [runs for row in rows.values() for runs in row.values()]
    return tuple(
        summarize_fresh(
            name_cell(runs[0].cell.variants),
            [_describe_fresh_run(run) for run in runs],
            [run.result.capacity if run.result else None for run in runs],
        )
        for runs in cells
        if runs[0].cell.fresh_target is not None
    )


def _describe_fresh_run(run: CellRun) -> FreshRun:
    told = summarize_outcome(run)
    return FreshRun(
        name=told.name,
        run_id=told.run_id,
        figure_ops_per_second=told.figure_ops_per_second,
        bound=told.bound,
        no_figure=told.no_answer if told.figure_ops_per_second is None else None,
    )


def summarize_outcome(run: CellRun) -> CellOutcome:
    """Summarize a cell: its figure, or why it has none."""
    result = run.result
    capacity = result.capacity if result else None
    figure = find_sustained_figure(result) if result else None
    hourly = compute_hourly_usd(result) if result else None
    errors: dict[str, int] = {}
    for step in result.steps if result else ():
        for totals in step.operations.values():
            for code, count in totals.errors.items():
                errors[code] = errors.get(code, 0) + count
    return CellOutcome(
        name=run.cell.name,
        variants=run.cell.variants,
        fresh_target=run.cell.fresh_target,
        run_id=run.run_id,
        state=run.state,
        verdict=capacity.verdict if capacity else None,
        figure_ops_per_second=figure
        or (capacity.max_sustainable_throughput_ops_per_second if capacity else None),
        bound=capacity.bound if capacity else None,
        load=words.format_load(capacity.at, capacity.axis)
        if capacity and capacity.at is not None
        else None,
        limited_by=name_limit(result.limiting) if result and result.limiting else None,
        errors=errors,
        usd_per_million=compute_usd_per_million(capacity, hourly),
        toggle=result.toggle.detail if result and result.toggle else None,
        no_answer=None if figure is not None else _explain_no_figure(run, errors),
        usd_per_hour=hourly,
        usd_unknown=explain_no_price(result) if result and hourly is None else None,
        phases=result.phases if result else (),
    )


def _explain_no_figure(run: CellRun, errors: Mapping[str, int]) -> str:
    """Explain why a cell has no figure, with its failed operations."""
    failed = ", ".join(f"{count:,} {code}" for code, count in sorted(errors.items()))
    tail = f" (failed operations: {failed})" if failed else ""
    result = run.result
    if result is None:
        return run.why or "it was not started"
    if result.capacity is not None:
        return (
            f"{find_verdict_facts(result.capacity.verdict).name}: {result.capacity.summary}{tail}"
        )
    if result.failure is not None:
        phase = f" in its {result.failure.phase} phase" if result.failure.phase else ""
        return f"{result.state.value}{phase}: {result.failure.cause.rstrip('.')}{tail}"
    return f"it ended {result.state.value} without a verdict{tail}"


def decide_questions(
    rows: Mapping[str, Mapping[str, Runs]], *, apart_s: float | None = None
) -> tuple[Decision, ...]:
    """Choose a target for each question.

    Args:
        rows: {question: {target: runs}}.
        apart_s: The most seconds between the two steps of a pair, if some runs took turns.
    """
    made = []
    for question, row in rows.items():
        candidates = [gather_candidate(runs) for runs in row.values()]
        choice = choose_target(candidates, list(row), apart_s=apart_s)
        told = choice.model_dump(exclude={"ratio"})
        kept = {"low", "high", "pairs", "fresh_targets"}
        ends = choice.ratio.model_dump(include=kept) if choice.ratio else {}
        value = choice.ratio.value if choice.ratio else None
        made.append(Decision(question=question, ratio=value, **ends, **told))
    return tuple(made)


def has_sustained_figure(run: CellRun) -> bool:
    """Return whether a cell's run found what its target sustains."""
    return run.result is not None and find_sustained_figure(run.result) is not None


def name_volumeless(run: CellRun) -> str | None:
    """Return a key that is equal for targets that differ only in their volume.

    None for an endpoint.
    """
    target = run.cell.request.target
    return target.model_dump_json(exclude={"volume"}) if target.provisioned else None
