"""What a device of a known rate would carry: a prediction, never a measurement. Pure.

The forced-flow law, `X_device = V * X`, holds of any system over any interval in which no operation
is lost: a device serves its visits for each operation times the system's throughput. So one that
serves at most `X_device` carries at most `X_device / V`. The utilization law, `U = X * S`, gives
the throughput at which a resource would be busy all the time. Source: P. J. Denning and J. P.
Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10 (1978) 3,
225-261.
"""


def visits_per_operation(
    device_per_second: float, throughput_ops_per_second: float
) -> float | None:
    """I/Os for each operation, both rates of one interval; None where either is not above 0."""
    if device_per_second <= 0 or throughput_ops_per_second <= 0:
        return None
    return device_per_second / throughput_ops_per_second


def carried_ops_per_second(device_most_per_second: float, visits: float) -> float:
    """The most operations per second that a device carries, at `visits` > 0 of it each."""
    return device_most_per_second / visits


def full_at_ops_per_second(throughput_ops_per_second: float, utilization: float) -> float | None:
    """The throughput at which a resource would be busy all the time; None where it was idle.

    Args:
        throughput_ops_per_second: Of an interval.
        utilization: The share of the interval, from 0 to 1, in which it was busy.
    """
    return throughput_ops_per_second / utilization if utilization > 0 else None
