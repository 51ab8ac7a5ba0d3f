"""Which loads pass: limits from the lightest step, then every rule on every load."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from plimsoll.capacity.intervals import median_margin, pooled_noise, relative_margin
from plimsoll.capacity.loads import LoadPoint
from plimsoll.capacity.reasons import Best, FailureReason, reasons_of
from plimsoll.capacity.step_figures import StepFigures, baseline_of
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Rules
from plimsoll.model.steps import Step

EXTRA = 1.5  # times `Confirmation.most`: repetitions where those still leave the figure unsure


class Margin(NamedTuple):
    """How far a repetition is from failing."""

    latency: float  # log(latency / limit) of the operation that is furthest beyond, or nearest
    failed_otherwise: bool  # for anything but latency


@dataclass(frozen=True, slots=True)
class Assessed:
    """A load with its reasons and the standing of its repetitions."""

    point: LoadPoint
    reasons: tuple[FailureReason, ...]  # why it fails; empty: it does not
    passes: int  # among the repetitions that count
    fails: int
    said_nothing: int  # repetitions that an audit disputes, or that failed before a recovery
    doubtful: bool  # it would pass, but a soft audit failed for most repetitions
    confirmed: bool  # repeated as often as the rules ask; always True without `confirmation`
    throughputs: tuple[float, ...]  # ops/s, of the repetitions that the figure is made of
    margins: tuple[Margin, ...]  # of each repetition that counts
    overloads: tuple[Step, ...]  # the repetitions that failed: the target has to recover from them

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons and self.point.consistent and not self.doubtful

    @property
    def failed(self) -> bool:
        """Whether it fails, with no audit that casts doubt on its failure."""
        return bool(self.reasons) and self.point.consistent

    @property
    def being_confirmed(self) -> bool:
        """Whether a search has begun to repeat it as the load of the answer."""
        return any(r.step.purpose == "confirm" for r in self.point.repetitions)


def limits(
    points: Sequence[LoadPoint], rules: Rules, baseline: LoadPoint | None = None
) -> dict[str, float]:
    """Limit of each operation in microseconds: the user's, else a multiple of the lightest step's.

    The multiple is always of the *lightest* step, never of the step before: step sizes differ, and
    a latency that creeps up a little with each step would pass for ever.

    Args:
        points: every load, lightest first.
        rules: what the user's limits are, and the multiple.
        baseline: the load whose latency it is a multiple of; None: the lightest of these.

    Raises:
        UsageError: a limit names an operation that no step has, or one without a baseline.
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
    first = baseline or points[0]
    where_first = first.figures.where
    baseline_us = baseline_of([r.figures for r in first.counted or first.repetitions])
    limits_us = {}
    for name, where in sorted(operations.items()):
        if name in rules.limits_us:
            limits_us[name] = rules.limits_us[name]
        elif name not in baseline_us:
            raise UsageError(
                f"{where_first}: latency_us.{name} is missing, but {where} has it: it is the "
                f"baseline of that operation; give its limit with --limit-us {name}=N"
            )
        elif baseline_us[name] == 0:
            raise UsageError(f"{where_first}: latency_us.{name} is 0, which no operation takes")
        else:
            limits_us[name] = rules.deterioration * baseline_us[name]
    return limits_us


def assess(
    points: Sequence[LoadPoint], rules: Rules, limit_us: Mapping[str, float]
) -> list[Assessed]:
    """Judge every load against the limits and against the best lighter one that passed."""
    noise = pooled_noise([[r.figures.throughput for r in point.counted] for point in points])
    best, judged = Best(0.0, 1, noise), []
    for point in points:
        assessed = _assess(point, rules, limit_us, best)
        if assessed.passed and point.figures.throughput > best.throughput:
            best = Best(point.figures.throughput, max(1, len(point.counted)), noise)
        judged.append(assessed)
    return judged


