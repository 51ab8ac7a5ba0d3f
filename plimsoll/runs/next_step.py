"""What the workflow does next, as `plan-step` answers it."""

from collections.abc import Iterable

from plimsoll.model.fleet import StepPlan
from plimsoll.model.search_request import NextStep


class Next:
    """What the workflow does next. Every field is always present: JSONata fails on absent ones."""

    @staticmethod
    def conclude() -> dict[str, object]:
        """The search is over."""
        return _next("conclude")

    @staticmethod
    def pause(wait_s: int) -> dict[str, object]:
        """The target recovers first, or the step's window would hold no whole periods."""
        return _next("pause", wait_s=wait_s)

    @staticmethod
    def switch(following: NextStep) -> dict[str, object]:
        """The target is brought into the state that the next step is to be measured in."""
        return _next("switch", step=following.index + 1, state=following.state or "")

    @staticmethod
    def step(plan: StepPlan) -> dict[str, object]:
        """The fleet does a step."""
        return _next(
            "step",
            step=plan.index,
            clients=list(range(plan.clients_in_all)),
            start_at_epoch_ms=plan.start_at_epoch_ms,
        )


def _next(
    kind: str,
    *,
    wait_s: int = 0,
    step: int = 0,
    state: str = "",
    clients: Iterable[int] = (),
    start_at_epoch_ms: int = 0,
) -> dict[str, object]:
    return {
        "next": kind,
        "wait_s": wait_s,
        "step": step,
        "state": state,
        "clients": list(clients),
        "start_at_epoch_ms": start_at_epoch_ms,
    }
