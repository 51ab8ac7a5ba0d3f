"""From judged loads to a verdict: go up the loads; the first that fails, or gains nothing, decides.

What lies beyond the deciding load changes nothing: a step that passes above a failed one was lucky
or came after a recovery, and a user who trusted it would cross the failed load on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from plimsoll.capacity.assess import Assessed
from plimsoll.capacity.intervals import coefficient_of_variation, interval, relative_margin
from plimsoll.capacity.measured import Measured
from plimsoll.model.capacity import Axis, Bound, Interval, Rules, Verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict and the loads on which it stands."""

    verdict: Verdict
    at: Assessed | None = None  # the load of the figure
    figure: float | None = None  # ops/s
    bound: Bound | None = None
    bracket: tuple[float | None, float | None] | None = None
    causes: tuple[str, ...] = ()
    because: str = ""
    interval: Interval | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Climb:
    """What was met on the way up."""

    passing: tuple[Assessed, ...]
    failing: Assessed | None  # the first load that fails
    plateau: tuple[Assessed, Assessed] | None  # two in a row that gained next to nothing
    skipped: tuple[Assessed, ...]  # disputed or doubtful ones, below what decided

    @property
    def decider(self) -> Assessed | None:
        """The load that ended the climb."""
        return self.failing or (self.plateau[1] if self.plateau else None)


def climb(judged: Sequence[Assessed], rules: Rules, *, closed_loop: bool) -> Climb:
    """Go up the loads until one fails or throughput stops growing (closed loop)."""
    passing: list[Assessed] = []
    skipped: list[Assessed] = []
    slow: Assessed | None = None  # the step before gained next to nothing
    for one in judged:
        if one.failed:
            return Climb(tuple(passing), one, None, tuple(skipped))
        if not one.passed:
            skipped.append(one)
            continue
        if closed_loop and passing:
            gained = _gains_little(passing[0], passing[-1], one, rules.plateau_share)
            if gained and slow is not None:
                return Climb((*passing, one), None, (slow, one), tuple(skipped))
            slow = one if gained else None
        passing.append(one)
    return Climb(tuple(passing), None, None, tuple(skipped))


def _gains_little(first: Assessed, before: Assessed, one: Assessed, share: float) -> bool:
    """Each unit of load added brought less than a share of what each of the first load did."""
    per_unit = first.point.measured.throughput / first.point.load
    gain = one.point.measured.throughput - before.point.measured.throughput
    return gain < share * per_unit * (one.point.load - before.point.load)


def decide(judged: Sequence[Assessed], rules: Rules, axis: Axis, *, relative: bool) -> Answer:
    """Give the verdict.

    Args:
        judged: every load, lightest first.
        rules: by which they were judged.
        axis: what the load is.
        relative: whether any limit comes from the lightest step.
    """
    way = climb(judged, rules, closed_loop=axis != "rate_ops_per_second")
    disputed = _disputed(judged, way, relative=relative)
    if disputed is not None:
        return disputed
    decider = way.decider
    bound_by = (decider or way.passing[-1]).point.client_bound if decider or way.passing else None
    if bound_by:
        return Answer(
            "CLIENT_BOUND",
            bracket=(way.passing[-1].point.load, None) if way.passing else None,
            causes=("client",),
            because=bound_by,
        )
    if not way.passing:
        return _below_first(judged, way)
    answer = _with_figure(way, rules)
    return _noisy(answer, rules) if answer.at is not None else answer


def _disputed(judged: Sequence[Assessed], way: Climb, *, relative: bool) -> Answer | None:
    """An audit fails on the step that would decide: the baseline, the knee, or every step."""
    lightest = judged[0]
    consistent = [one for one in judged if one.point.consistent]
    if consistent and not (relative and not lightest.point.consistent):
        if way.decider is not None or not any(
            one.findings and not one.point.consistent for one in judged
        ):
            return None if way.passing or way.failing else _inconsistent(way.skipped[0])
        return _inconsistent(next(o for o in judged if o.findings and not o.point.consistent))
    return _inconsistent(lightest)


def _inconsistent(one: Assessed) -> Answer:
    failed = [
        check
        for repetition in one.point.repetitions
        for check in repetition.audits
        if check.passed is False
    ]
    names = tuple(dict.fromkeys(f"audit:{check.name}" for check in failed)) or ("audit:recovered",)
    because = (
        failed[0].detail if failed else "the target had not recovered from the overload before it"
    )
    return Answer("INCONSISTENT", causes=names, because=f"{_name(one)}: {because}")


