"""From finished steps to a verdict: the whole way, once."""

from collections.abc import Mapping, Sequence
from typing import Literal

from plimsoll import figures
from plimsoll.capacity.annotations import power_point, usl_fit
from plimsoll.capacity.assess import Assessed, assess, limits
from plimsoll.capacity.intervals import coefficient_of_variation
from plimsoll.capacity.loads import Repetition, choose_axis, gather
from plimsoll.capacity.measured import where
from plimsoll.capacity.verdict import Answer, decide
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Audit, Axis, Capacity, JudgedStep, Rules, Verdict
from plimsoll.model.steps import Step

UNITS: Mapping[Axis, str] = {
    "clients": "clients",
    "connections": "connections",
    "rate_ops_per_second": "ops/s offered",
}
IMPROVED_SHARE = 0.8  # of the baseline: latency below it makes the lightest step no fair baseline


def judge(steps: Sequence[Step], rules: Rules, axis: Axis | None = None) -> Capacity:
    """Judge finished steps, in any order, repetitions included.

    Args:
        steps: at least one that is not void; void ones are told of in the notes.
        rules: with `confirmation`, only loads that it confirms carry a figure, which is then the
            one-sided 95 % lower limit; without, the medians of the repetitions decide and are it.
        axis: what the load is; None finds it.

    Raises:
        UsageError: the steps cannot be judged; names the row and the column.
    """
    told = [step for step in steps if step.void is None]
    if not told:
        void = f": {where(steps[0], 1)} says nothing: {steps[0].void}" if steps else ""
        raise UsageError(f"no steps to judge{void}")
    axis = axis or choose_axis(told)
    points = gather(told, rules, axis)
    limit_us = limits(points, rules)
    judged = assess(points, rules, limit_us)
    relative = any(name not in rules.limits_us for name in limit_us)
    answer = decide(judged, rules, axis, relative=relative)
    at = answer.at
    return Capacity(
        verdict=answer.verdict,
        max_sustainable_throughput_ops_per_second=answer.figure,
        bound=answer.bound,
        figure=_figure(answer, rules),
        axis=axis,
        at=at.point.load if at and answer.figure is not None else None,
        bracket=answer.bracket,
        cause=answer.causes[0] if answer.causes else None,
        causes=answer.causes,
        summary=_summary(answer, axis),
        notes=(*answer.notes, *_notes(judged, answer), *_void(steps)),
        repetitions=len(at.point.counted) if at else None,
        median_ops_per_second=at.point.measured.throughput if at else None,
        interval=answer.interval,
        usl=usl_fit(points, axis),
        power_point=power_point(judged),
        statistic=rules.statistic,
        rules=rules,
        steps=tuple(_judged_step(one, limit_us) for one in judged),
    )


def _figure(answer: Answer, rules: Rules) -> Literal["median", "lower_limit"] | None:
    if answer.at is None or answer.figure is None:
        return None
    return "lower_limit" if rules.confirmation else "median"


def _judged_step(one: Assessed, limit_us: Mapping[str, float]) -> JudgedStep:
    point = one.point
    doubts = _doubts(one)
    return JudgedStep(
        load=point.load,
        passed=one.passed,
        reasons=(*(f.code for f in one.findings), *(f"audit:{name}" for name, _ in doubts)),
        explanations=(*(f.text for f in one.findings), *(text for _, text in doubts)),
        audits=tuple(_audits(point.repetitions)),
        consistent=point.consistent,
        client_bound=point.client_bound is not None,
        repetitions=len(point.repetitions),
        repetitions_passed=one.passes,
        throughput_ops_per_second=point.measured.throughput,
        throughput_cv=coefficient_of_variation([r.measured.throughput for r in point.counted]),
        latency_us=point.measured.latency_us,
        limit_us=dict(limit_us),
        steps=tuple(repetition.step for repetition in point.repetitions),
    )


def _audits(repetitions: Sequence[Repetition]) -> list[Audit]:
    """Each audit once a load: the first failure of it, else the first that could run."""
    found: dict[str, Audit] = {}
    rank = {False: 0, True: 1, None: 2}
    for repetition in repetitions:
        for check in repetition.audits:
            kept = found.get(check.name)
            if kept is None or rank[check.passed] < rank[kept.passed]:
                found[check.name] = check
    return list(found.values())


def _doubts(one: Assessed) -> list[tuple[str, str]]:
    """Audits that keep a load from passing or from counting."""
    if one.point.consistent and not one.doubtful:
        return []
    failed = [(str(c.name), c.detail) for c in _audits(one.point.repetitions) if c.passed is False]
    return failed or [("recovered", "the target had not recovered from the overload before it")]


def _load(load: float, axis: Axis) -> str:
    unit = UNITS[axis]
    return f"{load:,.6g} {unit.removesuffix('s') if load == 1 else unit}"


def _summary(answer: Answer, axis: Axis) -> str:
    """Put the verdict in one sentence."""
    figure = f"{figures.rate(answer.figure)} ops/s" if answer.figure is not None else ""
    at = f"at {_load(answer.at.point.load, axis)}" if answer.at else ""
    high = answer.bracket[1] if answer.bracket else None
    below = f"sustains less than {figure}: " if figure else ""
    sentences: dict[Verdict, str] = {
        "KNEE": f"sustains {figure} {at}; at {high or 0:,.6g} it does not",
        "PLATEAU": f"sustains {figure} {at}",
        "LOWER_BOUND": f"sustains at least {figure} {at}, which is no maximum",
        "BELOW_FIRST_STEP": f"{below}the lightest step fails",
        "CLIENT_BOUND": "the clients were the limit, not the database; add clients",
        "NOISY": "no figure can be given",
        "INCONSISTENT": "no figure: the step that would decide cannot be right",
    }
    return f"{sentences[answer.verdict]}: {answer.because}"


def _notes(judged: Sequence[Assessed], answer: Answer) -> list[str]:
    """What a reader has to know besides the verdict."""
    notes = []
    decided = answer.bracket[1] if answer.bracket else None
    for one in judged:
        name = f"{one.point.repetitions[0].measured.where} (load {one.point.load:g})"
        if not one.point.consistent or one.doubtful:
            notes.append(f"{name} is left out: {_doubts(one)[0][0]}: {_doubts(one)[0][1]}")
        elif len(one.point.counted) < len(one.point.repetitions):
            left = len(one.point.repetitions) - len(one.point.counted)
            notes.append(f"{name}: {left} of {len(one.point.repetitions)} repetitions are left out")
        if decided is not None and one.point.load > decided and one.passed:
            notes.append(f"{name} passed although {decided:g} failed; nothing above counts")
        if one.point.client_bound and answer.verdict != "CLIENT_BOUND":
            notes.append(f"{name} is client-bound: {one.point.client_bound}")
    return [*notes, *_improved(judged)]


def _void(steps: Sequence[Step]) -> list[str]:
    return [
        f"{where(step, number)} says nothing of the target: {step.void}"
        for number, step in enumerate(steps, 1)
        if step.void is not None
    ]


def _improved(judged: Sequence[Assessed]) -> list[str]:
    """Name operations that were faster under load than at the lightest step: a cold baseline."""
    notes = []
    for name, first in judged[0].point.measured.latency_us.items():
        others = (o.point.measured.latency_us.get(name) for o in judged if o.point.consistent)
        least = min((us for us in others if us is not None), default=first)
        if least < IMPROVED_SHARE * first:
            notes.append(
                f"{name} is faster under load ({figures.latency(least)}) than at the lightest step "
                f"({figures.latency(first)}), so its limit is generous: was the target warm?"
            )
    return notes
