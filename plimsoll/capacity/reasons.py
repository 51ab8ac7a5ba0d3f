"""Why a step fails: each rule on its figures, the worst reason first."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.step_figures import StepFigures
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Rules


@dataclass(frozen=True, slots=True)
class FailureReason:
    """A reason for which a step fails."""

    code: str  # "latency:update", "errors", "rate", ...
    excess: float  # how far beyond what is allowed, as a factor: the worst comes first
    text: str


@dataclass(frozen=True, slots=True)
class Best:
    """The greatest throughput of the lighter loads that passed."""

    throughput: float
    repetitions: int
    noise: float  # of the throughput of one repetition, as the repetitions so far show it

    def floor(self, repetitions: int, share: float) -> float:
        """The throughput below which it went backwards: by more than `share`, and than noise."""
        error = self.noise * math.sqrt(1 / max(1, repetitions) + 1 / self.repetitions)
        return self.throughput * (1 - share) * math.exp(-2 * error)


def reasons_of(
    figures: StepFigures,
    rules: Rules,
    limit_us: Mapping[str, float],
    best: Best,
    repetitions: int,
) -> tuple[FailureReason, ...]:
    """Every reason to fail a step, or the medians of so many repetitions; the worst first."""
    if figures.refused is not None:  # the rest is of the connections that were let in
        return (FailureReason("connections", math.inf, figures.refused),)
    own = sorted(_own_reasons(figures, rules, limit_us), key=lambda reason: -reason.excess)
    return (*own, *_retrograde(figures, best, repetitions, rules.retrograde_share))


def _own_reasons(
    figures: StepFigures, rules: Rules, limit_us: Mapping[str, float]
) -> list[FailureReason]:
    """Every reason to fail a step that its own figures give, whatever other steps did."""
    reasons = []
    if figures.throughput == 0:
        reasons.append(FailureReason("no_throughput", math.inf, "no operation succeeded"))
    for name, limit in limit_us.items():
        latency = figures.latency_us.get(name)
        if latency is not None and latency > limit:
            text = f"{name} took {words.latency(latency)}, limit {words.latency(limit)}"
            reasons.append(FailureReason(f"latency:{name}", latency / limit, text))
    failed, allowed = figures.errors_share, rules.errors_max_share
    if failed is not None and failed > allowed:
        text = f"{words.percent(failed)} of operations failed, {words.percent(allowed)} allowed"
        excess = failed / allowed if allowed else math.inf
        reasons.append(FailureReason("errors", excess if not reasons else 1.0, text))
    if figures.rate is not None and figures.throughput < rules.kept_up_share * figures.rate:
        text = f"{words.rate(figures.throughput)} of {words.rate(figures.rate)} ops/s offered"
        excess = figures.rate / figures.throughput if figures.throughput else 1.0
        reasons.append(FailureReason("rate", excess, text))
    if figures.backlog:
        reasons.append(FailureReason("backlog", 1.0, "operations due and unsent kept growing"))
    if figures.slowing:
        text = "the second half of the window was much slower"
        reasons.append(FailureReason("unsteady", 1.0, text))
    if not reasons:
        _require_latencies(figures, limit_us)
    return reasons


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


def _retrograde(
    figures: StepFigures, best: Best, repetitions: int, share: float
) -> list[FailureReason]:
    """In a closed loop: a heavier load that gives less throughput than a lighter one did."""
    throughput = figures.throughput
    if figures.rate is not None or throughput >= best.floor(repetitions, share):
        return []
    text = f"throughput fell from {words.rate(best.throughput)} to {words.throughput(throughput)}"
    excess = best.throughput / throughput if throughput else math.inf
    return [FailureReason("retrograde", excess, text)]
