"""Databases whose true capacity is known, to measure how far a search can be trusted.

Each answers a step as a real target would: in a closed loop with N connections (by Little's law,
N = X x L), or in an open loop at an arrival rate. What a cloud adds is a `World`: the speed varies
by a factor drawn anew for each step (neighbors, page cleaning), which moves throughput *and*
latency; the p99 that is read off varies once more by as much.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import NextStep

WINDOW_S = 60.0
READ_SHARE = 0.5
P99_OVER_MEAN = 3.0
BAD_SPEED = 0.5  # of a bad window
WARMING_STEPS = 6.0  # after which a cold cache lacks 1/e of what it lacked at first
TAIL_DEGREES = 3  # of Student's t, where the noise has heavy tails
SAME_QUARTILES = 0.6745 / 0.7649  # of the normal distribution and of Student's t with three


@dataclass(frozen=True)
class World:
    """What befalls the windows of a search."""

    noise: float = 0.0  # standard deviation of the logarithm of a window's speed, and of its p99
    bad_share: float = 0.0  # of windows that run at half speed
    heavy_tails: bool = False  # noise with the same quartiles by Student's t: far outliers
    cold: float = 0.0  # share of its speed that the target lacks at first: its caches are warming
    drift: float = 0.0  # of the logarithm of its speed, with each step

    def factor(self, random: Random) -> float:
        """Draw what a window's speed, or its p99, is multiplied by."""
        if not self.noise:
            return 1.0
        deviate = random.gauss(0, 1)
        if self.heavy_tails:
            squares = sum(random.gauss(0, 1) ** 2 for _ in range(TAIL_DEGREES))
            deviate *= SAME_QUARTILES / math.sqrt(squares / TAIL_DEGREES)
        return math.exp(self.noise * deviate)

    def speed_at(self, index: int) -> float:
        """Give the target's own speed in a step, 1 being that of a warm one in its first step."""
        return (1 - self.cold * math.exp(-index / WARMING_STEPS)) * math.exp(self.drift * index)

    def is_bad(self, random: Random) -> bool:
        """Draw whether a window is a bad one."""
        return self.bad_share > 0 and random.random() < self.bad_share


QUIET = World()
NOISY = World(noise=0.10)
BAD_WINDOWS = World(noise=0.05, bad_share=0.05)


@dataclass(frozen=True)
class Target:
    """A database: mean latency of an operation in seconds at a throughput, up to a ceiling."""

    name: str
    ceiling_ops_per_second: float  # no more operations come out, whatever goes in
    latency_s: Callable[[float], float]  # by throughput below the ceiling; grows
    collapsed: float = 1.0  # of the ceiling, where more load is offered than it takes
    client_ops_per_second: float = math.inf  # what one client can send
    clients_look_busy: bool = True  # at that; a network that is full keeps no processor busy

    def closed(self, connections: float, speed: float, cap: float) -> tuple[float, float]:
        """Throughput and mean latency with so many connections, always one operation each."""
        low, high = 0.0, min(self.ceiling_ops_per_second * speed, cap)
        if connections < high * self._latency(high * (1 - 1e-9), speed):
            for _ in range(40):  # to 1e-12 of it
                middle = (low + high) / 2
                if middle * self._latency(middle, speed) < connections:
                    low = middle
                else:
                    high = middle
            return low, connections / low
        overload = connections / (high * self._latency(high * (1 - 1e-9), speed))
        throughput = high * (self.collapsed if overload > 1.25 and cap > high else 1.0)
        return throughput, connections / throughput

    def open(self, rate: float, speed: float, cap: float) -> tuple[float, float, int]:
        """Throughput, mean latency from the due time, and the backlog at the window's end."""
        ceiling = min(self.ceiling_ops_per_second * speed, cap)
        if rate < ceiling:
            return rate, self._latency(rate, speed), 0
        throughput = ceiling * (self.collapsed if cap > ceiling else 1.0)
        backlog = (rate - throughput) * WINDOW_S
        return throughput, WINDOW_S * (1 - throughput / rate) / 2 + 0.05, int(backlog)

    def _latency(self, throughput: float, speed: float) -> float:
        return self.latency_s(throughput / speed) / speed


