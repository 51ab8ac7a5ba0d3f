"""States in JSONata mode, as the States Language and AWS's guide define them."""

from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

LAMBDA = "arn:aws:states:::lambda:invoke"
INVOKE = {"Type": "Task", "Resource": LAMBDA}


def distributed(states: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {
        "Type": "Map",
        "Items": "{% $states.input.items %}",
        "ItemProcessor": {
            "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
            "StartAt": next(iter(states)),
            "States": states,
        },
        "End": True,
        **members,
    }


def test_output_is_evaluated_beside_assign_and_sees_the_old_value(machines: Any) -> None:
    assert machines.output(
        {
            "A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "B"},
            "B": {
                "Type": "Pass",
                "Assign": {"x": "{% $x + 1 %}", "y": "{% $x + 10 %}"},
                "Output": "{% $x %}",
                "Next": "C",
            },
            "C": {"Type": "Pass", "Output": ["{% $states.input %}", "{% [$x, $y] %}"], "End": True},
        }
    ) == [1, [2, 11]]


@pytest.mark.parametrize(("n", "output"), [(3, "big"), (1, "small")])
def test_the_defaults_output_is_for_the_default_alone(machines: Any, n: int, output: str) -> None:
    rule = {"Condition": "{% $states.input.n > 2 %}", "Next": "B", "Output": "big"}
    choice = {"Type": "Choice", "Choices": [rule], "Default": "B", "Output": "small"}
    assert machines.output({"A": choice, "B": {"Type": "Succeed"}}, {"n": n}) == output


def test_a_choice_that_nothing_matches_is_an_error_of_its_own(machines: Any) -> None:
    choice = {"Type": "Choice", "Choices": [{"Condition": False, "Next": "B"}]}
    told = machines.run({"A": choice, "B": {"Type": "Succeed"}})
    assert (told["status"], told["error"]) == ("FAILED", "States.NoChoiceMatched")


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("{% $states.input.missing %}", "returned nothing (undefined)"),
        ({"deep": ["{% {'x': $missing} %}"]}, "$missing is not defined"),
    ],
)
def test_what_is_not_there_fails_the_state(machines: Any, output: Any, told: str) -> None:
    failed = machines.run({"A": {"Type": "Pass", "Output": output, "End": True}})
    assert (failed["status"], failed["error"]) == ("FAILED", "States.QueryEvaluationError")
    assert told in failed["cause"]
    assert "'A'" in failed["cause"]


FAULTY = {"A": {"Type": "Pass", "Output": "{% $missing %}", "End": True}}
AROUND: dict[str, dict[str, Any]] = {
    "map": {"Type": "Map", "Items": [1], "ItemProcessor": {"StartAt": "A", "States": FAULTY}},
    "parallel": {"Type": "Parallel", "Branches": [{"StartAt": "A", "States": FAULTY}]},
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND.keys())
def test_an_error_within_a_map_or_parallel_keeps_its_name(
    machines: Any, around: dict[str, Any]
) -> None:
    """Seen of AWS, of a Map: LocalStack's recording of MAP_CATCH_ERROR_OUTPUT_WITH_RETRY."""
    failed = machines.run({"Around": {**around, "End": True}})
    assert (failed["status"], failed["error"]) == ("FAILED", "States.QueryEvaluationError")
    catch = {"ErrorEquals": ["States.QueryEvaluationError"], "Next": "Caught"}
    states = {
        "Around": {**around, "Catch": [catch], "End": True},
        "Caught": {"Type": "Pass", "Output": "caught", "End": True},
    }
    assert machines.output(states) == "caught"


def test_a_fail_that_names_no_error_has_none(machines: Any) -> None:
    """Seen of AWS: LocalStack's recording of RAISE_EMPTY_FAILURE."""
    failed = machines.run({"A": {"Type": "Fail"}})
    assert (failed["status"], failed.get("error"), failed.get("cause")) == ("FAILED", None, None)


def test_a_null_output_is_told_as_null(machines: Any) -> None:
    assert machines.output({"A": {"Type": "Pass", "Output": None, "End": True}}) is None


