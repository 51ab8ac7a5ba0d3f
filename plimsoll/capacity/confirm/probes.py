"""Closing probes: twice the clients, an open loop, and clients that busy-poll.

Twice the clients: is the answer a limit of the clients? A client's busy CPU is measured, but its
network, its path to the target and a limiter of its platform are not. Only more clients for the
same work reveal those. In a closed loop the probe is the answer's load with the same connections
on twice the clients; a higher throughput means that the clients were the limit. In an open loop
the throughput is the offered rate, so the probe is a rate well above the one that failed.
"""

from statistics import median

from plimsoll import words
from plimsoll.capacity.confirm.larger_fleet import (
    count_clients_needed,
    find_most_of_a_client,
    is_near_limit,
)
from plimsoll.capacity.confirm.next_loads import Shape, Wish
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.capacity.statistics.intervals import estimate_pooled_noise
from plimsoll.capacity.steps.loads import RAISED_SHARE, Repetition
from plimsoll.model.engine.asked import POLL_US
from plimsoll.model.judging.closing import MoreClients, OpenLoop, Waiting
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import RateSearch, Search, StepsSearch

BEYOND = 1.15  # factor on the rate that failed
# More for a plateau: its heaviest load was tried once and may exceed the answer's by chance
RAISED_OF_PLATEAU = 0.25
SEEN = 2  # probes that have to show it, since a single one may do so by chance
TRIES_MAX = 3
# Factor on the noise of one repetition's throughput, above which a difference is no noise
NOISE_FACTOR = 3.0
LEFT_TO_GO_ON = 15  # steps that another answer needs: its climb, its repetitions, its questions


def plan_more_clients(search: Search, answer: Answer) -> Wish | None:
    """Return the probe with twice the clients; once more if the first shows a gain.

    The probe stays within the search's limits of clients and rate.
    """
    base = _find_twice_base(answer)
    if base is None or len(answer.find_tries("twice_clients")) >= TRIES_MAX:
        return None
    done = _list_twice_probes(answer, base)
    if len(done) >= SEEN:
        return None
    if done and not _shows_gain(answer, base, done[0]):
        return None
    most = max(search.clients) if isinstance(search, StepsSearch) else search.clients_max
    clients, connections, rate = (
        base.clients or 1,
        base.connections or 1,
        _compute_rate_beyond(base),
    )
    if 2 * clients > min(most, connections):
        return None
    if rate and isinstance(search, RateSearch) and rate > search.rate_max_ops_per_second:
        return None
    shape = Shape(2 * clients, connections, rate)
    why = (
        f"the same connections on {2 * clients:,} clients, to see whether the clients are the limit"
    )
    return Wish(0.0, "twice_clients", why, shape=shape)


def judge_more_clients(answer: Answer) -> MoreClients | None:
    """Return the result of the probes; None if no limit was met that could be the clients'."""
    base = _find_twice_base(answer)
    if base is None:
        return None
    done = _list_twice_probes(answer, base)
    if answer.client_limit is not None and not done:
        return _judge_by_client_limit(answer, base.clients or 1, answer.client_limit)
    if not done:
        if answer.find_tries("twice_clients"):
            detail = "more clients were tried, and none of these steps counts"
            return MoreClients(raised=None, detail=detail)
        lacks = "the search allows no more, or no step was left"
        if base.connections == base.clients:
            lacks = "each has only one connection"
        return MoreClients(raised=None, detail=f"more clients were not tried: {lacks}")
    raised = len(done) >= SEEN and all(_shows_gain(answer, base, probe) for probe in done)
    return MoreClients(raised=raised, detail=_describe_probes(answer, base, done))


def plan_larger_fleet(search: Search, answer: Answer, *, left: int) -> Wish | None:
    """Return the probed load again with more clients, if probes showed that fewer are the limit.

    The search then goes on with more of them (`larger_fleet.py`), once.

    Args:
        search: search of the request.
        answer: answer of the search.
        left: steps that the search may still take, closing steps included.

    Returns:
        None if the request allows no more clients than the probes had, if too few steps are left,
        or if the clients were the limit even of the lightest load, the base of relative limits.
    """
    base, gained = _find_twice_base(answer), judge_more_clients(answer)
    if base is None or gained is None or not gained.raised or answer.client_limit is not None:
        return None
    twice = 2 * (base.clients or 1)
    if isinstance(search, StepsSearch) or search.clients_max <= twice or left < LEFT_TO_GO_ON:
        return None
    rate, connections = base.rate_ops_per_second, base.connections or 1
    load = rate or float(connections)
    searched = [r.step for each in answer.judged for r in each.point.repetitions]
    client_limit = find_most_of_a_client(searched)
    if any(is_near_limit(r.step, client_limit) for r in answer.judged[0].point.counted):
        return None
    needed = count_clients_needed(searched, load, client_limit)
    most = search.clients_max if rate else min(search.clients_max, connections)
    clients = min(most, max(twice, needed))
    if rate:
        connections = clients * search.connections_per_client
    why = f"{gained.detail}: the search goes on with {words.format_count(clients, 'client')}"
    return Wish(load, "more_clients", why, shape=Shape(clients, connections, rate))


