"""CPU limits: the server's and, on one machine, the whole machine's; and the machine's disk."""

from plimsoll import words
from plimsoll.limiting.seen import Seen
from plimsoll.model.aws.volumes_seen import HOST_BOUND_SHARE
from plimsoll.model.run.results import Candidate

NEAR = 0.90  # share of the available CPU time


def judge_cpu(seen: Seen) -> Candidate | None:
    """Compare the server's CPU time with what was available to it.

    On one machine, clients use some of the CPU. If the server uses most of what is used, idle time
    and the time of other programs counts as available to it.
    """
    percent, idle = seen.target.cpu_percent, seen.target.host_idle_percent
    if percent is None:
        return None
    share, beside = percent / 100, ""
    if idle is not None and percent > (100 - idle) / 2:
        share = percent / (percent + idle + _add_others_percent(seen))
        beside = f"; {words.format_percent(idle / 100)} of this machine's CPU was idle"
    each = seen.divide_by_throughput(percent / 100)
    now = "" if each is None else f" ({words.format_latency(each * 1e6)} on all CPUs now)"
    return Candidate(
        resource="cpu",
        share=share,
        threshold=NEAR,
        reached=share >= NEAR,
        evidence=f"cpu: the server used {words.format_percent(percent / 100)} of its CPU{beside}",
        to_change=f"more or faster CPUs, or less work per operation{now}",
    )


def is_cpu_full(seen: Seen) -> bool:
    """Return whether, on one machine, almost no CPU time was left."""
    idle = seen.target.host_idle_percent
    return idle is not None and idle < 100 * (1 - NEAR)


def judge_machine_disk(seen: Seen) -> Candidate | None:
    """On one machine: return its disk, if that is slower than the emulated volume should be."""
    percent = seen.target.host_late_percent
    if percent is None:
        return None
    late = words.format_percent(percent / 100)
    return Candidate(
        resource="machine",
        share=percent / 100,
        threshold=HOST_BOUND_SHARE,
        reached=percent / 100 > HOST_BOUND_SHARE,
        evidence=f"this machine's own disk caused {late} of the time in I/O",
        to_change="a machine with a disk faster than the volume, or with the data in memory",
    )


def judge_machine_cpu(seen: Seen) -> Candidate | None:
    """On one machine: return its CPUs, if the server does not use most of their time."""
    target = seen.target
    idle, others = target.host_idle_percent, _add_others_percent(seen)
    if idle is None:
        return None
    servers = target.cpu_percent or 0.0
    clients = max(0.0, 100 - idle - others - servers)
    by_server = servers > (100 - idle) / 2
    share = (others if by_server else 100 - idle) / 100
    return Candidate(
        resource="machine",
        share=share,
        threshold=NEAR,
        reached=share >= NEAR,
        evidence=f"this machine: other processes used {words.format_percent(others / 100)} of its"
        " CPU, the"
        f" run's clients {words.format_percent(clients / 100)}, the server"
        f" {words.format_percent(servers / 100)}; {words.format_percent(idle / 100)} was idle",
        to_change="this machine without other work, or a machine with more CPUs",
    )


def _add_others_percent(seen: Seen) -> float:
    """Return the percentage of CPU time used by other processes and stolen by the hypervisor."""
    return (seen.target.host_others_percent or 0.0) + (seen.target.host_stolen_percent or 0.0)
