"""Rules that a result is held against, as people write them, and what became of each."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, cast

from plimsoll.complaints import Complaint, unknown
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.quantities import latency_us

Answer = Literal["met", "not met", "no answer"]

FORMS = (
    "capacity >= 2000",
    "p99.read <= 5ms at 1500",
    "p99 <= 5ms at 1500",
    "not worse than FILE by 5 %",
)
_NUMBER = r"(\d{1,12}(?:\.\d{1,6})?)"
_UNIT = r"(?: ?ops/s)?"
_CAPACITY = re.compile(rf"capacity ?>= ?{_NUMBER}{_UNIT}", re.ASCII)
_LATENCY = re.compile(
    r"(mean|p50|p95|p999|p99\.9|p99|max)(?:\.([^\s<>=]{1,100}))? ?<= ?([^<>=]{1,24})"
    rf" at {_NUMBER}{_UNIT}",
    re.ASCII,
)
_BASELINE = re.compile(r"not worse than (.{1,250}) by (\d{1,2}(?:\.\d{1,6})?) ?%", re.ASCII)


@dataclass(frozen=True)
class CapacityRule:
    """The capacity is at least so much, in operations per second."""

    text: str
    least_ops_per_second: float


@dataclass(frozen=True)
class LatencyRule:
    """An operation takes at most so long at a load.

    Attributes:
        text: As it was written.
        statistic: Of its latency.
        operation: Which; None: each.
        most_us: The most, in microseconds.
        at_ops_per_second: The load.
    """

    text: str
    statistic: Statistic
    operation: str | None
    most_us: float
    at_ops_per_second: float


@dataclass(frozen=True)
class BaselineRule:
    """The capacity is not lower than that of an earlier result by more than a share of it.

    Attributes:
        text: As it was written.
        baseline: The file or folder of the earlier result.
        share: So much lower is not worse, 0 to 1.
    """

    text: str
    baseline: str
    share: float


Rule = CapacityRule | LatencyRule | BaselineRule


class Expectation(Model):
    """What became of a rule."""

    rule: str
    answer: Answer
    because: str  # with the figures that decide it, or what they lack


def rule_of(text: str) -> Rule:
    """Read a rule.

    Raises:
        UsageError: It is none.
    """
    written = " ".join(text.split())
    if match := _CAPACITY.fullmatch(written):
        return CapacityRule(text, _above_zero(match[1], text))
    if match := _LATENCY.fullmatch(written):
        statistic = cast("Statistic", "p999" if match[1] == "p99.9" else match[1])
        most_us = latency_us(match[3], repr(text))
        return LatencyRule(text, statistic, match[2], most_us, _above_zero(match[4], text))
    if match := _BASELINE.fullmatch(text.strip()):
        return BaselineRule(text, match[1].strip(), float(match[2]) / 100)
    shown = text if len(text) <= 100 else text[:100] + "..."
    problem = f"{shown!r} is no rule: write {', '.join(map(repr, FORMS))}"
    raise UsageError(Complaint((), problem, shown, FORMS, listed=False))


def _above_zero(number: str, text: str) -> float:
    if not float(number):
        raise UsageError(f"{text!r}: 0 ops/s is no load")
    return float(number)


def require_operations(rules: Iterable[Rule], operations: Collection[str]) -> None:
    """Refuse rules about operations that there are not.

    Raises:
        UsageError: One is; it names the rule.
    """
    for rule in rules:
        name = rule.operation if isinstance(rule, LatencyRule) else None
        if name is not None and name not in operations:
            hint = f"in {rule.text!r}"
            raise UsageError(unknown("operation", name, operations, value=rule.text, hint=hint))
