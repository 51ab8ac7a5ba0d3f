"""The life of an execution whose thread begins late, as where a machine has no time for it."""

import json
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from plimsoll.local.aws.corrections import executions
from plimsoll.local.deploying import ROLE

late: list[Callable[[], None]] = []  # what threads that have not begun yet are to do


class LateThread:
    """A thread that begins when somebody waits for it."""

    def __init__(self, target: Callable[[], None], daemon: bool) -> None:
        assert daemon
        self._target = target

    def start(self) -> None:
        late.append(self._target)


class Awaited(threading.Event):
    """An event that has late threads run to their end when it is awaited."""

    def wait(self, timeout: float | None = None) -> bool:
        while late:
            late.pop(0)()
        return super().wait(timeout)


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Step Functions as the twin has it, for this test alone."""

    def replace(owner: Any, **members: Any) -> None:
        for name, member in members.items():
            monkeypatch.setattr(owner, name, member)

    monkeypatch.setattr(executions, "replace_members", replace)
    of_late_ones = SimpleNamespace(Thread=LateThread, Event=Awaited)
    monkeypatch.setattr(executions, "threading", of_late_ones)
    executions.apply()
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        yield boto3.client("stepfunctions", region_name="us-east-1")
    late.clear()


def test_one_that_is_stopped_before_it_begins_is_aborted_and_does_nothing(states: Any) -> None:
    definition = {"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}
    machine = states.create_state_machine(
        name="m", definition=json.dumps(definition), roleArn=ROLE
    )["stateMachineArn"]
    execution = states.start_execution(stateMachineArn=machine, name="e")["executionArn"]
    assert len(late) == 1  # it has not begun
    states.stop_execution(executionArn=execution, error="Mine", cause="enough")
    told = states.describe_execution(executionArn=execution)
    assert (told["status"], told["error"], told["cause"]) == ("ABORTED", "Mine", "enough")
    history = states.get_execution_history(executionArn=execution)["events"]
    assert [event["type"] for event in history] == ["ExecutionStarted", "ExecutionAborted"]
