"""How long the parts of a run take: its search, phases, toggle and the target's life. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import Literal, assert_never

from pydantic import TypeAdapter

from plimsoll import words
from plimsoll.capacity.confirm.next_loads import LADDERS
from plimsoll.capacity.confirm.soak import count_soak_windows
from plimsoll.capacity.search import plan_next_step
from plimsoll.model.aws.volumes import limits
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import STATISTICS, Step
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.phases import Completion, Pass, passes
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.request.request import Request, Target, TargetKind
from plimsoll.model.request.search_request import NextStep, Search, StepsSearch, max_clients
from plimsoll.model.request.toggle import SPARE_TRIES
from plimsoll.model.run.quote import QuotePhase
from plimsoll.model.timings import (
    AWS_TIMINGS,
    INSTANCE_RESTART,
    NODE_CREATION,
    NODE_DELETION,
    STACK_CREATION,
    STACK_DELETION,
    Assumed,
)

# A toggle: every step follows a restart and has its own warming.


def count_toggle_steps(request: Request) -> int:
    """Return the number of steps that a toggle's pairs take."""
    return request.toggle.steps if request.toggle else 0


def _count_switched_steps(request: Request) -> int:
    """Return the number of steps for which the target is put into one of its states.

    The pairs with and without a background count too.
    """
    return count_toggle_steps(request) + request.steps_beside if request.toggle else 0


def estimate_toggle_s(request: Request) -> float:
    """Return the expected seconds of restarts and warming, without the steps themselves."""
    restart_s = INSTANCE_RESTART.expected_s if request.target.provisioned else 0.0
    return _count_switched_steps(request) * (request.prepare.warm_s + restart_s)


def estimate_most_toggle_s(request: Request) -> float:
    """Return the same at worst."""
    if request.toggle is None:
        return 0.0
    restart_s = INSTANCE_RESTART.most_s if request.target.provisioned else 0.0
    return (_count_switched_steps(request) + SPARE_TRIES) * (request.prepare.warm_s + restart_s)


def state_toggle(request: Request) -> str:
    """Describe what a toggle adds; empty without one."""
    if request.toggle is None:
        return ""
    steps = words.format_count(count_toggle_steps(request), "step")
    if not request.target.provisioned:
        return f", and {steps} of a toggle, each after prepare.warm_s"
    return (
        f", and {steps} of a toggle, each after prepare.warm_s and, assuming that its parameters"
        f" need one, a restart of {INSTANCE_RESTART.in_minutes}"
    )


# The phases of a request.


_IOPS_WITHOUT_LIMIT = 10_000.0  # assumed for a target whose volume is not known


def count_fleet_most(request: Request) -> int:
    """Return the highest number of clients of a step, with those of the background."""
    return _count_most(request, max_clients(request.search) + request.clients_beside)


def count_clients_at_once(request: Request) -> int:
    """Return the highest number of clients at a time: two fleets where a soak has windows."""
    return _count_most(request, request.clients_at_once)


def _count_most(request: Request, stepping: int) -> int:
    searching = [max_clients(phase.search) for phase in request.phases if phase.search]
    return max([stepping, *searching, *(one.clients for one in passes(request.phases))])


def estimate_writing_iops(request: Request) -> float:
    """Return the I/Os per second available for rows, over all nodes and each row written once."""
    target = request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return _IOPS_WITHOUT_LIMIT
    iops = limits(target.volume, service=target.service).baseline_iops or _IOPS_WITHOUT_LIMIT
    return iops * target.nodes / target.copies if isinstance(target, CassandraTarget) else iops


def estimate_pass_s(request: Request, one: Pass) -> float:
    """Return the expected seconds of a pass: one I/O of the volumes per record."""
    return min(one.asked.longest_s, one.asked.records / estimate_writing_iops(request))


