"""What `plimsoll volume` shows on a terminal."""

from plimsoll import words
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
    ("credits", 11),
    ("empty in", 13),
    ("host", 8),
    ("past/s", 8),
)


def rates_header() -> str:
    """Write the titles of the columns of `rates_line`."""
    return "".join(name.rjust(width) for name, width in _COLUMNS)


def rates_line(seen: VolumeRates) -> str:
    """Write what a volume did in an interval as one line of a table."""
    cells = (
        words.rate(seen.read_iops),
        words.rate(seen.write_iops),
        words.rate(seen.flushes_per_second),
        words.rate(seen.read_mib_s),
        words.rate(seen.write_mib_s),
        words.milliseconds(seen.read_latency_us),
        words.milliseconds(seen.write_latency_us),
        words.milliseconds(seen.flush_latency_us),
        words.rate(seen.queue),
        words.number(None if seen.credits is None else round(seen.credits)),
        words.duration(None if seen.empty_in_s is None else round(seen.empty_in_s)),
        words.percent(seen.late_share),
        words.rate(seen.escaped_iops),
    )
    return "".join(cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))


def limits_text(promise: VolumeLimits) -> str:
    """Say what a volume promises."""

    def limit(value: float | None, unit: str) -> str:
        return "no limit" if value is None else f"{words.number(value)} {unit}"

    lines = [
        f"baseline    {limit(promise.baseline_iops, 'IOPS')}",
        f"highest     {limit(promise.burst_iops, 'IOPS')}",
        f"throughput  {limit(promise.throughput_mib_s, 'MiB/s')}",
        f"latency     {words.latency(promise.base_latency_us)}, the mean on the idle volume",
    ]
    if promise.burst_credits and promise.burst_iops and promise.baseline_iops:
        lasts_s = promise.burst_credits / (promise.burst_iops - promise.baseline_iops)
        lines.append(
            f"credits     {words.number(promise.burst_credits)}: full, they last"
            f" {words.duration(lasts_s)} at {words.number(promise.burst_iops)} IOPS"
        )
    if promise.stripes > 1:
        lines.append(f"stripes     {promise.stripes}")
    return "\n".join(lines)


def calibration_text(result: Calibration) -> str:
    """Say whether a machine can stand for a volume, with the figures."""
    seen = result.measured
    lines = ["", f"{'this machine':32}{'per second':>12}{'MiB/s':>9}{'mean':>10}{'p99':>10}"]
    lines += [
        f"{kind.name:32}{words.rate(kind.operations_per_second):>12}{words.rate(kind.mib_s):>9}"
        f"{words.latency(kind.mean_us):>10}{words.latency(kind.p99_us):>10}"
        for kind in (
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
