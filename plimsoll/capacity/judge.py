"""Judges finished steps: the verdict and its figure; `summary.py` has the words for it."""

from collections.abc import Mapping, Sequence
from typing import Literal

from plimsoll.capacity.confirm.closing import apply_closing_steps, split_closing_steps
from plimsoll.capacity.confirm.larger_fleet import find_client_limit
from plimsoll.capacity.passing.annotations import find_power_point, fit_usl
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.assess import Assessed, assess_steps
from plimsoll.capacity.passing.drift_and_waves import describe_waves
from plimsoll.capacity.passing.edge import estimate_edge
from plimsoll.capacity.passing.verdict import Conclusion, decide_verdict
from plimsoll.capacity.statistics.intervals import compute_coefficient_of_variation
from plimsoll.capacity.steps.debt import describe_debt, describe_purge
from plimsoll.capacity.steps.loads import choose_axis
from plimsoll.capacity.steps.step_figures import name_step
from plimsoll.capacity.summary import (
    describe_callers,
    describe_verdict,
    list_doubts,
    list_notes,
    merge_audits,
    note_outgrown_steps,
    note_unwatched,
    note_void_steps,
    warn_of_heavy_baseline,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import Axis, Capacity, JudgedStep, LoadRange, Rules
from plimsoll.model.judging.steps import Step


def judge(
    steps: Sequence[Step],
    rules: Rules,
    axis: Axis | None = None,
    *,
    baseline: Sequence[Step] | None = None,
) -> Capacity:
    """Judge finished steps, in any order, including repetitions.

    Args:
        steps: at least one step that is not void; the notes name the void ones.
        rules: with `confirmation`, only loads that it confirms have a figure, which is the
            lower end of the 95 % interval. Without it, the figure is the geometric mean of the
            repetitions, which the interval is of.
        axis: axis of the load; None to determine it from the steps.
        baseline: steps whose lightest load is the base of relative limits; None for `steps`.

    Raises:
        UsageError: The steps cannot be judged; names the row and the column.
    """
    valid, closing = split_closing_steps(steps)
    if not valid:
        void = f": {name_step(steps[0], 1)} does not count: {steps[0].void}" if steps else ""
        raise UsageError(f"no steps to judge{void}")
    axis = axis or choose_axis(valid)
    assessment = assess_steps(valid, rules, axis, baseline=baseline)
    judged, limit_us = assessment.judged, assessment.limit_us
    conclusion = decide_verdict(judged, rules, axis, baseline=assessment.baseline)
    answer = Answer(judged, conclusion, rules, limit_us, closing, find_client_limit(steps))
    conclusion, found = apply_closing_steps(answer)
    at = conclusion.at
    answered = [repetition.step for repetition in at.point.counted] if at else []
    heavy = warn_of_heavy_baseline(assessment.measured, conclusion, rules, axis)
    notes = (
        *conclusion.notes,
        *note_unwatched(valid, rules),
        *heavy,
        *list_notes(judged, conclusion, axis),
    )
    return Capacity(
        verdict=conclusion.verdict,
        max_sustainable_throughput_ops_per_second=conclusion.figure,
        bound=conclusion.bound,
        figure=_name_figure(conclusion, rules),
        axis=axis,
        at=at.point.load if at and conclusion.figure is not None else None,
        bracket=conclusion.bracket,
        edge=_find_edge(judged, conclusion, axis, assessment.baseline),
        cause=conclusion.causes[0] if conclusion.causes else None,
        causes=conclusion.causes,
        question=describe_callers(conclusion),
        summary=describe_verdict(conclusion, axis)
        + ("; the lightest load may be too heavy as a baseline" if heavy else ""),
        notes=(
            *notes,
            *filter(None, [say(answered) for say in (describe_debt, describe_purge)]),
            *describe_waves(judged, limit_us, conclusion.failing, rules, axis),
            *note_void_steps(steps),
            *note_outgrown_steps(steps),
        ),
        repetitions=len(at.point.counted) if at else None,
        median_ops_per_second=at.point.figures.throughput if at else None,
        interval=conclusion.interval,
        closing=found,
        usl=fit_usl(assessment.points, axis),
        power_point=find_power_point(judged),
        statistic=rules.statistic,
        rules=rules,
        steps=tuple(_make_judged_step(assessed, limit_us) for assessed in judged),
    )


def _find_edge(
    judged: Sequence[Assessed], conclusion: Conclusion, axis: Axis, baseline: Assessed | None
) -> LoadRange | None:
    low, high = conclusion.bracket or (None, None)
    if conclusion.verdict != "KNEE" or low is None or high is None:
        return None
    return estimate_edge(judged, (low, high), axis, baseline=baseline)


def _name_figure(conclusion: Conclusion, rules: Rules) -> Literal["mean", "lower_limit"] | None:
    if conclusion.at is None or conclusion.figure is None:
        return None
    return "lower_limit" if rules.confirmation else "mean"


def _make_judged_step(assessed: Assessed, limit_us: Mapping[str, float]) -> JudgedStep:
    point = assessed.point
    doubts = list_doubts(assessed)
    reasons = assessed.reasons
    if assessed.undecided and assessed.excess is not None:
        reasons = (assessed.excess,)
    return JudgedStep(
        load=point.load,
        passed=assessed.passed,
        reasons=(*(r.code for r in reasons), *(f"audit:{name}" for name, _ in doubts)),
        explanations=(*(r.text for r in reasons), *(text for _, text in doubts)),
        audits=tuple(merge_audits(point.repetitions)),
        consistent=point.consistent,
        client_bound=point.client_bound is not None,
        repetitions=len(point.repetitions),
        repetitions_passed=assessed.passes,
        throughput_ops_per_second=point.figures.throughput,
        throughput_cv=compute_coefficient_of_variation(
            [r.figures.throughput for r in point.counted]
        ),
        latency_us=point.figures.latency_us,
        limit_us=dict(limit_us),
        steps=tuple(repetition.step for repetition in point.repetitions),
    )
