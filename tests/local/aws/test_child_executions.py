"""A state machine that runs another one and waits for its end (`startExecution.sync:2`).

https://docs.aws.amazon.com/step-functions/latest/dg/connect-stepfunctions.html
"""

import time
import uuid
from typing import Any

RESOURCE = "arn:aws:states:::states:startExecution.sync:2"


def starting(machine: str, name: str | None = None, **members: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {"StateMachineArn": machine, "Input": {"given": [1]}}
    if name:
        arguments["Name"] = name
    return {"Type": "Task", "Resource": RESOURCE, "Arguments": arguments, **members}


def test_it_gives_the_childs_output_as_a_value(machines: Any) -> None:
    child = machines.create(
        {"A": {"Type": "Pass", "Output": {"got": "{% $states.input %}"}, "End": True}}
    )
    output = machines.output({"T": starting(child, "mine", End=True)})
    assert output["Status"] == "SUCCEEDED"
    assert output["Name"] == "mine"
    assert output["Output"] == {"got": {"given": [1]}}


def test_a_child_that_fails_is_an_error_that_can_be_caught(machines: Any) -> None:
    child = machines.create({"A": {"Type": "Fail", "Error": "Mine", "Cause": "because"}})
    caught = {
        "ErrorEquals": ["States.TaskFailed"],
        "Output": {"cause": "{% $parse($states.errorOutput.Cause) %}"},
        "Next": "C",
    }
    output = machines.output(
        {"T": starting(child, Catch=[caught], Next="C"), "C": {"Type": "Pass", "End": True}}
    )
    assert (output["cause"]["Status"], output["cause"]["Error"]) == ("FAILED", "Mine")


def test_a_name_that_was_used_is_an_error_that_can_be_caught(machines: Any) -> None:
    child = machines.create({"A": {"Type": "Wait", "Seconds": 60, "End": True}})
    machines.client.start_execution(stateMachineArn=child, name="taken", input="{}")
    caught = {
        "ErrorEquals": ["States.ALL"],
        "Output": "{% $states.errorOutput.Error %}",
        "Next": "C",
    }
    output = machines.output(
        {
            "T": starting(child, "taken", Catch=[caught], Next="C"),
            "C": {"Type": "Pass", "End": True},
        }
    )
    assert output == "StepFunctions.ExecutionAlreadyExistsException"


def test_in_nested_maps_one_that_fails_fails_alone(machines: Any) -> None:
    """As the experiment does: batches one after the other, within each so many at once."""
    child = machines.create(
        {
            "A": {
                "Type": "Choice",
                "Choices": [{"Condition": "{% $states.input.cell = 2 %}", "Next": "F"}],
                "Default": "S",
            },
            "F": {"Type": "Fail", "Error": "Mine"},
            "S": {"Type": "Succeed"},
        }
    )
    arguments = {
        "StateMachineArn": child,
        "Name": "{% $tag & $string($states.input) %}",
        "Input": {"cell": "{% $states.input %}"},
    }
    cell = {
        "Type": "Task",
        "Resource": RESOURCE,
        "Arguments": arguments,
        "Output": "{% $states.result.Status %}",
        "Catch": [{"ErrorEquals": ["States.ALL"], "Output": "failed", "Next": "Failed"}],
        "End": True,
    }
    inner = {
        "Type": "Map",
        "Items": "{% $states.input %}",
        "MaxConcurrency": "{% $at_once %}",
        "ItemProcessor": {
            "StartAt": "Cell",
            "States": {"Cell": cell, "Failed": {"Type": "Pass", "End": True}},
        },
        "End": True,
    }
    outer = {
        "Type": "Map",
        "Items": "{% $batches %}",
        "MaxConcurrency": 1,
        "ItemProcessor": {"StartAt": "Batch", "States": {"Batch": inner}},
        "End": True,
    }
    plan = {
        "Type": "Pass",
        "Assign": {"batches": [[1, 2], [3]], "at_once": 2, "tag": str(uuid.uuid4())},
        "Next": "Batches",
    }
    assert machines.output({"Plan": plan, "Batches": outer}) == [
        ["SUCCEEDED", "failed"],
        ["SUCCEEDED"],
    ]


def test_a_child_outlives_a_parent_that_is_stopped(machines: Any) -> None:
    """AWS stops it at best; here it never does, so that nothing may rely on it."""
    child = machines.create({"A": {"Type": "Wait", "Seconds": 60, "End": True}})
    name = str(uuid.uuid4())
    parent = machines.start({"T": starting(child, name, End=True)})
    arn = f"{child.replace(':stateMachine:', ':execution:')}:{name}"
    deadline = time.monotonic() + 120
    while not machines.client.list_executions(stateMachineArn=child)["executions"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    machines.client.stop_execution(executionArn=parent)
    machines.wait(parent, "ABORTED")
    assert machines.client.describe_execution(executionArn=arn)["status"] == "RUNNING"
    machines.client.stop_execution(executionArn=arn)