def _name(one: Assessed) -> str:
    return one.point.repetitions[0].measured.where


def _below_first(judged: Sequence[Assessed], way: Climb) -> Answer:
    """The lightest load that says anything fails."""
    failing = way.failing or judged[0]
    tried = _tried(failing.point.measured)
    return Answer(
        "BELOW_FIRST_STEP",
        figure=tried,
        bound="<" if tried else None,
        at=None,
        bracket=(None, failing.point.load),
        causes=tuple(finding.code for finding in failing.findings),
        because=failing.findings[0].text if failing.findings else "",
    )


def _tried(measured: Measured) -> float | None:
    """Give the rate that failed, ops/s: of all operations, for those that failed were load too.

    What succeeds under an overload can be less than what a lighter load would sustain.
    """
    succeeded = 1 - (measured.errors_share or 0.0)
    return measured.throughput / succeeded if measured.throughput and succeeded else None


def _with_figure(way: Climb, rules: Rules) -> Answer:
    """KNEE, PLATEAU or LOWER_BOUND, with the figure of the best load that may carry it."""
    beyond = way.failing.point.load if way.failing else None
    eligible = [one for one in way.passing if one.confirmed] or [
        one for one in way.passing if _nearly_confirmed(one, rules)
    ]
    if way.plateau:
        slow, last = way.plateau
        eligible = [one for one in (slow, last) if one in eligible][:1] or [
            one for one in eligible if one.point.load < slow.point.load
        ]
    if not eligible:
        top = way.passing[-1]
        return Answer(
            "NOISY",
            bracket=(top.point.load, beyond),
            causes=("unconfirmed",),
            because=f"no load passed often enough to be confirmed; the highest that passed at all "
            f"is {top.point.load:g}",
        )
    if rules.confirmation is None:
        at = max(eligible, key=lambda one: (one.point.measured.throughput, -one.point.load))
    else:  # never the luckiest of several: that alone would over-claim under noise
        at = max(eligible, key=lambda one: one.point.load)
    throughputs = at.throughputs
    figure = median(throughputs)
    sure = interval(throughputs)
    if rules.confirmation is not None and sure is not None:
        figure = min(figure, sure.low_ops_per_second)
    answer = Answer("LOWER_BOUND", at, figure, ">=", (at.point.load, beyond), interval=sure)
    if way.plateau:
        slow, last = way.plateau
        because = (
            f"from {slow.point.load:g} to {last.point.load:g} throughput hardly grew, "
            "with latency within its limit"
        )
        return replace(answer, verdict="PLATEAU", bound="=", causes=("plateau",), because=because)
    if way.failing:
        return replace(
            answer,
            verdict="KNEE",
            bound="=",
            causes=tuple(finding.code for finding in way.failing.findings),
            because=way.failing.findings[0].text,
        )
    return replace(answer, because="no step failed up to the largest load")


def _nearly_confirmed(one: Assessed, rules: Rules) -> bool:
    """The probes ran out while a load was being confirmed, and it stood well until then."""
    wanted = rules.confirmation
    count = one.passes + one.fails
    return wanted is not None and count >= wanted.least and one.passes >= wanted.pass_share * count


def _noisy(answer: Answer, rules: Rules) -> Answer:
    """Repetitions that differ too much carry no figure, unless so many that the figure is sure."""
    assert answer.at is not None  # noqa: S101 - the caller has looked
    throughputs = answer.at.throughputs
    cv = coefficient_of_variation(throughputs)
    if cv is None or cv <= rules.cv_max:
        return answer
    if relative_margin(throughputs, 0.025) <= rules.cv_max:
        note = f"repetitions vary by {cv:.0%}, but {len(throughputs)} of them make the figure sure"
        return replace(answer, notes=[*answer.notes, note])
    return replace(
        answer,
        verdict="NOISY",
        figure=None,
        bound=None,
        because=f"{len(throughputs)} repetitions at {answer.at.point.load:g} vary by {cv:.0%} "
        f"(coefficient of variation; {rules.cv_max:.0%} allowed)",
        causes=("noise",),
    )