def estimate_phases(
    request: Request, judging_s: float, searches: Sequence[QuotePhase]
) -> QuotePhase | None:
    """Estimate how long the phases take; None if there are none.

    Args:
        request: The request with the phases.
        judging_s: The seconds for planning and judging a pass.
        searches: The time of each phase that searches, estimated like a run's search.
    """
    if not request.phases:
        return None
    each = passes(request.phases)
    beside_s = fsum(judging_s + AWS_TIMINGS.lead_s(one.clients) for one in each)
    completed = (
        f"{words.format_count(len(each), 'pass', 'passes')} to completion: one I/O of the volume"
        " per"
        " record; at worst longest_s each"
    )
    searched = [f"a search of {one.assumption}" for one in searches]
    return QuotePhase(
        name="phases",
        expected_s=beside_s
        + fsum(estimate_pass_s(request, one) for one in each)
        + fsum(one.expected_s for one in searches),
        most_s=beside_s
        + fsum(one.asked.longest_s for one in each)
        + fsum(one.most_s for one in searches),
        assumption="; ".join([*([completed] if each else []), *searched]),
    )


def describe_pass(asked: Completion) -> str:
    """Describe the size of a phase that runs to completion."""
    count = words.format_count(asked.passes, "pass", "passes")
    longest = words.format_duration(asked.longest_s)
    return f"{count} of {words.format_number(asked.records)} records, each {longest} at most"


def list_pass_clients(request: Request, *, at_worst: bool) -> list[tuple[int, float]]:
    """Return the clients of each pass, and how many seconds its load lasts."""
    return [
        (one.clients, one.asked.longest_s if at_worst else estimate_pass_s(request, one))
        for one in passes(request.phases)
    ]


# Creation and deletion of a target's stack, as quotes and budgets assume them.


NO_TIME = Assumed(expected_s=0, most_s=0)


def estimate_provision(target: Target) -> QuotePhase:
    """Estimate how long it takes to create a target."""
    return _estimate_stack_phase(
        "provision", target, _state_creation(target.kind), STACK_CREATION, NODE_CREATION
    )


def estimate_teardown(target: Target) -> QuotePhase:
    """Estimate how long it takes to delete a target, from the request until it is gone."""
    what = f"a deletion takes {STACK_DELETION.in_minutes}"
    return _estimate_stack_phase("teardown", target, what, STACK_DELETION, NODE_DELETION)


def _estimate_stack_phase(
    name: Literal["provision", "teardown"],
    target: Target,
    what: str,
    stack: Assumed,
    each: Assumed,
) -> QuotePhase:
    further = target.nodes - 1 if isinstance(target, CassandraTarget) else 0
    takes = stack.and_then(further, each) if target.provisioned else NO_TIME
    more = (
        f"; {words.format_count(further, 'further node')}, one after the other: {each.in_minutes}"
        " each"
    )
    return QuotePhase(
        name=name,
        expected_s=takes.expected_s,
        most_s=takes.most_s,
        assumption=what + (more if further else ""),
    )


def _state_creation(kind: TargetKind) -> str:
    match kind:
        case "rds":
            return "RDS creates an instance in 10 minutes, 30 at most"
        case "aurora":
            return "RDS creates a cluster and its writer in 10 minutes, 30 at most"
        case "cassandra":
            return "EC2 starts an instance that installs Cassandra in 10 minutes, 30 at most"
        case "endpoint":
            return "the endpoint exists already"
        case _:
            assert_never(kind)


# The number of steps of a search: it is run against databases of known capacity.


PLACES = (0.25, 0.5, 0.75)  # positions of the capacity among the search's loads
SLOW = 4.0  # latency beyond the knee, in multiples of the limit
WINDOW_S = 60.0
LIMIT_LEAST_US, LIMIT_MOST_US = 1e-3, 1e9  # range of limits in a rehearsal
_SEARCH: TypeAdapter[Search] = TypeAdapter(Search)


@dataclass(frozen=True)
class Rehearsed:
    """The average result of the rehearsed searches.

    Attributes:
        steps: The number of steps.
        clients: The clients of a step.
        soak_steps: The number of steps that are windows of a soak.
    """

    steps: float
    clients: float
    soak_steps: float


def rehearse(search: Search, rules: Rules) -> Rehearsed:
    """Run the search against noiseless databases with a low, a middle and a high knee.

    A real search takes some more steps, because noise asks for repetitions.
    """
    return _rehearse_cached(search.model_dump_json(), rules.model_dump_json())


