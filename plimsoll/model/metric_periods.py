"""Aligns a load with the periods of its target's CloudWatch metrics.

CloudWatch's points of RDS, EBS and EC2 are means over whole UTC minutes. A minute that lies only
partly within a window mixes the window with what came before or after it. No I/O.
"""

# How long to wait for the points; CloudWatch publishes them a minute or two late
PATIENCE_PERIODS = 3
# Share of a period that may lie outside a window at either end: clocks and clients differ
LATE_SHARE = 0.01


def list_whole_periods(start_epoch_ms: int, end_epoch_ms: int, *, period_s: int) -> range:
    """List the periods that lie within a time span, except for `LATE_SHARE` of one at either end.

    Returns:
        The start of each period in milliseconds of the epoch, as CloudWatch stamps its points.
    """
    period_ms = 1000 * period_s
    spare_ms = round(LATE_SHARE * period_ms)
    first = -(-(start_epoch_ms - spare_ms) // period_ms)
    past = (end_epoch_ms + spare_ms) // period_ms
    return range(first * period_ms, past * period_ms, period_ms)


def wait_ms(barrier_epoch_ms: int, *, warmup_s: float, duration_s: float, period_s: int) -> int:
    """Return by how much to delay a load so that its window holds as many periods as it can.

    A window shorter than a period holds none; then the whole load, including warm-up, is to hold
    one. A load shorter than a period is not delayed.

    Args:
        barrier_epoch_ms: earliest start of the load.
        warmup_s: warm-up of the load, before its window.
        duration_s: length of the window.
        period_s: period of the metrics.
    """
    begin_ms, period_ms = barrier_epoch_ms, 1000 * period_s
    if duration_s >= period_s:
        begin_ms += round(1000 * warmup_s)
    longest = round(1000 * compute_longest_wait_s(warmup_s, duration_s, period_s))
    into_ms = begin_ms % period_ms
    return max(0, longest - into_ms) if into_ms else 0


def compute_longest_wait_s(warmup_s: float, duration_s: float, period_s: int) -> float:
    """Return the longest delay that a load can need: a period less the window's spare time."""
    held_s = duration_s if duration_s >= period_s else warmup_s + duration_s
    return period_s - held_s % period_s if held_s >= period_s else 0.0


def compute_mean_wait_s(warmup_s: float, duration_s: float, period_s: int) -> float:
    """Return the mean delay of a load that is ready at a random time of a period."""
    return float(compute_longest_wait_s(warmup_s, duration_s, period_s) ** 2 / (2 * period_s))
