"""A recorded execution: what it ran, what it was given, what it called and how it ended."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.local.aws.corrections.definitions import find_faults

_MASKED = ('"date"', '"timestamp"')
FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:recorded"
_PLACEHOLDER = re.compile("%LAMBDA_FUNCTION_ARN_LITERAL_PLACEHOLDER%")
_RESOURCE = re.compile(r'"Resource": "([^"]+)"')
_WITHOUT_QUERIES = {"Type", "Next", "End", "Comment"}
_INVOKES = {"arn:aws:states:::lambda:invoke"}
_ENDS = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionTimedOut": "TIMED_OUT",
}


@dataclass(frozen=True)
class FunctionAnswer:
    """What a call of a function came to.

    Attributes:
        payload: What it answered.
        failed: Whether that is an error which it raised.
    """

    payload: Any
    failed: bool


@dataclass(frozen=True)
class Recording:
    """One execution of the real service.

    Attributes:
        name: File, test and case.
        definition: The state machine.
        given: The execution's input.
        status: How it ended.
        output: If it succeeded.
        error: If it failed.
        calls: What functions were called with, in order.
        answers: What each call came to.
    """

    name: str
    definition: str
    given: Any
    status: str
    output: Any
    error: str | None
    calls: tuple[Any, ...] = ()
    answers: tuple[FunctionAnswer, ...] = ()


def recording_of(name: str, definition: Any, snapshot: Mapping[str, Any]) -> Recording | None:
    """Make a recording of a snapshot; None where it is not one of a machine like ours."""
    written = json.dumps(_in_jsonata(definition))
    histories = [
        part["events"]
        for part in snapshot["recorded-content"].values()
        if isinstance(part, dict) and "events" in part
    ]
    written = _PLACEHOLDER.sub(FUNCTION, written)
    if (
        find_faults(written)
        or len(histories) != 1
        or not set(_RESOURCE.findall(written)) <= _INVOKES
    ):
        return None
    called = _called(histories[0])
    if called is None:
        return None
    first, last = histories[0][0], histories[0][-1]
    given = _parsed(first["executionStartedEventDetails"]["input"])
    if any(word in json.dumps(given) for word in _MASKED):
        return None
    details: Mapping[str, Any] = next(
        (value for key, value in last.items() if key.endswith("EventDetails")), {}
    )
    return Recording(
        name,
        written,
        given,
        _ENDS[last["type"]],
        _parsed(details.get("output")),
        details.get("error"),
        *called,
    )


def _in_jsonata(definition: Any) -> Any:
    """Say once what every state says for itself: that it is in JSONata, as ours do.

    A state without any field in which a query could stand is the same in either language.
    """
    states = definition.get("States", {}) if isinstance(definition, dict) else {}
    if not states or not all(_is_jsonata(state) for state in states.values()):
        return definition
    plain = {
        name: {key: value for key, value in state.items() if key != "QueryLanguage"}
        for name, state in states.items()
    }
    return {**definition, "QueryLanguage": "JSONata", "States": plain}


def _is_jsonata(state: Mapping[str, Any]) -> bool:
    return state.get("QueryLanguage") == "JSONata" or not set(state) - _WITHOUT_QUERIES


def _called(
    events: Sequence[Mapping[str, Any]],
) -> tuple[tuple[Any, ...], tuple[FunctionAnswer, ...]] | None:
    """Give what functions were called with and what they answered; None where that is masked."""
    calls = [
        _parsed(e["taskScheduledEventDetails"]["parameters"]) for e in events if _is(e, "Scheduled")
    ]
    answers = [answer for e in events if (answer := _answer(e)) is not None]
    if len(calls) != len(answers):
        return None
    return tuple(call.get("Payload") for call in calls), tuple(answers)


def _is(event: Mapping[str, Any], what: str) -> bool:
    return bool(event["type"] == f"Task{what}")


def _answer(event: Mapping[str, Any]) -> FunctionAnswer | None:
    if _is(event, "Succeeded"):
        output = _parsed(event["taskSucceededEventDetails"]["output"])
        return FunctionAnswer(output["Payload"], failed=False)
    if _is(event, "Failed"):
        return FunctionAnswer(_parsed(event["taskFailedEventDetails"]["cause"]), failed=True)
    return None


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value
