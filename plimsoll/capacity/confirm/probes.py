"""A closing probe with twice the clients: is it they that the answer speaks of?

A client's processor shows when it is busy. Its network, its way to the target and a limiter of its
platform do not: only more clients for the same work show those. In a closed loop that is the
answer's load, the same connections on twice the clients; more throughput means that the fewer were
the limit. In an open loop throughput is the rate that was offered, so it is a rate well beyond the
one that failed.
"""

from statistics import median

from plimsoll import words
from plimsoll.capacity.confirm.next_loads import Shape, Wish
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.capacity.statistics.intervals import pooled_noise
from plimsoll.capacity.steps.loads import RAISED_SHARE, Repetition
from plimsoll.model.engine.asked import POLL_US
from plimsoll.model.judging.closing import MoreClients, OpenLoop, Waiting
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.search_request import RateSearch, Search, StepsSearch

BEYOND = 1.15  # times the rate that failed
RAISED_OF_PLATEAU = 0.25  # its heaviest load was tried once, and may do better than the answer's
SEEN = 2  # a single probe may be lucky: what speaks for more clients has to be seen twice
TRIES_MAX = 3
NOISE_FACTOR = 3.0  # times the noise of one repetition's throughput: what is more, is no noise


def clients_wish(search: Search, answer: Answer) -> Wish | None:
    """Ask for twice the clients, and once more where the first time speaks for them.

    More clients than the search allows are never asked for, nor a higher rate.
    """
    base = _twice_base(answer)
    if base is None or len(answer.tries("twice_clients")) >= TRIES_MAX:
        return None
    done = _twice_probes(answer, base)
    if len(done) >= SEEN:
        return None
    if done and not _raised(answer, base, done[0]):
        return None
    most = max(search.clients) if isinstance(search, StepsSearch) else search.clients_max
    clients, connections, rate = base.clients or 1, base.connections or 1, _rate_beyond(base)
    if 2 * clients > min(most, connections):
        return None
    if rate and isinstance(search, RateSearch) and rate > search.rate_max_ops_per_second:
        return None
    shape = Shape(2 * clients, connections, rate)
    why = f"the same connections on {2 * clients:,} clients: are the clients the limit?"
    return Wish(0.0, "twice_clients", why, shape=shape)


def more_clients(answer: Answer) -> MoreClients | None:
    """Say what twice the clients showed; None where no limit was met that could be the clients'."""
    base = _twice_base(answer)
    if base is None:
        return None
    done = _twice_probes(answer, base)
    if not done:
        lacks = "the search allows no more, or no step was left for it"
        if base.connections == base.clients:
            lacks = "each has a single connection"
        return MoreClients(raised=None, detail=f"not tried with twice as many: {lacks}")
    raised = len(done) >= SEEN and all(_raised(answer, base, probe) for probe in done)
    return MoreClients(raised=raised, detail=_detail(answer, base, done))


def _twice_probes(answer: Answer, base: Step) -> list[Repetition]:
    """The probes of the answer: where credits are judged apart, there may be others."""
    asked = (base.connections, _rate_beyond(base))
    probes = answer.counted("twice_clients")
    return [p for p in probes if (p.step.connections, p.step.rate_ops_per_second) == asked]


def _rate_beyond(base: Step) -> float | None:
    """The rate to offer to twice the clients; None in a closed loop."""
    rate = base.rate_ops_per_second
    return None if rate is None else float(f"{rate * BEYOND:.4g}")


def _detail(answer: Answer, base: Step, done: list[Repetition]) -> str:
    clients = words.plural(done[0].step.clients or 1, "client")
    gave = words.throughput(median(probe.figures.throughput for probe in done))
    if base.rate_ops_per_second is not None:
        offered, less = (words.rate(s.rate_ops_per_second) for s in (done[0].step, base))
        return f"{clients} gave {gave} of {offered} offered, where {base.clients:,} failed {less}"
    before = words.throughput(throughput_of(answer))
    return f"{clients} with the same connections gave {gave} where {base.clients:,} gave {before}"


def _asked_of(answer: Answer) -> Assessed | None:
    """The load to repeat in a closed loop: the answer's; of a plateau the heaviest that passed.

    A plateau's answer is the lightest load that reaches it, at which clients that limit it have
    only just begun to.
    """
    if answer.at is None or answer.conclusion.verdict != "PLATEAU":
        return answer.at
    return max((load for load in answer.judged if load.passed), key=lambda load: load.point.load)


def throughput_of(answer: Answer) -> float:
    """The most that the answer's load, or a heavier one, gave: one of a plateau may be unlucky."""
    assert answer.at is not None  # noqa: S101 - there is a base, so there is an answer
    plateau = answer.conclusion.verdict == "PLATEAU"
    loads = [load for load in answer.judged if plateau and load.passed]
    heavier = [load for load in loads if load.point.load >= answer.at.point.load]
    return max(load.point.figures.throughput for load in (answer.at, *heavier))


def _twice_base(answer: Answer) -> Step | None:
    """The step to repeat with more clients: of the answer, or in an open loop of the failure."""
    at, bracket = _asked_of(answer), answer.conclusion.bracket
    if at is None or not at.point.counted:
        return None
    if at.point.figures.rate is None:
        return at.point.counted[0].step
    failed = [
        load.point.counted for load in answer.judged if bracket and load.point.load == bracket[1]
    ]
    return failed[0][0].step if failed and failed[0] else None


