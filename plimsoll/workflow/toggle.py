"""Switches the target between the states of a toggle: sets parameters, restarts the server.

On an existing database, a state is another address instead. The switch runs before every step of a
toggle, even if the state stays the same, so that all steps begin alike. If a running server adopts
the parameters it is not restarted, unless the toggle demands it. The search has its answer by then:
a switch that fails ends the pairs, not the run.
"""

from collections.abc import Sequence

from plimsoll.aws.run_files import REQUEST, files_of
from plimsoll.aws.run_records import records_of
from plimsoll.databases.family import find_family
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
    read_instance,
    restart_instance,
    set_parameters,
)
from plimsoll.workflow.result import collect_readings

MODIFIABLE = frozenset({"available", "storage-optimization"})


def switch_target(
    settings: SwitchTargetSettings, run_id: str, step: int, state: str
) -> dict[str, object]:
    """Do the next part of a switch that can be done now; safe to repeat.

    Returns:
        `ready`: whether the target is in the state; if not, call again after `wait_s` seconds. It
        is also ready if time or budget is up or the switch failed: the next plan reports that.

    Raises:
        RunStoppedError: The run was stopped.
    """
    try:
        record = records_of(settings).require_running(run_id)
    except (TimeLimitPassedError, BudgetPassedError):
        return _answer(settings, ready=True)
    assert record.target is not None  # noqa: S101 - a step is asked for, so there is a target
    if record.targets_by_state:  # an existing database is never changed
        done = Switch(step=step, state=state, stage="done")
        records_of(settings).change(run_id, target=record.targets_by_state[state], switch=done)
        return _answer(settings, ready=True)
    assert record.target.identifier is not None  # noqa: S101 - RDS has made it
    identifier = record.target.identifier
    switch = record.switch
    if switch is None or (switch.step, switch.state) != (step, state):
        switch = Switch(step=step, state=state, stage="set")
    try:
        instance = read_instance(identifier)
        if instance.status in MODIFIABLE and instance.applied != "applying":
            switch = _advance_switch(settings, run_id, identifier, instance, switch)
    except StepError as error:
        switch = switch.mark_failed(str(error))
    records_of(settings).change(run_id, switch=switch)
    return _answer(settings, ready=switch.stage in {"done", "failed"})


def _advance_switch(
    settings: SwitchTargetSettings,
    run_id: str,
    identifier: str,
    instance: Instance,
    switch: Switch,
) -> Switch:
    """Do the next part: set the parameters, restart, check that they have been applied."""
    stage = switch.stage
    if stage == "set":
        request = files_of(settings, run_id).get(REQUEST, Request)
        assert request.toggle is not None  # noqa: S101 - it has asked for this step
        parameters = request.toggle.state(switch.state).parameters
        at_once = request.toggle.restart == "needed" and are_dynamic(instance.group, parameters)
        set_parameters(instance.group, parameters, at_once=at_once)
        stage = "apply" if at_once else "restart"
    elif stage == "restart":
        restart_instance(identifier)
        stage = "apply"
    elif stage == "apply" and instance.applied == "in-sync":
        stage = "done"
    return switch.model_copy(update={"stage": stage})


def _answer(settings: SwitchTargetSettings, *, ready: bool) -> dict[str, object]:
    return {"ready": ready, "wait_s": settings.poll_seconds}


# The state of a target, from the run's record and from the server.


def find_switch(record: RunRecord, following: NextStep) -> Switch | None:
    """Return how far the switch for a step has come; None if it was not requested yet."""
    switch, asked = record.switch, (following.index + 1, following.state)
    return switch if switch is not None and (switch.step, switch.state) == asked else None


def check_parameters(
    request: Request, following: NextStep, target: EngineTarget, finished: Sequence[StepResult]
) -> dict[str, str]:
    """Read the toggled parameters from the server and compare them with earlier readings.

    Raises:
        StepError: They are the same in both states, or differ from an earlier step in this state.
    """
    assert request.toggle is not None  # noqa: S101 - the caller's step is one of it
    assert following.state is not None  # noqa: S101 - likewise
    names = list(request.toggle.state(following.state).parameters)
    if not names:
        return {}  # the states of an existing database set none
    says = find_family(target.protocol).read_parameters(target, names)
    before = collect_readings(finished)
    told = ", ".join(f"{name} = {value}" for name, value in says.items())
    for state, said in before.items():
        if says and (says == said) != (state == following.state):
            raise StepError(
                f"the parameters were not taken: in state {following.state} the server says {told},"
                f" {'as' if says == said else 'unlike'} in state {state} before"
            )
    return says
