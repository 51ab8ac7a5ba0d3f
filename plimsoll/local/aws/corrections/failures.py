"""The exception that fails a state, with the event that the history gets."""

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
    event_details: Any = {details: {"error": kind.to_name(), "cause": cause}}
    return FailureEventException(
        failure_event=FailureEvent(
            env=env,
            error_name=StatesErrorName(typ=kind),
            event_type=event,
            event_details=event_details,
        )
    )
