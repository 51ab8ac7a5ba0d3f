"""The state machines as deployed."""

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.statemachines import (
    FOLDER,
    STATE_MACHINES,
    fill_placeholders,
    list_placeholders,
    name_machine_placeholder,
)
from tests.infrastructure.template import Template, as_list


def machine(template: Template, name: str) -> dict[str, Any]:
    for resource in template.of_type("AWS::StepFunctions::StateMachine").values():
        if resource["Properties"]["StateMachineName"] == f"plimsoll-{name}":
            return dict(resource["Properties"])
    raise KeyError(name)


def statements(template: Template, role: dict[str, Any]) -> list[dict[str, Any]]:
    """What the policies of a role allow and deny."""
    role_id = role["Fn::GetAtt"][0]
    return [
        statement
        for policy in template.of_type("AWS::IAM::Policy").values()
        if {"Ref": role_id} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


def _called(made: dict[str, Any]) -> dict[str, Any]:
    """The functions and machines that a definition names."""
    given = made["DefinitionSubstitutions"].items()
    return {name: arn for name, arn in given if name.endswith("Arn")}


def test_every_file_is_a_machine(app_template: Template) -> None:
    files = {path.name.removesuffix(".asl.json") for path in FOLDER.iterdir()}
    assert files == set(STATE_MACHINES)
    deployed = app_template.of_type("AWS::StepFunctions::StateMachine").values()
    assert {m["Properties"]["StateMachineName"] for m in deployed} == {
        f"plimsoll-{name}" for name in files
    }


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_what_is_deployed_is_the_file_but_for_the_partition(
    app_template: Template, name: str
) -> None:
    text = (FOLDER / f"{name}.asl.json").read_text()
    deployed = machine(app_template, name)["DefinitionString"]
    assert deployed == text.replace("arn:aws:", "arn:${Partition}:")


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_all_that_is_to_be_substituted_is_and_nothing_more(
    app_template: Template, name: str
) -> None:
    made = machine(app_template, name)
    assert set(made["DefinitionSubstitutions"]) == set(list_placeholders(made["DefinitionString"]))


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_a_name_in_a_definition_leads_to_the_function_or_machine_of_that_name(
    app_template: Template, name: str
) -> None:
    given = _called(machine(app_template, name))
    named = {row.arn_placeholder: row.name for row in FUNCTIONS.values()}
    machines = {name_machine_placeholder(other): other for other in STATE_MACHINES}
    for placeholder, value in given.items():
        if placeholder in machines:
            assert value == {"Ref": _id(app_template, machines[placeholder])}
            continue
        function = app_template.body["Resources"][value["Fn::GetAtt"][0]]
        assert value["Fn::GetAtt"][1] == "Arn"
        assert function["Properties"]["FunctionName"] == f"plimsoll-{named[placeholder]}"


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_a_machine_may_call_the_functions_that_it_names_and_no_others(
    app_template: Template, name: str
) -> None:
    made = machine(app_template, name)
    (invoke,) = [
        s
        for s in statements(app_template, made["RoleArn"])
        if as_list(s["Action"]) == ["lambda:InvokeFunction"]
    ]
    allowed = {_function_name(app_template, arn) for arn in as_list(invoke["Resource"])}
    functions = [arn for arn in made["DefinitionSubstitutions"].values() if "Fn::GetAtt" in arn]
    named = {_function_name(app_template, arn) for arn in functions}
    # load clients of another zone: their ARN is the first one's, and an end
    in_other_zones = {f"{name}-2" for name in named if name == "plimsoll-load-client"}
    assert allowed == named | in_other_zones


def _function_name(template: Template, arn: dict[str, Any]) -> str:
    function = template.body["Resources"][arn["Fn::GetAtt"][0]]
    return str(function["Properties"]["FunctionName"])


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_a_machine_may_start_itself_for_a_distributed_map_and_its_children_and_no_other(
    app_template: Template, name: str
) -> None:
    made = machine(app_template, name)
    starts = [
        json.dumps(s["Resource"])
        for s in statements(app_template, made["RoleArn"])
        if "states:StartExecution" in as_list(s["Action"])
    ]
    machines = app_template.of_type("AWS::StepFunctions::StateMachine")
    substitutions = made["DefinitionSubstitutions"].values()
    children = [value for value in substitutions if value.get("Ref") in machines]
    assert starts[len(starts) - len(children) :] == [json.dumps(child) for child in children]
    own = starts[: len(starts) - len(children)]
    if '"DISTRIBUTED"' in made["DefinitionString"]:
        assert len(own) == 1
        assert own[0].endswith(f':stateMachine:plimsoll-{name}"]]}}')
    else:
        assert own == []


def test_an_experiment_may_start_stop_and_hear_of_runs_and_of_nothing_else(
    app_template: Template,
) -> None:
    given = statements(app_template, machine(app_template, "experiment")["RoleArn"])
    may = {a: json.dumps(s["Resource"]) for s in given for a in as_list(s["Action"])}
    assert may["states:StartExecution"] == json.dumps({"Ref": _id(app_template, "run")})
    for action in ("states:DescribeExecution", "states:StopExecution"):
        assert may[action].endswith(':execution:plimsoll-run:*"]]}')
    rule = ':rule/StepFunctionsGetEventsForStepFunctionsExecutionRule"]]}'
    for action in ("events:PutTargets", "events:PutRule", "events:DescribeRule"):
        assert may[action].endswith(rule)


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_executions_leave_a_trace_and_a_log_without_data(app_template: Template, name: str) -> None:
    made = machine(app_template, name)
    assert made["TracingConfiguration"] == {"Enabled": True}
    assert made["LoggingConfiguration"]["Level"] == "ALL"
    assert made["LoggingConfiguration"]["IncludeExecutionData"] is False


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_the_definition_on_one_machine_is_the_deployed_one_but_for_names(
    app_template: Template, name: str
) -> None:
    made = machine(app_template, name)
    names = {key: f"arn:{key}" for key in made["DefinitionSubstitutions"]} | {"Partition": "aws"}
    deployed = made["DefinitionString"]
    for key, value in names.items():
        deployed = deployed.replace(f"${{{key}}}", value)
    assert deployed == fill_placeholders(Path(FOLDER, f"{name}.asl.json").read_text(), names)
    assert "${" not in deployed


@pytest.mark.parametrize(
    ("name", "starts", "called"),
    [("run", "teardown", "run_id"), ("experiment", "experiment-end", "experiment_id")],
)
def test_the_ways_out_that_no_catch_sees_start_what_tears_down(
    app_template: Template, name: str, starts: str, called: str
) -> None:
    ended = {"Ref": _id(app_template, name)}
    (rule,) = [
        r["Properties"]
        for r in app_template.of_type("AWS::Events::Rule").values()
        if r["Properties"].get("EventPattern", {}).get("detail", {}).get("stateMachineArn")
        == [ended]
    ]
    assert rule["EventPattern"] == {
        "source": ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        "detail": {"stateMachineArn": [ended], "status": ["FAILED", "ABORTED", "TIMED_OUT"]},
    }
    (target,) = rule["Targets"]
    assert target["Arn"] == {"Ref": _id(app_template, starts)}
    assert target["InputTransformer"]["InputPathsMap"] == {
        "detail-name": "$.detail.name",
        "detail-status": "$.detail.status",
    }
    assert (
        target["InputTransformer"]["InputTemplate"]
        == f'{{"{called}":<detail-name>,"ended":<detail-status>}}'
    )
    assert "DeadLetterConfig" in target


def _id(template: Template, name: str) -> str:
    for logical_id, resource in template.of_type("AWS::StepFunctions::StateMachine").items():
        if resource["Properties"]["StateMachineName"] == f"plimsoll-{name}":
            return logical_id
    raise KeyError(name)


def test_the_janitor_comes_every_quarter_of_an_hour(app_template: Template) -> None:
    (rule,) = [
        r["Properties"]
        for r in app_template.of_type("AWS::Events::Rule").values()
        if "ScheduleExpression" in r["Properties"]
    ]
    assert rule["ScheduleExpression"] == "rate(15 minutes)"
    (target,) = rule["Targets"]
    janitor = app_template.body["Resources"][target["Arn"]["Fn::GetAtt"][0]]
    assert janitor["Properties"]["FunctionName"] == "plimsoll-janitor"


def test_every_broken_promise_has_an_alarm_that_reaches_the_topic(
    app_template: Template, templates: dict[str, Template]
) -> None:
    (topic,) = [
        name
        for name, resource in app_template.of_type("AWS::SNS::Topic").items()
        if resource["Properties"]["DisplayName"] == "Plimsoll"
    ]
    alarms = app_template.of_type("AWS::CloudWatch::Alarm")
    described = " ".join(a["Properties"]["AlarmDescription"] for a in alarms.values())
    for promise in ("teardown of a run failed", "outlived its run's time limit", "janitor"):
        assert promise in described
    for alarm in alarms.values():
        assert alarm["Properties"]["AlarmActions"] == [{"Ref": topic}]
    assert len(alarms) == 10
    assert not app_template.of_type("AWS::Budgets::Budget")  # of the account: only where asked
    (budget,) = templates["Existing"].of_type("AWS::Budgets::Budget").values()
    assert budget["Properties"]["Budget"]["CostFilters"] == {
        "TagKeyValue": ["user:plimsoll:team$default"]
    }


def test_a_janitor_that_is_yet_to_come_is_not_absent(app_template: Template) -> None:
    (alarm,) = [
        one["Properties"]
        for one in app_template.of_type("AWS::CloudWatch::Alarm").values()
        if "not run for an hour" in one["Properties"]["AlarmDescription"]
    ]
    assert alarm["TreatMissingData"] == "notBreaching"
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (1, 24)
    expression, runs = alarm["Metrics"]
    assert expression["Expression"].startswith("IF(RUNNING_SUM(FILL(runs, 0)) > 0 AND")
    assert runs["MetricStat"]["Metric"]["MetricName"] == "Invocations"


def test_the_partition_is_that_of_the_deployment(app_template: Template) -> None:
    for machine in app_template.of_type("AWS::StepFunctions::StateMachine").values():
        assert "arn:aws:" not in json.dumps(machine["Properties"]["DefinitionString"])
        told = machine["Properties"]["DefinitionSubstitutions"]["Partition"]
        assert told == {"Ref": "AWS::Partition"}
