"""This machine: CPU time of a run's processes, of others, and stolen time; and its clock.

`measure_load` says what keeps the machine busy at the moment, and names the busiest processes.
"""

import os
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.errors import PlimsollError

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
# Fields of /proc/stat's first line: proc_stat(5)
_USER, _NICE, _SYSTEM, _IDLE, _IO_WAIT, _STEAL = 0, 1, 2, 3, 4, 7
# Fields of proc_pid_stat(5), counted from the state that follows the name in parentheses
_PARENT, _FLAGS, _TIMES = 1, 6, slice(11, 15)  # own times, and those of ended children
_LISTENS = "0A"  # TCP_LISTEN
_READINGS_MOST = 10  # on a machine where processes end all the time
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of Linux's sched.h: it works on behalf of any process
LOOK_S = 0.3  # length of a look at this machine; a tick is 0.01 s
_BUSIEST_TOLD = 3


@dataclass(frozen=True)
class CpuTimes:
    """CPU time of this machine since its start, in ticks, over all cores.

    All of it comes from one reading: on a busy machine time passes between two, by which a share
    of their times would be wrong.
    """

    total: int
    stolen: int
    idle: int
    others: int  # used by processes outside the run, without kernel threads
    run: int = 0  # used by the run's processes
    server: int | None = None  # used by the target's server; None if unknown, or if it has ended
    at_s: float = field(default=0.0, compare=False)  # when it was read, on the monotonic clock


@dataclass(frozen=True)
class CpuShares:
    """Shares of this machine's CPU time between two moments."""

    stolen: float  # used by other guests of the hypervisor
    idle: float
    others: float
    server: float | None = None  # used by the target's server; None if unknown
    length_s: float = field(default=0.0, compare=False)  # between the two moments


def cpu_times(
    run: Collection[int], strangers: Collection[int] = (), servers: Collection[int] = ()
) -> CpuTimes | None:
    """Read this machine's CPU times; None if the system does not report them.

    Guest time is left out, since the kernel already counts it as user time. The time of ended
    children is included, such as those of a server with a process per connection.

    Args:
        run: process ids of the roots of the run's process trees.
        strangers: process ids below these that, with their children, do not belong to the run.
        servers: process ids of the roots of the server's process trees.
    """
    read = _Processes.read()
    ticks = read.machine_ticks
    if not ticks:
        return None
    used = ticks[_USER] + ticks[_NICE] + ticks[_SYSTEM]
    ours = read.below(run, strangers)
    there = bool(servers) and read.ticks.keys() >= set(servers)
    return CpuTimes(
        total=sum(ticks),
        stolen=ticks[_STEAL],
        idle=ticks[_IDLE] + ticks[_IO_WAIT],
        others=used - sum(read.ticks[pid] for pid in read.kernel) - ours,
        run=ours,
        server=read.below(servers) if there else None,
        at_s=read.at_s,
    )


@dataclass(frozen=True)
class _Processes:
    """CPU time of every process, including ended children, and the process tree."""

    at_s: float  # on the monotonic clock
    machine_ticks: list[int]  # user, nice, system and so on; empty if the system hides them
    ticks: dict[int, int]
    children: dict[int, list[int]]
    kernel: frozenset[int]  # kernel threads

    @classmethod
    def read(cls) -> "_Processes":
        """Read all processes, and again if one has ended meanwhile.

        The time of an ended process moves to its parent, which may have been read before. A server
        with a process per connection lost an eighth of its time that way when eight connections
        ended.
        """
        for _ in range(_READINGS_MOST):
            listed = _read_pids()
            processes = cls._of(listed, time.monotonic(), _read_machine_ticks())
            if _read_pids().issuperset(listed):
                break
        return processes

    @classmethod
    def _of(cls, pids: Collection[int], at_s: float, machine_ticks: list[int]) -> "_Processes":
        ticks: dict[int, int] = {}
        children: dict[int, list[int]] = {}
        kernel: set[int] = set()
        for pid in sorted(pids):
            try:
                fields = _read_status(pid)
            except OSError:  # the process has ended
                continue
            ticks[pid] = sum(map(int, fields[_TIMES]))
            children.setdefault(int(fields[_PARENT]), []).append(pid)
            if int(fields[_FLAGS]) & _KERNEL_THREAD:
                kernel.add(pid)
        return cls(at_s, machine_ticks, ticks, children, frozenset(kernel))

    def below(self, roots: Collection[int], strangers: Collection[int] = ()) -> int:
        """Return the CPU time of processes and all their descendants, without strangers."""
        return sum(self.ticks.get(pid, 0) for pid in self.list_trees(roots, strangers))

    def list_trees(self, roots: Collection[int], strangers: Collection[int] = ()) -> set[int]:
        """Return processes and all their descendants, without strangers and their descendants."""
        found: set[int] = set()
        to_add = list(roots)
        while to_add:
            pid = to_add.pop()
            if pid not in strangers and pid not in found:  # a root may be below another one
                found.add(pid)
                to_add += self.children.get(pid, ())
        return found

    def count_since(self, earlier: "_Processes", run: Collection[int]) -> dict[int, int]:
        """Count the CPU time of each process outside a run since an earlier reading.

        A process that has ended left all its time to its parent. What it had used before the
        earlier reading is taken off there, since a compiler that ends after minutes would else
        show as several times this machine's cores.
        """
        ours = self.kernel | self.list_trees(run)
        ended = earlier.ticks.keys() - self.ticks.keys()
        counted = {}
        for pid in self.ticks.keys() - ours:
            to_look = [child for child in earlier.children.get(pid, ()) if child in ended]
            before = earlier.ticks.get(pid, 0)
            while to_look:
                child = to_look.pop()
                before += earlier.ticks[child]
                to_look += (one for one in earlier.children.get(child, ()) if one in ended)
            counted[pid] = max(0, self.ticks[pid] - before)
        return counted


