"""A closing step by clients that poll: is it their way of waiting that the answer speaks of?

A client that sleeps between answers has to be woken, and the server pays for it: about 25 us of
its processor for each wake-up on a virtual machine (docs/performance.md). On one machine clients
sleep, since they share its processors with the server. Where the processor is the limit, that may
be a part of the answer, and the clients' own processors do not show it: they are idle. So the
answer's load is repeated by clients that look for answers before they sleep; more throughput means
that their waiting was the limit. A slow storage gives no more for it.
"""

from statistics import median

from plimsoll import words
from plimsoll.capacity.answer import Answer
from plimsoll.capacity.intervals import pooled_noise
from plimsoll.capacity.loads import RAISED_SHARE, Repetition
from plimsoll.capacity.more_clients import NOISE_FACTOR, SEEN, TRIES_MAX, throughput_of
from plimsoll.capacity.wishes import Shape, Wish
from plimsoll.model.closing import Waiting
from plimsoll.model.engine import POLL_US
from plimsoll.model.steps import Step

# Below it all wake-ups together cost a tenth of one processor: there is nothing to gain.
THROUGHPUT_LEAST = 0.10 / 25e-6


def polling_wish(answer: Answer) -> Wish | None:
    """Ask for the answer's load by clients that poll, and once more where that brings more.

    Only on one machine and in a closed loop: an open one's throughput is the rate that was offered.
    """
    base = _base(answer)
    if base is None or len(answer.tries("polling")) >= TRIES_MAX:
        return None
    done = _probes(answer, base)
    if len(done) >= SEEN or (done and not _is_raised(answer, done[0])):
        return None
    shape = Shape(base.clients or 1, base.connections or 1, None)
    why = (
        "the answer's load by clients that look for answers before they sleep: is it their waiting?"
    )
    return Wish(0.0, "polling", why, shape=shape, poll_us=POLL_US)


def waiting(answer: Answer) -> Waiting | None:
    """Say what clients that poll showed; None where that could show nothing, or was not tried."""
    base = _base(answer)
    tries = answer.tries("polling")
    if base is None or not tries:
        return None
    done = _probes(answer, base)
    if not done:
        return Waiting(raised=None, detail="no step of clients that poll says anything")
    raised = len(done) >= SEEN and all(_is_raised(answer, probe) for probe in done)
    gave = words.throughput(median(probe.figures.throughput for probe in done))
    before = words.throughput(throughput_of(answer))
    detail = f"clients that poll gave {gave} where those that sleep gave {before}"
    if raised:
        detail += f": their waiting was the limit (load.poll_us {POLL_US})"
    return Waiting(raised=raised, detail=detail)


def _base(answer: Answer) -> Step | None:
    """The answer's step, if the processor may be its limit and its clients slept."""
    if answer.at is None or not answer.at.point.counted:
        return None
    step = answer.at.point.counted[0].step
    on_one_machine = step.host_idle_percent is not None
    if not on_one_machine or step.rate_ops_per_second is not None or step.poll_us != 0:
        return None
    return step if throughput_of(answer) >= THROUGHPUT_LEAST else None


def _probes(answer: Answer, base: Step) -> list[Repetition]:
    """The probes of the answer: where credits are judged apart, there may be others."""
    probes = answer.counted("polling")
    return [probe for probe in probes if probe.step.connections == base.connections]


def _is_raised(answer: Answer, probe: Repetition) -> bool:
    noise = pooled_noise([r.figures.throughput for r in a.point.counted] for a in answer.judged)
    more = max(RAISED_SHARE, NOISE_FACTOR * noise)
    return probe.figures.throughput > throughput_of(answer) * (1 + more)
