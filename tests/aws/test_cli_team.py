"""`plimsoll team` on a deployment's stack and table."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.aws import clients
from plimsoll.aws.configuration import store_configuration
from plimsoll.cli.team import command
from plimsoll.errors import NotDeployedError, UsageError
from plimsoll.model.deployment.deployment import read_deployment
from tests.support.aws_resources import SERVICE_TABLE, aws_account, make_tables

TEMPLATE = {
    "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    "Outputs": {"ServiceTable": {"Value": SERVICE_TABLE}},
}
TEAMS = """
teams:
  payments:
    principals: [arn:aws:iam::123456789012:role/payments]
    usd_per_run: null
  search: {}
"""


@pytest.fixture(autouse=True)
def deployed() -> Iterator[None]:
    with aws_account():
        make_tables()
        store_configuration(SERVICE_TABLE, "one", read_deployment({}).stored)
        clients.cloudformation().create_stack(
            StackName="Plimsoll", TemplateBody=json.dumps(TEMPLATE)
        )
        yield


def call(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, standalone_mode=False)


def test_teams_are_put_listed_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "teams.yaml"
    file.write_text(TEAMS)
    assert "2 teams written" in call("put", str(file)).output
    listed = json.loads(call("list", "--json").output)
    assert {name: team["kept_in"] for name, team in listed.items()} == {
        "default": "cdk.json",
        "payments": "table",
        "search": "table",
    }
    assert listed["payments"]["usd_per_run"] is None
    shown = call("list").output
    assert "no limit" in shown
    assert "cdk.json" in shown
    assert "search is removed" in call("remove", "search").output
    assert "search" not in call("list").output


def test_a_wrong_field_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "teams.yaml"
    file.write_text("teams:\n  payments:\n    client: 7\n")
    error = call("put", str(file)).exception
    assert isinstance(error, UsageError)
    assert f"{file}:3" in str(error)


def test_a_stack_that_is_not_there_is_named() -> None:
    error = call("list", "--stack", "Other").exception
    assert isinstance(error, NotDeployedError)
    assert "--stack Other" in str(error)
