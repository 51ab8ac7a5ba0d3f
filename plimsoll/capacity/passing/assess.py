"""Judges every load: the limits, the rules that a load fails, and how sure that is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median_low
from typing import NamedTuple

from plimsoll import words
from plimsoll.capacity.statistics.intervals import (
    compute_median_margin,
    compute_relative_margin,
    estimate_pooled_noise,
)
from plimsoll.capacity.statistics.order import OPERATIONS_MIN, shows_excess
from plimsoll.capacity.steps.loads import LoadPoint, Repetition, group_by_load
from plimsoll.capacity.steps.step_figures import (
    StepFigures,
    combine_figures,
    weigh_repetitions,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import Axis, Rules
from plimsoll.model.judging.steps import QUANTILES, Statistic, Step

# --- why a step fails: every rule, the worst reason first ---


@dataclass(frozen=True, slots=True)
class FailureReason:
    """A reason for which a step fails."""

    code: str  # "latency:update", "errors", "rate", ...
    excess: float  # actual / allowed; the reason with the largest comes first
    text: str


@dataclass(frozen=True, slots=True)
class Best:
    """The highest throughput of the lighter loads that passed."""

    throughput: float
    repetitions: int
    noise: float  # noise of one repetition's throughput, estimated from the repetitions so far

    def floor(self, repetitions: int, share: float) -> float:
        """Return the throughput below which the fall exceeds both `share` and the noise."""
        error = self.noise * math.sqrt(1 / max(1, repetitions) + 1 / self.repetitions)
        return self.throughput * (1 - share) * math.exp(-2 * error)


def find_reasons(
    figures: StepFigures,
    rules: Rules,
    limit_us: Mapping[str, float],
    best: Best,
    repetitions: int,
) -> tuple[FailureReason, ...]:
    """Return every reason to fail a step, or several repetitions together; worst first."""
    # The other figures describe only the connections that were accepted
    if figures.refused is not None:
        return (FailureReason("connections", math.inf, figures.refused),)
    own = sorted(_find_own_reasons(figures, rules, limit_us), key=lambda reason: -reason.excess)
    return (*own, *_find_retrograde(figures, best, repetitions, rules.retrograde_share))


def _find_own_reasons(
    figures: StepFigures, rules: Rules, limit_us: Mapping[str, float]
) -> list[FailureReason]:
    """Return every reason to fail a step from its own figures, regardless of other steps."""
    reasons = []
    if figures.throughput == 0:
        reasons.append(FailureReason("no_throughput", math.inf, "no operation succeeded"))
    for name, limit in limit_us.items():
        latency = figures.latency_us.get(name)
        shown = "enough_operations" in rules.audits_off or _shows_latency_beyond(
            figures, name, limit, rules.statistic
        )
        if latency is not None and latency > limit and shown:
            text = (
                f"{name} took {words.format_latency(latency)}, limit {words.format_latency(limit)}"
            )
            reasons.append(FailureReason(f"latency:{name}", latency / limit, text))
    failed, allowed = figures.errors_share, rules.errors_max_share
    if failed is not None and failed > allowed:
        text = (
            f"{words.format_percent(failed)} of operations failed, {words.format_percent(allowed)}"
            " allowed"
        )
        excess = failed / allowed if allowed else math.inf
        reasons.append(FailureReason("errors", excess if not reasons else 1.0, text))
    if figures.rate is not None and figures.throughput < rules.kept_up_share * figures.rate:
        text = (
            f"only {words.format_rate(figures.throughput)} of the offered"
            f" {words.format_rate(figures.rate)} ops/s"
            " were completed"
        )
        excess = figures.rate / figures.throughput if figures.throughput else 1.0
        reasons.append(FailureReason("rate", excess, text))
    if figures.backlog:
        reasons.append(
            FailureReason("backlog", 1.0, "the backlog of unsent operations kept growing")
        )
    if figures.outgrown is not None:
        reasons.append(FailureReason("log", 1.0, figures.outgrown))
    if figures.slowing:
        text = "the second half of the window was much slower"
        reasons.append(FailureReason("unsteady", 1.0, text))
    if not reasons:
        _require_latencies(figures, limit_us)
    return reasons


def _shows_latency_beyond(
    figures: StepFigures, operation: str, limit_us: float, statistic: Statistic
) -> bool:
    """Return whether chance does not explain that a latency is beyond the limit.

    Few operations can show it: if half of them are beyond the limit, so is the p99.
    """
    count = figures.operation_counts.get(operation)
    if count is None or count >= OPERATIONS_MIN[statistic] or statistic not in QUANTILES:
        return True
    shares = [
        1 - QUANTILES[lower]
        for lower, us in figures.statistics_us.get(operation, {}).items()
        if lower in QUANTILES and us > limit_us
    ]
    beyond = math.ceil(max(shares, default=0.0) * count - 1e-9)
    return shows_excess(count, beyond, QUANTILES[statistic])


def _require_latencies(figures: StepFigures, limit_us: Mapping[str, float]) -> None:
    missing = [name for name in limit_us if name not in figures.latency_us]
    if missing:
        raise UsageError(
            f"{figures.where}: latency_us.{missing[0]} is missing, but other steps have it: "
            "without it the step can neither pass nor fail"
        )
    if not limit_us:
        raise UsageError(
            f"{figures.where}: no latency_us.<operation> column: without latencies nothing can be"
            " judged"
        )


def _find_retrograde(
    figures: StepFigures, best: Best, repetitions: int, share: float
) -> list[FailureReason]:
    """Return the failure if, in a closed loop, a heavier load gives less throughput."""
    throughput = figures.throughput
    if figures.rate is not None or throughput >= best.floor(repetitions, share):
        return []
    text = (
        f"throughput fell from {words.format_rate(best.throughput)} to"
        f" {words.format_throughput(throughput)}"
    )
    excess = best.throughput / throughput if throughput else math.inf
    return [FailureReason("retrograde", excess, text)]


# --- what all operations of a load show together, where most of its windows pass ---


# If windows beyond a limit hold this share of a load's operations or more, nobody knows whether the
# load keeps the limit: without histograms, no percentile of all operations can be computed
BEYOND_SHARE = 0.25


def find_excess(
    windows: Sequence[Repetition], rules: Rules, limit_us: Mapping[str, float]
) -> FailureReason | None:
    """Return the limit that a load's operations together exceed, or may exceed; None if none.

    With the histograms of all windows it is exact. Without them, a load may exceed a limit if
    windows beyond it hold `BEYOND_SHARE` of the operations. Windows whose clients were the limit
    are left out, since their latency is not the target's.

    Args:
        windows: windows of one load that no audit disputes.
        rules: rules with the statistic.
        limit_us: limit of each operation, in microseconds.
    """
    windows = [r for r in windows if r.client_bound is None] or windows
    if len(windows) < 2:
        return None
    figures = [r.figures for r in windows]
    together = combine_figures(figures, rules.statistic)
    weights = weigh_repetitions(figures)
    for name, limit in limit_us.items():
        latency = together.latency_us.get(name)
        if latency is None:
            continue
        if all(each.latency_counts.get(name) for each in figures) or rules.statistic == "max":
            if latency > limit:
                text = (
                    f"{name} took {words.format_latency(latency)} over all operations of"
                    f" {len(windows)}"
                    f" windows, limit {words.format_latency(limit)}"
                )
                return FailureReason(f"latency:{name}", latency / limit, text)
            continue
        slow = [
            weight
            for each, weight in zip(figures, weights, strict=True)
            if each.latency_us.get(name, 0.0) > limit
        ]
        share = sum(slow) / sum(weights)
        if share >= BEYOND_SHARE:
            text = (
                f"windows with {words.format_percent(share)} of the operations had a"
                f" {words.name_statistic(rules.statistic)} of {name} beyond its limit of"
                f" {words.format_latency(limit)}, so whether all operations together keep it is"
                " not known"
            )
            return FailureReason(f"undecided:{name}", 1.0, text)
    return None


EXTRA = 1.5  # factor on `Confirmation.most`: more repetitions if those leave the figure unsure


class Margin(NamedTuple):
    """The distance of a repetition from failing."""

    latency: float  # log(latency / limit) of the operation with the largest ratio
    failed_otherwise: bool  # whether it failed for anything but latency


@dataclass(frozen=True, slots=True)
class Assessed:
    """A load with its reasons to fail and the state of its confirmation."""

    point: LoadPoint
    reasons: tuple[FailureReason, ...]  # why it fails; empty if it does not
    passes: int  # passes among the repetitions that count
    fails: int
    said_nothing: int  # repetitions that an audit disputes, or that failed before a recovery
    doubtful: bool  # it would pass, but most repetitions failed a soft audit
    # Why its operations together exceed a limit, or may, although most windows pass; None if not
    excess: FailureReason | None
    # Whether a load of a table neither passes nor fails, because of `excess`
    undecided: bool
    confirmed: bool  # repeated as often as the rules require; always True without `confirmation`
    throughputs: tuple[float, ...]  # ops/s of the repetitions that the figure is computed from
    margins: tuple[Margin, ...]  # one for each repetition that counts
    overloads: tuple[Step, ...]  # failed repetitions, from which the target has to recover
    # Repetitions that passed although other programs slowed them: a calm machine gives no less
    slowed: tuple[Repetition, ...] = ()
    # Repetitions with too few operations to judge, because other programs slowed them
    slowed_to_silence: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the load."""
        return (
            not self.reasons and self.point.consistent and not self.doubtful and not self.undecided
        )

    @property
    def failed(self) -> bool:
        """Whether it fails, without an audit that casts doubt on the failure."""
        return bool(self.reasons) and self.point.consistent

    @property
    def passed_slowed(self) -> bool:
        """Whether most of its repetitions passed although other programs slowed them."""
        return 2 * len(self.slowed) > len(self.point.repetitions) - self.slowed_to_silence

    @property
    def count(self) -> int:
        """The number of repetitions that passed or failed."""
        return self.passes + self.fails

    @property
    def being_confirmed(self) -> bool:
        """Whether a search has begun to repeat it as the answer's load."""
        return any(r.step.purpose == "confirm" for r in self.point.repetitions)


