"""What `plimsoll volume` shows on a terminal."""

from plimsoll.model.volumes import VolumeLimits, VolumeRates
from plimsoll.volumes.calibration import Calibration

_COLUMNS = (
    ("read/s", 9),
    ("write/s", 9),
    ("flush/s", 9),
    ("MiB/s r", 9),
    ("MiB/s w", 9),
    ("ms r", 8),
    ("ms w", 8),
    ("ms flush", 9),
    ("queue", 8),
    ("credits", 10),
    ("empty in", 9),
    ("host %", 7),
)


def rates_header() -> str:
    """Give the head of a table of rates."""
    return "".join(name.rjust(width) for name, width in _COLUMNS)


def rates_line(seen: VolumeRates) -> str:
    """Give one line of it; what there is none of is a dash."""

    def ms(latency_us: float | None) -> str:
        return "-" if latency_us is None else f"{latency_us / 1000:.2f}"

    cells = (
        f"{seen.read_iops:,.0f}",
        f"{seen.write_iops:,.0f}",
        f"{seen.flushes_per_second:,.0f}",
        f"{seen.read_mib_s:,.1f}",
        f"{seen.write_mib_s:,.1f}",
        ms(seen.read_latency_us),
        ms(seen.write_latency_us),
        ms(seen.flush_latency_us),
        f"{seen.queue:,.1f}",
        "-" if seen.credits is None else f"{seen.credits:,.0f}",
        "-" if seen.empty_in_s is None else f"{seen.empty_in_s:,.0f} s",
        "-" if seen.late_share is None else f"{100 * seen.late_share:.1f}",
    )
    return "".join(cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))


def limits_text(promise: VolumeLimits) -> str:
    """Say what a volume promises."""

    def limit(value: float | None, unit: str) -> str:
        return "no limit" if value is None else f"{value:,.0f} {unit}"

    lines = [
        f"baseline    {limit(promise.baseline_iops, 'IOPS')}",
        f"highest     {limit(promise.burst_iops, 'IOPS')}",
        f"throughput  {limit(promise.throughput_mib_s, 'MiB/s')}",
        f"latency     {promise.base_latency_us:,.0f} us, the mean of one I/O on the idle volume",
    ]
    if promise.burst_credits and promise.burst_iops and promise.baseline_iops:
        lasts = promise.burst_credits / (promise.burst_iops - promise.baseline_iops)
        lines.append(
            f"credits     {promise.burst_credits:,.0f}: full, they last {lasts:,.0f} s "
            f"at {promise.burst_iops:,.0f} IOPS"
        )
    if promise.stripes > 1:
        lines.append(f"stripes     {promise.stripes}")
    return "\n".join(lines)


def calibration_text(result: Calibration) -> str:
    """Say whether a machine can stand for a volume, with the figures."""
    seen = result.measured
    lines = ["", f"{'this machine':32}{'per second':>12}{'MiB/s':>9}{'mean us':>10}{'p99 us':>10}"]
    lines += [
        f"{each.name:32}{each.operations_per_second:>12,.0f}{each.mib_s:>9,.0f}"
        f"{each.mean_us:>10,.0f}{each.p99_us:>10,.0f}"
        for each in (
            seen.read,
            seen.write,
            seen.flush,
            seen.parallel_read,
            seen.parallel_write,
            seen.large_read,
            seen.large_write,
        )
    ]
    lines += ["", "the volume", limits_text(result.limits), ""]
    if result.host_bound:
        lines.append("host-bound: this machine cannot deliver what the volume promises")
        lines += [f"  {reason}" for reason in result.reasons]
    else:
        lines.append("this machine can stand for the volume")
    return "\n".join([*lines, *(f"  note: {note}" for note in result.notes)])
