"""Corrects executions: they may start without a name, stop at once, and announce their status.

moto ends an execution only when its current task ends, keeps no reason of StopExecution, and
publishes no event. https://docs.aws.amazon.com/step-functions/latest/apireference/API_StopExecution.html
https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
As on AWS, a function that runs when its execution is stopped runs on; its result goes nowhere.
"""

import datetime as dt
import threading
import uuid
from collections.abc import Callable
from typing import Any

from moto.core.responses import ActionResult
from moto.stepfunctions.parser.api import (
    ExecutionStatus,
    HistoryEventType,
)
from moto.stepfunctions.parser.asl.component.eval_component import EvalComponent
from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.event.event_manager import EventManager
from moto.stepfunctions.parser.asl.eval.program_state import (
    ProgramEnded,
    ProgramError,
    ProgramRunning,
    ProgramStopped,
    ProgramTimedOut,
)
from moto.stepfunctions.parser.asl.utils.encoding import to_json_str
from moto.stepfunctions.parser.backend.execution import (
    BaseExecutionWorkerCommunication,
    Execution,
)
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker
from moto.stepfunctions.parser.models import StepFunctionsParserBackend
from moto.stepfunctions.responses import StepFunctionResponse

from plimsoll.local.replacing import replace_members

StatusListener = Callable[[Execution], None]

_listeners: list[StatusListener] = []
_WHOLE = {"truncated": False}
_writing = threading.Lock()  # protects the events of a history
_original_start_execution = StepFunctionsParserBackend.start_execution
_original_add_event = EventManager.add_event
_original_set_error = Environment.set_error
_original_set_stop = Environment.set_stop
_original_describe: Any = StepFunctionResponse.describe_execution


def on_status_change(listener: StatusListener) -> None:
    """Call a listener whenever an execution starts or ends."""
    _listeners.append(listener)


def _start_execution(self: Any, state_machine_arn: str, name: Any = None, *rest: Any) -> Any:
    return _original_start_execution(self, state_machine_arn, name or str(uuid.uuid4()), *rest)


def _start_worker(self: Any) -> None:
    """Create the environment before the thread, so that an immediate stop finds it."""
    program = self._get_evaluation_entrypoint()
    self.env = self._get_evaluation_environment()
    self.env.over = threading.Event()
    self.ended = threading.Event()
    details = self._evaluation_details
    self.env.event_manager.add_event(
        context=self.env.event_history_context,
        event_type=HistoryEventType.ExecutionStarted,
        event_details={
            "executionStartedEventDetails": {
                "input": to_json_str(details.execution_details.inpt),
                "inputDetails": _WHOLE,
                "roleArn": details.aws_execution_details.role_arn,
            }
        },
        update_source_event_id=False,
    )

    def run() -> None:
        _announce_status(self._execution_communication.execution)
        program.eval(self.env)
        self._execution_communication.terminated()
        self.ended.set()
        _announce_status(self._execution_communication.execution)

    threading.Thread(target=run, daemon=True).start()


def _announce_status(execution: Execution) -> None:
    for listener in _listeners:
        listener(execution)


def _eval_program(self: Program, env: Any) -> None:
    """Run a program; a top-level one ends when it is stopped or its time is over."""
    with env._state_mutex:  # noqa: SLF001 - a stop either prevents the start or ends it
        begins = env.program_state() is None or env.is_running()
        if begins:
            env.next_state_name = self.start_at.start_at_name
    if not begins:
        if not env.is_frame():
            _conclude(env)
        return
    if env.is_frame():
        EvalComponent.eval(self, env)
        return

    def work() -> None:
        try:
            EvalComponent.eval(self, env)
        finally:
            env.over.set()

    threading.Thread(target=work, daemon=True).start()
    limit_s = self.timeout_seconds.timeout_seconds if self.timeout_seconds else None
    if not env.over.wait(limit_s):
        env.set_timed_out()
    _conclude(env)


def _eval_states(self: Program, env: Any) -> None:
    try:
        while env.is_running():
            self._get_state(env.next_state_name).eval(env)
            env.stack.clear()
            env.heap.clear()
    except Exception as error:  # noqa: BLE001 - any error is the execution's failure
        details = getattr(error, "get_execution_failed_event_details", lambda: None)()
        cause = f"{type(error).__name__}({error})"
        # a Fail state without error and cause gives an empty object
        env.set_error({"error": "States.Runtime", "cause": cause} if details is None else details)


