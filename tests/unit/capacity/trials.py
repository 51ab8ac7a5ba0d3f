"""Searches run against simulated databases, and what they claimed compared with the truth."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from statistics import median
from unittest import mock

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import find_axis, plan_next_step
from plimsoll.capacity.steps import loads
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import CLOSING, Step
from plimsoll.model.request.search_request import (
    NextStep,
    RampSearch,
    RateSearch,
    Search,
    StepsSearch,
)
from tests.unit.capacity.simulators import (
    QUIET,
    Target,
    World,
    answer,
    client_bound,
    cliff,
    collapse,
    queue,
)

RULES = Rules()
OVER_CLAIM = 0.03
FAR_LOW = 0.30

Fault = Callable[[NextStep, Step], Step]  # what becomes of a step


@dataclass(frozen=True)
class Trial:
    """One search, carried through."""

    capacity: Capacity
    steps: tuple[Step, ...]
    asked: tuple[NextStep, ...]  # by the search itself
    closing: tuple[NextStep, ...]  # after its answer was confirmed
    done: str

    @property
    def all_asked(self) -> tuple[NextStep, ...]:
        """What each step was asked for, in their order."""
        return *self.asked, *self.closing


@dataclass(frozen=True)
class Score:
    """What many trials of one search on one target came to."""

    runs: int
    # Share of runs that claimed 3 % more than the target sustains at any load; where the clients
    # are the limit, any figure at all for the database.
    over_claims: float
    shortfalls: tuple[float, ...]  # of each claim, as a share of the best that could be found
    far_low: float  # share of runs whose figure is more than 30 % below it
    conservative: float  # their median
    probes_median: float  # of the search itself; closing steps come on top
    probes_max: int
    unanswered: float  # share of runs without a figure
    knees: int  # runs that ended in a KNEE ...
    in_bracket: int  # ... of which the true edge lay within the loads that passed and failed
    in_edge: int  # ... and within the range that claims so for 90 of 100
    edge_widths: tuple[float, ...]  # that range's upper end / its lower end


def targets() -> list[Target]:
    """The four databases; the clients of the last are too weak, however many are allowed."""
    return [queue(), cliff(), collapse(), client_bound()]


def search_for(strategy: str, target: Target) -> Search:
    """A search with room on both sides of the target's capacity."""
    few = 3 if target.name == "client-bound" else 100
    if strategy == "steps" and target.name == "client-bound":
        return StepsSearch(clients=(1, 2, 3, 4), connections_per_client=16)
    if strategy == "steps":
        return StepsSearch(clients=(1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64))
    if strategy == "ramp":
        return RampSearch(
            connections_first=2, connections_max=128, connections_per_client=32, clients_max=few
        )
    return RateSearch(
        clients_max=few,
        rate_first_ops_per_second=target.ceiling_ops_per_second / 20,
        rate_max_ops_per_second=target.ceiling_ops_per_second * 4,
        connections_per_client=64,
    )


def run(
    search: Search,
    target: Target,
    world: World,
    seed: int,
    rules: Rules = RULES,
    *,
    fault: Fault | None = None,
) -> Trial:
    """Carry a search through."""
    random = Random(seed)
    steps: list[Step] = []
    asked: list[NextStep] = []
    closing: list[NextStep] = []
    with audits_kept():
        while isinstance(wish := plan_next_step(search, steps, rules), NextStep):
            (closing if wish.purpose in CLOSING else asked).append(wish)
            step = answer(target, wish, world, random)
            steps.append(fault(wish, step) if fault else step)
            assert len(steps) <= search.probes_max, "a search has to end"
        capacity = judge(steps, rules, find_axis(search))
    return Trial(capacity, tuple(steps), tuple(asked), tuple(closing), wish.why)


@contextmanager
def audits_kept() -> Iterator[None]:
    """Audit each step once within the block, with one set of rules.

    A search reads all of its steps again at every call: a third of a trial's time is their audits.
    """
    read = loads._make_repetition
    known: dict[tuple[int, int], loads.Repetition] = {}  # each keeps its step, so ids stay unique

    def read_once(step: Step, number: int, rules: Rules) -> loads.Repetition:
        found = known.get((id(step), number))
        if found is None:
            found = known[id(step), number] = read(step, number, rules)
        return found

    with mock.patch.object(loads, "_make_repetition", read_once):
        yield