def _read_pids() -> set[int]:
    try:
        with os.scandir(_PROC) as entries:
            return {int(entry.name) for entry in entries if entry.name.isdigit()}
    except OSError:
        return set()


def _read_status(pid: int) -> list[bytes]:
    """Return the fields of a process's `stat` after its name.

    By unbuffered bytes, since each second of a run reads every process of the machine.
    """
    with open(f"{_PROC}/{pid}/stat", "rb", buffering=0) as stat:  # noqa: PTH123
        return stat.read().rpartition(b")")[2].split()


def _read_machine_ticks() -> list[int]:
    try:
        with (_PROC / "stat").open() as stat:
            return [int(ticks) for ticks in stat.readline().split()[1 : _STEAL + 2]]
    except OSError:
        return []


def find_listeners(port: int) -> set[int]:
    """Return the processes that listen on a port of this machine; empty if the system hides them.

    The kernel identifies a socket by the inode that its owner's descriptor links to:
    proc_pid_net(5).
    """
    inodes = {f"socket:[{fields[9]}]" for fields in _read_listening_rows(port)}
    found = set()
    for pid in _read_pids() if inodes else ():
        try:
            descriptors = list((_PROC / f"{pid}/fd").iterdir())
        except OSError:  # another user's, or it has ended since
            continue
        if any(_read_link(descriptor) in inodes for descriptor in descriptors):
            found.add(pid)
    return found


def servers(port: int, names: Collection[str]) -> set[int]:
    """Return the processes with one of some program names that listen on a port of this machine.

    The descriptors of another user are hidden. Then it is the process of the socket's user with
    such a name that no other process with such a name started.
    """
    heard = {pid for pid in find_listeners(port) if program(pid) in names}
    if heard:
        return heard
    users = {int(fields[7]) for fields in _read_listening_rows(port)}
    likely = {pid for pid in _read_pids() if program(pid) in names and _read_user(pid) in users}
    children = _Processes.read().children
    likely -= {child for pid in likely for child in children.get(pid, ())}
    return likely if len(likely) == 1 else set()


def program(pid: int) -> str | None:
    """Return the program name of a process, as the kernel has it; None if it has ended."""
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return None


def _read_listening_rows(port: int) -> list[list[str]]:
    """Return the rows of listening sockets on a port, from the kernel's socket tables."""
    return [
        fields
        for table in (_PROC / "net/tcp", _PROC / "net/tcp6")
        for fields in map(str.split, _read_lines(table)[1:])
        if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port
    ]


def _read_user(pid: int) -> int | None:
    try:
        return (_PROC / str(pid)).stat().st_uid
    except OSError:  # the process has ended
        return None


def _read_lines(table: Path) -> list[str]:
    try:
        return table.read_text().splitlines()
    except OSError:  # no IPv6, or no /proc
        return []


def _read_link(descriptor: Path) -> str | None:
    try:
        return str(descriptor.readlink())
    except OSError:  # closed meanwhile, or owned by another user
        return None


def shares(before: CpuTimes | None, after: CpuTimes | None) -> CpuShares | None:
    """Return the shares of the time between two readings; None if a reading is missing.

    The kernel counts the machine's time in ticks but that of processes in microseconds. Within a
    second the two may differ by some percent, so that others' time can be negative. And it can be
    more than was used: a process whose parent has ended leaves the run's tree with all that it ever
    used. So it is 0 at least, and all that was used at most.
    """
    if before is None or after is None or after.total <= before.total:
        return None
    total = after.total - before.total
    stolen, idle = (after.stolen - before.stolen) / total, (after.idle - before.idle) / total
    server = None
    if before.server is not None and after.server is not None:
        server = (after.server - before.server) / total
    return CpuShares(
        stolen=stolen,
        idle=idle,
        others=min(max(0.0, (after.others - before.others) / total), max(0.0, 1 - stolen - idle)),
        server=server,
        length_s=after.at_s - before.at_s,
    )


