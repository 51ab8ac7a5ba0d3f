"""Errors, as Step Functions names them.

https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html: a Lambda error
without an `errorType` is `Lambda.Unknown`; `States.ALL` catches neither `States.Runtime` nor
`States.DataLimitExceeded` (they end the execution); a Choice that nothing matches is
`States.NoChoiceMatched`. An error of EventBridge's own, such as a bus that is not there, is
`EventBridge.<its name>`, and can be caught. An error keeps its name when it leaves an item of a Map
or a branch of a Parallel; there moto knows no name that begins with `States.`.
"""

import json
from typing import Any

from botocore.exceptions import ClientError
from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import (
    CustomErrorName,
)
from moto.stepfunctions.parser.asl.component.common.error_name.error_equals_decl import (
    ErrorEqualsDecl,
)
from moto.stepfunctions.parser.asl.component.common.error_name.error_name import ErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration import iteration_worker
from moto.stepfunctions.parser.asl.component.state.exec.state_parallel import branches_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_events import (  # noqa: E501
    StateTaskServiceEvents,
)

from plimsoll.local.replacing import replace_members

_TERMINAL = {"States.Runtime", "States.DataLimitExceeded"}
_original_events_error = StateTaskServiceEvents._from_error  # noqa: SLF001 - the correction wraps it
_original_matches = ErrorEqualsDecl._eval_body  # noqa: SLF001 - likewise


class _OuterError(ErrorName):
    """The name of an error as it leaves a Map or a Parallel, whatever it is."""


class _FunctionError(lambda_eval_utils.LambdaFunctionErrorException):
    """A function's error; without a type of its own it gets Lambda's."""

    def __init__(self, function_error: str | None, payload: str) -> None:
        try:
            error_object = json.loads(payload)
        except json.JSONDecodeError:
            error_object = {"errorMessage": payload}
        if not isinstance(error_object, dict):
            error_object = {"errorMessage": str(error_object)}
        if not error_object.get("errorType"):
            payload = json.dumps({**error_object, "errorType": "Lambda.Unknown"})
        super().__init__(function_error, payload)


def _match_error(self: ErrorEqualsDecl, env: Any) -> None:
    error = env.stack[-1]
    name = getattr(error, "error_name", None)
    if name in _TERMINAL and name not in {wanted.error_name for wanted in self.error_names}:
        env.stack.pop()
        env.stack.append(False)
        return
    _original_matches(self, env)


def _make_failure_event(self: Any, env: Any, ex: Exception) -> FailureEvent:
    if not isinstance(ex, ClientError):
        return _original_events_error(self, env, ex)
    name = f"EventBridge.{ex.response['Error']['Code'] or 'Unknown'}"
    details: Any = {"taskFailedEventDetails": {"error": name, "cause": str(ex)}}
    return FailureEvent(
        env=env,
        error_name=CustomErrorName(name),
        event_type=HistoryEventType.TaskFailed,
        event_details=details,
    )


def apply() -> None:
    """Name errors as AWS does."""
    replace_members(StateTaskServiceEvents, _from_error=_make_failure_event)
    replace_members(lambda_eval_utils, LambdaFunctionErrorException=_FunctionError)
    replace_members(ErrorEqualsDecl, _eval_body=_match_error)
    for around in (iteration_worker, branches_decl):
        replace_members(around, CustomErrorName=_OuterError)
