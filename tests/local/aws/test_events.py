"""Events that are put on a bus reach the functions and topics of its rules.

https://docs.aws.amazon.com/step-functions/latest/dg/connect-eventbridge.html
"""

import json
import uuid
from typing import Any

from plimsoll.local.twin import LocalTwin
from tests.local.conftest import Machines
from tests.local.workflow.conftest import wait_until


def test_what_a_state_machine_puts_on_a_bus_reaches_the_topics_of_matching_rules(
    twin: LocalTwin, machines: Machines
) -> None:
    events, sns, sqs = (twin.client(name) for name in ("events", "sns", "sqs"))
    name = f"t-{uuid.uuid4()}"
    events.create_event_bus(Name=name)
    topic = sns.create_topic(Name=name)["TopicArn"]
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    queue_arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    raw = {"RawMessageDelivery": "true"}
    endpoint = queue_arn["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=endpoint, Attributes=raw)
    pattern = json.dumps({"source": ["here"], "detail": {"kind": ["wanted"]}})
    events.put_rule(Name="wanted", EventBusName=name, EventPattern=pattern)
    events.put_targets(Rule="wanted", EventBusName=name, Targets=[{"Id": "t", "Arn": topic}])

    def entry(kind: str) -> dict[str, Any]:
        detail = {"kind": kind, "figure": "{% $states.input.figure %}"}
        return {"EventBusName": name, "Source": "here", "DetailType": "Test", "Detail": detail}

    put = {
        "Type": "Task",
        "Resource": "arn:aws:states:::events:putEvents",
        "Arguments": {"Entries": [entry("other"), entry("wanted")]},
        "End": True,
    }
    assert machines.run({"Put": put}, {"figure": 1.5})["status"] == "SUCCEEDED"
    got: list[str] = []

    def arrived() -> bool:
        answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
        got.extend(message["Body"] for message in answer.get("Messages", []))
        return bool(got)

    wait_until(arrived, "the event")
    [event] = map(json.loads, got)
    assert event["detail"] == {"kind": "wanted", "figure": 1.5}
    assert event["detail-type"] == "Test"
    assert [":stateMachine:" in event["resources"][0], ":execution:" in event["resources"][1]] == [
        True,
        True,
    ]


def test_a_bus_that_is_not_there_fails_the_task_and_can_be_caught(machines: Machines) -> None:
    entry = {"EventBusName": "nowhere", "Source": "s", "DetailType": "d", "Detail": {"a": 1}}
    states = {
        "Put": {
            "Type": "Task",
            "Resource": "arn:aws:states:::events:putEvents",
            "Arguments": {"Entries": [entry]},
            "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}],
            "End": True,
        },
        "Caught": {"Type": "Pass", "Output": "caught", "End": True},
    }
    assert machines.output(states) == "caught"