def _judge_by_client_limit(answer: Answer, clients: int, client_limit: float) -> MoreClients:
    """Return whether a fleet that was enlarged is near the most that its clients send."""
    reached = find_throughput(answer)
    detail = (
        f"{words.format_count(clients, 'client')} reached {words.format_throughput(reached)}, and"
        " one sends"
        f" {words.format_throughput(client_limit)} at most"
    )
    near = reached > answer.rules.client_busy_max * clients * client_limit
    return MoreClients(raised=near, detail=detail)


def _list_twice_probes(answer: Answer, base: Step) -> list[Repetition]:
    """Return the probes of this answer; the judgement by credits may have others."""
    asked = (base.connections, _compute_rate_beyond(base))
    probes = answer.find_valid("twice_clients")
    return [p for p in probes if (p.step.connections, p.step.rate_ops_per_second) == asked]


def _compute_rate_beyond(base: Step) -> float | None:
    """Return the rate for twice the clients; None for a closed loop."""
    rate = base.rate_ops_per_second
    return None if rate is None else float(f"{rate * BEYOND:.4g}")


def _describe_probes(answer: Answer, base: Step, done: list[Repetition]) -> str:
    clients = words.format_count(done[0].step.clients or 1, "client")
    gave = words.format_throughput(median(probe.figures.throughput for probe in done))
    if base.rate_ops_per_second is not None:
        offered, less = (words.format_rate(s.rate_ops_per_second) for s in (done[0].step, base))
        return (
            f"{clients} completed {gave} of {offered} offered, while {base.clients:,} failed at"
            f" {less}"
        )
    before = words.format_throughput(find_throughput(answer))
    return f"{clients} with the same connections reached {gave}, {base.clients:,} reached {before}"


def _load_to_repeat(answer: Answer) -> Assessed | None:
    """Return the load to repeat in a closed loop: the answer's, or a plateau's heaviest.

    The answer of a plateau is the lightest load that reaches it. At that load, clients that are the
    limit only begin to show.
    """
    if answer.at is None or answer.conclusion.verdict != "PLATEAU":
        return answer.at
    return max((load for load in answer.judged if load.passed), key=lambda load: load.point.load)


def find_throughput(answer: Answer) -> float:
    """Return the highest throughput from the answer's load up; one load may be low by chance."""
    assert answer.at is not None  # noqa: S101 - callers have a base, so there is an answer
    plateau = answer.conclusion.verdict == "PLATEAU"
    loads = [load for load in answer.judged if plateau and load.passed]
    heavier = [load for load in loads if load.point.load >= answer.at.point.load]
    return max(load.point.figures.throughput for load in (answer.at, *heavier))


def _find_twice_base(answer: Answer) -> Step | None:
    """Return the step to repeat with more clients: the answer's; the failed one if open loop."""
    at, bracket = _load_to_repeat(answer), answer.conclusion.bracket
    if at is None or not at.point.counted:
        return None
    if at.point.figures.rate is None:
        return at.point.counted[0].step
    failed = [
        load.point.counted for load in answer.judged if bracket and load.point.load == bracket[1]
    ]
    return failed[0][0].step if failed and failed[0] else None


def _shows_gain(answer: Answer, base: Step, probe: Repetition) -> bool:
    """Return whether a probe indicates that more clients raise the throughput."""
    if base.rate_ops_per_second is not None:
        return not probe.doubtful and not answer.failures([probe])
    noise = estimate_pooled_noise(
        [r.figures.throughput for r in a.point.counted] for a in answer.judged
    )
    of_plateau = answer.conclusion.verdict == "PLATEAU"
    more = max(RAISED_OF_PLATEAU if of_plateau else RAISED_SHARE, NOISE_FACTOR * noise)
    return probe.figures.throughput > find_throughput(answer) * (1 + more)


# --- open-loop probe after a closed-loop search: the latency of callers that do not wait ---


SHARE = 0.95  # share of the answer's throughput
# Factor on the answer's connections, up to the most that the search has used
CONNECTIONS_FACTOR = 2
OPEN_TRIES_MAX = 2
OWN_SHARE = 0.01  # a probe with a rate further off belongs to another answer (judged by credits)


