"""Capacities of a few steps whose reads may take 1 ms."""

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step


def judged(*steps: tuple[int, float, float]) -> Capacity:
    """Judge steps of clients, ops/s and p99 in microseconds, each tried once."""
    made = [
        Step(
            clients=clients,
            connections=clients * 100,
            throughput_ops_per_second=throughput,
            latency_us={"read": {"p99": p99}},
        )
        for clients, throughput, p99 in steps
    ]
    return judge(made, Rules(limits_us={"read": 1000}, confirmation=None))
