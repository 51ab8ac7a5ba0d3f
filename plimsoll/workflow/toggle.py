"""Between two steps of a toggle: the target's parameters are set, and its server restarted.

An existing database is reached another way instead.

Before every such step, whether or not its state is that of the step before, so that all begin
alike. Where a running server takes the parameters it is not restarted, unless the toggle says so.
The answer is there by then: a switch that fails ends the pairs, not the run.
"""

from collections.abc import Sequence

from plimsoll.aws.run_files import REQUEST, files_of
from plimsoll.aws.run_records import records_of
from plimsoll.databases.family import family_of
from plimsoll.errors import BudgetPassedError, StepError, TimeLimitPassedError
from plimsoll.model.deployment.function_settings import SwitchTargetSettings
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord, Switch
from plimsoll.targets.instance_settings import (
    Instance,
    are_dynamic,
    look,
    restart,
    set_parameters,
)

MODIFIABLE = frozenset({"available", "storage-optimization"})


def switch_target(
    settings: SwitchTargetSettings, run_id: str, step: int, state: str
) -> dict[str, object]:
    """Take the next part of a switch that can be taken now; safe to repeat.

    Returns:
        Whether the target is `ready`; if not, this is to be called again after `wait_s`. It is also
        ready where time or budget is up, or where the switch failed: what comes next says so.

    Raises:
        RunStoppedError: The run was stopped.
    """
    try:
        record = records_of(settings).require_running(run_id)
    except (TimeLimitPassedError, BudgetPassedError):
        return _answer(settings, ready=True)
    assert record.target is not None  # noqa: S101 - a step is asked for, so there is a target
    if record.targets_by_state:  # nothing of an existing database is changed
        done = Switch(step=step, state=state, stage="done")
        records_of(settings).change(run_id, target=record.targets_by_state[state], switch=done)
        return _answer(settings, ready=True)
    assert record.target.identifier is not None  # noqa: S101 - RDS has made it
    identifier = record.target.identifier
    switch = record.switch
    if switch is None or (switch.step, switch.state) != (step, state):
        switch = Switch(step=step, state=state, stage="set")
    try:
        instance = look(identifier)
        if instance.status in MODIFIABLE and instance.applied != "applying":
            switch = _advanced(settings, run_id, identifier, instance, switch)
    except StepError as error:
        switch = switch.failed(str(error))
    records_of(settings).change(run_id, switch=switch)
    return _answer(settings, ready=switch.stage in {"done", "failed"})


def _advanced(
    settings: SwitchTargetSettings,
    run_id: str,
    identifier: str,
    instance: Instance,
    switch: Switch,
) -> Switch:
    """Take the next part: set the parameters, restart, see that they have been applied."""
    stage = switch.stage
    if stage == "set":
        request = files_of(settings, run_id).get(REQUEST, Request)
        assert request.toggle is not None  # noqa: S101 - it has asked for this step
        parameters = request.toggle.state(switch.state).parameters
        at_once = request.toggle.restart == "needed" and are_dynamic(instance.group, parameters)
        set_parameters(instance.group, parameters, at_once=at_once)
        stage = "apply" if at_once else "restart"
    elif stage == "restart":
        restart(identifier)
        stage = "apply"
    elif stage == "apply" and instance.applied == "in-sync":
        stage = "done"
    return switch.model_copy(update={"stage": stage})


def _answer(settings: SwitchTargetSettings, *, ready: bool) -> dict[str, object]:
    return {"ready": ready, "wait_s": settings.poll_seconds}


# In which state of its toggle a target is, by the run's record and by its own word.


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
