"""Two deployments fit into one account and region: no name of theirs is the same."""

from collections.abc import Iterator
from typing import Any

from tests.infrastructure.template import Template, walk

NAMES = ("Name", "FunctionName", "StateMachineName", "LogGroupName", "DashboardName")
NOT_OF_AN_ACCOUNT = {  # a name within something that has one of its own
    "AWS::CloudWatch::Alarm",
    "AWS::Logs::MetricFilter",
}


def named(template: Template) -> set[tuple[str, str]]:
    """What bears a name that was given to it, by its type."""
    return {
        (resource["Type"], value)
        for resource in template.body["Resources"].values()
        if resource["Type"] not in NOT_OF_AN_ACCOUNT
        for key, value in resource.get("Properties", {}).items()
        if key in NAMES and isinstance(value, str)
    }


def texts(template: Template) -> Iterator[tuple[str, Any]]:
    for path, value in walk(template.body["Resources"]):
        if isinstance(value, str):
            yield path, value


def test_no_name_is_that_of_the_other(templates: dict[str, Template]) -> None:
    first, second = named(templates["Plimsoll"]), named(templates["Second"])
    assert len(first) == len(second) > 50
    assert not first & second


def test_a_deployment_speaks_of_its_own_functions_and_machines(
    templates: dict[str, Template],
) -> None:
    strangers = ("function:plimsoll-", "stateMachine:plimsoll-", "execution:plimsoll-")
    found = [
        (path, value)
        for path, value in texts(templates["Second"])
        if any(stranger in value for stranger in strangers) and "plimsoll-second" not in value
    ]
    assert not found