class Assessment(NamedTuple):
    """Every load of some steps, lightest first, and what it was judged by."""

    points: list[LoadPoint]
    limit_us: dict[str, float]  # latency limit of each operation
    judged: list[Assessed]
    measured: list[Assessed]  # loads whose lightest is the base of relative limits
    relative: bool  # whether any limit is a multiple of the latency at that load

    @property
    def baseline(self) -> Assessed | None:
        """The load whose latency relative limits are multiples of; None if there are none."""
        return self.measured[0] if self.relative else None


def assess_steps(
    steps: Sequence[Step], rules: Rules, axis: Axis, *, baseline: Sequence[Step] | None = None
) -> Assessment:
    """Group steps by their load, find the latency limits, and judge every load by them.

    Args:
        steps: steps of a search that are not void.
        rules: rules, with the user's limits.
        axis: axis of the load.
        baseline: steps whose lightest load is the base of relative limits; None for `steps`.

    Raises:
        UsageError: The steps cannot be judged; names the row and the column.
    """
    points = group_by_load(steps, rules, axis)
    base = points if baseline is None else group_by_load(baseline, rules, axis)
    limit_us = _find_limits_us(points, rules, base[0])
    judged = assess_loads(points, rules, limit_us)
    measured = judged if baseline is None else assess_loads(base, rules, limit_us)
    relative = any(name not in rules.limits_us for name in limit_us)
    return Assessment(points, limit_us, judged, measured, relative)


