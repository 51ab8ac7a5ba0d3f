"""The verdict on a table of steps, from whatever program: how it is judged, and what it lacks.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll import words
from plimsoll.capacity.credits import judge_sustained
from plimsoll.model.capacity import AuditName, Axis, Capacity, Rules
from plimsoll.model.steps import Statistic, Step

FALLBACKS: tuple[Statistic, ...] = ("p99", "p95", "p999", "mean", "p50", "max")


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How a table is judged.

    Attributes:
        rules: Those that its run was judged by; None: it is no run's, and the defaults hold.
        axis: Its run's; None: as the steps show.
        limits_us: The most that operations may take, besides those of the rules.
        deterioration: Of the other operations, as a multiple of the lightest step; None: as ruled.
        statistic: That is judged; None: its run's, else the highest that the table has.
        connections_per_client: Where the table has no connections; None: they stay unknown.
        audits_off: That are not run.
    """

    rules: Rules | None = None
    axis: Axis | None = None
    limits_us: dict[str, float] = field(default_factory=dict)
    deterioration: float | None = None
    statistic: Statistic | None = None
    connections_per_client: int | None = None
    audits_off: frozenset[AuditName] = frozenset()


def judge_table(steps: Sequence[Step], told: Sequence[str], judging: Judging) -> Capacity:
    """Judge a table of steps, each measured as often as it was.

    Args:
        steps: The steps.
        told: What a reader has to know of them.
        judging: How.

    Raises:
        UsageError: The steps cannot be judged.
    """
    steps, rules = list(steps), judging.rules or Rules(confirmation=None)
    if judging.connections_per_client is not None:
        steps = [_with_connections(step, judging.connections_per_client) for step in steps]
    wanted = judging.statistic or (rules.statistic if judging.axis else None)
    statistic, notes = _statistic(steps, wanted)
    audits_off = rules.audits_off | judging.audits_off
    changes: dict[str, Any] = {"statistic": statistic, "audits_off": audits_off}
    if judging.deterioration is not None:
        changes["deterioration"] = judging.deterioration
    changes["limits_us"] = {**rules.limits_us, **judging.limits_us}
    capacity = judge_sustained(steps, rules.model_copy(update=changes), judging.axis)
    known = (*capacity.notes, *notes, *told, *_unchecked(steps), *_undecided(capacity))
    return capacity.model_copy(update={"notes": known})


def _with_connections(step: Step, per_client: int) -> Step:
    if step.connections is not None or step.clients is None:
        return step
    return step.model_copy(update={"connections": step.clients * per_client})


def _statistic(steps: list[Step], wanted: Statistic | None) -> tuple[Statistic, list[str]]:
    """The statistic that is judged, with a note where it is not the usual one.

    It is the one asked for, else the first of p99, p95, ... that every latency has.
    """
    latencies = [values for step in steps for values in step.latency_us.values()]
    if wanted is not None or not latencies:
        return wanted or "p99", []
    for statistic in FALLBACKS:
        if all(statistic in values for values in latencies):
            if statistic == "p99":
                return statistic, []
            unnamed = ""
            if statistic == "mean":
                unnamed = " (in a table, a latency without a statistic is a mean)"
            name = words.statistic(statistic)
            return statistic, [f"judged by the {name}{unnamed}: not every step has a p99"]
    return "p99", []


def _unchecked(steps: list[Step]) -> list[str]:
    """Say that Little's law was not checked, where only the connections were missing for it."""
    closed = all(step.rate_ops_per_second is None for step in steps)
    means = any("mean" in values for step in steps for values in step.latency_us.values())
    if closed and means and all(step.connections is None for step in steps):
        return ["Little's law is not checked without connections (--connections-per-client N)"]
    return []


def _undecided(capacity: Capacity) -> list[str]:
    """Say where Little's law could not decide because nobody knows the operations' shares."""
    for judged in capacity.steps:
        for audit in judged.audits:
            if audit.name == "littles_law" and "shares" in audit.detail and audit.passed is None:
                load = words.load(judged.load, capacity.axis)
                return [
                    f"Little's law decides nothing at {load}: it {audit.detail} (share.<operation>)"
                ]
    return []
