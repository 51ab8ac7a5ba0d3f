"""Plans a relay: windows of one load, whose fleets of clients follow each other without a pause.

A Lambda client runs for 15 minutes at most, so a load of hours takes several fleets. The next one
is called, connects and waits at its barrier while the last one still sends; at the barrier the last
one ends. All barriers are set before the first fleet is called, so nothing is planned between two
windows. Pure.
"""

from collections.abc import Sequence

from plimsoll.fleet.background import plan_background
from plimsoll.model.request.load_request import ENDING_S, RELAY_EARLY_S
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import Relay, StepPlan
from plimsoll.model.timings import WRITES_PER_S


def plan_relay(
    request: Request, plan: StepPlan, then: Sequence[str], *, lead_ms: int
) -> tuple[StepPlan, ...]:
    """Plan all windows of a relay, each with its barrier at the end of the one before.

    The load is there when a later window begins, so the first one alone has a warm-up and fills the
    log.

    Args:
        request: The request.
        plan: The first window, with its barrier.
        then: Why each further window follows; without any, the first one is a step as any other.
        lead_ms: The time from the call of a fleet's clients to its barrier.
    """
    if not then:
        return (plan,)
    last = plan.index + len(then)
    called = plan.start_at_epoch_ms - round(1000 * plan.fill_s) - lead_ms
    first = Relay(first=plan.index, last=last, called_at_epoch_ms=called)
    window_ms = round(1000 * plan.duration_s)
    early_ms = lead_ms + 1000 * RELAY_EARLY_S
    later = {
        "warmup_s": 0.0,
        "fill_s": 0.0,
        "fill_load_number": 0,
        "server_before": None,  # read when the window before it ends
        "recovered": None,
        "recovery": None,
        "calm_waited_s": 0.0,
        "background": (),
    }
    windows = [plan.model_copy(update={"relay": first})]
    for number, why in enumerate(then, start=1):
        start = plan.window_end_epoch_ms + (number - 1) * window_ms
        place = {
            "index": plan.index + number,
            "seed": plan.seed + number,
            "why": why,
            "start_at_epoch_ms": start,
            "relay": first.model_copy(update={"called_at_epoch_ms": start - early_ms}),
        }
        windows.append(plan_background(request, plan.model_copy(update={**later, **place})))
    return tuple(windows)


def compute_results_after_ms(plan: StepPlan) -> int:
    """Return how long after a window's end the results of all of its clients are there."""
    return plan.timeout_ms + 1000 * ENDING_S + round(1000 * plan.clients_in_all / WRITES_PER_S)


def count_called(plans: Sequence[StepPlan], at_epoch_ms: int) -> int:
    """Return the number of the last step of a relay whose clients have been called by then."""
    assert plans[0].relay is not None  # noqa: S101 - they are a relay's
    called = [
        plan.index
        for plan in plans
        if plan.relay is not None and plan.relay.called_at_epoch_ms <= at_epoch_ms
    ]
    return max(called, default=plans[0].relay.first)
