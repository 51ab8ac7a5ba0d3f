import datetime as dt
from typing import Any

import pytest
from botocore.session import get_session

from plimsoll.local.aws.corrections.integrations import to_output, to_request


def operation(service: str, name: str) -> Any:
    return get_session().get_service_model(service).operation_model(name)


def test_members_become_botocores_where_that_writes_them_small() -> None:
    shape = operation("stepfunctions", "StartExecution").input_shape
    assert to_request({"StateMachineArn": "a", "Input": "{}"}, shape) == {
        "stateMachineArn": "a",
        "input": "{}",
    }


def test_members_are_renamed_in_lists_and_structures_but_keys_of_maps_are_not() -> None:
    shape = operation("dynamodb", "PutItem").input_shape
    item = {"TableName": "t", "Item": {"run_id": {"S": "x"}}}
    assert to_request(item, shape) == item
    schedule = operation("scheduler", "CreateSchedule").input_shape
    target = {"Target": {"Arn": "a", "RoleArn": "r"}, "FlexibleTimeWindow": {"Mode": "OFF"}}
    assert to_request(target, schedule) == target


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"stateMachineArn": "a"}, "stateMachineArn"), ({"Inputs": 1}, "Inputs")],
)
def test_an_unknown_member_is_named_with_those_that_there_are(
    arguments: dict[str, Any], field: str
) -> None:
    shape = operation("stepfunctions", "StartExecution").input_shape
    with pytest.raises(ValueError, match=f"'{field}' is not supported; there are: Input, Name"):
        to_request(arguments, shape)


def test_a_response_becomes_json_with_pascal_case_and_text_for_times() -> None:
    shape = operation("stepfunctions", "DescribeExecution").output_shape
    at = dt.datetime(2026, 11, 21, 9, 0, 0, 123456, dt.UTC)
    assert to_output({"executionArn": "a", "startDate": at}, shape) == {
        "ExecutionArn": "a",
        "StartDate": "2026-11-21T09:00:00.123Z",
    }