def _assess(point: LoadPoint, rules: Rules, limit_us: Mapping[str, float], best: Best) -> Assessed:
    counted = point.counted
    reasons = reasons_of(point.figures, rules, limit_us, best, max(1, len(counted)))
    reasons_each = [reasons_of(r.figures, rules, limit_us, best, 1) for r in counted]
    failed = [bool(each) for each in reasons_each]
    believed = "recovered" in rules.audits_off
    # A failure on a target that still recovers from an overload says nothing.
    dirty = [
        f and r.step.recovered is False and not believed
        for f, r in zip(failed, counted, strict=True)
    ]
    clean = len(counted) - sum(dirty)
    throughputs = _throughputs(point, failed)
    if counted and not clean:
        point = LoadPoint(point.load, point.repetitions, (), point.figures, point.client_bound)
    fails = sum(failed) - sum(dirty)
    confirmed = True
    if rules.confirmation is not None:
        confirmed, refuted = _standing(throughputs, fails, clean, rules, best.noise)
        if refuted and not reasons:
            reasons = (_refuted(fails, clean, reasons_each),)
        elif reasons and not refuted and clean > 1:
            reasons = ()  # undecided: at least as many repetitions passed as failed
    return Assessed(
        point=point,
        reasons=reasons,
        passes=clean - fails,
        fails=fails,
        said_nothing=sum(r.disputed for r in point.repetitions) + sum(dirty),
        doubtful=2 * sum(r.doubtful for r in counted) > len(counted),
        confirmed=confirmed,
        throughputs=throughputs,
        margins=tuple(
            _margin(r.figures, limit_us, each)
            for r, each, bad in zip(counted, reasons_each, dirty, strict=True)
            if not bad
        ),
        overloads=tuple(r.step for f, r in zip(failed, counted, strict=True) if f),
    )


def _margin(
    figures: StepFigures, limit_us: Mapping[str, float], reasons: Sequence[FailureReason]
) -> Margin:
    latency_us = figures.latency_us
    ratios = [latency_us[name] / limit for name, limit in limit_us.items() if name in latency_us]
    worst = max(ratios, default=0.0)
    otherwise = any(not reason.code.startswith("latency:") for reason in reasons)
    return Margin(math.log(worst) if worst > 0 else -math.inf, otherwise)


def _throughputs(point: LoadPoint, failed: Sequence[bool]) -> tuple[float, ...]:
    """The throughputs whose scatter is the scatter of the figure.

    In a closed loop these are all of them. In an open loop they are those of the repetitions that
    passed: throughput is then the rate that was offered, and the share of repetitions that passed
    shows how sure the load is.
    """
    throughputs = tuple(r.figures.throughput for r in point.counted)
    if point.figures.rate is None:
        return throughputs
    passed = (x for x, bad in zip(throughputs, failed, strict=True) if not bad)
    return tuple(passed) or throughputs


def _standing(
    throughputs: Sequence[float], fails: int, clean: int, rules: Rules, noise: float
) -> tuple[bool, bool]:
    """Whether the repetitions confirm a load, and whether they refute it."""
    wanted = rules.confirmation
    assert wanted is not None  # noqa: S101 - the caller has checked it
    allowed = int(max(wanted.most, clean) * (1 - wanted.pass_share) + 1e-9)
    if fails > allowed or 2 * fails > clean:
        return False, True
    if clean >= wanted.most:
        unsure = min(relative_margin(throughputs, 0.025), median_margin(throughputs)) > rules.cv_max
        return not unsure or clean >= EXTRA * wanted.most, False
    if clean < wanted.least:
        return False, False
    margin = relative_margin(throughputs, 0.025, noise)
    if clean - fails >= math.ceil(wanted.most * wanted.pass_share - 1e-9):
        return margin <= rules.cv_max, False  # whatever the others would show: enough have passed
    return not fails and margin <= wanted.precision, False


def _refuted(
    fails: int, clean: int, reasons_each: Sequence[Sequence[FailureReason]]
) -> FailureReason:
    """Name what most repetitions failed for, where their median passes but too many do not."""
    codes = [reason.code for reasons in reasons_each for reason in reasons]
    code = max(sorted(set(codes)), key=codes.count)
    return FailureReason(code, 1.0, f"{fails} of {clean} repetitions fail ({code})")


def latencies_of_repeated(judged: Sequence[Assessed]) -> dict[str, list[list[float]]]:
    """The latencies of each operation at each load that passed twice or more, in microseconds."""
    groups: dict[str, list[list[float]]] = {}
    for load in judged:
        for name in load.point.figures.latency_us if load.passes > 1 else ():
            known = [r.figures.latency_us.get(name) for r in load.point.counted]
            groups.setdefault(name, []).append([us for us in known if us is not None])
    return groups


def latency_noise(judged: Sequence[Assessed]) -> float:
    """Standard deviation of the logarithm of a latency; 0 where nothing was repeated."""
    return pooled_noise(chain.from_iterable(latencies_of_repeated(judged).values()))