def _find_limits_us(
    points: Sequence[LoadPoint], rules: Rules, baseline: LoadPoint
) -> dict[str, float]:
    """Return the latency limit of each operation in microseconds.

    It is the user's limit, otherwise a multiple of the *lightest* step's latency. It is never a
    multiple of the previous step's: step sizes differ, and a latency that rises slowly from step to
    step would always pass.

    Args:
        points: every load, lightest first.
        rules: the user's limits, and the multiple.
        baseline: load whose latency the multiple applies to.

    Raises:
        UsageError: A limit names an operation that no step has, or one without a baseline.
    """
    operations = {
        name: point.figures.where for point in points for name in point.figures.latency_us
    }
    for name in rules.limits_us:
        if name not in operations and not all(point.figures.refused for point in points):
            raise UsageError(
                f"limit for {name!r}: no step has this operation (there are: "
                f"{', '.join(sorted(operations)) or 'none'})"
            )
    where_first = baseline.figures.where
    baseline_us = _compute_baseline_latencies(
        [r.figures for r in baseline.counted or baseline.repetitions]
    )
    limits_us = {}
    for name, where in sorted(operations.items()):
        if name in rules.limits_us:
            limits_us[name] = rules.limits_us[name]
        elif name not in baseline_us:
            raise UsageError(
                f"{where_first}: latency_us.{name} is missing, but {where} has it: it is the "
                f"baseline of that operation; give {name} a limit of its own"
            )
        elif baseline_us[name] == 0:
            raise UsageError(f"{where_first}: latency_us.{name} is 0, which is impossible")
        else:
            limits_us[name] = rules.deterioration * baseline_us[name]
    return limits_us


def _compute_baseline_latencies(repetitions: Sequence[StepFigures]) -> dict[str, float]:
    """Return the median latency of each operation, the base of relative limits.

    For an even number, the lower of the middle two. Thus a load that only half of the repetitions
    support does not pass.
    """
    names = {name: None for r in repetitions for name in r.latency_us}
    return {
        name: median_low(r.latency_us[name] for r in repetitions if name in r.latency_us)
        for name in names
    }


