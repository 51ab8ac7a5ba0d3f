"""What else happened on this machine while a client ran: the server's work, interrupts, others."""

import os
from dataclasses import dataclass
from pathlib import Path

from plimsoll.machine import TICKS_PER_S, CpuTimes, cpu_times, find_listeners, shares

# by which one processor of a machine wakes another, or has it do something (proc_interrupts)
BETWEEN_PROCESSORS = ("Rescheduling interrupts", "Function call interrupts")


@dataclass(frozen=True)
class Surroundings:
    """This machine between two moments, or since it was started; None: the system does not tell."""

    interrupts: int | None  # from one processor to another
    times: CpuTimes | None

    @property
    def server_s(self) -> float | None:
        """CPU time of the server."""
        ticks = self.times.server if self.times else None
        return None if ticks is None else ticks / TICKS_PER_S

    @classmethod
    def now(cls, port: int | None) -> "Surroundings":
        """Read them, with the server that listens on a port."""
        servers = find_listeners(port) if port else set()
        return cls(
            interrupts=interrupts(),
            times=cpu_times({os.getpid(), *servers}, servers=servers),
        )


@dataclass(frozen=True)
class Beside:
    """What went on beside a client's run; None: not known."""

    server_s: float | None
    interrupts: float | None
    stolen: float | None  # share of this machine's CPU time that its hypervisor gave to others
    others: float | None  # ... that processes had which are neither the client nor the server

    @classmethod
    def between(cls, before: Surroundings, after: Surroundings) -> "Beside":
        """Compute it from what was read before and after."""
        share = shares(before.times, after.times)
        return cls(
            server_s=_grown(before.server_s, after.server_s),
            interrupts=_grown(before.interrupts, after.interrupts),
            stolen=share.stolen if share else None,
            others=share.others if share else None,
        )


def interrupts(table: Path = Path("/proc/interrupts")) -> int | None:
    """Add up the interrupts between processors since this machine was started; None: not told."""
    try:
        lines = table.read_text().splitlines()
    except OSError:
        return None
    counts = [
        int(word)
        for line in lines
        if line.endswith(BETWEEN_PROCESSORS)
        for word in line.split()[1:]
        if word.isdigit()
    ]
    return sum(counts) if counts else None


def _grown(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
