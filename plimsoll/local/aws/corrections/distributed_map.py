"""A Distributed Map, whose items are executions of their own.

https://docs.aws.amazon.com/step-functions/latest/dg/state-map-distributed.html and
.../workflow-variables.html: a child execution sees no variable of its parent (its ItemSelector,
which the parent evaluates, does); `$states.context.Execution` is the child's own; and a child that
fails, fails the Map with `States.ExceedToleratedFailureThreshold`, where moto has a null result.
"""

import copy
import datetime as dt
import uuid
from typing import Any

from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import (
    FailureEventException,
)
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import (
    StatesErrorNameType,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.itemprocessor import (
    distributed_item_processor_worker,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_map.iteration.job import Job
from moto.stepfunctions.parser.asl.eval.program_state import ProgramEnded, ProgramError
from moto.stepfunctions.parser.asl.eval.states import ItemData, MapData
from moto.stepfunctions.parser.asl.eval.variable_store import VariableStore

from plimsoll.local.aws.corrections.failures import failure
from plimsoll.local.replacing import replace_members

_Worker = distributed_item_processor_worker.DistributedItemProcessorWorker
Environment = Any  # moto's


def _eval_job(self: Any, env: Environment, job: Job) -> None:
    counters = (self._map_run_record.item_counter, self._map_run_record.execution_counter)
    for counter in counters:
        counter.total.count()
        counter.running.count()
    try:
        job.job_output = _run_child(self, env, job)
    except FailureEventException as failure:
        job.job_output = failure
    except Exception as error:  # noqa: BLE001 - a fault of the interpreter fails the Map as well
        job.job_output = _threshold_failure(env, f"{type(error).__name__}: {error}")
    failed = isinstance(job.job_output, Exception)
    for counter in counters:
        counter.running.offset(-1)
        (counter.failed if failed else counter.succeeded).count()


def _run_child(self: Any, env: Environment, job: Job) -> Any:
    context = env.states.context_object.context_object_data
    context["Map"] = MapData(Item=ItemData(Index=job.job_index, Value=job.job_input))
    env.states.reset(job.job_input)
    env.stack.append(env.states.get_input())
    self._eval_input(env_frame=env)

    name = str(uuid.uuid4())
    machine = self._map_run_record.map_state_machine_arn
    context.pop("Map")
    context.pop("State", None)
    context["Execution"] = {
        **context["Execution"],
        "Id": f"{machine.replace(':stateMachine:', ':execution:')}:{name}",
        "Name": name,
        "Input": copy.deepcopy(env.states.get_input()),
        "StartTime": dt.datetime.now(dt.UTC),
    }
    make_store: Any = VariableStore  # moto leaves it untyped
    env.variable_store = make_store()
    job.job_program.eval(env)

    state = env.program_state()
    if isinstance(state, ProgramEnded):
        return env.states.get_input()
    failure_details = (state.error or {}) if isinstance(state, ProgramError) else {}
    reason = (
        f"{failure_details.get('error', type(state).__name__)}: {failure_details.get('cause', '')}"
    )
    raise _threshold_failure(env, f"item {job.job_index} failed: {reason}")


def _threshold_failure(env: Environment, reason: str) -> FailureEventException:
    return failure(
        env,
        StatesErrorNameType.StatesExceedToleratedFailureThreshold,
        f"The specified tolerated failure threshold was exceeded ({reason})",
        event=HistoryEventType.MapRunFailed,
        details="mapRunFailedEventDetails",
    )


def apply() -> None:
    """Make each item an execution of its own."""
    replace_members(_Worker, _eval_job=_eval_job)
