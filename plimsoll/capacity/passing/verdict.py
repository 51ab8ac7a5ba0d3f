"""The verdict of a search, with its figure, from the judged loads.

A verdict based on a failure that was seen only once says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from statistics import median

from plimsoll import words
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.capacity.statistics.intervals import (
    compute_coefficient_of_variation,
    compute_interval,
    compute_median_margin,
    compute_relative_margin,
    find_center,
)
from plimsoll.capacity.steps.loads import Repetition
from plimsoll.capacity.steps.step_figures import StepFigures, combine_figures
from plimsoll.model.judging.capacity import Axis, Bound, Interval, Rules, Verdict

# --- the climb: the first load that fails, or the second in a row without gain, decides ---


SEEN_OFTEN = 3  # repetitions of a load needed to say that more clients reduced the throughput
PLATEAU_NEAR = 0.02  # loads within this share of a plateau's throughput belong to it
# The same for a load that is being confirmed, whose own repetitions move its throughput
PLATEAU_KEPT = 0.10


@dataclass(frozen=True, slots=True)
class Climb:
    """The result of climbing through the loads."""

    passing: tuple[Assessed, ...]
    failing: Assessed | None  # the first load that fails
    plateau: tuple[Assessed, Assessed] | None  # two loads in a row with almost no gain
    skipped: tuple[Assessed, ...]  # disputed or doubtful loads below the deciding one
    believed: bool = True  # whether the failure was seen often enough
    seen: int = 0  # failures there, and at the loads just below that failed as often as they passed
    flattens: bool = False  # nothing ended the climb, but its last load gained almost nothing
    level_ops_per_second: float = 0.0  # highest throughput from a plateau's first load on
    # The first load that neither passes nor fails by all of its operations, and the lightest
    # heavier one that fails; above the former no load counts
    undecided: Assessed | None = None
    failing_above: Assessed | None = None

    @property
    def decider(self) -> Assessed | None:
        """The load that ended the climb."""
        return self.failing or (self.plateau[1] if self.plateau else None)

    def lightest_of_plateau(self) -> Assessed:
        """The lightest load with the plateau's throughput; beyond it, only latency grows.

        A plateau is two loads in a row, each with almost no gain over the one before. Its first
        load may also equal a lighter load that did gain over its own predecessor.
        """
        assert self.plateau is not None  # noqa: S101 - callers check it
        slow = self.plateau[0]

        def belongs(load: Assessed) -> bool:
            share = PLATEAU_KEPT if load.being_confirmed else PLATEAU_NEAR
            return load.point.figures.throughput >= (1 - share) * self.level_ops_per_second

        lighter = (load for load in self.passing if load.point.load < slow.point.load)
        return next((load for load in lighter if belongs(load)), slow)

    def before_it_fell(self) -> Assessed | None:
        """The load with the highest throughput, if the heaviest that passed gave less.

        More clients can reduce the throughput while latency is within its limit. Only loads with
        enough repetitions count: the maximum of many single measurements is biased upward.
        """
        gave = [(median(load.throughputs), load) for load in self.passing if load.throughputs]
        least = (1 + PLATEAU_NEAR) * gave[-1][0] if gave else 0.0
        more = [(x, load) for x, load in gave if x > least and len(load.throughputs) >= SEEN_OFTEN]
        return max(more, key=lambda one: one[0])[1] if more else None


def climb_loads(judged: Sequence[Assessed], rules: Rules, *, closed_loop: bool) -> Climb:
    """Climb through the loads until one fails or, in a closed loop, throughput stops growing."""
    passing: list[Assessed] = []
    skipped: list[Assessed] = []
    slow: Assessed | None = None  # the previous load, if it gained almost nothing
    for place, assessed in enumerate(judged, 1):
        if assessed.failed:
            passed_above = sum(heavier.passed for heavier in judged[place:])
            times = assessed.fails + _count_failures_below(passing)
            believed = (
                rules.confirmation is None
                or (assessed.excess is not None and assessed.count >= rules.confirmation.most)
                or times >= (3 if passed_above > 1 else 2)
            )
            return Climb(tuple(passing), assessed, None, tuple(skipped), believed, times)
        if assessed.undecided and assessed.point.consistent:
            above = next((heavier for heavier in judged[place:] if heavier.failed), None)
            return Climb(
                tuple(passing), None, None, tuple(skipped), undecided=assessed, failing_above=above
            )
        if not assessed.passed:
            skipped.append(assessed)
            continue
        if closed_loop and passing:
            gains_little = _gains_little(passing[0], passing[-1], assessed, rules.plateau_share)
            if gains_little and slow is not None:
                seen = (slow, *judged[place - 1 :])  # including failing loads above it
                level = max(load.point.figures.throughput for load in seen if load.point.consistent)
                upper = (slow, assessed)
                return Climb(
                    (*passing, assessed), None, upper, tuple(skipped), level_ops_per_second=level
                )
            slow = assessed if gains_little else None
        passing.append(assessed)
    return Climb(tuple(passing), None, None, tuple(skipped), flattens=slow is not None)


def _count_failures_below(passing: Sequence[Assessed]) -> int:
    """Count failures of the heaviest loads, down to the first that passed more than it failed."""
    undecided = takewhile(lambda load: load.fails >= load.passes, reversed(passing))
    return sum(load.fails for load in undecided)


def _gains_little(first: Assessed, before: Assessed, after: Assessed, share: float) -> bool:
    """Return whether the added load gained less per unit than a share of the first load's."""
    per_unit = first.point.figures.throughput / first.point.load
    gain = after.point.figures.throughput - before.point.figures.throughput
    return gain < share * per_unit * (after.point.load - before.point.load)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A verdict, and the loads that it follows from."""

    verdict: Verdict
    at: Assessed | None = None  # load of the figure
    figure: float | None = None  # ops/s
    bound: Bound | None = None
    bracket: tuple[float | None, float | None] | None = None
    causes: tuple[str, ...] = ()
    because: str = ""
    remedy: str = "add clients"  # remedy of CLIENT_BOUND
    interval: Interval | None = None
    slowed: bool = False  # whether other programs slowed every step that decides: a bound alone
    notes: list[str] = field(default_factory=list)

    @property
    def failing(self) -> float | None:
        """The load that failed, above which no load counts; None if none failed."""
        return self.bracket[1] if self.bracket else None


def decide_verdict(
    judged: Sequence[Assessed], rules: Rules, axis: Axis, *, baseline: Assessed | None
) -> Conclusion:
    """Return the verdict.

    Args:
        judged: every load, lightest first.
        rules: rules by which they were judged.
        axis: axis of the load.
        baseline: load whose latency the limits are multiples of; None if there are no such limits.
    """
    way = climb_loads(judged, rules, closed_loop=axis != "rate_ops_per_second")
    disputed = _conclude_disputed(judged, way, baseline)
    slowed = [load for load in way.skipped if load.passed_slowed]
    if disputed is None and slowed and not (way.decider or way.undecided):
        disputed = _conclude_inconsistent(slowed[-1])
    if disputed is not None and disputed.verdict == "DISTURBED":
        limited = baseline is None or baseline.point.consistent
        lighter = takewhile(lambda load: not load.failed, judged)
        passed = [load for load in lighter if load.passed or load.passed_slowed]
        return _conclude_slowed(passed[-1], disputed, rules) if passed and limited else disputed
    if disputed is not None:
        return disputed
    decider = way.decider
    bound_by = (decider or way.passing[-1]).point.client_bound if decider or way.passing else None
    if bound_by:
        return Conclusion(
            "CLIENT_BOUND",
            bracket=(way.passing[-1].point.load, None) if way.passing else None,
            causes=("client",),
            because=bound_by,
        )
    if not way.passing and way.undecided is not None:
        return _conclude_undecided(way.undecided, way.failing_above, axis)
    if not way.passing:
        return _conclude_below_first(judged, way)
    conclusion = _conclude_with_figure(way, rules, axis)
    if conclusion.at is None:
        return conclusion
    noisy = _conclude_noisy(conclusion, rules, axis)
    if noisy.verdict == "NOISY" and (busy := _find_disturbed(judged)) is not None:
        # other programs come and go: what they left of the weakest repetition is a bound
        return _conclude_slowed(conclusion.at, _conclude_inconsistent(busy), rules)
    return noisy


def _conclude_disputed(
    judged: Sequence[Assessed], way: Climb, baseline: Assessed | None
) -> Conclusion | None:
    """Return INCONSISTENT, DISTURBED or NOISY if audits doubt the deciding load, else None.

    The baseline decides if limits are multiples of its latency. If nothing ended the climb, a
    disputed load that fails might have. If no load passed or failed, every load is disputed or
    doubtful.
    """
    if not any(assessed.point.consistent for assessed in judged):
        return _conclude_inconsistent(judged[0])
    if baseline is not None and not baseline.point.consistent:
        return _conclude_inconsistent(baseline)
    disputed = [
        assessed for assessed in judged if assessed.reasons and not assessed.point.consistent
    ]
    if way.decider is None and way.undecided is None and disputed:
        return _conclude_inconsistent(disputed[0])
    ended = way.passing or way.failing or way.undecided
    return None if ended else _conclude_inconsistent(way.skipped[0])


def _find_disturbed(judged: Sequence[Assessed]) -> Assessed | None:
    """Return the heaviest load that was tried on a busy machine, with these tries alone."""
    for assessed in reversed(judged):
        disturbed = tuple(r for r in assessed.point.repetitions if r.disturbed)
        if disturbed:
            return replace(assessed, point=replace(assessed.point, repetitions=disturbed))
    return None


def _conclude_slowed(at: Assessed, disturbed: Conclusion, rules: Rules) -> Conclusion:
    """Return the lower bound that a load which passed on a busy machine shows.

    Other programs only slow a step, so a calm machine sustains at least as much. Of a window that
    got slower its second half counts, since nothing shows that it was they.
    """
    shown = (*at.slowed, *(at.point.counted if at.passed else ()))
    figures = combine_figures([r.figures for r in shown], rules.statistic)
    throughputs = tuple(map(_compute_lasting_throughput, shown))
    return Conclusion(
        "LOWER_BOUND",
        replace(
            at, point=replace(at.point, counted=shown, figures=figures), throughputs=throughputs
        ),
        figure=min(throughputs),
        bound=">=",
        bracket=(at.point.load, None),
        causes=("audit:undisturbed",),
        because=disturbed.because,
        slowed=True,
    )


def _compute_lasting_throughput(repetition: Repetition) -> float:
    halves = repetition.step.halves
    if halves is None or not repetition.figures.slowing:
        return repetition.figures.throughput
    known = (half.throughput_ops_per_second for half in halves)
    return min(x for x in (*known, repetition.figures.throughput) if x is not None)


def _conclude_inconsistent(assessed: Assessed) -> Conclusion:
    repetitions = assessed.point.repetitions
    failed = [
        (audit, r.figures.where) for r in repetitions for audit in r.audits if audit.passed is False
    ]
    if failed and all(audit.name == "enough_operations" for audit, _ in failed):
        audit, where = failed[-1]
        return Conclusion(
            "NOISY",
            causes=("audit:enough_operations",),
            because=f"{where}: {audit.detail}: give the load longer windows",
        )
    disturbed = all(repetition.disturbed for repetition in repetitions)
    # it causes whatever else is wrong with the figures
    first = "undisturbed" if disturbed else "nothing_escaped"
    failed.sort(key=lambda found: found[0].name != first)
    names = tuple(dict.fromkeys(f"audit:{audit.name}" for audit, _ in failed))
    names = names or ("audit:recovered",)
    because, where = (
        (failed[0][0].detail, failed[0][1])
        if failed
        else (
            "the target had not recovered from the overload before it",
            repetitions[0].figures.where,
        )
    )
    verdict: Verdict = "DISTURBED" if disturbed else "INCONSISTENT"
    return Conclusion(verdict, causes=names, because=f"{where}: {because}")


def _conclude_below_first(judged: Sequence[Assessed], way: Climb) -> Conclusion:
    """Return BELOW_FIRST_STEP: the lightest load that counts fails."""
    failing = way.failing or judged[0]
    tried = _compute_failed_rate(failing.point.figures)
    return Conclusion(
        "BELOW_FIRST_STEP",
        figure=tried,
        bound="<" if tried else None,
        at=None,
        bracket=(None, failing.point.load),
        causes=tuple(reason.code for reason in failing.reasons),
        because=failing.reasons[0].text if failing.reasons else "",
    )


def _conclude_undecided(undecided: Assessed, failing: Assessed | None, axis: Axis) -> Conclusion:
    """Return NOISY: not even the lightest load is known to keep the limits."""
    assert undecided.excess is not None  # noqa: S101 - it is what makes it undecided
    return Conclusion(
        "NOISY",
        bracket=(None, failing.point.load) if failing else None,
        causes=(undecided.excess.code,),
        because=f"at {words.format_load(undecided.point.load, axis)}, {undecided.excess.text}",
    )


def _compute_failed_rate(figures: StepFigures) -> float | None:
    """Return the failed rate in ops/s: successes plus failures, since both were load.

    The successes of an overload may be fewer than a lighter load would sustain. None if the target
    refused connections: fewer connections might bring as much.
    """
    if figures.refused is not None:
        return None
    succeeded = 1 - (figures.errors_share or 0.0)
    return figures.throughput / succeeded if figures.throughput and succeeded else None


def _conclude_with_figure(way: Climb, rules: Rules, axis: Axis) -> Conclusion:
    """Return KNEE, PLATEAU or LOWER_BOUND, with the figure of the best eligible load."""
    ends = way.failing or way.failing_above
    beyond = ends.point.load if ends else None
    confirmed = [load for load in way.passing if load.confirmed]
    eligible = confirmed or [load for load in way.passing if _is_nearly_confirmed(load, rules)]
    if way.plateau:
        best = way.lightest_of_plateau()
        eligible = [load for load in (best, *way.plateau) if load in eligible][:1] or [
            load for load in eligible if load.point.load < best.point.load
        ]
    if not eligible:
        top = way.passing[-1]
        return Conclusion(
            "NOISY",
            bracket=(top.point.load, beyond),
            causes=("unconfirmed",),
            because="no load passed often enough to be confirmed; the heaviest that passed at all"
            f" is {words.format_load(top.point.load, axis)}",
        )
    if rules.confirmation is None:
        at = max(eligible, key=lambda load: (load.point.figures.throughput, -load.point.load))
    else:  # not the highest of several, which noise would bias upward
        at = max(eligible, key=lambda load: load.point.load)
        fallen = None if way.plateau else way.before_it_fell()
        at = fallen if fallen in eligible else at
    throughputs = at.throughputs
    sure = compute_interval(throughputs)
    lowest = sure.low_ops_per_second if sure is not None else find_center(throughputs)
    figure = lowest if rules.confirmation is not None else find_center(throughputs)
    once = rules.confirmation is None and not way.plateau  # without confirmation, one pass suffices
    passed = way.passing[-1].point.load if once else at.point.load
    bound = Conclusion("LOWER_BOUND", at, figure, ">=", (passed, beyond), interval=sure)
    if way.plateau:
        last = way.plateau[1]  # the plateau reaches from the best load to this one
        because = (
            f"from {words.format_number(best.point.load)} to"
            f" {words.format_load(last.point.load, axis)}"
            " throughput hardly grew, with latency within its limit"
        )
        return replace(bound, verdict="PLATEAU", bound="=", causes=("plateau",), because=because)
    if way.failing:
        at_load = words.format_load(way.failing.point.load, axis)
        notes = (
            [] if way.believed else [f"{at_load} failed, but no repetition confirmed the failure"]
        )
        if at is way.before_it_fell():
            more = words.format_load(way.passing[-1].point.load, axis)
            less = words.format_throughput(median(way.passing[-1].throughputs))
            notes.append(f"{more} passed as well, with less throughput: {less}")
        return replace(
            bound,
            notes=notes,
            verdict="KNEE",
            bound="=",
            causes=tuple(reason.code for reason in way.failing.reasons),
            because=way.failing.reasons[0].text,
        )
    if way.undecided is not None and way.undecided.excess is not None:
        at_load = words.format_load(way.undecided.point.load, axis)
        because = f"at {at_load}, {way.undecided.excess.text}"
        return replace(bound, causes=(way.undecided.excess.code,), because=because)
    because = "no step failed up to the largest load"
    if way.flattens:  # one such load is no plateau, but the reader of a bound should know
        because += ", whose throughput hardly grew: a plateau may begin there"
    return replace(bound, because=because)


def _is_nearly_confirmed(load: Assessed, rules: Rules) -> bool:
    """Return whether a load was about to be confirmed when the search ran out of steps."""
    wanted = rules.confirmation
    if wanted is None or load.excess is not None:
        return False
    return load.count >= wanted.least and load.passes >= wanted.pass_share * load.count


def _conclude_noisy(conclusion: Conclusion, rules: Rules, axis: Axis) -> Conclusion:
    """Return NOISY if repetitions differ too much and are too few for a sure figure."""
    assert conclusion.at is not None  # noqa: S101 - callers check it
    throughputs = conclusion.at.throughputs
    cv = compute_coefficient_of_variation(throughputs)
    if cv is None or cv <= rules.cv_max:
        return conclusion
    varied = f"vary by {words.format_percent(cv)}"
    if (
        min(compute_relative_margin(throughputs, 0.025), compute_median_margin(throughputs))
        <= rules.cv_max
    ):
        note = f"repetitions {varied}, but {len(throughputs)} of them are enough for the figure"
        return replace(conclusion, notes=[*conclusion.notes, note])
    return replace(
        conclusion,
        verdict="NOISY",
        figure=None,
        bound=None,
        because=f"{len(throughputs)} repetitions at"
        f" {words.format_load(conclusion.at.point.load, axis)}"
        f" {varied} (coefficient of variation; at most {words.format_percent(rules.cv_max)} is"
        " allowed)",
        causes=("noise",),
    )
