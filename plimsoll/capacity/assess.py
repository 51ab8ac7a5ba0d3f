"""Which loads pass: limits from the lightest step, then every rule on every load."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll import figures
from plimsoll.capacity.intervals import pooled_deviation, relative_margin
from plimsoll.capacity.loads import Point
from plimsoll.capacity.measured import Measured
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Rules
from plimsoll.model.steps import Step

EXTRA = 1.5  # times the most repetitions, where those still leave the figure unsure


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason for which a step fails."""

    code: str  # "latency:update", "errors", "rate", ...
    excess: float  # how far beyond what is allowed, as a factor: the worst comes first
    text: str


@dataclass(frozen=True, slots=True)
class Assessed:
    """A load with its reasons and the standing of its repetitions."""

    point: Point
    findings: tuple[Finding, ...]  # empty: it passes
    passes: int  # of the repetitions that count
    fails: int
    doubtful: bool  # would pass, but a soft audit failed for most repetitions
    confirmed: bool  # repeated as often as the rules ask; always True without `confirmation`
    throughputs: tuple[float, ...]  # of the repetitions on which a figure stands
    overloads: tuple[Step, ...]  # the repetitions that failed: the target has to recover from them

    @property
    def passed(self) -> bool:
        """Nothing speaks against it."""
        return not self.findings and self.point.consistent and not self.doubtful

    @property
    def failed(self) -> bool:
        """It fails, and nothing speaks against believing that."""
        return bool(self.findings) and self.point.consistent


def limits(points: Sequence[Point], rules: Rules) -> dict[str, float]:
    """Limit of each operation in microseconds: the user's, else a multiple of the lightest step's.

    Always of the *lightest* step, never of the step before: step sizes differ, and a latency that
    creeps up by a little each step would pass for ever.

    Raises:
        UsageError: a limit names an operation that no step has, or one without a baseline.
    """
    operations = {name: p.measured.where for p in points for name in p.measured.latency_us}
    for name in rules.limits_us:
        if name not in operations:
            raise UsageError(
                f"limit for {name!r}: no step has this operation (there are: "
                f"{', '.join(sorted(operations)) or 'none'})"
            )
    baseline = points[0].measured
    found = {}
    for name, where in sorted(operations.items()):
        if name in rules.limits_us:
            found[name] = rules.limits_us[name]
        elif name not in baseline.latency_us:
            raise UsageError(
                f"{baseline.where}: latency_us.{name} is missing, but {where} has it: it is the "
                f"baseline of that operation; give its limit with --limit-us {name}=N"
            )
        elif baseline.latency_us[name] == 0:
            raise UsageError(f"{baseline.where}: latency_us.{name} is 0, which no operation takes")
        else:
            found[name] = rules.deterioration * baseline.latency_us[name]
    return found


def assess(points: Sequence[Point], rules: Rules, limit_us: Mapping[str, float]) -> list[Assessed]:
    """Judge every load against the limits and against the best lighter one that passed."""
    repeated = ([r.measured.throughput for r in p.counted] for p in points if len(p.counted) > 1)
    noise = pooled_deviation(values for values in repeated if min(values) > 0)
    best, judged = Best(0.0, 1, noise), []
    for point in points:
        one = _assess(point, rules, limit_us, best)
        if one.passed and point.measured.throughput > best.throughput:
            best = Best(point.measured.throughput, max(1, len(point.counted)), noise)
        judged.append(one)
    return judged


@dataclass(frozen=True, slots=True)
class Best:
    """The greatest throughput of the lighter loads that passed."""

    throughput: float
    repetitions: int
    noise: float  # of the throughput of one repetition, as the repetitions so far show it

    def floor(self, repetitions: int, share: float) -> float:
        """Below this, throughput went backwards: by more than `share` and than the noise."""
        error = self.noise * math.sqrt(1 / max(1, repetitions) + 1 / self.repetitions)
        return self.throughput * (1 - share) * math.exp(-2 * error)


def _assess(point: Point, rules: Rules, limit_us: Mapping[str, float], best: Best) -> Assessed:
    findings = sorted(_findings(point.measured, rules, limit_us), key=lambda f: -f.excess)
    going_back = _retrograde(point, best, rules.retrograde_share)
    reasons = tuple(findings + going_back)
    counted = point.counted
    failed = [bool(_findings(r.measured, rules, limit_us)) for r in counted]
    believed = "recovered" in rules.audits_off
    dirty = [
        f and r.step.recovered is False and not believed
        for f, r in zip(failed, counted, strict=True)
    ]
    clean = len(counted) - sum(dirty)
    throughputs = _throughputs(point, failed)
    if counted and not clean:
        point = Point(point.load, point.repetitions, (), point.measured, point.client_bound)
    fails = sum(failed) - sum(dirty)
    confirmed = True
    if rules.confirmation is not None:
        confirmed, refuted = _standing(throughputs, fails, clean, rules, best.noise)
        if refuted and not reasons:
            reasons = (_refuted(fails, clean, point, rules, limit_us),)
        elif reasons and not refuted and clean > 1:
            reasons = tuple(going_back)  # undecided: as many passed
    return Assessed(
        point=point,
        findings=reasons,
        passes=clean - fails,
        fails=fails,
        doubtful=2 * sum(r.doubtful for r in counted) > len(counted),
        confirmed=confirmed,
        throughputs=throughputs,
        overloads=tuple(r.step for f, r in zip(failed, counted, strict=True) if f),
    )


