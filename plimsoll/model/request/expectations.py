"""Expectations: rules in the user's words that a result has to meet, and their outcome."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, cast

from pydantic import AfterValidator

from plimsoll.complaints import Complaint, complain_of_unknown
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.quantities import NO_LATENCY, read_latency_us
from plimsoll.words import escape_controls

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
    """The capacity is at least a given throughput, in operations per second."""

    text: str
    least_ops_per_second: float


@dataclass(frozen=True)
class LatencyRule:
    """The latency of an operation at a given load is at most a limit.

    Attributes:
        text: the rule as the user wrote it.
        statistic: statistic of the latency.
        operation: name of the operation; None for every operation.
        most_us: limit in microseconds.
        at_ops_per_second: load in operations per second.
    """

    text: str
    statistic: Statistic
    operation: str | None
    most_us: float
    at_ops_per_second: float


@dataclass(frozen=True)
class BaselineRule:
    """The capacity is at most a given share below that of an earlier result.

    Attributes:
        text: the rule as the user wrote it.
        baseline: file or folder of the earlier result.
        share: tolerated decrease, 0 to 1.
    """

    text: str
    baseline: str
    share: float


Rule = CapacityRule | LatencyRule | BaselineRule


# A rule may name a file, whose name may hold anything.
_Shown = Annotated[str, AfterValidator(escape_controls)]


class Expectation(Model):
    """The outcome of a rule."""

    rule: _Shown
    answer: Answer
    because: _Shown  # the figures that decide it, or what is missing


def parse_rule(text: str) -> Rule:
    """Parse a rule.

    Raises:
        UsageError: The text is not a rule.
    """
    written = " ".join(text.split())
    if match := _CAPACITY.fullmatch(written):
        return CapacityRule(text, _parse_positive(match[1], text))
    if match := _LATENCY.fullmatch(written):
        statistic = cast("Statistic", "p999" if match[1] == "p99.9" else match[1])
        most_us = read_latency_us(match[3])
        if most_us is None:
            raise UsageError(f"{text!r}: {match[3]!r} {NO_LATENCY}")
        return LatencyRule(text, statistic, match[2], most_us, _parse_positive(match[4], text))
    if match := _BASELINE.fullmatch(text.strip()):
        return BaselineRule(text, match[1].strip(), float(match[2]) / 100)
    shown = text if len(text) <= 100 else text[:100] + "..."
    problem = f"{shown!r} is not a rule: write {', '.join(map(repr, FORMS))}"
    raise UsageError(Complaint((), problem, shown, FORMS, listed=False))


def _parse_positive(number: str, text: str) -> float:
    if not float(number):
        raise UsageError(f"{text!r}: 0 ops/s is not a load")
    return float(number)


def require_operations(rules: Iterable[Rule], operations: Collection[str]) -> None:
    """Refuse rules about operations that the workload does not have.

    Raises:
        UsageError: A rule is refused; names the rule.
    """
    for rule in rules:
        name = rule.operation if isinstance(rule, LatencyRule) else None
        if name is not None and name not in operations:
            hint = f"in {rule.text!r}"
            raise UsageError(
                complain_of_unknown("operation", name, operations, value=rule.text, hint=hint)
            )