def test_a_faulty_definition_is_refused_with_the_field_named(machines: Any) -> None:
    with pytest.raises(ClientError, match="A: the field Outptu is not known"):
        machines.create({"A": {"Type": "Pass", "Outptu": 1, "End": True}})


def test_a_function_gets_its_payload_and_its_result_is_there(machines: Any) -> None:
    task = {
        **INVOKE,
        "Arguments": {"FunctionName": "probe", "Payload": {"n": "{% $states.input.n * 2 %}"}},
        "Assign": {"seen": "{% $states.result.Payload.event.n %}"},
        "Output": "{% $states.result.StatusCode %}",
        "Next": "B",
    }
    last = {"Type": "Pass", "Output": "{% [$states.input, $seen] %}", "End": True}
    assert machines.output({"A": task, "B": last}, {"n": 21}) == [200, 42]


def test_an_unknown_argument_of_an_integration_fails_it(machines: Any) -> None:
    task = {**INVOKE, "Arguments": {"FunctionName": "probe", "PayLoad": {}}, "End": True}
    told = machines.run({"A": task})
    assert (told["status"], told["error"]) == ("FAILED", "States.Runtime")
    assert "'PayLoad' is not supported" in told["cause"]


@pytest.mark.parametrize(
    ("function", "payload", "error", "cause"),
    [
        ("probe", {"raise": "no good"}, "ValueError", "no good"),
        ("probe", {"exit": 3}, "Runtime.ExitError", "exit status 3"),
        ("brief", {"sleep_s": 30}, "Sandbox.Timedout", "Task timed out after 1.00 seconds"),
        ("broken", {}, "Runtime.ImportModuleError", "No module named 'handler'"),
        ("absent", {}, "Lambda.ResourceNotFoundException", "Function not found"),
        ("probe", {"bytes": 300_000}, "States.DataLimitExceeded", "exceeding"),
    ],
)
def test_a_functions_failure_has_awss_name(
    machines: Any, function: str, payload: dict[str, Any], error: str, cause: str
) -> None:
    task = {**INVOKE, "Arguments": {"FunctionName": function, "Payload": payload}, "End": True}
    told = machines.run({"A": task})
    assert (told["status"], told["error"]) == ("FAILED", error)
    assert cause in told["cause"]


@pytest.mark.parametrize(
    ("payload", "caught"),
    [({"raise": "x"}, True), ({"exit": 1}, True), ({"bytes": 300_000}, False)],
)
def test_all_errors_are_caught_but_the_terminal_ones(
    machines: Any, payload: dict[str, Any], caught: bool
) -> None:
    task = {
        **INVOKE,
        "Arguments": {"FunctionName": "probe", "Payload": payload},
        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B", "Assign": {"e": 1}}],
        "End": True,
    }
    told = machines.run({"A": task, "B": {"Type": "Pass", "Output": "{% $e %}", "End": True}})
    assert told["status"] == ("SUCCEEDED" if caught else "FAILED")


def test_a_distributed_maps_items_are_executions_of_their_own(machines: Any) -> None:
    child = {"Type": "Pass", "Output": "{% $states.context.Execution.Input %}", "End": True}
    selector = {
        "item": "{% $states.context.Map.Item.Value %}",
        "index": "{% $states.context.Map.Item.Index %}",
        "all": "{% $states.input.all %}",
        "outer": "{% $outer %}",
    }
    first = {"Type": "Pass", "Assign": {"outer": 5}, "Next": "M"}
    states = {"A": first, "M": distributed({"P": child}, ItemSelector=selector)}
    assert machines.output(states, {"items": ["a", "b"], "all": 2}) == [
        {"item": "a", "index": 0, "all": 2, "outer": 5},
        {"item": "b", "index": 1, "all": 2, "outer": 5},
    ]


