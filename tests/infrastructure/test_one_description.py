"""What AWS gets and what one machine gets are one: tables, rules, schedules and times.

The twin's side is what its deployer has made in services that answer within this process (moto).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws

from plimsoll.local.account import REGION
from plimsoll.local.deploying import Deployer, make_default_settings, state_machine_arn
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.deployment.rules import BUS_NAME, EXECUTION_RULES, JANITOR, RUN_ENDED
from plimsoll.model.deployment.tables import TABLES, Table
from plimsoll.model.timings import AWS_TIMINGS, ONE_MACHINE_TIMINGS
from tests.infrastructure.template import Template


@pytest.fixture(scope="module")
def twin() -> Iterator[Any]:
    """Gives clients of what the deployer has made."""
    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        made: dict[str, Any] = {}

        def client(name: str) -> Any:
            if name not in made:
                # its types know a service's name only as a literal
                made[name] = boto3.client(name, region_name=REGION)  # type: ignore[call-overload]
            return made[name]

        deployer = Deployer(client, make_default_settings())
        deployer.storage()
        for rule in EXECUTION_RULES:
            deployer.execution_rule(rule)
        deployer.function_rule(RUN_ENDED)
        deployer.schedule(JANITOR)
        yield client


def on_aws(template: Template, table: Table) -> Mapping[str, Any]:
    (properties,) = [
        one["Properties"]
        for one in template.of_type("AWS::DynamoDB::Table").values()
        if len(one["Properties"]["KeySchema"]) == len(table.key.attributes)
    ]
    made: Mapping[str, Any] = properties
    return made


def by_name(attributes: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(attributes, key=lambda attribute: attribute["AttributeName"])


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.name))
def test_tables_have_the_same_keys_indexes_and_time_to_live(
    app_template: Template, twin: Any, table: Table
) -> None:
    name = make_default_settings()[table.setting]
    here = twin("dynamodb").describe_table(TableName=name)["Table"]
    there = on_aws(app_template, table)
    assert here["KeySchema"] == there["KeySchema"]
    assert by_name(here["AttributeDefinitions"]) == by_name(there["AttributeDefinitions"])
    indexes = [
        {part: index[part] for part in ("IndexName", "KeySchema", "Projection")}
        for index in here.get("GlobalSecondaryIndexes", [])
    ]
    assert indexes == there.get("GlobalSecondaryIndexes", [])
    lives = twin("dynamodb").describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    assert there["TimeToLiveSpecification"] == {
        "AttributeName": lives["AttributeName"],
        "Enabled": lives["TimeToLiveStatus"] == "ENABLED",
    }


def plain(value: Any, names: Mapping[str, str]) -> str:
    """Write a rule's pattern or target with names in place of ARNs and references."""
    text = json.dumps(value, sort_keys=True)
    for found, name in names.items():
        text = text.replace(found, name)
    return text


def transformed(target: Mapping[str, Any]) -> str | None:
    """Give the input that a target is called with: paths in place of names for them."""
    if "InputTransformer" not in target:
        return None
    text: str = target["InputTransformer"]["InputTemplate"].replace(" ", "")
    paths = target["InputTransformer"]["InputPathsMap"]
    return re.sub(r"<([\w-]+)>", lambda name: f"<{paths[name[1]]}>", text)


def rules_on_aws(template: Template) -> Iterator[tuple[str, str | None]]:
    machines = template.of_type("AWS::StepFunctions::StateMachine").items()
    names = {
        json.dumps({"Ref": key}): json.dumps(
            machine["Properties"]["StateMachineName"].removeprefix("plimsoll-")
        )
        for key, machine in machines
    }
    for rule in template.of_type("AWS::Events::Rule").values():
        if "EventPattern" in rule["Properties"]:
            (target,) = rule["Properties"]["Targets"]
            yield plain(rule["Properties"]["EventPattern"], names), transformed(target)


def rules_here(twin: Any) -> Iterator[tuple[str, str | None]]:
    names = {state_machine_arn(rule.machine): rule.machine for rule in EXECUTION_RULES}
    for bus in ("default", BUS_NAME):
        for rule in twin("events").list_rules(EventBusName=bus)["Rules"]:
            name = {"Rule": rule["Name"], "EventBusName": bus}
            (target,) = twin("events").list_targets_by_rule(**name)["Targets"]
            yield plain(json.loads(rule["EventPattern"]), names), transformed(target)


def test_rules_have_the_same_patterns_and_call_with_the_same_input(
    app_template: Template, twin: Any
) -> None:
    there = sorted(rules_on_aws(app_template), key=str)
    assert len(there) == 4
    assert sorted(rules_here(twin), key=str) == there


def test_the_janitor_comes_as_often(app_template: Template, twin: Any) -> None:
    expressions = {
        rule["Properties"]["ScheduleExpression"]
        for rule in app_template.of_type("AWS::Events::Rule").values()
        if "ScheduleExpression" in rule["Properties"]
    }
    (schedule,) = twin("scheduler").list_schedules()["Schedules"]
    here = twin("scheduler").get_schedule(Name=schedule["Name"], GroupName=schedule["GroupName"])
    assert expressions == {here["ScheduleExpression"]}


def test_groups_of_schedules_and_the_bus_are_called_the_same(
    app_template: Template, twin: Any
) -> None:
    groups = app_template.of_type("AWS::Scheduler::ScheduleGroup").values()
    here = {group["Name"] for group in twin("scheduler").list_schedule_groups()["ScheduleGroups"]}
    assert {group["Properties"]["Name"] for group in groups} == here - {"default"}
    assert app_template.only("AWS::Events::EventBus")["Name"] == BUS_NAME
    assert twin("events").describe_event_bus(Name=BUS_NAME)["Name"] == BUS_NAME


def test_functions_on_aws_are_told_the_times_that_the_quotes_reckon_with(
    app_template: Template,
) -> None:
    told: dict[str, set[str]] = {}
    for made in app_template.of_type("AWS::Lambda::Function").values():
        given = made["Properties"].get("Environment", {}).get("Variables", {})
        for name, value in given.items():
            told.setdefault(name, set()).add(json.dumps(value))
    assert set(AWS_TIMINGS.settings) == set(ONE_MACHINE_TIMINGS.settings)
    variables = {s: name for f in FUNCTIONS.values() for name, s in f.environment.items()}
    for setting, value in AWS_TIMINGS.settings.items():
        assert told[variables[setting]] == {json.dumps(value)}, setting