@lru_cache(128)
def _rehearse_cached(search_json: str, rules_json: str) -> Rehearsed:
    """Do the same, cached: the runs of an experiment mostly share their search."""
    search = _SEARCH.validate_json(search_json)
    rules = Rules.model_validate_json(rules_json)
    loads = list(_list_loads(search))
    rehearsals = []
    for place in PLACES:
        knee = loads[int(place * (len(loads) - 1))]
        rehearsals.append(_run_search(search, rules, knee))
    steps = [step for rehearsal in rehearsals for step in rehearsal]
    return Rehearsed(
        steps=len(steps) / len(rehearsals),
        clients=sum(step.clients or 1 for step in steps) / len(steps),
        soak_steps=sum(step.purpose == "soak" for step in steps) / len(rehearsals),
    )


def count_lightest_step_clients(search: Search) -> int:
    """Return the number of clients of the lightest step."""
    if isinstance(search, StepsSearch):
        return search.clients[0]
    return 1 if search.strategy == "ramp" else search.clients


def _list_loads(search: Search) -> Iterator[float]:
    ladder = LADDERS[search.strategy](search)
    load: float | None = ladder.first
    while load is not None:
        yield load
        load = ladder.up(load)


def _run_search(search: Search, rules: Rules, knee: float) -> list[Step]:
    """Return all steps that the search asks for if the knee is at this load."""
    finished: list[Step] = []
    while isinstance(following := plan_next_step(search, finished, rules), NextStep):
        finished.append(_answer_step(following, search, rules, knee))
    return finished


def _answer_step(planned: NextStep, search: Search, rules: Rules, knee: float) -> Step:
    """Answer a step consistently with Little's law: fast up to the knee, too slow beyond it."""
    rate = planned.rate_ops_per_second
    load = planned.clients if isinstance(search, StepsSearch) else planned.connections
    passes = (rate or load) <= knee
    names = list(rules.limits_us) or ["operation"]
    fast_us = min(_bound_limits_us(rules), default=2_000.0) / 2
    if rate is not None:
        fast_us = min(fast_us, planned.connections / (4 * rate) * 1e6)
    us = fast_us if passes else fast_us * SLOW * max(1.0, _compute_limits_ratio(rules))
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


def _compute_limits_ratio(rules: Rules) -> float:
    """Return the ratio of the highest to the lowest limit: beyond the knee all are exceeded."""
    limits = _bound_limits_us(rules)
    return max(limits) / min(limits) if limits else rules.deterioration


def _bound_limits_us(rules: Rules) -> list[float]:
    """Return the limits, cut to a range in which floating-point numbers stay exact enough."""
    return [min(max(limit, LIMIT_LEAST_US), LIMIT_MOST_US) for limit in rules.limits_us.values()]


def describe_search(request: Request) -> str:
    """Describe how long the steps of a search take, without the rest of a run."""
    rehearsed, load = rehearse(request.search, request.limits), request.load
    window_s = request.limits.soak_s / max(1, count_soak_windows(request.limits))
    soak_s = rehearsed.soak_steps * window_s + min(1.0, rehearsed.soak_steps) * load.warmup_s
    step_s = load.warmup_s + load.duration_s
    paired_s = request.steps_beside * step_s
    pairs = words.format_count(request.background_pairs, "pair")
    paired = (
        f", then {pairs} with and without its background: {words.format_duration(round(paired_s))}"
    )
    toggled = count_toggle_steps(request)
    toggled_s = toggled * (request.prepare.warm_s + step_s)
    seconds = (rehearsed.steps - rehearsed.soak_steps) * step_s + soak_s + toggled_s
    steps = words.format_count(round(rehearsed.steps) + toggled, "step")
    soaked = (
        f", {words.format_duration(round(soak_s))} of it a soak" if request.limits.soak_s else ""
    )
    if toggled:
        soaked += f", {words.format_duration(round(toggled_s))} of it a toggle"
        soaked += ", besides its restarts" if request.target.provisioned else ""
    return (
        f"about {steps} without noise, {request.search.probes_max:,} at most:"
        f" {words.format_duration(round(seconds))} of load{soaked}{paired if paired_s else ''}"
    )


def state_soak(request: Request) -> str:
    """Describe what a soak adds to a search; empty without one."""
    count = count_soak_windows(request.limits)
    if not count:
        return ""
    relay = ", whose windows follow each other without a pause" if count > 1 else ""
    return f", {count} of them for a soak of {words.format_duration(request.limits.soak_s)}{relay}"


def state_pairs(request: Request) -> str:
    """Describe what the pairs with and without a background add to a search; empty if none."""
    if not request.steps_beside:
        return ""
    return f", {request.steps_beside} of them pairs with and without its background"
