"""Steps to be judged."""

from typing import Any

from plimsoll.model.judging.steps import CreditUse, Step


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


GP2_FULL = 5_400_000


def gp2(iops: float, balance_percent: float = 90.0) -> dict[str, Any]:
    """Credits of a gp2 volume of 100 GiB, which earns 300 a second."""
    use = CreditUse(
        bucket="volume",
        used_per_s=iops,
        earned_per_s=300,
        full=GP2_FULL,
        balance_percent=balance_percent,
    )
    return {"credits": (use,)}


def mixed(throughput: float, connections: int, shares: dict[str, float] | None = None) -> Step:
    """Reads of 300 and updates of 4,000 microseconds."""
    return Step(
        connections=connections,
        throughput_ops_per_second=throughput,
        latency_us={"read": {"mean": 300}, "update": {"mean": 4000}},
        shares=shares or {},
    )
