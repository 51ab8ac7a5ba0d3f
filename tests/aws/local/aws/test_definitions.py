import json
from typing import Any

import pytest

from plimsoll.local.aws.corrections.definitions import find_faults


def machine(**states: Any) -> dict[str, Any]:
    return {"QueryLanguage": "JSONata", "StartAt": next(iter(states)), "States": states}


FINE = {"Type": "Pass", "Output": "{% $states.input.a %}", "End": True}
MAP = {"Type": "Map", "Items": "{% [1] %}", "End": True}
INNER = {"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}
LAMBDA = "arn:aws:states:::lambda:invoke"


def test_a_sound_definition_has_no_faults() -> None:
    task = {"Type": "Task", "Resource": LAMBDA, "Arguments": {"FunctionName": "f"}, "Next": "B"}
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "B", "Assign": {"x": 1}}]
    sound = machine(A={**task, "Catch": catch}, B={**MAP, "ItemProcessor": INNER})
    assert find_faults(json.dumps(sound)) == []


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        (machine(A={**FINE, "Outputs": 1}), "A: the field Outputs is not known"),
        (machine(A={**FINE, "ResultPath": "$.x"}), "A: the field ResultPath is not known"),
        (machine(A={"Type": "Pass", "Next": "C"}), "A: Next names no state beside it: C"),
        (machine(A={"Type": "Pass"}), "A: it must have either Next or End"),
        (machine(A=FINE, B=FINE), "B: no state leads to it"),
        (machine(A={"Type": "Pas", "End": True}), "A: Type Pas is not known"),
        (machine(A={**FINE, "Output": "{% $x[ %}"}), "States.A.Output: this JSONata cannot be"),
        (machine(A={**FINE, "Output": "${BucketName}"}), "${BucketName} was not substituted"),
        ({**machine(A=FINE), "QueryLanguage": "JSONPath"}, "QueryLanguage must be JSONata"),
        ({**machine(A=FINE), "StartAt": "Z"}, "the state machine: StartAt names no state of it: Z"),
        ({**machine(A=FINE), "Timeout": 3}, "the state machine: the field Timeout is not known"),
        (
            machine(
                A={"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "End": True}
            ),
            "A: the Resource arn:aws:states:::sqs:sendMessage is not known, or not carried out",
        ),
        (
            machine(A={"Type": "Choice", "Choices": [{"Condition": True, "Nxt": "A"}]}),
            "A.Choices: the field Nxt is not known",
        ),
        (
            machine(A={**MAP, "ItemProcessor": INNER, "ToleratedFailurePercentage": 5}),
            "A: the field ToleratedFailurePercentage is not known, or not carried out here",
        ),
        (
            machine(A={**MAP, "ItemProcessor": {**INNER, "StartAt": "Q"}}),
            "A: StartAt names no state of it: Q",
        ),
    ],
)
def test_each_fault_is_named(definition: dict[str, Any], told: str) -> None:
    assert any(told in fault for fault in find_faults(json.dumps(definition)))


def test_text_that_is_no_json_is_a_fault() -> None:
    assert find_faults("{")[0].startswith("it is not JSON")