def _raised(answer: Answer, base: Step, probe: Repetition) -> bool:
    """Whether a probe speaks for more clients."""
    if base.rate_ops_per_second is not None:
        return not probe.doubtful and not answer.failures([probe])
    noise = pooled_noise([r.figures.throughput for r in a.point.counted] for a in answer.judged)
    of_plateau = answer.conclusion.verdict == "PLATEAU"
    more = max(RAISED_OF_PLATEAU if of_plateau else RAISED_SHARE, NOISE_FACTOR * noise)
    return probe.figures.throughput > throughput_of(answer) * (1 + more)


# A closing open-loop probe after a closed-loop search: what would callers see who do not wait?


SHARE = 0.95  # of the answer's throughput
CONNECTIONS_FACTOR = 2  # times the answer's, as far as the search has had so many
OPEN_TRIES_MAX = 2
OWN_SHARE = 0.01  # a probe of another rate is of another answer (where credits are judged apart)


def open_wish(search: Search, answer: Answer) -> Wish | None:
    """Ask for the probe, where the search wants it and was a closed loop."""
    if isinstance(search, RateSearch) or not search.open_loop_probe or answer.at is None:
        return None
    done, tries = answer.counted("open_loop"), answer.tries("open_loop")
    if done or len(tries) >= OPEN_TRIES_MAX or not answer.at.point.counted:
        return None
    step = answer.at.point.counted[0].step
    repetitions = [r.step for load in answer.judged for r in load.point.repetitions]
    had = max(one.connections or 1 for one in repetitions if one.refused is None)
    connections = min(had, CONNECTIONS_FACTOR * (step.connections or 1))
    rate = float(f"{SHARE * (answer.conclusion.figure or 0.0):.4g}")
    if not rate:
        return None
    why = f"{words.percent(SHARE)} of the answer offered: what do callers see who do not wait?"
    return Wish(0.0, "open_loop", why, shape=Shape(step.clients or 1, connections, rate))


def open_loop(answer: Answer) -> OpenLoop | None:
    """Say what the probe showed; None where there was none that counts."""
    asked = SHARE * (answer.conclusion.figure or 0.0)
    done = [
        probe
        for probe in answer.counted("open_loop")
        if abs((probe.figures.rate or 0.0) - asked) <= OWN_SHARE * asked
    ]
    if answer.at is None or not done:
        return None
    figures = done[0].figures
    rate = figures.rate or 0.0
    kept_up = figures.throughput >= answer.rules.kept_up_share * rate and not figures.backlog
    statistic = words.statistic(answer.rules.statistic)
    seen = ", ".join(f"{name} {words.latency(us)}" for name, us in figures.latency_us.items())
    detail = f"at 95 % of this rate, callers who do not wait would see {statistic} {seen}"
    if not kept_up:
        detail += f"; only {words.throughput(figures.throughput)} of {words.rate(rate)} kept up"
    return OpenLoop(
        rate_ops_per_second=rate,
        throughput_ops_per_second=figures.throughput,
        connections=done[0].step.connections or 1,
        latency_us=figures.latency_us,
        kept_up=kept_up,
        detail=detail,
    )


# A closing step by clients that poll: is it their way of waiting that the answer speaks of?


# Below it all wake-ups together cost a tenth of one processor: there is nothing to gain.
THROUGHPUT_LEAST = 0.10 / 25e-6


def polling_wish(answer: Answer) -> Wish | None:
    """Ask for the answer's load by clients that poll, and once more where that brings more.

    Only on one machine and in a closed loop: an open one's throughput is the rate that was offered.
    """
    base = _polling_base(answer)
    if base is None or len(answer.tries("polling")) >= TRIES_MAX:
        return None
    done = _polling_probes(answer, base)
    if len(done) >= SEEN or (done and not _is_raised(answer, done[0])):
        return None
    shape = Shape(base.clients or 1, base.connections or 1, None)
    why = (
        "the answer's load by clients that look for answers before they sleep: is it their waiting?"
    )
    return Wish(0.0, "polling", why, shape=shape, poll_us=POLL_US)


def waiting(answer: Answer) -> Waiting | None:
    """Say what clients that poll showed; None where that could show nothing, or was not tried."""
    base = _polling_base(answer)
    tries = answer.tries("polling")
    if base is None or not tries:
        return None
    done = _polling_probes(answer, base)
    if not done:
        return Waiting(raised=None, detail="no step of clients that poll says anything")
    raised = len(done) >= SEEN and all(_is_raised(answer, probe) for probe in done)
    gave = words.throughput(median(probe.figures.throughput for probe in done))
    before = words.throughput(throughput_of(answer))
    detail = f"clients that poll gave {gave} where those that sleep gave {before}"
    if raised:
        detail += f": their waiting was the limit (load.poll_us {POLL_US})"
    return Waiting(raised=raised, detail=detail)


def _polling_base(answer: Answer) -> Step | None:
    """The answer's step, if the processor may be its limit and its clients slept."""
    if answer.at is None or not answer.at.point.counted:
        return None
    step = answer.at.point.counted[0].step
    on_one_machine = step.host_idle_percent is not None
    if not on_one_machine or step.rate_ops_per_second is not None or step.poll_us != 0:
        return None
    return step if throughput_of(answer) >= THROUGHPUT_LEAST else None


def _polling_probes(answer: Answer, base: Step) -> list[Repetition]:
    """The probes of the answer: where credits are judged apart, there may be others."""
    probes = answer.counted("polling")
    return [probe for probe in probes if probe.step.connections == base.connections]


def _is_raised(answer: Answer, probe: Repetition) -> bool:
    noise = pooled_noise([r.figures.throughput for r in a.point.counted] for a in answer.judged)
    more = max(RAISED_SHARE, NOISE_FACTOR * noise)
    return probe.figures.throughput > throughput_of(answer) * (1 + more)