def _throughputs(point: Point, failed: Sequence[bool]) -> tuple[float, ...]:
    """The throughputs whose scatter is the scatter of the figure.

    In a closed loop, all. In an open loop those of the repetitions that passed: there throughput is
    the rate that was offered, and how sure the load is shows in the share that passed.
    """
    every = tuple(r.measured.throughput for r in point.counted)
    if point.measured.rate is None:
        return every
    passed = (x for x, bad in zip(every, failed, strict=True) if not bad)
    return tuple(passed) or every


def _standing(
    throughputs: Sequence[float], fails: int, clean: int, rules: Rules, noise: float
) -> tuple[bool, bool]:
    """Whether the repetitions confirm a load, and whether they refute it."""
    wanted = rules.confirmation
    assert wanted is not None  # noqa: S101 - the caller has looked
    allowed = int(max(wanted.most, clean) * (1 - wanted.pass_share) + 1e-9)
    if fails > allowed or 2 * fails > clean:
        return False, True
    if clean >= wanted.most:
        unsure = relative_margin(throughputs, 0.025) > rules.cv_max
        return not unsure or clean >= EXTRA * wanted.most, False
    precise = relative_margin(throughputs, 0.025, noise) <= wanted.precision
    return clean >= wanted.least and not fails and precise, False


def _refuted(
    fails: int, clean: int, point: Point, rules: Rules, limit_us: Mapping[str, float]
) -> Finding:
    """The median passes, but too many repetitions do not: name what most of them failed for."""
    codes = [f.code for r in point.counted for f in _findings(r.measured, rules, limit_us)]
    code = max(sorted(set(codes)), key=codes.count)
    return Finding(code, 1.0, f"{fails} of {clean} repetitions fail ({code})")


def _findings(m: Measured, rules: Rules, limit_us: Mapping[str, float]) -> list[Finding]:
    """Everything that one measurement fails for, but for what needs other steps."""
    found = []
    if m.throughput == 0:
        found.append(Finding("no_throughput", float("inf"), "no operation succeeded"))
    for name, limit in limit_us.items():
        latency = m.latency_us.get(name)
        if latency is not None and latency > limit:
            text = f"{name} took {figures.latency(latency)}, limit {figures.latency(limit)}"
            found.append(Finding(f"latency:{name}", latency / limit, text))
    if m.errors_share is not None and m.errors_share > rules.errors_max_share:
        text = f"{m.errors_share:.2%} of operations failed, {rules.errors_max_share:.2%} allowed"
        excess = m.errors_share / rules.errors_max_share if rules.errors_max_share else float("inf")
        found.append(Finding("errors", excess if not found else 1.0, text))
    if m.rate is not None and m.throughput < rules.kept_up_share * m.rate:
        text = f"{figures.rate(m.throughput)}/s of {figures.rate(m.rate)}/s offered"
        found.append(Finding("rate", m.rate / m.throughput if m.throughput else 1.0, text))
    if m.backlog:
        found.append(Finding("backlog", 1.0, "operations due and unsent kept growing"))
    if m.slowing:
        found.append(Finding("unsteady", 1.0, "the second half of the window was much slower"))
    if not found:
        _complete(m, limit_us)
    return found


def _complete(m: Measured, limit_us: Mapping[str, float]) -> None:
    missing = [name for name in limit_us if name not in m.latency_us]
    if missing:
        raise UsageError(
            f"{m.where}: latency_us.{missing[0]} is missing, but other steps have it: "
            "without it the step can neither pass nor fail"
        )
    if not limit_us:
        raise UsageError(
            f"{m.where}: no latency_us.<operation> column: without latencies nothing can be judged"
        )


def _retrograde(point: Point, best: Best, share: float) -> list[Finding]:
    """Closed loop: more load, and less throughput than a lighter step had."""
    throughput = point.measured.throughput
    if point.measured.rate is not None or throughput >= best.floor(len(point.counted), share):
        return []
    text = f"throughput fell to {figures.rate(throughput)}/s from {figures.rate(best.throughput)}/s"
    excess = best.throughput / throughput if throughput else math.inf
    return [Finding("retrograde", excess, text)]