def assess_loads(
    points: Sequence[LoadPoint], rules: Rules, limit_us: Mapping[str, float]
) -> list[Assessed]:
    """Judge every load by the limits and against the best lighter load that passed."""
    noise = estimate_pooled_noise(
        [[r.figures.throughput for r in point.counted] for point in points]
    )
    best, judged = Best(0.0, 1, noise), []
    # Limits that are multiples of the baseline are not known if other programs slowed it
    limited = points[0].consistent or all(name in rules.limits_us for name in limit_us)
    for point in points:
        assessed = _assess_load(point, rules, limit_us, best)
        if limited:
            slowed, silent = _find_slowed(point, rules, limit_us, best)
            assessed = replace(assessed, slowed=slowed, slowed_to_silence=silent)
        if assessed.passed and point.figures.throughput > best.throughput:
            best = Best(point.figures.throughput, max(1, len(point.counted)), noise)
        judged.append(assessed)
    return judged


def _assess_load(
    point: LoadPoint, rules: Rules, limit_us: Mapping[str, float], best: Best
) -> Assessed:
    counted = point.counted
    reasons = find_reasons(point.figures, rules, limit_us, best, max(1, len(counted)))
    reasons_each = [find_reasons(r.figures, rules, limit_us, best, 1) for r in counted]
    failed = [bool(each) for each in reasons_each]
    believed = "recovered" in rules.audits_off
    # A failure of a target that is still recovering from an overload does not count.
    dirty = [
        f and r.step.recovered is False and not believed
        for f, r in zip(failed, counted, strict=True)
    ]
    clean = len(counted) - sum(dirty)
    throughputs = _select_throughputs(point, failed)
    if counted and not clean:
        point = LoadPoint(point.load, point.repetitions, (), point.figures, point.client_bound)
    fails = sum(failed) - sum(dirty)
    windows = [r for r, bad in zip(counted, dirty, strict=True) if not bad]
    excess = find_excess(windows, rules, limit_us)
    confirmed = True
    if rules.confirmation is not None:
        confirmed, refuted = _judge_repetitions(throughputs, fails, clean, rules, best.noise)
        confirmed = confirmed and excess is None
        if excess is not None and clean >= rules.confirmation.most:
            code = excess.code.replace("undecided:", "latency:")  # it was tried often enough
            reasons, refuted = (replace(excess, code=code),), True
        if refuted and not reasons:
            reasons = (_name_refutation(fails, clean, reasons_each),)
        elif reasons and not refuted and clean > 1:
            reasons = ()  # undecided: at least as many repetitions passed as failed
    return Assessed(
        point=point,
        reasons=reasons,
        passes=clean - fails,
        fails=fails,
        said_nothing=sum(r.disputed for r in point.repetitions) + sum(dirty),
        doubtful=2 * sum(r.doubtful for r in counted) > len(counted),
        excess=excess,
        undecided=excess is not None and not reasons and rules.confirmation is None,
        confirmed=confirmed,
        throughputs=throughputs,
        margins=tuple(
            _compute_margin(r.figures, limit_us, each)
            for r, each, bad in zip(counted, reasons_each, dirty, strict=True)
            if not bad
        ),
        overloads=tuple(r.step for f, r in zip(failed, counted, strict=True) if f),
    )


def _find_slowed(
    point: LoadPoint, rules: Rules, limit_us: Mapping[str, float], best: Best
) -> tuple[tuple[Repetition, ...], int]:
    """Return the repetitions that would pass if no other program had disturbed them.

    Other programs begin and end within a window, so its halves may differ in either direction.

    Returns:
        These repetitions, and how many others are within the limits with too few operations.
    """
    slowed, silent = [], 0
    for repetition in point.repetitions:
        reasons = find_reasons(repetition.figures, rules, limit_us, best, 1)
        if not repetition.disturbed or any(reason.code != "unsteady" for reason in reasons):
            continue
        failed = {audit.name for audit in repetition.audits if audit.passed is False}
        if failed <= {"undisturbed", "steady_state"}:
            slowed.append(repetition)
        silent += failed <= {"undisturbed", "steady_state", "enough_operations"} and (
            "enough_operations" in failed
        )
    return tuple(slowed), silent


def _compute_margin(
    figures: StepFigures, limit_us: Mapping[str, float], reasons: Sequence[FailureReason]
) -> Margin:
    latency_us = figures.latency_us
    ratios = [latency_us[name] / limit for name, limit in limit_us.items() if name in latency_us]
    worst = max(ratios, default=0.0)
    otherwise = any(not reason.code.startswith("latency:") for reason in reasons)
    return Margin(math.log(worst) if worst > 0 else -math.inf, otherwise)


