"""How busy this machine was with other work: processor time that its hypervisor gave to others."""

from dataclasses import dataclass
from pathlib import Path

_STAT = Path("/proc/stat")
_STEAL = 7  # among user, nice, system, idle, iowait, irq, softirq, steal: proc_stat(5)


@dataclass(frozen=True)
class CpuTimes:
    """The processor time of this machine since it was started, in ticks, all cores together."""

    total: int
    stolen: int


def cpu_times() -> CpuTimes | None:
    """Read this machine's processor times; None if the system does not show them.

    Guests' time is left out, because the kernel counts it as user time already.
    """
    try:
        with _STAT.open() as stat:
            ticks = [int(field) for field in stat.readline().split()[1 : _STEAL + 2]]
    except OSError:
        return None
    return CpuTimes(total=sum(ticks), stolen=ticks[_STEAL])


def stolen_share(before: CpuTimes | None, after: CpuTimes | None) -> float | None:
    """Compute the share of time that was stolen between two readings; None if it is not known."""
    if before is None or after is None or after.total <= before.total:
        return None
    return (after.stolen - before.stolen) / (after.total - before.total)
