"""Teams in a deployment's table are as those of its configuration."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from plimsoll.aws import clients
from plimsoll.aws.configuration import store_configuration
from plimsoll.errors import LimitReachedError, NotFoundError, UnknownPrincipalError, UsageError
from plimsoll.model.deployment.deployment import Team, read_deployment
from plimsoll.model.settings import Setting
from plimsoll.teams.caller import identify_caller
from plimsoll.teams.limits import find_team_limits
from plimsoll.teams.registry import (
    find_team,
    list_added_teams,
    list_configured_teams,
    list_teams,
    put_teams,
    remove_team,
)
from plimsoll.teams.room import Ask
from tests.support.aws_resources import SERVICE_TABLE
from tests.support.every_setting import EverySetting, settings_on_aws

pytestmark = pytest.mark.usefixtures("table")
MEMBERS = 10


def member(team: str, number: int) -> str:
    return f"arn:aws:iam::123456789012:role/{team}-{number}"


def session(team: str, number: int) -> str:
    return f"arn:aws:sts::123456789012:assumed-role/{team}-{number}/someone"


def make_team(name: str, **limits: object) -> Team:
    principals = [member(name, number) for number in range(MEMBERS)]
    return Team.model_validate({"principals": principals, **limits})


def configure(teams: Mapping[str, Team]) -> EverySetting:
    """Deploy teams by cdk.json; gives what functions know."""
    given = {name: team.model_dump(mode="json") for name, team in teams.items()}
    config = read_deployment({"teams": given})
    store_configuration(SERVICE_TABLE, "deployed", config.stored)
    return settings_on_aws({Setting.TEAMS: config.teams_json})


def test_a_hundred_teams_are_known_with_all_their_members() -> None:
    settings = configure({"owners": make_team("owners")})
    names = [f"team-{number}" for number in range(100)]
    put_teams(SERVICE_TABLE, {name: make_team(name, clients=7) for name in names})
    teams = list_teams(settings)
    assert set(teams) == {*names, "owners"}
    for name in (*names, "owners"):
        assert identify_caller(teams, session(name, MEMBERS - 1)).team == name
    with pytest.raises(UnknownPrincipalError):
        identify_caller(teams, session("team-0", MEMBERS))
    found = find_team(settings, "team-99")
    assert found is not None
    assert found.clients == 7


def test_the_limits_of_an_added_team_are_held() -> None:
    settings = configure({"owners": make_team("owners")})
    put_teams(SERVICE_TABLE, {"payments": make_team("payments", concurrent_runs=1)})
    limits = find_team_limits(settings, "payments")
    assert limits is not None
    ask, at = Ask(clients=1, iops=0, usd_most=1.0), datetime.now(UTC)
    assert limits.acquire("run-1", ask, at=at)
    with pytest.raises(LimitReachedError, match="concurrent_runs: 1 in use"):
        limits.acquire("run-2", ask, at=at)


def test_a_change_counts_at_the_next_call() -> None:
    settings = configure({"owners": make_team("owners")})
    for clients_most in (3, 5):
        put_teams(SERVICE_TABLE, {"payments": make_team("payments", clients=clients_most)})
        found = find_team(settings, "payments")
        assert found is not None
        assert found.clients == clients_most
    remove_team(SERVICE_TABLE, "payments")
    assert find_team(settings, "payments") is None
    assert set(list_teams(settings)) == {"owners"}
    with pytest.raises(NotFoundError, match="payments"):
        remove_team(SERVICE_TABLE, "payments")


@pytest.mark.parametrize(
    ("teams", "said"),
    [
        ({"owners": Team()}, "owners is a team of cdk.json: change it there"),
        ({"thieves": make_team("owners")}, "teams owners and thieves share a principal"),
        ({"thieves": make_team("payments")}, "teams payments and thieves share a principal"),
        ({"a": make_team("c"), "b": make_team("c")}, "teams a and b share a principal"),
    ],
)
def test_a_team_that_takes_anything_from_another_is_refused_and_nothing_is_written(
    teams: Mapping[str, Team], said: str
) -> None:
    configure({"owners": make_team("owners")})
    put_teams(SERVICE_TABLE, {"payments": make_team("payments")})
    with pytest.raises(UsageError, match=said):
        put_teams(SERVICE_TABLE, {"alone": make_team("alone"), **teams})
    assert set(list_added_teams(SERVICE_TABLE)) == {"payments"}


def test_a_team_of_cdk_json_counts_where_the_table_has_one_of_its_name() -> None:
    put_teams(SERVICE_TABLE, {"owners": make_team("owners", clients=1)})
    settings = configure({"owners": make_team("owners", clients=2)})
    assert list_teams(settings)["owners"].clients == 2
    assert set(list_configured_teams(SERVICE_TABLE)) == {"owners"}


def test_a_team_that_cannot_be_read_hides_no_other() -> None:
    settings = configure({"owners": make_team("owners")})
    put_teams(SERVICE_TABLE, {"payments": make_team("payments")})
    broken = {"pk": {"S": "teams"}, "sk": {"S": "broken"}, "team": {"S": "{}}"}}
    clients.dynamodb().put_item(TableName=SERVICE_TABLE, Item=broken)
    assert set(list_teams(settings)) == {"owners", "payments"}