def _select_throughputs(point: LoadPoint, failed: Sequence[bool]) -> tuple[float, ...]:
    """Return the throughputs that the figure is computed from.

    In a closed loop these are all. In an open loop they are those of passed repetitions, whose
    throughput is the offered rate; the share of passed repetitions shows how certain the load is.
    """
    throughputs = tuple(r.figures.throughput for r in point.counted)
    if point.figures.rate is None:
        return throughputs
    passed = (x for x, bad in zip(throughputs, failed, strict=True) if not bad)
    return tuple(passed) or throughputs


def _judge_repetitions(
    throughputs: Sequence[float], fails: int, clean: int, rules: Rules, noise: float
) -> tuple[bool, bool]:
    """Return whether the repetitions confirm a load, and whether they refute it."""
    wanted = rules.confirmation
    assert wanted is not None  # noqa: S101 - callers check it
    allowed = int(max(wanted.most, clean) * (1 - wanted.pass_share) + 1e-9)
    if fails > allowed or 2 * fails > clean:
        return False, True
    if clean >= wanted.most:
        unsure = (
            min(compute_relative_margin(throughputs, 0.025), compute_median_margin(throughputs))
            > rules.cv_max
        )
        return not unsure or clean >= EXTRA * wanted.most, False
    if clean < wanted.least:
        return False, False
    margin = compute_relative_margin(throughputs, 0.025, noise)
    # Enough have passed, whatever further repetitions show
    enough = clean - fails >= math.ceil(wanted.most * wanted.pass_share - 1e-9)
    return (enough or not fails) and margin <= wanted.precision, False


def _name_refutation(
    fails: int, clean: int, reasons_each: Sequence[Sequence[FailureReason]]
) -> FailureReason:
    """Return why most repetitions failed, if their medians pass but too many do not."""
    codes = [reason.code for reasons in reasons_each for reason in reasons]
    code = max(sorted(set(codes)), key=codes.count)
    return FailureReason(code, 1.0, f"{fails} of {clean} repetitions fail ({code})")


def list_repeated_latencies(judged: Sequence[Assessed]) -> dict[str, list[list[float]]]:
    """Return each operation's latencies (us) at each load that passed twice or more."""
    groups: dict[str, list[list[float]]] = {}
    for load in judged:
        for name in load.point.figures.latency_us if load.passes > 1 else ():
            known = [r.figures.latency_us.get(name) for r in load.point.counted]
            groups.setdefault(name, []).append([us for us in known if us is not None])
    return groups


def estimate_latency_noise(judged: Sequence[Assessed]) -> float:
    """Return the standard deviation of the logarithm of a latency; 0 without repetitions."""
    return estimate_pooled_noise(chain.from_iterable(list_repeated_latencies(judged).values()))


# --- is the lightest load light enough as the base of relative limits? ---


# Growth of latency from the lightest load to the next, above which there was queueing
LIGHT_GROWTH = 0.15


def is_relative(lightest: Assessed, rules: Rules) -> bool:
    """Return whether any operation's limit is a multiple of its latency."""
    return any(name not in rules.limits_us for name in lightest.point.figures.latency_us)


def is_known_light(judged: Sequence[Assessed], rules: Rules, axis: Axis) -> bool | None:
    """Return whether latency is unchanged from the lightest load to the next heavier one.

    A closed loop with one connection is always light: it cannot queue behind another.

    Args:
        judged: every load, lightest first.
        rules: operations with a limit in microseconds are left out.
        axis: axis of the load.

    Returns:
        None if no heavier load has been measured yet, or it lacks the latencies.
    """
    lightest = judged[0].point
    closed_loop = axis != "rate_ops_per_second"
    if closed_loop and all(r.step.connections == 1 for r in lightest.repetitions):
        return True
    heavier = next((load.point for load in judged[1:] if load.point.consistent), None)
    if heavier is None:
        return None
    counts = (max(1, len(lightest.counted)), max(1, len(heavier.counted)))
    by_chance = estimate_latency_noise(judged) * math.sqrt(sum(1 / count for count in counts))
    before, after = lightest.figures.latency_us, heavier.figures.latency_us
    names = [name for name in before if name in after and name not in rules.limits_us]
    growths = [math.log(after[n] / before[n]) for n in names if before[n] > 0 and after[n] > 0]
    if not growths:
        return None
    return all(growth <= math.log1p(LIGHT_GROWTH) + by_chance for growth in growths)
