"""What an operation takes of another target: its resources' bounds, and its time there. Pure."""

from collections.abc import Iterator, Sequence

from plimsoll.model.base import Model
from plimsoll.model.capacity import Resource
from plimsoll.sizing.caps import Caps, Owner
from plimsoll.sizing.guess import End, Guess
from plimsoll.sizing.network import Network
from plimsoll.sizing.profile import Profile

SAME_CONSTANTS = 1.1  # by which an I/O's latency may differ from what its type's constant says
OTHER_CONSTANTS = 1.5  # ... of another type on AWS, where the constants are assumptions
# of a processor, what an I/O takes: system calls, checksums, wakings, on one machine also what
# emulates the volume; assumed (there, pools of 2 and 4 times the size spared 24 to 114 us each)
IO_CPU_S = Guess(low=0.0, mid=10e-6, high=120e-6)
LEAST_CPU = 0.5  # of the processor time of an operation, what is left where it has fewer I/Os
SURE = Guess.sure(1.0)
PROCESSORS: frozenset[Resource] = frozenset({"cpu", "machine"})


class Bound(Model):
    """What a resource lets through, whatever the latency."""

    resource: Resource
    ops_per_second: float
    owner: Owner | None = None  # of a limit of storage: the volume's, or the instance's


def bounds_of(profile: Profile, caps: Caps, end: End, load: float) -> Iterator[Bound]:
    """Say what each resource lets through: its rate over what an operation takes of it.

    Args:
        profile: Of the run.
        caps: Of the target.
        end: Of the interval, for what is predicted: its low end takes the most of everything.
        load: Operations under way.
    """
    reads, writes = _memory(profile, caps)
    kept = profile.read_share * reads.cost(end) + (1 - profile.read_share) * writes.cost(end)
    if profile.ios is not None and caps.iops:
        each = profile.ios.at(load).cost(end) * kept
        if each:
            rate = caps.iops / each
            yield Bound(resource="storage_iops", ops_per_second=rate, owner=caps.iops_of)
    if profile.mib is not None and caps.mib_s:
        each = profile.mib.at(load).cost(end) * kept
        if each:
            rate = caps.mib_s / each
            yield Bound(resource="storage_throughput", ops_per_second=rate, owner=caps.mib_s_of)
    server, machine = profile.server_cpu_s, profile.machine_cpu_s
    cpu_s = machine if machine is not None and _on_machine(profile, caps) else server
    if caps.processors:
        taken_s = cpu_s.at(load)
        each = max(LEAST_CPU * taken_s.cost(end), taken_s.cost(end) + _of_ios_s(profile, kept, end))
        rate = caps.processors * caps.speed.at(end) / each
        # a limit is named the machine's where it is not the server that has most of it
        others = server.at(load).mid < taken_s.mid / 2
        yield Bound(resource="machine" if others else "cpu", ops_per_second=rate)


def _of_ios_s(profile: Profile, kept: float, end: End) -> float:
    """Processor time of the I/Os that an operation has more with another memory; below 0: fewer."""
    if profile.ios is None:
        return 0.0
    more = profile.ios.at(profile.most_load).mid * (kept - 1)
    return more * (IO_CPU_S.cost(end) if more > 0 else IO_CPU_S.at(end))


def _on_machine(profile: Profile, caps: Caps) -> bool:
    """Whether a target is asked about as the run's machine stands in for it."""
    return profile.whole_machine and caps.speed == SURE


def network_of(
    profile: Profile, caps: Caps, end: End, bounds: Sequence[Bound]
) -> tuple[Network, float]:
    """Give an operation's way through a target.

    Returns:
        The network, and how much of the time of an operation that is alone is a wait for storage.
    """
    storage = [1 / b.ops_per_second for b in bounds if b.resource not in PROCESSORS]
    cpu = [1 / b.ops_per_second for b in bounds if b.resource in PROCESSORS]
    stretch = _stretch(profile, caps).cost(end)
    reads, _ = _memory(profile, caps)
    added_s, storage_s = 0.0, 0.0
    for wait_s, times in (
        (profile.pages_s, stretch * reads.cost(end)),
        (profile.log_s, stretch),
    ):
        now_s = wait_s.cost(end) if times > 1 else wait_s.at(end)
        added_s += now_s * (times - 1)
        storage_s += now_s * times
    alone_s = max(profile.alone_s + added_s, profile.alone_s / 100)
    demands_s = (*([max(storage)] if storage else []), *cpu)
    return Network(alone_s=alone_s, demands_s=demands_s), storage_s


def _stretch(profile: Profile, caps: Caps) -> Guess:
    """Say how many times as long an idle volume takes for an I/O."""
    own = profile.own
    if caps.volume == own.volume or not caps.base_latency_us or not own.base_latency_us:
        return SURE
    factor = SAME_CONSTANTS if profile.whole_machine else OTHER_CONSTANTS
    return Guess.within(caps.base_latency_us / own.base_latency_us, factor)


def _memory(profile: Profile, caps: Caps) -> tuple[Guess, Guess]:
    """Say how many times as many I/Os read and write with another memory.

    A pool that reads less evicts fewer changed pages too, but writes its log and checkpoints all
    the same: beside the log, its writes lie between as many and as many fewer. At best the log
    hardly counts either: one flush of it serves all who commit meanwhile.
    """
    own, pool = profile.own, profile.pool
    if caps.pool_bytes is not None:
        ratio = caps.pool_bytes / own.pool_bytes if own.pool_bytes else None
    elif own.memory_gib and caps.memory_gib:
        ratio = caps.memory_gib / own.memory_gib
    else:
        ratio = None
    if ratio == 1 or ratio is None:
        return SURE, SURE
    if pool is None:
        return (Guess(low=0.0, mid=1.0, high=1.0), SURE) if ratio > 1 else (SURE, SURE)
    reads = pool.reads_at(pool.pages * ratio)
    likely = profile.log_share + (1 - profile.log_share) * reads.mid
    if ratio < 1:
        return reads, Guess(low=1.0, mid=(1 + likely) / 2, high=likely)
    least = (1 - profile.log_share) * reads.low
    return reads, Guess(low=least, mid=(1 + likely) / 2, high=1.0)