def test_a_child_execution_sees_no_variable_of_its_parent(machines: Any) -> None:
    first = {"Type": "Pass", "Assign": {"outer": 5}, "Next": "M"}
    child = {"P": {"Type": "Pass", "Output": "{% $outer %}", "End": True}}
    told = machines.run({"A": first, "M": distributed(child)}, {"items": [1]})
    assert told["error"] == "States.ExceedToleratedFailureThreshold"
    assert "$outer is not defined" in told["cause"]


def test_an_item_that_fails_fails_the_map_and_does_not_become_null(machines: Any) -> None:
    child = {"P": {"Type": "Fail", "Error": "Mine", "Cause": "for a reason"}}
    told = machines.run({"M": distributed(child)}, {"items": [1, 2, 3]})
    assert told["error"] == "States.ExceedToleratedFailureThreshold"
    assert "Mine: for a reason" in told["cause"]


def test_the_items_of_a_map_run_at_once_up_to_its_limit(machines: Any, tmp_path: Path) -> None:
    def calling(payload: dict[str, Any]) -> dict[str, Any]:
        output = "{% $states.result.Payload.pid %}"
        arguments = {"FunctionName": "probe", "Payload": payload}
        return {**INVOKE, "Arguments": arguments, "Output": output, "End": True}

    together = calling({"meet": str(tmp_path / "met"), "of": 8})  # none ends before all have begun
    pids = machines.output({"M": distributed({"P": together})}, {"items": [0] * 8})
    assert len(set(pids)) == 8
    log = tmp_path / "log"
    noted = calling({"note": str(log), "sleep_s": 0.1})
    limited = distributed({"P": noted}, MaxConcurrency="{% 2 %}")
    machines.run({"M": limited}, {"items": [0] * 6})
    under_way = list(accumulate({"begin": 1, "end": -1}[w] for w in log.read_text().split()))
    assert len(under_way) == 12
    assert max(under_way) <= 2


@pytest.mark.parametrize("items", [{"not": "a list"}, "text"])
def test_items_must_be_a_list(machines: Any, items: Any) -> None:
    child = {"P": {"Type": "Succeed"}}
    told = machines.run({"M": distributed(child)}, {"items": items})
    assert told["error"] == "States.QueryEvaluationError"


def test_sdk_calls_take_pascal_case_and_give_json(machines: Any) -> None:
    call = "arn:aws:states:::aws-sdk:sfn:listStateMachines"
    task = {"Type": "Task", "Resource": call, "Arguments": {"MaxResults": 1}, "End": True}
    (machine,) = machines.output({"A": task})["StateMachines"]
    assert machine["StateMachineArn"].startswith("arn:aws:states:")
    assert machine["CreationDate"].endswith("Z")


def test_an_sdk_error_has_the_services_name(machines: Any) -> None:
    call = "arn:aws:states:::aws-sdk:cloudformation:describeStacks"
    task = {"Type": "Task", "Resource": call, "Arguments": {"StackName": "absent"}, "End": True}
    told = machines.run({"A": task})
    assert told["error"] == "CloudFormation.CloudFormationException"
    assert "does not exist" in told["cause"]


def test_a_nested_execution_is_awaited_and_its_output_is_json(machines: Any) -> None:
    inner = machines.create(
        {"I": {"Type": "Pass", "Output": {"seen": "{% $states.input.n %}"}, "End": True}}
    )
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::states:startExecution.sync:2",
        "Arguments": {"StateMachineArn": inner, "Input": {"n": 7}},
        "Output": "{% $states.result.Output.seen %}",
        "End": True,
    }
    assert machines.output({"A": task}) == 7


@pytest.mark.parametrize("text", ['"', "\\", "a/b", "\n", "😀", '{"a": "\\""}'])
def test_a_text_in_a_definition_is_what_json_says(machines: Any, text: str) -> None:
    assign = {"Type": "Pass", "Assign": {"text": text}, "Next": "Say"}
    say = {
        "Type": "Pass",
        "Output": {
            "assigned": "{% $text %}",
            "written": text,
            "same": "{% $text = $states.input %}",
        },
        "End": True,
    }
    told = machines.output({"Assign": assign, "Say": say}, text)
    assert told == {"assigned": text, "written": text, "same": True}
