"""When a load has to start so that its window holds whole periods of its target's metrics.

CloudWatch's points of RDS, EBS and EC2 are means over whole UTC minutes: a minute that lies only in
part within a window says nothing of it alone. Pure.
"""

PATIENCE_PERIODS = 3  # for so many are points awaited; CloudWatch's come a minute or two late
LATE_SHARE = 0.01  # of a period that a window may lack at either end: clocks and clients differ


def held(start_epoch_ms: int, end_epoch_ms: int, *, period_s: int) -> range:
    """List the periods that lie within a time, but for `LATE_SHARE` of one, by when they begin.

    Returns:
        Milliseconds of the epoch, as CloudWatch stamps a period's point.
    """
    period_ms = 1000 * period_s
    spare_ms = round(LATE_SHARE * period_ms)
    first = -(-(start_epoch_ms - spare_ms) // period_ms)
    past = (end_epoch_ms + spare_ms) // period_ms
    return range(first * period_ms, past * period_ms, period_ms)


def wait_ms(barrier_epoch_ms: int, *, warmup_s: float, duration_s: float, period_s: int) -> int:
    """Give how much later a load has to start for its window to hold as many periods as it can.

    A window shorter than a period holds none: then it is the load, warm-up included, that is to
    hold one. A load shorter than a period waits for nothing.

    Args:
        barrier_epoch_ms: When it could start.
        warmup_s: Of the load, before its window.
        duration_s: Of its window.
        period_s: Of the metrics.
    """
    begin_ms, period_ms = barrier_epoch_ms, 1000 * period_s
    if duration_s >= period_s:
        begin_ms += round(1000 * warmup_s)
    longest = round(1000 * longest_wait_s(warmup_s, duration_s, period_s))
    into_ms = begin_ms % period_ms
    return max(0, longest - into_ms) if into_ms else 0


def longest_wait_s(warmup_s: float, duration_s: float, period_s: int) -> float:
    """Give the most that a load can have to wait: a period, less what its window has to spare."""
    held_s = duration_s if duration_s >= period_s else warmup_s + duration_s
    return period_s - held_s % period_s if held_s >= period_s else 0.0


def mean_wait_s(warmup_s: float, duration_s: float, period_s: int) -> float:
    """Give what a load waits on average, where it could start at any moment of a period."""
    return float(longest_wait_s(warmup_s, duration_s, period_s) ** 2 / (2 * period_s))
