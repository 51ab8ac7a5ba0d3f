"""What an operation takes of a resource, and what one of a known rate would carry. Pure.

The first is measured, the second a prediction.

The forced-flow law, `X_device = V * X`, holds of any system over any interval in which no operation
is lost: a device serves its visits for each operation times the system's throughput. So one that
serves at most `X_device` carries at most `X_device / V`. The utilization law, `U = X * S`, gives
the throughput at which a resource would be busy all the time. Source: P. J. Denning and J. P.
Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10 (1978) 3,
225-261.
"""


def visits_per_operation(amount: float | None, operations: float) -> float | None:
    """What each operation takes of a resource: I/Os, bytes, seconds of a processor or of a wait.

    Args:
        amount: What was done in an interval, or a second of it; None: not known.
        operations: That succeeded in the same interval, or a second of it.

    Returns:
        None where the amount is not known, or no operation succeeded.
    """
    return None if amount is None or operations <= 0 else amount / operations


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
