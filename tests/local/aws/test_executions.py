"""The life of an execution, and what it tells the rest of AWS."""

import datetime as dt
import json
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from plimsoll.local.deploying import ROLE, function_arn

PATIENCE_S = 120.0
WAIT = {"A": {"Type": "Wait", "Seconds": 60, "End": True}}


def await_true(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def working(payload: dict[str, Any]) -> dict[str, Any]:
    """A machine that is in a function until a file is there, and marks it should it go on then."""
    call = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke"}
    mark = {"touch": payload["mark"]}
    return {
        "A": {
            **call,
            "Arguments": {"FunctionName": "probe", "Payload": payload},
            "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B"}],
            "Next": "B",
        },
        "B": {**call, "Arguments": {"FunctionName": "probe", "Payload": mark}, "End": True},
    }


def nothing_follows(twin: Any, machines: Any, execution: str, last: str) -> None:
    """See that an execution's history has ended, and that no state begins when its task ends."""
    before = machines.history(execution)
    assert before[-1]["type"] == last
    await_true(lambda: not twin.invocations())
    machines.run({"A": {"Type": "Succeed"}})  # what follows a task has begun by then
    assert machines.history(execution) == before


def test_stopping_ends_it_at_once_and_nothing_follows(
    twin: Any, machines: Any, tmp_path: Path
) -> None:
    begun, go_on, mark = (tmp_path / name for name in ("begun", "go-on", "mark"))
    payload = {"touch": str(begun), "await": str(go_on), "mark": str(mark)}
    execution = machines.start(working(payload))
    await_true(begun.exists)
    machines.client.stop_execution(executionArn=execution, error="Mine", cause="enough")
    told = machines.client.describe_execution(executionArn=execution)
    assert (told["status"], told["error"], told["cause"]) == ("ABORTED", "Mine", "enough")
    assert told["stopDate"] >= told["startDate"]
    assert twin.invocations()  # as on AWS, the function itself runs on
    go_on.touch()
    nothing_follows(twin, machines, execution, "ExecutionAborted")
    assert not mark.exists()


def test_its_time_limit_ends_it_at_once_and_nothing_follows(
    twin: Any, machines: Any, tmp_path: Path
) -> None:
    go_on, mark = tmp_path / "go-on", tmp_path / "mark"
    payload = {"await": str(go_on), "mark": str(mark)}
    execution = machines.start(working(payload), TimeoutSeconds=1)
    told = machines.wait(execution, "TIMED_OUT")
    assert told["stopDate"] >= told["startDate"]
    go_on.touch()
    nothing_follows(twin, machines, execution, "ExecutionTimedOut")
    assert not mark.exists()


def test_a_tasks_time_limit_is_an_error_that_can_be_caught(machines: Any, tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": "probe", "Payload": {"await": str(go_on)}},
        "TimeoutSeconds": 1,
        "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "B"}],
        "End": True,
    }
    assert machines.output({"A": task, "B": {"Type": "Pass", "Output": "B", "End": True}}) == "B"
    go_on.touch()


def test_stopping_ends_all_items_of_a_map(twin: Any, machines: Any, tmp_path: Path) -> None:
    begun, go_on, mark = (tmp_path / name for name in ("begun", "go-on", "mark"))
    states = working({"touch": str(begun), "await": str(go_on), "mark": str(mark)})
    processor = {"StartAt": "A", "States": states}
    config = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
    step = {"Type": "Map", "Items": "{% [1..4] %}", "ItemProcessor": {**config, **processor}}
    execution = machines.start({"M": {**step, "End": True}})
    await_true(lambda: begun.exists() and len(begun.read_text().splitlines()) == 4)
    machines.client.stop_execution(executionArn=execution)
    assert machines.wait(execution)["status"] == "ABORTED"
    go_on.touch()
    nothing_follows(twin, machines, execution, "ExecutionAborted")
    assert not mark.exists()


def test_stopping_what_has_ended_changes_nothing(machines: Any) -> None:
    execution = machines.start({"A": {"Type": "Succeed"}})
    ended = machines.wait(execution, "SUCCEEDED")
    machines.client.stop_execution(executionArn=execution)
    assert machines.client.describe_execution(executionArn=execution)["status"] == "SUCCEEDED"
    assert ended["output"] == "{}"


def test_one_name_makes_one_execution(machines: Any) -> None:
    machine, name = machines.create(WAIT), f"n-{uuid.uuid4()}"
    start = {"stateMachineArn": machine, "name": name, "input": '{"a": 1}'}
    first = machines.client.start_execution(**start)["executionArn"]
    assert machines.client.start_execution(**start)["executionArn"] == first
    with pytest.raises(ClientError, match="Execution Already Exists"):
        machines.client.start_execution(**{**start, "input": "{}"})
    machines.client.stop_execution(executionArn=first)
    with pytest.raises(ClientError, match="Execution Already Exists"):
        machines.client.start_execution(**start)


