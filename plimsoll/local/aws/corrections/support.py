"""Tools of the corrections."""

from typing import Any

from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import (
    FailureEvent,
    FailureEventException,
)
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import (
    StatesErrorName,
)
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import (
    StatesErrorNameType,
)


def replace(owner: Any, **members: Any) -> None:
    """Replace members of one of moto's classes or modules.

    Raises:
        AttributeError: It has no such member: moto has changed, and the correction with it.
    """
    for name, member in members.items():
        getattr(owner, name)
        setattr(owner, name, member)


def failure(
    env: Any, kind: StatesErrorNameType, cause: str, *, event: HistoryEventType, details: str
) -> FailureEventException:
    """Make the exception that fails a state.

    Args:
        env: The state's environment.
        kind: The error's name.
        cause: Why, in a sentence.
        event: The event that the history gets.
        details: The member of that event that carries error and cause.
    """
    told: Any = {details: {"error": kind.to_name(), "cause": cause}}
    return FailureEventException(
        failure_event=FailureEvent(
            env=env, error_name=StatesErrorName(typ=kind), event_type=event, event_details=told
        )
    )
