"""Every client of a large fleet is started before its barrier, as fast as AWS starts them.

The clients' own retrier is simulated against the token buckets of Step Functions and Lambda;
`make check-aws` has two interpreters carry it out, with a client for fifty.
"""

import heapq
import json
import random
from typing import Any

import pytest

from plimsoll.model.timings import (
    AWS_TIMINGS,
    CHILDREN_AT_ONCE,
    CHILDREN_PER_S,
    ENVIRONMENTS_AT_ONCE,
    ENVIRONMENTS_PER_S,
    count_refused_calls,
)
from plimsoll.statemachines import read_definition
from tests.support.token_bucket import TokenBucket

READY_S = 10.0  # for the Map to begin, and for a new environment to attach, connect and log in
CLIENT: dict[str, Any] = json.loads(read_definition("run"))["States"]["RunClients"][
    "ItemProcessor"
]["States"]["Client"]


def start_fleet(clients: int, attempts_most: int) -> tuple[list[float], int, int]:
    """Start a fleet.

    Returns:
        When each client's environment was started, in seconds; the number of clients that gave up;
        and how many calls were refused.
    """
    drawn = random.Random(clients)
    (retrier,) = CLIENT["Retry"]
    environments = TokenBucket(ENVIRONMENTS_AT_ONCE, ENVIRONMENTS_PER_S, 0.0)
    calls = [
        (max(0.0, number - CHILDREN_AT_ONCE) / CHILDREN_PER_S, number, 0)
        for number in range(clients)
    ]
    heapq.heapify(calls)
    started: list[float] = []
    gave_up, refused = 0, 0
    while calls:
        at_s, number, attempt = heapq.heappop(calls)
        if environments.take(at_s):
            started.append(at_s)
            continue
        refused += 1
        if attempt == attempts_most:
            gave_up += 1
            continue
        again_s = at_s + drawn.uniform(0, retrier["IntervalSeconds"])  # JitterStrategy FULL
        heapq.heappush(calls, (again_s, number, attempt + 1))
    return started, gave_up, refused


@pytest.mark.parametrize("clients", [1_000, 2_000, 5_000, 10_000])
def test_every_client_has_started_when_its_barrier_comes(clients: int) -> None:
    started, gave_up, refused = start_fleet(clients, CLIENT["Retry"][0]["MaxAttempts"])
    assert gave_up == 0
    assert max(started) + READY_S < AWS_TIMINGS.lead_s(clients)
    assert refused == pytest.approx(count_refused_calls(clients), rel=0.1, abs=1_000)


@pytest.mark.parametrize("clients", [2_000, 5_000])
def test_without_a_retry_more_would_be_lost_than_a_step_may_lack(clients: int) -> None:
    _, gave_up, _ = start_fleet(clients, 0)
    assert gave_up > 0.3 * clients


def test_a_refused_client_asks_for_longer_than_the_largest_fleet_takes() -> None:
    (retrier,) = CLIENT["Retry"]
    assert retrier["JitterStrategy"] == "FULL"
    assert retrier["BackoffRate"] == 1
    mean_s = retrier["IntervalSeconds"] / 2
    assert retrier["MaxAttempts"] * mean_s > 1.2 * AWS_TIMINGS.lead_s(10_000)
