"""A search that goes on with more clients: its closing steps showed that fewer were the limit.

A full network shows in none of a client's figures; only twice the clients reveal it. Then what one
client sent at most is known, and from there on each load gets as many clients as keep well below
that. Only such a search has steps of its own after closing steps.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from plimsoll.model.judging.steps import CLOSING, Step

# Shares of the most that a client sent: what a larger fleet uses of each at most, and beyond which
# a client may have been the limit
SHARE_USED = 0.6
SHARE_LIMITED = 0.8


def find_resumption(steps: Sequence[Step]) -> int | None:
    """Return the place of the step with which a search went on; None if it did not."""
    pairs = enumerate(pairwise(steps), 1)
    resumed = [
        place
        for place, (before, after) in pairs
        if before.purpose in CLOSING and after.purpose == "more_clients"
    ]
    return resumed[-1] if resumed else None


def drop_outgrown_steps(steps: Sequence[Step]) -> list[Step]:
    """Return the steps that count: without those of fleets that turned out to be too small.

    These are the ones that fewer clients sent, at the load with which the search went on or a
    heavier one, or near the most that a client sends. The closing steps before it questioned an
    answer that no longer stands.
    """
    resumed = find_resumption(steps)
    if resumed is None:
        return list(steps)
    larger, limit = steps[resumed], find_most_of_a_client(steps[:resumed])
    kept = [
        step
        for step in steps[:resumed]
        if step.purpose not in CLOSING
        and (
            (step.clients or 1) >= (larger.clients or 1)
            or (_load_of(step) < _load_of(larger) and not is_near_limit(step, limit))
        )
    ]
    return [*kept, *steps[resumed:]]


def find_client_limit(steps: Sequence[Step]) -> float | None:
    """Return what one client sends at most, in ops/s, as closing steps showed; None if unknown."""
    resumed = find_resumption(steps)
    return None if resumed is None else find_most_of_a_client(steps[:resumed])


def find_most_of_a_client(steps: Sequence[Step]) -> float:
    """Return the highest throughput of a client in any step of the search, in ops/s; 0 if none."""
    searched = (step for step in steps if step.purpose not in CLOSING and step.void is None)
    return max(
        ((s.throughput_ops_per_second or 0.0) / (s.clients or 1) for s in searched), default=0.0
    )


def is_near_limit(step: Step, client_limit: float) -> bool:
    """Return whether the clients of a step sent nearly what they can (ops/s, each)."""
    most = (step.clients or 1) * client_limit
    return (step.throughput_ops_per_second or 0.0) > SHARE_LIMITED * most


def count_clients_needed(steps: Sequence[Step], load: float, client_limit: float) -> int:
    """Return the number of clients of which none is the limit at a load.

    Args:
        steps: finished steps; throughput for each unit of load is never more than at the lightest.
        load: connections, or the rate in an open loop.
        client_limit: what one client sends at most, in ops/s.
    """
    searched = [step for step in steps if step.purpose not in CLOSING and _load_of(step)]
    per_unit = max((s.throughput_ops_per_second or 0.0) / _load_of(s) for s in searched)
    return math.ceil(load * per_unit / (SHARE_USED * client_limit))


def _load_of(step: Step) -> float:
    return step.rate_ops_per_second or float(step.connections or 0)