def _conclude(env: Any) -> None:
    """Write the last event of a history; nothing is added after it."""
    state = env.program_state()
    outcome: dict[str, Any] = {}
    if isinstance(state, ProgramEnded):
        kind = HistoryEventType.ExecutionSucceeded
        output = to_json_str(env.states.get_input(), separators=(",", ":"))
        outcome = {"output": output, "outputDetails": _WHOLE}
    elif isinstance(state, ProgramStopped):
        kind = HistoryEventType.ExecutionAborted
        outcome = {"error": state.error, "cause": state.cause}
    elif isinstance(state, ProgramTimedOut):
        kind = HistoryEventType.ExecutionTimedOut
    else:
        kind = HistoryEventType.ExecutionFailed
        outcome = {**(getattr(state, "error", None) or {})}
    member = kind.value[:1].lower() + kind.value[1:] + "EventDetails"
    known = {name: value for name, value in outcome.items() if value is not None}
    details: Any = {member: known}
    manager = env.event_manager
    with _writing:
        _original_add_event(
            manager, context=env.event_history_context, event_type=kind, event_details=details
        )
        manager.closed = True


def _add_event(self: Any, *args: Any, **kwargs: Any) -> int:
    with _writing:  # a slow thread's event comes before the last event, or is dropped
        return 0 if getattr(self, "closed", False) else _original_add_event(self, *args, **kwargs)


def _set_error(self: Environment, error: Any) -> None:
    """Fail, unless the execution was stopped or timed out before: the first end counts."""
    with self._state_mutex:
        if not isinstance(self._program_state, ProgramStopped | ProgramTimedOut):
            _original_set_error(self, error)


def _set_timed_out(self: Environment) -> None:
    """Time out, with every frame: nothing new starts."""
    with self._state_mutex:
        if isinstance(self._program_state, ProgramRunning):
            self._program_state = ProgramTimedOut()
            for frame in self._frames:
                frame.set_timed_out()
            self.program_state_event.set()
            self.program_state_event.clear()


def _set_stop(self: Any, stop_date: Any, cause: Any, error: Any) -> None:
    """Stop an execution; a thread of it that has not begun never begins."""
    with self._state_mutex:
        if self._program_state is None:
            self._program_state = ProgramStopped(stop_date=stop_date, cause=cause, error=error)
        _original_set_stop(self, stop_date, cause, error)
    if not self.is_frame():
        self.over.set()


def _reflect_status(self: Any) -> None:
    execution, state = self.execution, self.execution.exec_worker.env.program_state()
    execution.stop_date = dt.datetime.now(dt.UTC)
    if isinstance(state, ProgramEnded):
        output = execution.exec_worker.env.states.get_input()
        execution.output = to_json_str(output, separators=(",", ":"))
        execution.exec_status = ExecutionStatus.SUCCEEDED
    elif isinstance(state, ProgramStopped):
        execution.error, execution.cause = state.error, state.cause
        execution.exec_status = ExecutionStatus.ABORTED
    elif isinstance(state, ProgramTimedOut):
        execution.exec_status = ExecutionStatus.TIMED_OUT
    else:
        failure = (state.error or {}) if isinstance(state, ProgramError) else {}
        execution.error, execution.cause = failure.get("error"), failure.get("cause")
        execution.exec_status = ExecutionStatus.FAILED


def _respond_to_stop(self: Any) -> Any:
    execution = self.stepfunction_backend.describe_execution(self._get_param("executionArn"))
    worker = execution.exec_worker
    if execution.exec_status == ExecutionStatus.RUNNING:
        worker.env.set_stop(
            stop_date=dt.datetime.now(dt.UTC),
            error=self._get_param("error"),
            cause=self._get_param("cause"),
        )
        worker.ended.wait(30)
    return ActionResult({"stopDate": execution.stop_date})


def _describe(self: Any) -> ActionResult:
    result: ActionResult = _original_describe(self)
    execution = self.stepfunction_backend.describe_execution(self._get_param("executionArn"))
    if execution.stop_date is not None:
        members: Any = result.result
        members["stopDate"] = execution.stop_date  # moto leaves it out of TIMED_OUT
    return result


def apply() -> None:
    """Make moto's executions start, stop and end as on AWS."""
    replace_members(StepFunctionsParserBackend, start_execution=_start_execution)
    replace_members(ExecutionWorker, start=_start_worker)
    replace_members(Program, eval=_eval_program, _eval_body=_eval_states)
    replace_members(EventManager, add_event=_add_event)
    replace_members(
        Environment, set_error=_set_error, set_timed_out=_set_timed_out, set_stop=_set_stop
    )
    replace_members(BaseExecutionWorkerCommunication, _reflect_execution_status=_reflect_status)
    replace_members(
        StepFunctionResponse, stop_execution=_respond_to_stop, describe_execution=_describe
    )
