"""A closing probe with twice the clients: is it they that the answer speaks of?

A client's processor shows when it is busy. Its network, its way to the target and a limiter of its
platform do not: only more clients for the same work show those. In a closed loop that is the
answer's load, the same connections on twice the clients; more throughput means that the fewer were
the limit. In an open loop throughput is the rate that was offered, so it is a rate well beyond the
one that failed.
"""

from statistics import median

from plimsoll import words
from plimsoll.capacity.answer import Answer
from plimsoll.capacity.assess import Assessed
from plimsoll.capacity.intervals import pooled_noise
from plimsoll.capacity.loads import RAISED_SHARE, Repetition
from plimsoll.capacity.wishes import Shape, Wish
from plimsoll.model.closing import MoreClients
from plimsoll.model.search_request import RateSearch, Search, StepsSearch
from plimsoll.model.steps import Step

BEYOND = 1.15  # times the rate that failed
RAISED_OF_PLATEAU = 0.25  # its heaviest load was tried once, and may do better than the answer's
SEEN = 2  # a single probe may be lucky: what speaks for more clients has to be seen twice
TRIES_MAX = 3
NOISE_FACTOR = 3.0  # times the noise of one repetition's throughput: what is more, is no noise


def clients_wish(search: Search, answer: Answer) -> Wish | None:
    """Ask for twice the clients, and once more where the first time speaks for them.

    More clients than the search allows are never asked for, nor a higher rate.
    """
    base = _base(answer)
    if base is None or len(answer.tries("twice_clients")) >= TRIES_MAX:
        return None
    done = _probes(answer, base)
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
    base = _base(answer)
    if base is None:
        return None
    done = _probes(answer, base)
    if not done:
        lacks = "the search allows no more, or no step was left for it"
        if base.connections == base.clients:
            lacks = "each has a single connection"
        return MoreClients(raised=None, detail=f"not tried with twice as many: {lacks}")
    raised = len(done) >= SEEN and all(_raised(answer, base, probe) for probe in done)
    return MoreClients(raised=raised, detail=_detail(answer, base, done))


def _probes(answer: Answer, base: Step) -> list[Repetition]:
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


def _base(answer: Answer) -> Step | None:
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
