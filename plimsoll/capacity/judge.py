"""Judges finished steps: the verdict, its figure and its notes."""

from collections.abc import Mapping, Sequence
from typing import Literal

from plimsoll import words
from plimsoll.capacity.confirm.closing import apply_closing_steps, split_closing_steps
from plimsoll.capacity.passing.annotations import fit_usl, power_point
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.assess import (
    Assessed,
    assess_loads,
    is_known_light,
    is_relative,
    latency_limits,
)
from plimsoll.capacity.passing.drift_and_waves import describe_waves
from plimsoll.capacity.passing.edge import edge_range
from plimsoll.capacity.passing.verdict import Conclusion, decide_verdict
from plimsoll.capacity.statistics.intervals import coefficient_of_variation
from plimsoll.capacity.steps.loads import Repetition, choose_axis, group_by_load
from plimsoll.capacity.steps.step_figures import where
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import (
    Audit,
    Axis,
    Capacity,
    JudgedStep,
    LoadRange,
    Rules,
    Verdict,
)
from plimsoll.model.judging.steps import Step

IMPROVED_SHARE = (
    0.8  # if latency falls below this share of the lightest step's, that step was no fair baseline
)


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
            one-sided
            95 % lower limit. Without it, the medians of the repetitions decide and are the figure.
        axis: axis of the load; None to determine it from the steps.
        baseline: steps whose lightest load is the base of relative limits; None for `steps`.

    Raises:
        UsageError: The steps cannot be judged; names the row and the column.
    """
    valid, closing = split_closing_steps(steps)
    if not valid:
        void = f": {where(steps[0], 1)} does not count: {steps[0].void}" if steps else ""
        raise UsageError(f"no steps to judge{void}")
    axis = axis or choose_axis(valid)
    points = group_by_load(valid, rules, axis)
    measures = points if baseline is None else group_by_load(baseline, rules, axis)
    limit_us = latency_limits(points, rules, measures[0])
    judged = assess_loads(points, rules, limit_us)
    measured = judged if baseline is None else assess_loads(measures, rules, limit_us)
    relative = any(name not in rules.limits_us for name in limit_us)
    measure = measured[0] if relative else None
    conclusion = decide_verdict(judged, rules, axis, baseline=measure)
    conclusion, found = apply_closing_steps(Answer(judged, conclusion, rules, limit_us, closing))
    at = conclusion.at
    heavy = _warn_of_heavy_baseline(measured, conclusion, rules, axis)
    notes = (*conclusion.notes, *heavy, *_notes(judged, conclusion, axis))
    return Capacity(
        verdict=conclusion.verdict,
        max_sustainable_throughput_ops_per_second=conclusion.figure,
        bound=conclusion.bound,
        figure=_figure(conclusion, rules),
        axis=axis,
        at=at.point.load if at and conclusion.figure is not None else None,
        bracket=conclusion.bracket,
        edge=_edge(judged, conclusion, axis, measure),
        cause=conclusion.causes[0] if conclusion.causes else None,
        causes=conclusion.causes,
        question=_describe_callers(conclusion),
        summary=_summary(conclusion, axis)
        + ("; the lightest load may be too heavy as a baseline" if heavy else ""),
        notes=(
            *notes,
            *describe_waves(judged, limit_us, conclusion.failing, rules, axis),
            *void_notes(steps),
        ),
        repetitions=len(at.point.counted) if at else None,
        median_ops_per_second=at.point.figures.throughput if at else None,
        interval=conclusion.interval,
        closing=found,
        usl=fit_usl(points, axis),
        power_point=power_point(judged),
        statistic=rules.statistic,
        rules=rules,
        steps=tuple(_make_judged_step(assessed, limit_us) for assessed in judged),
    )


def _describe_callers(conclusion: Conclusion) -> str | None:
    """Describe the callers that the figure holds for: those that wait for replies, or not."""
    if conclusion.at is None or conclusion.figure is None:
        return None
    if conclusion.at.point.figures.rate is not None:
        return "open loop: operations arrive at this rate, however long the replies take"
    steps = [repetition.step for repetition in conclusion.at.point.counted]
    connections = steps[0].connections if steps else None
    many = (
        "concurrent callers"
        if connections is None
        else words.plural(connections, "concurrent caller")
    )
    return f"closed loop: {many}, each waiting for its reply before it sends again"


def _edge(
    judged: Sequence[Assessed], conclusion: Conclusion, axis: Axis, baseline: Assessed | None
) -> LoadRange | None:
    low, high = conclusion.bracket or (None, None)
    if conclusion.verdict != "KNEE" or low is None or high is None:
        return None
    return edge_range(judged, (low, high), axis, baseline=baseline)


def _figure(conclusion: Conclusion, rules: Rules) -> Literal["median", "lower_limit"] | None:
    if conclusion.at is None or conclusion.figure is None:
        return None
    return "lower_limit" if rules.confirmation else "median"


def _make_judged_step(assessed: Assessed, limit_us: Mapping[str, float]) -> JudgedStep:
    point = assessed.point
    doubts = _list_doubts(assessed)
    return JudgedStep(
        load=point.load,
        passed=assessed.passed,
        reasons=(*(r.code for r in assessed.reasons), *(f"audit:{name}" for name, _ in doubts)),
        explanations=(*(r.text for r in assessed.reasons), *(text for _, text in doubts)),
        audits=tuple(_merge_audits(point.repetitions)),
        consistent=point.consistent,
        client_bound=point.client_bound is not None,
        repetitions=len(point.repetitions),
        repetitions_passed=assessed.passes,
        throughput_ops_per_second=point.figures.throughput,
        throughput_cv=coefficient_of_variation([r.figures.throughput for r in point.counted]),
        latency_us=point.figures.latency_us,
        limit_us=dict(limit_us),
        steps=tuple(repetition.step for repetition in point.repetitions),
    )


def _merge_audits(repetitions: Sequence[Repetition]) -> list[Audit]:
    """Return each audit of a load once: its first failure, else the first that could run."""
    by_name: dict[str, Audit] = {}
    rank = {False: 0, True: 1, None: 2}
    for repetition in repetitions:
        for audit in repetition.audits:
            kept = by_name.get(audit.name)
            if kept is None or rank[audit.passed] < rank[kept.passed]:
                if len(repetitions) > 1 and audit.passed is not None:
                    detail = f"{repetition.figures.where}: {audit.detail}"
                    audit = audit.model_copy(update={"detail": detail})  # noqa: PLW2901
                by_name[audit.name] = audit
    return list(by_name.values())


def _list_doubts(assessed: Assessed) -> list[tuple[str, str]]:
    """Return name and detail of the audits that keep a load from passing or from counting."""
    point = assessed.point
    if point.consistent and not assessed.doubtful:
        return []
    failed = [
        (str(a.name), a.detail) for a in _merge_audits(point.repetitions) if a.passed is False
    ]
    return failed or [("recovered", "the target had not recovered from the overload before it")]


def _summary(conclusion: Conclusion, axis: Axis) -> str:
    """Return the verdict in one sentence."""
    figure = words.throughput(conclusion.figure)
    at = f"at {words.load(conclusion.at.point.load, axis)}" if conclusion.at else ""
    high = conclusion.failing
    below = "" if conclusion.figure is None else f"sustains less than {figure}: "
    sentences: dict[Verdict, str] = {
        "KNEE": f"sustains {figure} {at}; at {words.number(high)} it does not",
        "PLATEAU": f"sustains {figure} {at}",
        "LOWER_BOUND": f"sustains at least {figure} {at}, and possibly more",
        "BELOW_FIRST_STEP": f"{below}the lightest step fails",
        "CLIENT_BOUND": f"the clients were the limit, not the database; {conclusion.remedy}",
        "NOISY": "no figure can be given",
        "INCONSISTENT": "no figure: the step that would decide is inconsistent",
        "DISTURBED": "no figure: other programs disturbed every attempt at the step that would"
        " decide",
        "NOT_SUSTAINED": f"sustains less than {figure} {at}, since that load did not last",
        "DRIFTING": "no figure: the target changed while it was measured",
    }
    return f"{sentences[conclusion.verdict]}: {conclusion.because}"


def _notes(judged: Sequence[Assessed], conclusion: Conclusion, axis: Axis) -> list[str]:
    """Return remarks for the reader besides the verdict."""
    notes = []
    failed = conclusion.failing
    for assessed in judged:
        point = assessed.point
        name = f"{point.repetitions[0].figures.where} ({words.load(point.load, axis)})"
        if not point.consistent or assessed.doubtful:
            audit, detail = _list_doubts(assessed)[0]
            notes.append(f"{name} is left out: {audit}: {detail}")
        elif len(point.counted) < len(point.repetitions):
            left_out = len(point.repetitions) - len(point.counted)
            notes.append(f"{name}: {left_out} of {len(point.repetitions)} repetitions are left out")
        if failed is not None and point.load > failed and assessed.passed:
            notes.append(
                f"{name} passed although {words.load(failed, axis)} failed; loads above a failed"
                " one do not count"
            )
        if point.client_bound and conclusion.verdict != "CLIENT_BOUND":
            notes.append(f"{name} was limited by its clients: {point.client_bound}")
    return [*notes, *_list_improved(judged)]


def _warn_of_heavy_baseline(
    judged: Sequence[Assessed], conclusion: Conclusion, rules: Rules, axis: Axis
) -> list[str]:
    """Return a warning if the answer depends on a lightest load that is not known to be light."""
    rests_on_it = conclusion.figure is not None or conclusion.bracket is not None
    if not rests_on_it or not is_relative(judged[0], rules):
        return []
    if is_known_light(judged, rules, axis):
        return []
    lightest = words.load(judged[0].point.load, axis)
    note = (
        f"limits are multiples of the latency at {lightest}, and nothing shows that this load is"
        " light: another lightest load may give another answer. Start with a lighter load, or give"
        " limits in microseconds"
    )
    return [note]


def void_notes(steps: Sequence[Step]) -> list[str]:
    """List the void steps with their reasons."""
    return [
        f"{where(step, number)} does not count: {step.void}"
        for number, step in enumerate(steps, 1)
        if step.void is not None
    ]


def _list_improved(judged: Sequence[Assessed]) -> list[str]:
    """Name operations faster under load than in the lightest step, which then was not warm."""
    notes = []
    consistent = [assessed.point.figures for assessed in judged if assessed.point.consistent]
    let_in = [figures for figures in consistent if figures.refused is None]
    for name, first in judged[0].point.figures.latency_us.items():
        others = (figures.latency_us.get(name) for figures in let_in)
        least = min((us for us in others if us is not None), default=first)
        if least < IMPROVED_SHARE * first:
            notes.append(
                f"{name} is faster under load ({words.latency(least)}) than at the lightest step"
                f" ({words.latency(first)}), so its limit may be too high: the target may not have"
                " been warm"
            )
    return notes