def truth(search: Search, target: Target, *, any_load: bool = False) -> float:
    """The most throughput that passes without noise, at the loads that the search may ask for.

    With `any_load` also between those of a list: more than that, the target does not sustain.
    """
    random, rules = Random(0), RULES

    def at(load: float) -> tuple[float, dict[str, float]]:
        rate = load if isinstance(search, RateSearch) else None
        connections = 64 if rate else round(load)
        wish = NextStep(
            index=0, clients=1, connections=connections, rate_ops_per_second=rate,
            purpose="climb", why="",
        )  # fmt: skip
        step = answer(target, wish, QUIET, random)
        throughput = step.throughput_ops_per_second or 0.0
        if rate and throughput < rules.kept_up_share * rate:
            return 0.0, {}
        return throughput, {name: values["p99"] for name, values in step.latency_us.items()}

    if isinstance(search, StepsSearch):
        loads = [float(clients) * search.connections_per_client for clients in search.clients]
        if any_load:
            loads = [float(n) for n in range(int(loads[0]), int(loads[-1]) + 1)]
    elif isinstance(search, RampSearch):
        loads = [float(n) for n in range(search.connections_first, search.connections_max + 1)]
    else:
        first, last = search.rate_first_ops_per_second, search.rate_max_ops_per_second
        loads = [first + (last - first) * i / 2_000 for i in range(2_001)]
    _, baseline = at(loads[0])
    best = 0.0
    for load in loads:
        throughput, latency = at(load)
        if latency and all(latency[name] <= 3 * baseline[name] for name in baseline):
            best = max(best, throughput)
    return best


def true_edge(search: Search, target: Target) -> float:
    """The heaviest load that passes without noise; whole connections are not asked for."""

    def p99_s(load: float) -> float:
        if not isinstance(search, RateSearch):
            return target.closed(load, 1.0, math.inf)[1]
        throughput, mean_s, backlog = target.open(load, 1.0, math.inf)
        return mean_s if throughput >= RULES.kept_up_share * load and not backlog else math.inf

    low: float
    match search:
        case StepsSearch():
            low = float(search.clients[0] * search.connections_per_client)
        case RampSearch():
            low = float(search.connections_first)
        case RateSearch():
            low = search.rate_first_ops_per_second
    limit_s, high = RULES.deterioration * p99_s(low), 1_000 * low
    for _ in range(50):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if p99_s(middle) <= limit_s else (low, middle)
    return low


def shifted(search: Search, seed: int) -> Search:
    """Start anywhere within a factor, so that no score hangs on where the loads happen to fall."""
    if not isinstance(search, RateSearch):
        return search
    factor = search.factor ** Random(-seed - 1).random()
    rate = search.rate_first_ops_per_second * factor
    return search.model_copy(update={"rate_first_ops_per_second": rate})


def score(strategy: str, target: Target, world: World, seeds: range, rules: Rules = RULES) -> Score:
    """Measure one strategy on one target."""
    search = search_for(strategy, target)
    true, most = truth(search, target), truth(search, target, any_load=True)
    shortfalls, over, unanswered, probes = [], 0, 0, []
    in_bracket: list[bool] = []
    in_edge: list[bool] = []
    widths: list[float] = []
    for seed in seeds:
        moved = shifted(search, seed)
        trial = run(moved, target, world, seed, rules)
        found = trial.capacity.edge
        if found is not None:
            edge, (low, high) = true_edge(moved, target), trial.capacity.bracket or (None, None)
            assert low is not None
            assert high is not None
            in_bracket.append(low <= edge <= high)
            in_edge.append(found.low <= edge <= found.high)
            widths.append(found.high / found.low)
        probes.append(len(trial.asked))
        claimed = trial.capacity.max_sustainable_throughput_ops_per_second
        if claimed is None or trial.capacity.bound == "<":
            unanswered += 1
            continue
        shortfalls.append(1 - claimed / true)
        blamed = target.name == "client-bound" and trial.capacity.bound == "="
        over += blamed or claimed > most * (1 + OVER_CLAIM)
    return Score(
        runs=len(seeds),
        over_claims=over / len(seeds),
        shortfalls=tuple(shortfalls),
        far_low=sum(shortfall > FAR_LOW for shortfall in shortfalls) / len(seeds),
        conservative=median(shortfalls) if shortfalls else float("nan"),
        probes_median=median(probes),
        probes_max=max(probes),
        unanswered=unanswered / len(seeds),
        knees=len(in_edge),
        in_bracket=sum(in_bracket),
        in_edge=sum(in_edge),
        edge_widths=tuple(widths),
    )
