"""Checks what is true of a workload's rows before and after every load, such as TPC-C's conditions.

Each condition is one query over whole tables, which sees one moment of the database, so operations
that are cut off or still in progress break none.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from plimsoll import words
from plimsoll.complaints import Complaint
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.run.results import CheckedCondition
from plimsoll.workload.compiled import Compiled

AUDIT_MAX_S = 300.0  # all conditions together


class Numbers(Protocol):
    """What reads a number from a database."""

    def read_number(self, query: str, longest_s: float | None = None) -> int:
        """Return the first column of a query's first row; the server ends it after `longest_s`."""

    def cut_off(self) -> None:
        """Close the connection from another thread or a signal handler."""


Connect = Callable[[EngineTarget], AbstractContextManager[Numbers]]


def is_audited(compiled: Compiled, rules: Rules) -> bool:
    """Return whether a workload's conditions are to be checked after the last step."""
    return bool(compiled.conditions) and "conditions" not in rules.audits_off


def check_conditions(
    target: EngineTarget,
    compiled: Compiled,
    connect: Connect | None = None,
    *,
    longest_s: float | None = None,
) -> tuple[CheckedCondition, ...]:
    """Count how often the rows break each condition of a workload.

    Args:
        target: The database.
        compiled: The workload.
        connect: Opens the database; None for the family's own way.
        longest_s: The time for all conditions in seconds, from the login on; None for no limit.
            What does not end in time is unknown.

    Raises:
        PlimsollError: The server is unreachable.
        UsageError: The workload has no conditions.
    """
    if not compiled.conditions:
        raise UsageError(Complaint(("workload",), f"{compiled.name} has no conditions to check"))
    checked = []
    with (connect or open_numbers)(target) as numbers:
        ends_at = None if longest_s is None else time.monotonic() + longest_s
        for name, condition in compiled.conditions.items():
            left_s = None if ends_at is None else ends_at - time.monotonic()
            breaches, unknown = None, None
            if left_s is None or left_s > 0:
                try:
                    breaches = numbers.read_number(condition.sql, left_s)
                except PlimsollError as error:
                    unknown = str(error)
            if breaches is None and ends_at is not None and time.monotonic() >= ends_at:
                unknown = f"not done when {words.format_duration(longest_s)} had passed"
            checked.append(
                CheckedCondition(
                    name=name, about=condition.about, breaches=breaches, unknown=unknown
                )
            )
    return tuple(checked)


def audit_conditions(
    target: EngineTarget,
    compiled: Compiled,
    connect: Connect | None = None,
    *,
    longest_s: float = AUDIT_MAX_S,
) -> tuple[CheckedCondition, ...]:
    """Check the conditions after a load as `check_conditions` does, whatever the server says."""
    try:
        return check_conditions(target, compiled, connect, longest_s=longest_s)
    except PlimsollError as error:
        return leave_unknown(compiled, str(error))


def leave_unknown(compiled: Compiled, why: str) -> tuple[CheckedCondition, ...]:
    """Return a workload's conditions, none of which could be checked."""
    return tuple(
        CheckedCondition(name=name, about=condition.about, breaches=None, unknown=why)
        for name, condition in compiled.conditions.items()
    )


def open_numbers(target: EngineTarget) -> AbstractContextManager[Numbers]:
    """Connect to a database of a family with conditions: none has them in CQL."""
    if target.protocol == "postgres":
        from plimsoll.databases.postgres.datasets import open_datasets  # noqa: PLC0415 - a driver

        return open_datasets(target)
    from plimsoll.databases.mysql.datasets import open_datasets as open_mysql  # noqa: PLC0415

    return open_mysql(target)
