"""A closing open-loop probe after a closed-loop search: what would callers see who do not wait?

In a closed loop each caller waits for its answer, so the target is never asked for more than it
gives: the answer stands next to its capacity. Callers who come when they come queue there. The
probe offers 95 % of the answer's rate in an open loop and reads the latency. It is no part of the
verdict.
"""

from plimsoll import words
from plimsoll.capacity.answer import Answer
from plimsoll.capacity.wishes import Shape, Wish
from plimsoll.model.closing import OpenLoop
from plimsoll.model.search_request import RateSearch, Search

SHARE = 0.95  # of the answer's throughput
CONNECTIONS_FACTOR = 2  # times the answer's, as far as the search has had so many
TRIES_MAX = 2
OWN_SHARE = 0.01  # a probe of another rate is of another answer (where credits are judged apart)


def open_wish(search: Search, answer: Answer) -> Wish | None:
    """Ask for the probe, where the search wants it and was a closed loop."""
    if isinstance(search, RateSearch) or not search.open_loop_probe or answer.at is None:
        return None
    done, tries = answer.counted("open_loop"), answer.tries("open_loop")
    if done or len(tries) >= TRIES_MAX or not answer.at.point.counted:
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
