"""How busy this machine was with others' work: its other processes, and its hypervisor's guests."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_USER, _NICE, _SYSTEM, _IDLE, _IO_WAIT, _STEAL = 0, 1, 2, 3, 4, 7  # of the first line: proc_stat(5)
# of proc_pid_stat(5), counted from the state that follows the name in parentheses
_PARENT, _FLAGS, _TIMES = 1, 6, slice(11, 15)  # its own times, and those of children that ended
_LISTENS = "0A"  # TCP_LISTEN
_READINGS_MOST = 10  # of a machine on which processes end all the time
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of Linux's sched.h: it works for whoever asked the kernel


@dataclass(frozen=True)
class CpuTimes:
    """The processor time of this machine since it was started, in ticks, all cores together."""

    total: int
    stolen: int
    idle: int
    others: int  # by processes other than a run's, and other than the kernel's threads


@dataclass(frozen=True)
class CpuShares:
    """What became of this machine's processor time between two moments, as shares of it."""

    stolen: float  # had by its hypervisor's others
    idle: float
    others: float


def cpu_times(run: Collection[int], strangers: Collection[int] = ()) -> CpuTimes | None:
    """Read this machine's processor times; None if the system does not show them.

    Guests' time is left out, because the kernel counts it as user time already.

    Args:
        run: Process ids at the roots of the run's processes.
        strangers: Processes below them that are none of the run's, with all below them.
    """
    try:
        with (_PROC / "stat").open() as stat:
            ticks = [int(field) for field in stat.readline().split()[1 : _STEAL + 2]]
        used = ticks[_USER] + ticks[_NICE] + ticks[_SYSTEM]
        return CpuTimes(
            total=sum(ticks),
            stolen=ticks[_STEAL],
            idle=ticks[_IDLE] + ticks[_IO_WAIT],
            others=used - _known_ticks(run, strangers),
        )
    except OSError:
        return None


@dataclass(frozen=True)
class _Processes:
    """The processor time of every process, children that have ended included, and who is whose."""

    ticks: dict[int, int]
    children: dict[int, list[int]]
    kernel_ticks: int  # of the kernel's threads

    @classmethod
    def read(cls) -> "_Processes":
        """Read all of them, again where one has ended meanwhile.

        Its time goes to its parent's then, which may have been read before: a server that answers
        each connection by a process lost an eighth of its time as its eight connections ended.
        """
        for _ in range(_READINGS_MOST):
            listed = _pids()
            processes = cls._of(listed)
            if _pids().issuperset(listed):
                break
        return processes

    @classmethod
    def _of(cls, pids: Collection[int]) -> "_Processes":
        ticks: dict[int, int] = {}
        children: dict[int, list[int]] = {}
        kernel = 0
        for pid in sorted(pids):
            try:
                fields = (_PROC / f"{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            ticks[pid] = sum(map(int, fields[_TIMES]))
            children.setdefault(int(fields[_PARENT]), []).append(pid)
            if int(fields[_FLAGS]) & _KERNEL_THREAD:
                kernel += ticks[pid]
        return cls(ticks, children, kernel)

    def below(self, roots: Collection[int], strangers: Collection[int] = ()) -> int:
        """Add up the times of some processes and of all below them, without strangers."""
        known = 0
        counted: set[int] = set()
        to_add = list(roots)
        while to_add:
            pid = to_add.pop()
            if pid not in strangers and pid not in counted:
                counted.add(pid)  # once, also where a root lies below another
                known += self.ticks.get(pid, 0)
                to_add += self.children.get(pid, ())
        return known


def _pids() -> set[int]:
    return {int(process.name) for process in _PROC.glob("[0-9]*")}


def _known_ticks(run: Collection[int], strangers: Collection[int]) -> int:
    """Add up the processor time of a run's processes and of the kernel's threads."""
    processes = _Processes.read()
    return processes.kernel_ticks + processes.below(run, strangers)


def listeners(port: int) -> set[int]:
    """Find the processes that listen on a port of this machine; none where it does not show them.

    The kernel names a socket by the inode that its owner's descriptor leads to: proc_pid_net(5).
    """
    inodes = {f"socket:[{fields[9]}]" for fields in _listening(port)}
    return {
        int(descriptor.parts[-3])
        for descriptor in (_PROC.glob("[0-9]*/fd/*") if inodes else ())
        if _leads_to(descriptor) in inodes
    }


def servers(port: int, names: Collection[str]) -> set[int]:
    """Find the processes of programs of these names that listen on a port of this machine.

    Another user's descriptors are not shown: then it is the one such program of the socket's user
    that no other such program started.
    """
    heard = {pid for pid in listeners(port) if program(pid) in names}
    if heard:
        return heard
    users = {int(fields[7]) for fields in _listening(port)}
    likely = {pid for pid in _pids() if program(pid) in names and _user(pid) in users}
    children = _Processes.read().children
    likely -= {child for pid in likely for child in children.get(pid, ())}
    return likely if len(likely) == 1 else set()


def cpu_seconds(pids: Collection[int]) -> float | None:
    """Add up the processor time of processes and of all below them; None where one has ended.

    Children that have ended are counted, as a server's that answers each connection by a process.
    """
    try:
        processes = _Processes.read()
    except OSError:
        return None
    if not processes.ticks.keys() >= set(pids):
        return None
    return processes.below(pids) / TICKS_PER_S


def program(pid: int) -> str | None:
    """Name the program of a process, as the kernel does; None where it has ended."""
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return None


def _listening(port: int) -> list[list[str]]:
    """Give the rows of the kernel's tables of sockets that listen on a port."""
    return [
        fields
        for table in (_PROC / "net/tcp", _PROC / "net/tcp6")
        for fields in map(str.split, _lines(table)[1:])
        if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port
    ]


def _user(pid: int) -> int | None:
    try:
        return (_PROC / str(pid)).stat().st_uid
    except OSError:  # it has ended
        return None


def _lines(table: Path) -> list[str]:
    try:
        return table.read_text().splitlines()
    except OSError:  # no IPv6, or no /proc at all
        return []


def _leads_to(descriptor: Path) -> str | None:
    try:
        return str(descriptor.readlink())
    except OSError:  # closed meanwhile, or of a process that is somebody else's
        return None


def shares(before: CpuTimes | None, after: CpuTimes | None) -> CpuShares | None:
    """Compute the shares of the time between two readings; None if they are not known.

    The kernel counts the machine's time in ticks and a process's to the microsecond, so that within
    a second the two may differ by some percent, and the others' share come out below 0.
    """
    if before is None or after is None or after.total <= before.total:
        return None
    total = after.total - before.total
    return CpuShares(
        stolen=(after.stolen - before.stolen) / total,
        idle=(after.idle - before.idle) / total,
        others=max(0.0, (after.others - before.others) / total),
    )
