"""Searches on servers whose log lends throughput: the worlds of docs/evidence/write-debt.md.

One second at a time. The log's age grows by the throughput and falls by what the server cleans:
1,100 operations' worth in the background (a fifth of it below a tenth of the log), 2,600 while it
is furious, which it is from 7/8 of the log down to 3/4, and while it is idle. While it is furious,
throughput is 35 % lower and p99 six times.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from plimsoll.capacity.credits import judge_sustained
from plimsoll.capacity.search import find_axis, plan_next_step
from plimsoll.capacity.steps.debt import (
    FILL_LEAST_S,
    UNFILLED,
    TimedDebt,
    is_filled,
    measure_growth,
    plan_fill_s,
)
from plimsoll.model.histograms import BOUNDS_US, interpolate_percentile_us
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.debt import FILL_CONNECTIONS, WriteDebt
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import NextStep, RampSearch, Search, StepsSearch
from tests.unit.capacity.trials import audits_kept

PEAK, HALF = 2_000.0, 8.0  # closed loop: PEAK x n / (n + HALF) operations a second
CLEANED, CLEANED_MOST, LAZY = 1_100.0, 2_600.0, 0.2
LAZY_BELOW, FURIOUS_FROM, FURIOUS_TO = 0.1, 7 / 8, 3 / 4
SLOWED, LENGTHENED = 0.65, 6.0
P99_FACTOR = 2.5
LIMIT_US = 40_000.0
RULES = Rules(limits_us={"update": LIMIT_US})
WARMUP_S, WINDOW_S = 30, 60
TRUTH_S = 20_000
SEARCHES: dict[str, Search] = {
    "steps": StepsSearch(clients=(1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32)),
    "ramp": RampSearch(connections_first=2, connections_max=64, clients_max=64),
}
_NEEDED = math.log(0.01)


@dataclass(frozen=True)
class RedoWorld:
    """A server with a log."""

    log_s: float  # what it holds, in seconds of 1,000 operations
    adaptive: bool = False  # it cleans the more, the fuller its log is
    noise: float = 0.03  # of the logarithm of its speed, with a correlation of 60 s
    gap_s: float = 1.0  # between the end of a step's load and the next step's clients
    fleet: bool = False  # clients that learn when to start beforehand, as on AWS


@dataclass
class Server:
    """Such a server, whose time passes."""

    world: RedoWorld
    random: Random
    owed: float = 0.0
    written: float = 0.0
    at_s: float = 0.0
    furious: bool = False
    _deviate: float = 0.0

    @property
    def share(self) -> float:
        return self.owed / self.limit

    @property
    def limit(self) -> float:
        return 1_000 * self.world.log_s

    def read(self) -> TimedDebt:
        debt = WriteDebt(
            owed_bytes=round(self.owed),
            limit_bytes=round(self.limit),
            written_bytes=round(self.written),
        )
        return TimedDebt(self.at_s, debt)

    def idle(self, seconds: float) -> None:
        self.owed = max(0.0, self.owed - CLEANED_MOST * seconds)
        self.furious = self.furious and self.share > FURIOUS_TO
        self.at_s += seconds

    def second(self, connections: int) -> tuple[float, float]:
        """Let a second pass; return throughput and p99 in microseconds."""
        rho = math.exp(-1 / 60)
        self._deviate = rho * self._deviate + math.sqrt(1 - rho**2) * self.random.gauss(0, 1)
        free = (
            PEAK * connections / (connections + HALF) * math.exp(self.world.noise * self._deviate)
        )
        p99_us = P99_FACTOR * connections / free * 1e6 * (LENGTHENED if self.furious else 1)
        done = free * (SLOWED if self.furious else 1)
        cleaned = CLEANED_MOST if self.furious else CLEANED
        if self.world.adaptive and not self.furious:
            cleaned *= 0.6 + 0.6 * self.share
        if self.share < LAZY_BELOW:
            cleaned *= LAZY
        self.owed = max(0.0, self.owed + done - cleaned)
        self.furious = self.share > (FURIOUS_TO if self.furious else FURIOUS_FROM)
        self.written += done
        self.at_s += 1
        return done, p99_us

    def hold(self, connections: int, seconds: int) -> Iterator[tuple[float, float]]:
        for _ in range(seconds):
            yield self.second(connections)


def merge_seconds(seconds: list[tuple[float, float]]) -> dict[int, int]:
    """Return the latencies of seconds by bucket; those of each second are exponential."""
    counts: dict[int, float] = defaultdict(float)
    for done, p99_us in seconds:
        before = 0.0
        for bound in BOUNDS_US:
            at_most = 1 - math.exp(_NEEDED * bound / p99_us)
            counts[bound] += done * (at_most - before)
            before = at_most
            if at_most > 1 - 1e-7:
                break
    return {bound: round(count) for bound, count in counts.items() if round(count)}


def truth(world: RedoWorld) -> float:
    """Return the most throughput whose p99 over hours, from a log at 0.8, is within the limit."""
    best = 0.0
    for connections in range(1, 33):
        server = Server(world, Random(7), owed=0.8 * 1_000 * world.log_s)
        seconds = list(server.hold(connections, TRUTH_S))
        total = sum(done for done, _ in seconds)
        # no need for buckets: the share of operations beyond the limit decides
        beyond = sum(done * math.exp(_NEEDED * LIMIT_US / p99) for done, p99 in seconds)
        if beyond <= 0.01 * total:
            best = max(best, total / TRUTH_S)
    return best


@dataclass
class Searcher:
    """A search on a server.

    Attributes:
        blind: Whether write debt is not read, as before: windows may begin with an empty log.
    """

    world: RedoWorld
    seed: int
    blind: bool = False
    steps: list[Step] = field(default_factory=list)
    took_s: float = 0.0

    def search(self, search: Search) -> Capacity:
        server = Server(self.world, Random(self.seed))
        with audits_kept():
            while isinstance(wish := plan_next_step(search, self.steps, RULES), NextStep):
                self.steps.append(self._answer(server, wish))
            self.took_s = server.at_s
            return judge_sustained(self.steps, RULES, find_axis(search))

    def _answer(self, server: Server, wish: NextStep) -> Step:
        server.idle(self.world.gap_s)
        warmup_s, window_s = WARMUP_S * wish.window_factor, WINDOW_S * wish.window_factor
        if self.blind:
            server.idle(max(0.0, server.owed - server.limit / 2) / CLEANED_MOST)
        else:
            now = server.read().debt
            least_s = 0.0 if self.world.fleet else FILL_LEAST_S
            fill_s = plan_fill_s(
                wish.purpose, self.steps, now, warmup_s + window_s, least_s=least_s
            )
            self._fill(server, fill_s)
        list(server.hold(wish.connections, warmup_s))
        readings, seconds = [server.read()], []
        for second in server.hold(wish.connections, window_s):
            seconds.append(second)
            readings.append(server.read())
        return self._make_step(wish, seconds, readings)

    def _fill(self, server: Server, longest_s: float) -> None:
        began_s, readings = server.at_s, [server.read()]
        while server.at_s < began_s + longest_s:
            if is_filled(readings[-1:]):
                if not self.world.fleet:
                    return
                server.idle(1)
            else:
                server.second(FILL_CONNECTIONS)
            readings.append(server.read())
            if is_filled(readings) and not self.world.fleet:
                return

    def _make_step(
        self,
        wish: NextStep,
        seconds: list[tuple[float, float]],
        readings: list[TimedDebt],
    ) -> Step:
        total = sum(done for done, _ in seconds)
        counts = merge_seconds(seconds)
        p99_us = interpolate_percentile_us(counts, 0.99)
        assert p99_us is not None
        return Step(
            index=wish.index,
            purpose=wish.purpose,
            clients=wish.clients,
            connections=wish.connections,
            throughput_ops_per_second=total / len(seconds),
            operations=round(total),
            operation_counts={"update": round(total)},
            errors=0,
            window_s=float(len(seconds)),
            window_factor=wish.window_factor,
            latency_us={"update": {"p99": p99_us}},
            latency_counts={"update": counts},
            debt=None
            if self.blind
            else measure_growth(readings, judged=wish.purpose not in UNFILLED),
        )