def test_without_a_name_each_start_is_an_execution(machines: Any) -> None:
    machine = machines.create({"A": {"Type": "Succeed"}})
    starts = [machines.client.start_execution(stateMachineArn=machine) for _ in range(3)]
    assert len({start["executionArn"] for start in starts}) == 3


def test_a_rule_hears_of_the_ends_that_it_asks_for(
    twin: Any, machines: Any, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    machine = machines.create(
        {
            "A": {
                "Type": "Choice",
                "Choices": [{"Condition": "{% $states.input.fail %}", "Next": "F"}],
                "Default": "S",
            },
            "F": {"Type": "Fail", "Error": "E"},
            "S": {"Type": "Succeed"},
        }
    )
    pattern = {
        "source": ["aws.states"],
        "detail": {"stateMachineArn": [machine], "status": ["FAILED"]},
    }
    target = {
        "Id": "1",
        "Arn": function_arn("probe"),
        "InputTransformer": {
            "InputPathsMap": {"name": "$.detail.name"},
            "InputTemplate": json.dumps({"touch": str(heard), "name": "<name>"}),
        },
    }
    events = twin.client("events")
    events.put_rule(Name="ends", EventPattern=json.dumps(pattern))
    events.put_targets(Rule="ends", Targets=[target])
    for fail in (False, True):
        start = {"stateMachineArn": machine, "input": json.dumps({"fail": fail})}
        machines.wait(machines.client.start_execution(**start)["executionArn"])
    await_true(heard.exists)
    await_true(lambda: not twin.invocations())
    events.remove_targets(Rule="ends", Ids=["1"])
    assert len(heard.read_text().splitlines()) == 1


def test_a_one_shot_schedule_fires_at_its_time_and_deletes_itself(
    twin: Any, tmp_path: Path
) -> None:
    scheduler, fired = twin.client("scheduler"), tmp_path / "fired"
    at = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=2)
    scheduler.create_schedule(
        Name="once",
        ScheduleExpression=f"at({at:%Y-%m-%dT%H:%M:%S})",
        FlexibleTimeWindow={"Mode": "OFF"},
        ActionAfterCompletion="DELETE",
        Target={
            "Arn": function_arn("probe"),
            "RoleArn": ROLE,
            "Input": json.dumps({"touch": str(fired)}),
        },
    )
    await_true(fired.exists)
    assert dt.datetime.now(dt.UTC) >= at.replace(microsecond=0)
    await_true(lambda: scheduler.list_schedules()["Schedules"] == [])  # it is called before that


@pytest.mark.parametrize(("function", "times"), [("again", 3), ("probe", 1)])
def test_an_asynchronous_invocation_is_repeated_as_often_as_its_function_says(
    twin: Any, tmp_path: Path, function: str, times: int
) -> None:
    calls = tmp_path / "calls"
    answer = twin.client("lambda").invoke(
        FunctionName=function,
        InvocationType="Event",
        Payload=json.dumps({"touch": str(calls), "raise": "no"}),
    )
    assert answer["StatusCode"] == 202
    await_true(lambda: calls.exists() and len(calls.read_text().splitlines()) >= times)
    await_true(lambda: not twin.invocations())
    assert len(calls.read_text().splitlines()) == times


@pytest.mark.parametrize(
    ("kind", "size"), [("Event", 256 * 1024), ("RequestResponse", 6 * 1024 * 1024)]
)
def test_a_payload_over_its_limit_is_refused(twin: Any, kind: str, size: int) -> None:
    def invoke(length: int) -> int:
        body = json.dumps({"pad": "x" * (length - len('{"pad": ""}'))})
        answer = twin.client("lambda").invoke(
            FunctionName="again", InvocationType=kind, Payload=body
        )
        return int(answer["StatusCode"])

    assert invoke(size) in (200, 202)
    with pytest.raises(ClientError, match="RequestTooLargeException"):
        invoke(size + 1)


def test_a_response_over_its_limit_is_an_error(twin: Any) -> None:
    answer = twin.client("lambda").invoke(FunctionName="probe", Payload=b'{"bytes": 6291560}')
    assert answer["FunctionError"] == "Unhandled"
    assert json.loads(answer["Payload"].read())["errorType"] == "Function.ResponseSizeTooLarge"


def test_counters_in_a_table_lose_no_update(twin: Any) -> None:
    client, table = twin.client("dynamodb"), twin.settings["RunsTableName"]

    def count() -> None:
        for _ in range(10):
            client.update_item(
                TableName=table,
                Key={"run_id": {"S": "counter"}},
                UpdateExpression="ADD n :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    item = client.get_item(TableName=table, Key={"run_id": {"S": "counter"}})["Item"]
    assert item["n"] == {"N": "80"}
