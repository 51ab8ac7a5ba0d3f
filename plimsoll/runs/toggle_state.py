"""In which state of its toggle a target is, by the run's record and by its own word."""

from collections.abc import Sequence

from plimsoll.errors import StepError
from plimsoll.families.family import family_of
from plimsoll.model.engine import EngineTarget
from plimsoll.model.request import Request
from plimsoll.model.results import StepResult
from plimsoll.model.run_record import RunRecord, Switch
from plimsoll.model.search_request import NextStep


def switch_for(record: RunRecord, following: NextStep) -> Switch | None:
    """Give how far the target is on its way into the state of a step; None: it was not asked."""
    switch, asked = record.switch, (following.index + 1, following.state)
    return switch if switch is not None and (switch.step, switch.state) == asked else None


def parameters_in_force(
    request: Request, following: NextStep, target: EngineTarget, finished: Sequence[StepResult]
) -> dict[str, str]:
    """Ask the server what its toggled parameters are, and hold that against what it said before.

    Raises:
        StepError: They are the same in both states, or not what they were in this one before.
    """
    assert request.toggle is not None  # noqa: S101 - the caller's step is one of it
    assert following.state is not None  # noqa: S101 - likewise
    names = list(request.toggle.state(following.state).parameters)
    if not names:
        return {}  # of an existing database, which is what it is
    says = family_of(target.protocol).read_parameters(target, names)
    before = readings_of(finished)
    told = ", ".join(f"{name} = {value}" for name, value in says.items())
    for state, said in before.items():
        if says and (says == said) != (state == following.state):
            raise StepError(
                f"the parameters were not taken: in state {following.state} the server says {told},"
                f" {'as' if says == said else 'unlike'} in state {state} before"
            )
    return says


def readings_of(steps: Sequence[StepResult]) -> dict[str, dict[str, str]]:
    """Collect what the server said of its parameters in each state."""
    return {
        done.plan.state: done.plan.parameters
        for done in steps
        if done.plan.state is not None and done.plan.parameters
    }
