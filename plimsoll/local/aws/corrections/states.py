"""Choice and Assign, as the States Language defines them.

https://docs.aws.amazon.com/step-functions/latest/dg/workflow-variables.html: Assign and Output are
evaluated in parallel, so that Output never sees a variable assigned in its own state. moto assigns
first. https://docs.aws.amazon.com/step-functions/latest/dg/state-choice.html: the Assign and Output
of the default are for the default alone, and a choice that nothing matches is an error of its own.
"""

from typing import Any

from moto.stepfunctions.parser.api import HistoryEventType
from moto.stepfunctions.parser.asl.component.common.assign.assign_decl import AssignDecl
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import (
    StatesErrorNameType,
)
from moto.stepfunctions.parser.asl.component.state.choice.state_choice import StateChoice
from moto.stepfunctions.parser.asl.component.state.state import CommonStateField

from plimsoll.local.aws.corrections.failures import failure
from plimsoll.local.replacing import replace_members

Environment = Any  # moto's class; this sets attributes that it does not declare

_original_exit_details = CommonStateField._get_state_exited_event_details  # noqa: SLF001


def _assign(self: AssignDecl, env: Environment) -> None:
    """Evaluate now; the store changes when the state is left."""
    assigned: dict[str, Any] = getattr(env, "assigned", {})
    for binding in self.declaration_bindings:
        binding.eval(env=env)
        assigned.update(env.stack.pop())
    env.assigned = assigned


def _exit_details(self: CommonStateField, env: Environment) -> Any:
    for name, value in getattr(env, "assigned", {}).items():
        env.variable_store.set(variable_identifier=name, variable_value=value)
    env.assigned = {}
    return _original_exit_details(self, env)


def _choose(self: StateChoice, env: Environment) -> None:
    for rule in self.choices_decl.rules:
        rule.eval(env)
        if env.stack.pop() is True:
            assert rule.next_stmt is not None  # noqa: S101 - definitions.py has seen to it
            env.stack.append(rule.next_stmt.name)
            return
    if self.default_state is None:
        raise failure(
            env,
            StatesErrorNameType.StatesNoChoiceMatched,
            "No choice matched, and there is no Default",
            event=HistoryEventType.ExecutionFailed,
            details="executionFailedEventDetails",
        )
    if self.assign_decl:
        self.assign_decl.eval(env=env)
    if self.output:
        self.output.eval(env=env)
    env.stack.append(self.default_state.state_name)


def _leave_choice(self: StateChoice, env: Environment) -> None:
    del self
    env.next_state_name = env.stack.pop()


def apply() -> None:
    """Put Assign and Choice right."""
    replace_members(AssignDecl, _eval_body=_assign)
    replace_members(CommonStateField, _get_state_exited_event_details=_exit_details)
    replace_members(StateChoice, _eval_state=_choose, _eval_state_output=_leave_choice)
