"""Prediction of the load line of a target that was not measured. Pure.

By the forced flow law each operation needs the same I/Os, bytes and processor time on every target
(`plimsoll.capacity.statistics.factorial`); by the utilization law the resource that admits the
fewest operations per second is the first bottleneck. Below that bound a closed queueing network of
the volume and the processors gives the mean response time (`queueing`), and the run's own latency
tails turn it into a percentile.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Resource
from plimsoll.sizing.caps import Caps, Owner
from plimsoll.sizing.measured import Profile
from plimsoll.sizing.queueing import BEYOND, End, Guess, Network, Point

# Bounds of a target's resources, and the response time there.


SAME_CONSTANTS = 1.1  # assumed error of a volume type's latency constant
OTHER_CONSTANTS = 1.5  # ... of another type on AWS, where the constants are assumptions
# Processor time per I/O: system calls, checksums, wake-ups, and on one machine the emulation of
# the volume. Assumed (there, pools of 2 and 4 times the size saved 24 to 114 us per I/O).
IO_CPU_S = Guess(low=0.0, mid=10e-6, high=120e-6)
LEAST_CPU = 0.5  # least share of an operation's processor time when it needs fewer I/Os
SURE = Guess.sure(1.0)
PROCESSORS: frozenset[Resource] = frozenset({"cpu", "machine"})


class Bound(Model):
    """The throughput that a resource admits, regardless of latency."""

    resource: Resource
    ops_per_second: float
    owner: Owner | None = None  # who sets a storage limit: the volume or the instance


def compute_bounds(profile: Profile, caps: Caps, end: End, load: float) -> Iterator[Bound]:
    """Yield each resource's bound: its rate divided by an operation's use of it.

    Args:
        profile: The profile of the run.
        caps: The limits of the target.
        end: The end of the interval to predict. The low end assumes the highest use of everything.
        load: The number of concurrent operations.
    """
    reads, writes = _compute_io_ratios(profile, caps)
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
    cpu_s = machine if machine is not None and _is_on_run_machine(profile, caps) else server
    if caps.processors:
        taken_s = cpu_s.at(load)
        each = max(
            LEAST_CPU * taken_s.cost(end),
            taken_s.cost(end) + _compute_added_io_cpu_s(profile, kept, end),
        )
        if each:  # it may be extrapolated to nothing
            rate = caps.processors * caps.speed.at(end) / each
            # call it the machine's limit if processes other than the server use most of the CPU
            others = server.at(load).mid < taken_s.mid / 2
            yield Bound(resource="machine" if others else "cpu", ops_per_second=rate)


def _compute_added_io_cpu_s(profile: Profile, kept: float, end: End) -> float:
    """Return the processor time of an operation's additional I/Os with another memory size.

    Negative if it has fewer I/Os.
    """
    if profile.ios is None:
        return 0.0
    more = profile.ios.at(profile.most_load).mid * (kept - 1)
    return more * (IO_CPU_S.cost(end) if more > 0 else IO_CPU_S.at(end))


def _is_on_run_machine(profile: Profile, caps: Caps) -> bool:
    """Whether a target is predicted as the run's own machine would emulate it."""
    return profile.whole_machine and caps.speed == SURE


def build_network(
    profile: Profile, caps: Caps, end: End, bounds: Sequence[Bound]
) -> tuple[Network, float]:
    """Model an operation's way through a target.

    Returns:
        The network, and the time that an operation which runs alone waits for storage, in seconds.
    """
    storage = [1 / b.ops_per_second for b in bounds if b.resource not in PROCESSORS]
    cpu = [1 / b.ops_per_second for b in bounds if b.resource in PROCESSORS]
    stretch = _compute_io_latency_ratio(profile, caps).cost(end)
    reads, _ = _compute_io_ratios(profile, caps)
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


def _compute_io_latency_ratio(profile: Profile, caps: Caps) -> Guess:
    """Return the latency of an I/O on an idle volume, relative to the run's volume."""
    own = profile.own
    if caps.volume == own.volume or not caps.base_latency_us or not own.base_latency_us:
        return SURE
    factor = SAME_CONSTANTS if profile.whole_machine else OTHER_CONSTANTS
    return Guess.within(caps.base_latency_us / own.base_latency_us, factor)


