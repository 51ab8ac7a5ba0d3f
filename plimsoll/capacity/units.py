"""Whether latencies can be microseconds at all, or are milliseconds or seconds."""

from collections.abc import Sequence

from plimsoll import words
from plimsoll.capacity.latency_columns import PREFIX
from plimsoll.capacity.step_figures import where
from plimsoll.capacity.under_way import under_way
from plimsoll.errors import UsageError
from plimsoll.model.steps import Step

# Connections / operations under way. It is 1 where connections never wait for the client, and a
# thousand times that where milliseconds pass for microseconds. No factor says so of a client that
# waits between its operations, so that every step must show it.
_THOUSANDFOLD = (300.0, 3_000.0)
_MILLIONFOLD = (300_000.0, 3_000_000.0)


def check_units(steps: Sequence[Step], *, by_littles_law: bool = True) -> None:
    """Refuse a table whose `latency_us` columns surely hold something else than microseconds.

    Args:
        steps: Of one table.
        by_littles_law: Also refuse what can only be if clients wait between operations.

    Raises:
        UsageError: Names the row and the column.
    """
    for number, step in enumerate(steps, 1):
        for operation, values in step.latency_us.items():
            for statistic, us in values.items():
                if 0 < us < 1:
                    raise UsageError(
                        f"{where(step, number)}: {PREFIX}{operation} ({statistic}) is {us:g}, under"
                        " a microsecond: is it in milliseconds? It has to be in microseconds"
                    )
    idle = [_idle_factor(step) for step in steps if step.rate_ops_per_second is None]
    known = [factor for factor in idle if factor is not None]
    if not by_littles_law or not known:
        return
    for unit, (low, high) in (("milliseconds", _THOUSANDFOLD), ("seconds", _MILLIONFOLD)):
        if low <= min(known) and max(known) <= high:
            raise _refusal(next(step for step in steps if _idle_factor(step)), unit)


def _idle_factor(step: Step) -> float | None:
    """Connections (at least one for each client) / operations under way; None if not known.

    Operations that fail hold connections too, and no figure of a table says for how long.
    """
    found, connections = under_way(step), step.connections or step.clients
    failing = 10 * (step.errors or 0) > (step.operations or 0)
    if found is None or connections is None or not found.most or failing:
        return None
    return connections / found.most


def _refusal(step: Step, unit: str) -> UsageError:
    columns = ", ".join(PREFIX + operation for operation in step.latency_us)
    kind = "connection" if step.connections else "client"
    throughput = words.throughput(step.throughput_ops_per_second)
    found = under_way(step)
    busy = found.most if found else 0.0
    return UsageError(
        f"{where(step, 1)}: {columns}: {unit}, not microseconds? {throughput} would keep {busy:.2g}"
        f" operations under way on {words.plural(step.connections or step.clients or 0, kind)},"
        " and so in every row. If the clients do wait between operations: --without-audit"
        " littles_law"
    )