def queue(servers: int = 16, service_s: float = 0.002) -> Target:
    """A queue with a knee (Sakasegawa 1977's approximation of M/M/m)."""
    ceiling = servers / service_s

    def latency_s(throughput: float) -> float:
        load = min(throughput / ceiling, 1 - 1e-9)
        wait: float = load ** (math.sqrt(2 * (servers + 1)) - 1) / (servers * (1 - load))
        return service_s * (1 + wait)

    return Target("queue", ceiling, latency_s)


def cliff() -> Target:
    """A volume's IOPS: latency is flat until they are used up."""
    return Target("cliff", 3000.0, lambda throughput: 0.0015 + 0.0 * throughput)


def collapse() -> Target:
    """Retrograde: offered more than it can take, it does half of it (R1 at 1000 IOPS)."""
    inner = queue(servers=4, service_s=0.0007)
    return replace(inner, name="collapse", collapsed=0.5)


def draw_target(seed: int) -> Target:
    """Draw a load curve: its shape, its servers, its service time, and whether it is retrograde."""
    random = Random(seed)
    service_s = math.exp(random.uniform(math.log(0.0003), math.log(0.02)))
    servers = round(math.exp(random.uniform(0, math.log(64))))
    ceiling, growth, power = servers / service_s, random.uniform(0.5, 6), random.uniform(2, 12)
    target: Target = random.choice(
        (
            queue(servers, service_s),
            Target("flat", ceiling, lambda throughput: service_s + 0.0 * throughput),
            Target(
                "smooth",
                ceiling,
                lambda throughput: service_s * (1 + growth * min(1, throughput / ceiling) ** power),
            ),
        )
    )
    collapsed = random.choice((1.0, 1.0, random.uniform(0.4, 0.9)))
    return replace(target, name=f"curve {seed}", collapsed=collapsed)


def slow_down(target: Target, share: float = 0.9) -> Target:
    """Make a database whose every operation takes 1 / share of the time."""
    return replace(
        target,
        ceiling_ops_per_second=share * target.ceiling_ops_per_second,
        latency_s=lambda throughput: target.latency_s(throughput / share) / share,
    )


def client_bound(client_ops_per_second: float = 1500.0) -> Target:
    """A database behind clients that can each send no more than so much."""
    return replace(queue(), name="client-bound", client_ops_per_second=client_ops_per_second)


def network_bound(client_ops_per_second: float = 1500.0) -> Target:
    """The same where it is the clients' network, which nothing of theirs shows."""
    bound = client_bound(client_ops_per_second)
    return replace(bound, name="network-bound", clients_look_busy=False)


def answer(target: Target, asked: NextStep, world: World, random: Random) -> Step:
    """Run a step on a target."""
    speed, blur = world.factor(random) * world.speed_at(asked.index), world.factor(random)
    if world.is_bad(random):
        speed *= BAD_SPEED
    cap = target.client_ops_per_second * asked.clients
    backlog = None
    if asked.rate_ops_per_second is None:
        throughput, mean_s = target.closed(asked.connections, speed, cap)
    else:
        throughput, mean_s, backlog = target.open(asked.rate_ops_per_second, speed, cap)
    mean_us = mean_s * 1e6
    return Step(
        index=asked.index,
        purpose=asked.purpose,
        clients=asked.clients,
        connections=asked.connections,
        rate_ops_per_second=asked.rate_ops_per_second,
        throughput_ops_per_second=throughput,
        operations=int(throughput * WINDOW_S),
        errors=0,
        window_s=WINDOW_S,
        latency_us={
            name: {"mean": mean_us * part, "p99": mean_us * part * P99_OVER_MEAN * blur}
            for name, part in (("read", 0.8), ("update", 1.2))
        },
        shares={"read": READ_SHARE, "update": 1 - READ_SHARE},
        client_busy=min(1.0, throughput / cap)
        if math.isfinite(cap) and target.clients_look_busy
        else 0.2,
        backlog_end=backlog,
    )