@dataclass(frozen=True)
class MachineLoad:
    """What used this machine's CPUs over a moment, apart from a run's own processes.

    Attributes:
        stolen_percent: CPU time used by other guests of the hypervisor.
        others_percent: CPU time used by processes outside the run; None if not known.
        idle_percent: CPU time that was idle.
        busiest: The programs outside the run that used most, such as "cc1plus 41 %".
    """

    stolen_percent: float
    others_percent: float | None
    idle_percent: float
    busiest: tuple[str, ...] = ()


def measure_load(run: Collection[int], over_s: float = LOOK_S) -> MachineLoad | None:
    """Measure this machine's load over a moment; None if the system does not report it.

    Args:
        run: process ids of the roots of the run's process trees; empty if they are not visible,
            so that nobody can say which processes are others.
        over_s: length of the measurement, for which this call sleeps.
    """
    try:
        times, processes = cpu_times(run), _Processes.read()
        time.sleep(over_s)
        later, processes_later = cpu_times(run), _Processes.read()
    except OSError:
        return None
    seen = shares(times, later)
    if seen is None or times is None or later is None:
        return None
    used: Counter[str] = Counter()
    if run:
        for pid, ticks in processes_later.count_since(processes, run).items():
            used[program(pid) or "?"] += ticks
    total = later.total - times.total
    return MachineLoad(
        stolen_percent=100 * seen.stolen,
        others_percent=100 * seen.others if run else None,
        idle_percent=100 * seen.idle,
        busiest=tuple(
            f"{name} {100 * ticks / total:.0f} %"
            for name, ticks in used.most_common(_BUSIEST_TOLD)
            if 100 * ticks >= total
        ),
    )


def find_parent(pid: int) -> int | None:
    """Return the process that started a process; None if it has ended."""
    try:
        fields = _read_status(pid)
    except OSError:
        return None
    return int(fields[_PARENT])


# The clock. Loads are timed by the monotonic clock, but barriers and the times of steps are on the
# calendar, which may be wrong, or be set while something is measured.

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)  # Plimsoll is younger
SET_BACK_LEAST_S = 1.0  # smaller changes move no barrier by more than what is allowed to a client
_CLOCK_LOOK_S = 1.0


def require_set_clock() -> None:
    """Refuse to measure by a clock that nobody has set.

    Raises:
        PlimsollError: The clock shows a time before 2020.
    """
    now = datetime.fromtimestamp(time.time(), UTC)
    if now < EARLIEST:
        raise PlimsollError(
            f"this machine's clock shows {now:%Y-%m-%d %H:%M} UTC: set it first"
            " (timedatectl set-ntp true), since steps are timed by it"
        )


class ClockWatch:
    """Notices that this machine's clock is set back. Looks are to follow each other closely.

    A clock that is slowed down, as NTP does it, loses half a millisecond in a second.
    """

    def __init__(self) -> None:
        self._ahead_s = _read_ahead_s()

    def look(self) -> str | None:
        """Return a sentence if the clock was set back since the last look, else None."""
        before_s, self._ahead_s = self._ahead_s, _read_ahead_s()
        back_s = before_s - self._ahead_s
        if back_s < SET_BACK_LEAST_S:
            return None
        return f"this machine's clock was set back by {back_s:,.0f} s"


@contextmanager
def watch_clock(tell: Callable[[str], None]) -> Iterator[None]:
    """Look at the clock each second; tell the first time that it is set back, from a thread."""
    ended, watch = threading.Event(), ClockWatch()

    def look() -> None:
        while not ended.wait(_CLOCK_LOOK_S):
            if (set_back := watch.look()) is not None:
                tell(set_back)
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


_READ_AT_ONCE_S = 0.1  # longest time between two reads of the clocks that are compared


def _read_ahead_s() -> float:
    """Return by how much the calendar is ahead of the monotonic clock, in seconds.

    On a busy machine the process may stand still between the reads, which would look like a clock
    that was set: they are repeated until they were made at once.
    """
    while True:
        before_s = time.monotonic()
        calendar_s = time.time()
        after_s = time.monotonic()
        if after_s - before_s < _READ_AT_ONCE_S:
            return calendar_s - after_s


def read_peak_memory_mib() -> float:
    """Return the peak memory of this process, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)