def _compute_io_ratios(profile: Profile, caps: Caps) -> tuple[Guess, Guess]:
    """Return the read and the write I/Os with another memory size, relative to the run's.

    A pool that reads less also evicts fewer changed pages, but the log and checkpoints are
    written all the same. So the writes other than the log lie between unchanged and reduced
    like the reads. At best the log hardly counts either: one flush serves all concurrent commits.
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


TAIL_FACTOR = 1.1  # how far a percentile may deviate from the run's at the same slowdown
NEAR = 0.85  # from this share of its bound on, a resource counts as the limit, not latency
SAFE = 0.5  # the stated figure lies this far from the best estimate towards the low end


class Prediction(Model):
    """What a target is predicted to sustain. Never a measurement."""

    ops_per_second: float  # stated figure, on the safe side of the best estimate
    low: float  # lower end of the prediction interval
    high: float  # upper end
    binds: Bound  # limiting resource, and the throughput it admits
    next: Bound | None  # the resource that would limit next; None if none is known
    load: int | None  # concurrent operations at the limit; None if one alone is too slow
    least_load: int | None = None  # the same at the lower end


@dataclass(frozen=True)
class Calibrated:
    """A profile, corrected by what runs measured.

    Attributes:
        profile: The profile of the run.
        factor: The ratio of the measured to the predicted load line.
        held: A limiting lock that no volume changes, and the throughput at which it limited; None
            if no such lock limited the run.
    """

    profile: Profile
    factor: Guess = SURE
    held: tuple[Resource, float] | None = None


@dataclass(frozen=True)
class _Line:
    point: Point | None  # None if one operation alone is too slow
    full: bool  # saturated while still within the limits
    bounds: tuple[Bound, ...]
    storage_s: float  # time that an operation waits for storage, without queues
    response_s: float  # response time at the limit; alone if there is no limit

    @property
    def ops_per_second(self) -> float:
        return 0.0 if self.point is None else self.point.ops_per_second


def predict(known: Calibrated, caps: Caps, limits_us: Mapping[str, float]) -> Prediction:
    """Predict a target's load line.

    Args:
        known: The calibrated profile of the run.
        caps: The limits of the target.
        limits_us: The highest latency of each operation, in the statistic of the profile's tails.
    """
    lines = {end: _find_load_line(known.profile, caps, limits_us, end) for end in get_args(End)}
    low, mid, high = (lines[e].ops_per_second * known.factor.at(e) for e in get_args(End))
    likely = lines["mid"]
    binds, following = _find_limiting_bounds(likely)
    if known.held is not None and known.held[1] < mid:
        resource, held = known.held
        following, binds = binds, Bound(resource=resource, ops_per_second=held)
        low, mid = min(low, held), held
    mid = min(max(low, mid), high)
    return Prediction(
        ops_per_second=mid * (low / mid) ** SAFE if mid else 0.0,
        low=low,
        high=high,
        binds=binds,
        next=following,
        load=likely.point.load if likely.point else None,
        least_load=lines["low"].point.load if lines["low"].point else None,
    )


def _find_load_line(
    profile: Profile, caps: Caps, limits_us: Mapping[str, float], end: End
) -> _Line:
    """Find the heaviest load within the limits.

    The use per operation depends on the load, so the search runs again with the first result.
    """
    most = profile.most_load * (BEYOND if end == "high" else 1)
    first = _climb_to_limits(profile, caps, limits_us, end, most)
    if first.full:
        return first
    return _climb_to_limits(profile, caps, limits_us, end, first.point.load if first.point else 1.0)


def _climb_to_limits(
    profile: Profile, caps: Caps, limits_us: Mapping[str, float], end: End, load: float
) -> _Line:
    bounds = tuple(compute_bounds(profile, caps, end, load))
    network, storage_s = build_network(profile, caps, end, bounds)

    def is_beyond(point: Point) -> bool:
        found = _choose_compared_latencies_us(profile, network, point, end)
        return any(found[name] > most_us for name, most_us in limits_us.items())

    # Latencies never fall with the load. To estimate them costs more than the climb, so every
    # 16th point is looked at, and the first one beyond the limits is found by bisection.
    points: list[Point] = []
    for point in network.climb():
        points.append(point)
        if point.load % 16 == 0 and is_beyond(point):
            break
    within = bisect_left(points, True, key=is_beyond)
    best, full = points[within - 1] if within else None, within == len(points)
    if best is not None:
        # each climb ends slightly beyond saturation: cut the rate so that climbs are comparable
        most = min(best.ops_per_second, network.full_ops_per_second)
        best = replace(best, ops_per_second=most)
    response_s = best.response_s if best else network.alone_s
    return _Line(best, full, bounds, storage_s, response_s)


def _choose_compared_latencies_us(
    profile: Profile, network: Network, point: Point, end: End
) -> dict[str, float]:
    """Return the latencies to compare with limits, on the side that `end` asks for."""
    stretched, as_many = _estimate_two_ways_us(profile, network, point)
    if end == "low":
        return {name: as_many.get(name, us * TAIL_FACTOR) for name, us in stretched.items()}
    factor = 1.0 if end == "mid" else 1 / TAIL_FACTOR
    return {name: min(us, as_many.get(name, us)) * factor for name, us in stretched.items()}


def _predict_longest_us(profile: Profile, network: Network, point: Point) -> dict[str, float]:
    """Return the longest latencies to expect at a point."""
    stretched, as_many = _estimate_two_ways_us(profile, network, point)
    return {n: max(us * TAIL_FACTOR, as_many.get(n, 0.0)) for n, us in stretched.items()}


def _estimate_two_ways_us(
    profile: Profile, network: Network, point: Point
) -> tuple[dict[str, float], dict[str, float]]:
    """Return latencies estimated in two ways: by the slowdown, and by concurrent operations.

    The second is empty for a workload that does not write.
    """
    stretch = point.response_s / network.alone_s
    return (
        {name: tail.at(stretch) * network.alone_s * 1e6 for name, tail in profile.tails.items()},
        {name: tail.at(point.load) for name, tail in profile.tails_under_way.items()},
    )


def _find_limiting_bounds(line: _Line) -> tuple[Bound, Bound | None]:
    """Return the limiting resource, and the one that would limit next.

    If latency reaches its limit while no resource is near its bound, the limit is the part that
    takes most of an operation's time.
    """
    ordered = sorted(line.bounds, key=lambda bound: bound.ops_per_second)
    tightest = ordered[0]
    if line.ops_per_second >= NEAR * tightest.ops_per_second:
        return tightest, ordered[1] if len(ordered) > 1 else None
    waits = line.storage_s > line.response_s / 2
    resource: Resource = "storage_latency" if waits else tightest.resource
    return Bound(
        resource=resource, ops_per_second=line.ops_per_second, owner=tightest.owner
    ), tightest


def predict_latencies(known: Calibrated, caps: Caps, want: float) -> dict[str, Guess] | None:
    """Predict the latencies under a load, in microseconds.

    They are of the statistic of the profile's tails.

    Returns:
        None if the load is probably beyond the target's load line.
    """
    found: dict[End, dict[str, float]] = {}
    for end in get_args(End):
        asked = want / known.factor.at(end)
        network, _ = build_network(
            known.profile,
            caps,
            end,
            tuple(compute_bounds(known.profile, caps, end, known.profile.most_load)),
        )
        point = next((p for p in network.climb() if p.ops_per_second >= asked), None)
        if point is not None:
            told_us = (
                _predict_longest_us
                if end == "low"
                else partial(_choose_compared_latencies_us, end=end)
            )
            found[end] = told_us(known.profile, network, point)
    if "mid" not in found or "high" not in found:
        return None
    worst = found.get("low")
    return {
        name: _make_guess(found["high"][name], mid, worst[name] if worst else mid)
        for name, mid in found["mid"].items()
    }


def _make_guess(*values: float) -> Guess:
    low, mid, high = sorted(values)
    return Guess(low=low, mid=mid, high=high)


def calibrate_profile(
    profile: Profile,
    limits_us: Mapping[str, float],
    measured: float | None,
    *,
    least: bool = False,
    spread: float = 0.1,
    caps: Caps | None = None,
) -> Calibrated:
    """Correct a profile by what was measured on a target.

    Args:
        profile: The profile of the run.
        limits_us: The highest latency of each operation, in microseconds.
        measured: The measured load line within these limits; None if there is none.
        least: Whether that is only a lower bound.
        spread: The relative half-width of its interval.
        caps: The limits of the target that was measured; None for the run's own.
    """
    plain = Calibrated(profile)
    if not measured:
        return replace(plain, factor=Guess(low=0.8, mid=1.0, high=1.2))
    mid = _find_load_line(profile, caps or profile.own, limits_us, "mid").ops_per_second
    factor = measured / mid if mid else 1.0
    if least:
        factor = max(1.0, factor)
    low, high = min(1.0, factor) * (1 - spread), max(1.0, factor) * (1 + spread)
    return replace(plain, factor=Guess(low=low, mid=factor, high=high))
