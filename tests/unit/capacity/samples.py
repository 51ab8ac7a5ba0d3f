"""Steps to be judged."""

from typing import Any

from plimsoll.model.steps import Step


def step(clients: int, throughput: float, p99_us: float | None = 100, **others: Any) -> Step:
    latency_us = {} if p99_us is None else {"update": {"p99": p99_us}}
    return Step(
        clients=clients, throughput_ops_per_second=throughput, latency_us=latency_us, **others
    )


def offered(rate: float, throughput: float, p99_us: float = 100, **others: Any) -> Step:
    return Step(
        rate_ops_per_second=rate,
        throughput_ops_per_second=throughput,
        latency_us={"update": {"p99": p99_us}},
        window_s=10.0,
        **others,
    )


LINEAR = [step(1, 1000), step(2, 2000), step(3, 3000)]
