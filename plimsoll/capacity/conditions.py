"""Disputes an answer after which the rows break a condition of the workload."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.run.results import CheckedCondition


def dispute_by_conditions(capacity: Capacity, checked: Sequence[CheckedCondition]) -> Capacity:
    """Return a capacity without a figure if a condition is broken; a note keeps the verdict.

    Transactions that are lost or done by half are no throughput, and no step shows which they were.
    """
    broken = describe_broken(checked)
    if broken is None:
        return capacity
    cause = "audit:conditions"
    return capacity.withdraw_figure(
        verdict="INCONSISTENT",
        cause=cause,
        causes=(cause,),
        summary=f"no figure: after the last step {broken}",
        notes=(
            f"without the audit conditions: {capacity.sentence}",
            *capacity.notes,
        ),
        burst=None,
        closing=None,
    )


def describe_broken(checked: Sequence[CheckedCondition]) -> str | None:
    """Describe which conditions the rows break, as part of a sentence; None if they break none."""
    broken = [
        f"{one.name} ({one.about}; {one.breaches:,} times)" for one in checked if one.breaches
    ]
    return f"the rows break {', '.join(broken)}" if broken else None


def describe_conditions(checked: Sequence[CheckedCondition]) -> list[str]:
    """Describe in sentences how many conditions hold, which are broken, and which are unknown."""
    known = [one for one in checked if one.breaches is not None]
    holding = sum(not one.breaches for one in known)
    lines = []
    if known:
        lines.append(
            f"{holding} of {words.format_count(len(checked), 'condition')} of the workload hold on"
            " all"
            " rows after the last step"
        )
    if broken := describe_broken(checked):
        lines.append(broken)
    reasons: dict[str, list[str]] = {}
    for one in checked:
        if one.breaches is None:
            reasons.setdefault(one.unknown or "unknown", []).append(one.name)
    lines += [f"not checked: {', '.join(names)}: {why}" for why, names in reasons.items()]
    return lines
