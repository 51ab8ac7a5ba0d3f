"""Which loads pass: limits from the lightest step, then every rule on every load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.capacity.intervals import relative_margin
from plimsoll.capacity.points import Measured, Point
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Rules


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
    best, judged = 0.0, []
    for point in points:
        one = _assess(point, rules, limit_us, best)
        if one.passed:
            best = max(best, point.measured.throughput)
        judged.append(one)
    return judged


def _assess(point: Point, rules: Rules, limit_us: Mapping[str, float], best: float) -> Assessed:
    findings = sorted(_findings(point.measured, rules, limit_us), key=lambda f: -f.excess)
    going_back = _retrograde(point.measured, rules, best)
    reasons = tuple(findings + going_back)
    counted = point.counted
    failed = [bool(_findings(r.measured, rules, limit_us)) for r in counted]
    dirty = [f and r.step.recovered is False for f, r in zip(failed, counted, strict=True)]
    clean = len(counted) - sum(dirty)
    if counted and not clean:
        point = Point(point.load, point.repetitions, (), point.measured, point.client_bound)
    fails = sum(failed) - sum(dirty)
    confirmed = True
    if rules.confirmation is not None:
        confirmed, refuted = _standing(point, fails, clean, rules)
        if refuted and not reasons:
            reasons = (_refuted(fails, clean, point, rules, limit_us),)
    return Assessed(
        point=point,
        findings=reasons,
        passes=clean - fails,
        fails=fails,
        doubtful=2 * sum(r.doubtful for r in counted) > len(counted),
        confirmed=confirmed,
    )


def _standing(point: Point, fails: int, clean: int, rules: Rules) -> tuple[bool, bool]:
    """Whether the repetitions confirm a load, and whether they refute it."""
    wanted = rules.confirmation
    assert wanted is not None  # noqa: S101 - the caller has looked
    allowed = int(wanted.most * (1 - wanted.pass_share) + 1e-9)
    if fails > allowed:
        return False, True
    if clean >= wanted.most:
        return True, False
    precise = relative_margin([r.measured.throughput for r in point.counted], 0.05)
    return clean >= wanted.least and not fails and precise <= wanted.precision, False


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
            text = f"{name} took {latency:,.4g} us, limit {limit:,.4g} us"
            found.append(Finding(f"latency:{name}", latency / limit, text))
    if m.errors_share is not None and m.errors_share > rules.errors_max_share:
        text = f"{m.errors_share:.2%} of operations failed, {rules.errors_max_share:.2%} allowed"
        excess = m.errors_share / rules.errors_max_share if rules.errors_max_share else float("inf")
        found.append(Finding("errors", excess if not found else 1.0, text))
    if m.rate is not None and m.throughput < rules.kept_up_share * m.rate:
        text = f"{m.throughput:,.4g}/s of {m.rate:,.4g}/s offered"
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


def _retrograde(m: Measured, rules: Rules, best: float) -> list[Finding]:
    """Closed loop: more load, and less throughput than a lighter step had."""
    if m.rate is not None or m.throughput >= best * (1 - rules.retrograde_share):
        return []
    text = f"throughput fell to {m.throughput:,.6g}/s from {best:,.6g}/s"
    return [Finding("retrograde", best / m.throughput if m.throughput else float("inf"), text)]
