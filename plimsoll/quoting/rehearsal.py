"""How many steps a search will take: the search itself, against databases of known capacity."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pydantic import TypeAdapter

from plimsoll.capacity import next_step
from plimsoll.capacity.ladders import LADDERS
from plimsoll.model.capacity import Rules
from plimsoll.model.search_request import NextStep, Search, StepsSearch
from plimsoll.model.steps import STATISTICS, Step

PLACES = (0.25, 0.5, 0.75)  # where on the way up the capacity may lie
SLOW = 4.0  # times the limit: what a load beyond the knee takes
WINDOW_S = 60.0
LIMIT_LEAST_US, LIMIT_MOST_US = 1e-3, 1e9  # of a rehearsal
_SEARCH: TypeAdapter[Search] = TypeAdapter(Search)


@dataclass(frozen=True)
class Rehearsed:
    """What the searches came to, on average.

    Attributes:
        steps: Steps.
        clients: Clients of a step.
        soak_steps: Of the steps, windows of a soak.
    """

    steps: float
    clients: float
    soak_steps: float


def rehearse(search: Search, rules: Rules) -> Rehearsed:
    """Run the search against noiseless databases with a knee low, midway and high.

    Noise asks for repetitions, so a real search takes some steps more.
    """
    return _rehearsed(search.model_dump_json(), rules.model_dump_json())


@lru_cache(128)
def _rehearsed(search_json: str, rules_json: str) -> Rehearsed:
    """Remember the answer: the runs of an experiment mostly share their search."""
    search = _SEARCH.validate_json(search_json)
    rules = Rules.model_validate_json(rules_json)
    loads = list(_loads(search))
    rehearsals = []
    for place in PLACES:
        knee = loads[int(place * (len(loads) - 1))]
        rehearsals.append(_run(search, rules, knee))
    steps = [step for rehearsal in rehearsals for step in rehearsal]
    return Rehearsed(
        steps=len(steps) / len(rehearsals),
        clients=sum(step.clients or 1 for step in steps) / len(steps),
        soak_steps=sum(step.purpose == "soak" for step in steps) / len(rehearsals),
    )


def clients_least(search: Search) -> int:
    """Give the clients of its lightest step."""
    if isinstance(search, StepsSearch):
        return search.clients[0]
    return 1 if search.strategy == "ramp" else search.clients


def _loads(search: Search) -> Iterator[float]:
    ladder = LADDERS[search.strategy](search)
    load: float | None = ladder.first
    while load is not None:
        yield load
        load = ladder.up(load)


def _run(search: Search, rules: Rules, knee: float) -> list[Step]:
    """Give each step that the search asks for, with a knee at this load."""
    finished: list[Step] = []
    while isinstance(following := next_step(search, finished, rules), NextStep):
        finished.append(_answer(following, search, rules, knee))
    return finished


def _answer(planned: NextStep, search: Search, rules: Rules, knee: float) -> Step:
    """Answer a step so that Little's law holds: fast up to the knee, too slow beyond it."""
    rate = planned.rate_ops_per_second
    load = planned.clients if isinstance(search, StepsSearch) else planned.connections
    passes = (rate or load) <= knee
    names = list(rules.limits_us) or ["operation"]
    fast_us = min(_limits_us(rules), default=2_000.0) / 2
    if rate is not None:
        fast_us = min(fast_us, planned.connections / (4 * rate) * 1e6)
    us = fast_us if passes else fast_us * SLOW * max(1.0, _spread(rules))
    throughput = planned.connections / (us / 1e6) if rate is None else min(rate, knee)
    return Step(
        purpose=planned.purpose,
        clients=planned.clients,
        connections=planned.connections,
        rate_ops_per_second=rate,
        throughput_ops_per_second=throughput,
        operations=int(throughput * WINDOW_S) + 1,
        errors=0,
        window_s=WINDOW_S,
        latency_us={name: dict.fromkeys(STATISTICS, us) for name in names},
        shares={name: 1 / len(names) for name in names},
    )


def _spread(rules: Rules) -> float:
    """How far apart the limits are: beyond the knee each is passed."""
    limits = _limits_us(rules)
    return max(limits) / min(limits) if limits else rules.deterioration


def _limits_us(rules: Rules) -> list[float]:
    """The limits, none so far from what a database does that no float could tell its figures."""
    return [min(max(limit, LIMIT_LEAST_US), LIMIT_MOST_US) for limit in rules.limits_us.values()]
