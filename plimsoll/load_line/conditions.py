"""The conditions that a workload's rows meet before and after every load."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload import Compiled


class Numbers(Protocol):
    """What reads a number from a database."""

    def read_number(self, query: str) -> int:
        """Return the first column of a query's first row, a whole number."""


def check_conditions(
    target: EngineTarget,
    compiled: Compiled,
    connect: Callable[[EngineTarget], AbstractContextManager[Numbers]] | None = None,
) -> dict[str, int]:
    """Return how often the rows break each condition of a workload, by the condition's name.

    Args:
        target: The database.
        compiled: The workload.
        connect: Opens the database; None for the family's own way.

    Raises:
        PlimsollError: The server is unreachable or refuses.
        UsageError: The workload has no conditions.
    """
    if not compiled.conditions:
        raise UsageError(Complaint(("workload",), f"{compiled.name} has no conditions to check"))
    with (connect or _open_numbers(target))(target) as numbers:
        return {
            name: numbers.read_number(condition.sql)
            for name, condition in compiled.conditions.items()
        }


def _open_numbers(
    target: EngineTarget,
) -> Callable[[EngineTarget], AbstractContextManager[Numbers]]:
    """Return what opens a database of a family with conditions: none has them in CQL."""
    if target.protocol == "postgres":
        from plimsoll.databases.postgres.datasets import open_datasets  # noqa: PLC0415 - a driver

        return open_datasets
    from plimsoll.databases.mysql.datasets import open_datasets as open_mysql  # noqa: PLC0415

    return open_mysql
