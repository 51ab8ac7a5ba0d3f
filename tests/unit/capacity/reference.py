"""The two tables of the reference experiment R1 (2013): means, one connection a client."""

from plimsoll.model.judging.steps import Step


def steps(*rows: tuple[int, float, float, float]) -> list[Step]:
    """Rows of clients, ops/s, mean update and mean read latency in microseconds."""
    return [
        Step(
            clients=clients,
            connections=clients,
            throughput_ops_per_second=throughput,
            latency_us={"update": {"mean": update_us}, "read": {"mean": read_us}},
            shares={"update": 0.5, "read": 0.5},  # YCSB's workload A
        )
        for clients, throughput, update_us, read_us in rows
    ]


R1_1000_IOPS = steps(
    (1, 2300, 420, 400),
    (2, 4000, 480, 470),
    (3, 5600, 560, 510),
    (4, 2900, 2100, 550),
    (8, 4900, 2500, 600),
)
R1_2000_IOPS = steps(
    (1, 2300, 420, 400),
    (2, 4000, 490, 480),
    (3, 5600, 530, 520),
    (4, 7200, 540, 530),
    (8, 12960, 930, 590),
)
