"""What a state machine may say: a fault in it is refused when it is created, as AWS does.

moto passes over fields that it does not know and JSONata that it cannot parse. The fields are those
of the States Language in JSONata mode (https://states-language.net/spec.html), less those that moto
does not carry out: a definition that needs one is refused rather than run otherwise than on AWS.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jsonata import Jsonata
from jsonata.jexception import JException
from moto.stepfunctions.parser.api import InvalidDefinition
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.models import StepFunctionsParserBackend

from plimsoll.local.replacing import replace_members

_MACHINE = {"Comment", "QueryLanguage", "StartAt", "States", "TimeoutSeconds", "Version"}
_PROCESSOR = {"Comment", "ProcessorConfig", "StartAt", "States"}
_EVERY = {"Type", "Comment", "QueryLanguage"}
_FLOW = {"Next", "End", "Output", "Assign"}
_FAILING = {"Retry", "Catch"}
_STATE = {
    "Task": _FLOW | _FAILING | {"Resource", "Arguments", "TimeoutSeconds"},
    "Parallel": _FLOW | _FAILING | {"Branches", "Arguments"},
    "Map": _FLOW | _FAILING | {"Items", "ItemSelector", "ItemProcessor", "MaxConcurrency", "Label"},
    "Pass": _FLOW,
    "Wait": _FLOW | {"Seconds", "Timestamp"},
    "Choice": {"Choices", "Default", "Output", "Assign"},
    "Succeed": {"Output"},
    "Fail": {"Error", "Cause"},
}
_RULE = {"Comment", "Condition", "Next", "Output", "Assign"}
_CATCHER = {"Comment", "ErrorEquals", "Next", "Output", "Assign"}
_RETRIER = {
    "Comment",
    "ErrorEquals",
    "IntervalSeconds",
    "MaxAttempts",
    "BackoffRate",
    "MaxDelaySeconds",
    "JitterStrategy",
}
_RESOURCE = re.compile(
    r"arn:aws:states:::(lambda:invoke"
    r"|dynamodb:(getItem|putItem|updateItem|deleteItem)"
    r"|events:putEvents"
    r"|states:startExecution(\.sync:2)?"
    r"|aws-sdk:[a-z0-9]+:[A-Za-z0-9]+)"
)
_EXPRESSION = re.compile(r"\{%(.*)%\}", re.DOTALL)
_parse = AmazonStateLanguageParser.parse


def find_faults(definition: str) -> list[str]:
    """List what AWS, or this twin, would refuse of a definition; empty if nothing."""
    try:
        machine = json.loads(definition)
    except json.JSONDecodeError as error:
        return [f"it is not JSON: {error}"]
    if not isinstance(machine, dict) or machine.get("QueryLanguage") != "JSONata":
        return ["QueryLanguage must be JSONata: JSONPath is not carried out here"]
    return [
        *_check_fields("the state machine", machine, _MACHINE),
        *_check_scope("", machine),
        *_check_expressions("", machine),
        *(f"{name} was not substituted" for name in re.findall(r"\$\{\w+\}", definition)),
    ]


def _check_fields(where: str, block: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    for name in sorted(set(block) - known):
        yield f"{where}: the field {name} is not known, or not carried out here"


def _check_scope(path: str, block: Mapping[str, Any]) -> Iterator[str]:
    states = block.get("States")
    if not isinstance(states, dict) or not states:
        yield f"{path or 'the state machine'}: it has no States"
        return
    if block.get("StartAt") not in states:
        yield f"{path or 'the state machine'}: StartAt names no state of it: {block.get('StartAt')}"
    reached = {block.get("StartAt")}
    for name, state in states.items():
        where = f"{path}/{name}" if path else name
        yield from _check_state(where, state)
        for target in _list_targets(state):
            reached.add(target)
            if target not in states:
                yield f"{where}: Next names no state beside it: {target}"
    for name in sorted(set(states) - reached):
        yield f"{path}/{name}: no state leads to it" if path else f"{name}: no state leads to it"


def _check_state(where: str, state: Mapping[str, Any]) -> Iterator[str]:
    kind = state.get("Type")
    if kind not in _STATE:
        yield f"{where}: Type {kind} is not known"
        return
    yield from _check_fields(where, state, _STATE[kind] | _EVERY)
    if "Next" in _STATE[kind] and ("Next" in state) == (state.get("End") is True):
        yield f"{where}: it must have either Next or End"
    for part, known in (("Choices", _RULE), ("Catch", _CATCHER), ("Retry", _RETRIER)):
        for rule in state.get(part, []):
            yield from _check_fields(f"{where}.{part}", rule, known)
    if kind == "Task" and not _RESOURCE.fullmatch(str(state.get("Resource"))):
        yield f"{where}: the Resource {state.get('Resource')} is not known, or not carried out here"
    for number, branch in enumerate(state.get("Branches", [])):
        yield from _check_fields(f"{where}[{number}]", branch, _PROCESSOR)
        yield from _check_scope(f"{where}[{number}]", branch)
    if kind == "Map":
        processor = state.get("ItemProcessor", {})
        yield from _check_fields(f"{where}.ItemProcessor", processor, _PROCESSOR)
        yield from _check_scope(where, processor)


def _list_targets(state: Mapping[str, Any]) -> Iterator[str]:
    for block in (state, *state.get("Choices", []), *state.get("Catch", [])):
        if "Next" in block:
            yield block["Next"]
    if "Default" in state:
        yield state["Default"]


def _check_expressions(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _check_expressions(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _check_expressions(f"{path}[{number}]", item)
    elif isinstance(value, str) and (expression := _EXPRESSION.fullmatch(value)):
        try:
            Jsonata(expression[1].strip())
        except JException as error:
            yield f"{path}: this JSONata cannot be parsed: {error}"


def _validate(definition: str) -> None:
    if all_faults := find_faults(definition):
        raise InvalidDefinition(message=f"SCHEMA_VALIDATION_FAILED: {'; '.join(all_faults)}")
    try:
        AmazonStateLanguageParser.parse(definition)
    except Exception as error:
        raise InvalidDefinition(message=f"SCHEMA_VALIDATION_FAILED: {error!r}") from error


def apply() -> None:
    """Refuse faults, and parse a definition once."""
    replace_members(AmazonStateLanguageParser, parse=staticmethod(lru_cache(maxsize=64)(_parse)))
    replace_members(StepFunctionsParserBackend, _validate_definition=staticmethod(_validate))
