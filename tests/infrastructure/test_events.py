"""The bus, who hears of it, and the schedules of checks, as deployed."""

import json
from typing import Any

from tests.infrastructure.template import Template, as_list
from tests.infrastructure.test_workflow import machine, statements


def rules_of_the_bus(template: Template) -> dict[str, dict[str, Any]]:
    """The rules of Plimsoll's own bus, by the type of their target."""
    (bus,) = template.of_type("AWS::Events::EventBus")
    found = {}
    for rule in template.of_type("AWS::Events::Rule").values():
        if rule["Properties"].get("EventBusName") == {"Ref": bus}:
            (target,) = rule["Properties"]["Targets"]
            name = target["Arn"].get("Ref") or target["Arn"]["Fn::GetAtt"][0]
            found[template.body["Resources"][name]["Type"]] = {**rule["Properties"], "at": name}
    return found


def test_every_event_goes_to_the_topic_that_only_the_rule_may_fill(app_template: Template) -> None:
    rule = rules_of_the_bus(app_template)["AWS::SNS::Topic"]
    assert rule["EventPattern"] == {"source": ["plimsoll"]}
    topic = app_template.body["Resources"][rule["at"]]["Properties"]
    assert topic["DisplayName"] == "Plimsoll events"
    outputs = app_template.body["Outputs"]
    assert outputs["EventTopic"]["Value"] == {"Ref": rule["at"]}


def test_the_end_of_every_run_calls_the_judge_of_checks(app_template: Template) -> None:
    rule = rules_of_the_bus(app_template)["AWS::Lambda::Function"]
    assert rule["EventPattern"] == {"source": ["plimsoll"], "detail-type": ["Run Ended"]}
    function = app_template.body["Resources"][rule["at"]]["Properties"]
    assert function["FunctionName"] == "plimsoll-judge-check"


def test_the_workflow_of_runs_may_tell_the_bus_and_no_other(app_template: Template) -> None:
    (bus,) = app_template.of_type("AWS::Events::EventBus")
    for name, may in (("run", True), ("teardown", False)):
        tells = [
            s["Resource"]
            for s in statements(app_template, machine(app_template, name)["RoleArn"])
            if "events:PutEvents" in as_list(s["Action"])
        ]
        assert tells == ([{"Fn::GetAtt": [bus, "Arn"]}] if may else []), name


def test_scheduler_may_start_checks_for_this_group_alone_and_do_nothing_else(
    app_template: Template,
) -> None:
    (name,) = [n for n in app_template.of_type("AWS::IAM::Role") if n.startswith("ChecksRole")]
    role = app_template.body["Resources"][name]["Properties"]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    source = json.dumps(trust["Condition"]["StringEquals"]["aws:SourceArn"])
    assert ":schedule-group/plimsoll-checks" in source
    (allowed,) = statements(app_template, {"Fn::GetAtt": [name, "Arn"]})
    assert as_list(allowed["Action"]) == ["lambda:InvokeFunction"]
    assert ":function:plimsoll-start-check" in json.dumps(allowed["Resource"])