def plan_open_loop(search: Search, answer: Answer) -> Wish | None:
    """Return the probe if the search requests it and is a closed loop."""
    if isinstance(search, RateSearch) or not search.open_loop_probe or answer.at is None:
        return None
    done, tries = answer.find_valid("open_loop"), answer.find_tries("open_loop")
    if done or len(tries) >= OPEN_TRIES_MAX or not answer.at.point.counted:
        return None
    step = answer.at.point.counted[0].step
    repetitions = [r.step for load in answer.judged for r in load.point.repetitions]
    had = max(one.connections or 1 for one in repetitions if one.refused is None)
    connections = min(had, CONNECTIONS_FACTOR * (step.connections or 1))
    rate = float(f"{SHARE * (answer.conclusion.figure or 0.0):.4g}")
    if not rate:
        return None
    why = (
        f"{words.format_percent(SHARE)} of the answer in an open loop: the latency for callers"
        " that do not"
        " wait for replies"
    )
    return Wish(0.0, "open_loop", why, shape=Shape(step.clients or 1, connections, rate))


def judge_open_loop(answer: Answer) -> OpenLoop | None:
    """Return the result of the probe; None if none counts."""
    asked = SHARE * (answer.conclusion.figure or 0.0)
    done = [
        probe
        for probe in answer.find_valid("open_loop")
        if abs((probe.figures.rate or 0.0) - asked) <= OWN_SHARE * asked
    ]
    if answer.at is None or not done:
        return None
    figures = done[0].figures
    rate = figures.rate or 0.0
    kept_up = figures.throughput >= answer.rules.kept_up_share * rate and not figures.backlog
    statistic = words.name_statistic(answer.rules.statistic)
    seen = ", ".join(
        f"{name} {words.format_latency(us)}" for name, us in figures.latency_us.items()
    )
    detail = (
        f"at 95 % of this rate, callers that do not wait for replies would see {statistic} {seen}"
    )
    if not kept_up:
        detail += (
            f"; only {words.format_throughput(figures.throughput)} of {words.format_rate(rate)}"
            " were completed"
        )
    return OpenLoop(
        rate_ops_per_second=rate,
        throughput_ops_per_second=figures.throughput,
        connections=done[0].step.connections or 1,
        latency_us=figures.latency_us,
        kept_up=kept_up,
        detail=detail,
    )


# --- busy-poll probe: is the answer a limit of how clients wait for replies? ---


# Below it, all wake-ups together cost at most a tenth of one CPU, so polling cannot gain much.
THROUGHPUT_LEAST = 0.10 / 25e-6


def plan_polling(answer: Answer) -> Wish | None:
    """Return the answer's load with clients that busy-poll; once more if that raises throughput.

    Only on one machine and in a closed loop: the throughput of an open loop is the offered rate.
    """
    base = _find_polling_base(answer)
    if base is None or len(answer.find_tries("polling")) >= TRIES_MAX:
        return None
    done = _list_polling_probes(answer, base)
    if len(done) >= SEEN or (done and not _polling_shows_gain(answer, done[0])):
        return None
    shape = Shape(base.clients or 1, base.connections or 1, None)
    why = "the answer's load with busy-polling clients, to see whether their waiting is the limit"
    return Wish(0.0, "polling", why, shape=shape, poll_us=POLL_US)


def judge_polling(answer: Answer) -> Waiting | None:
    """Return the result of the busy-poll probe; None if it was not tried, or could not show it."""
    base = _find_polling_base(answer)
    tries = answer.find_tries("polling")
    if base is None or not tries:
        return None
    done = _list_polling_probes(answer, base)
    if not done:
        return Waiting(raised=None, detail="no step with busy-polling clients counts")
    raised = len(done) >= SEEN and all(_polling_shows_gain(answer, probe) for probe in done)
    gave = words.format_throughput(median(probe.figures.throughput for probe in done))
    before = words.format_throughput(find_throughput(answer))
    detail = f"busy-polling clients reached {gave}, sleeping ones {before}"
    if raised:
        detail += f": their sleep was the limit (load.poll_us = {POLL_US})"
    return Waiting(raised=raised, detail=detail)


def _find_polling_base(answer: Answer) -> Step | None:
    """Return the answer's step if the CPU may be its limit and its clients did not busy-poll."""
    if answer.at is None or not answer.at.point.counted:
        return None
    step = answer.at.point.counted[0].step
    on_one_machine = step.host_idle_percent is not None
    if not on_one_machine or step.rate_ops_per_second is not None or step.poll_us != 0:
        return None
    return step if find_throughput(answer) >= THROUGHPUT_LEAST else None


def _list_polling_probes(answer: Answer, base: Step) -> list[Repetition]:
    """Return the probes of this answer; the judgement by credits may have others."""
    probes = answer.find_valid("polling")
    return [probe for probe in probes if probe.step.connections == base.connections]


def _polling_shows_gain(answer: Answer, probe: Repetition) -> bool:
    noise = estimate_pooled_noise(
        [r.figures.throughput for r in a.point.counted] for a in answer.judged
    )
    more = max(RAISED_SHARE, NOISE_FACTOR * noise)
    return probe.figures.throughput > find_throughput(answer) * (1 + more)
