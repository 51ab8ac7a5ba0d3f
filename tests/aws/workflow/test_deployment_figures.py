"""What a deployment says of itself for CloudWatch: targets alive, runs under way, spend."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.targets.snapshots import EXPIRES_AT
from plimsoll.teams.limits import find_team_limits
from plimsoll.teams.room import Ask
from plimsoll.workflow.deployment_figures import print_figures
from tests.support.every_setting import EverySetting

AT = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)


def stack(name: str, *tags: str) -> None:
    clients.cloudformation().create_stack(
        StackName=name,
        TemplateBody=json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}),
        Tags=[{"Key": tag, "Value": "2999-01-01T00:00:00+00:00"} for tag in tags],
    )


def told(deployment: EverySetting, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    print_figures(deployment, at=AT)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_targets_are_counted_and_other_stacks_are_not(
    deployment: EverySetting, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("plimsoll-run-a", "plimsoll-run-b"):
        stack(name, EXPIRES_AT)
    stack("plimsoll-run-of-nobody")
    stack("another", EXPIRES_AT)
    clients.cloudformation().delete_stack(StackName="plimsoll-run-b")
    alive, _ = told(deployment, capsys)
    assert (alive["targets_alive"], alive["deployment"]) == (1, "Plimsoll")
    (metric,) = alive["_aws"]["CloudWatchMetrics"]
    assert metric == {
        "Namespace": "Plimsoll",
        "Dimensions": [["deployment"]],
        "Metrics": [{"Name": "targets_alive", "Unit": "Count"}],
    }
    assert alive["_aws"]["Timestamp"] == round(AT.timestamp() * 1000)


def test_a_team_without_runs_has_none_and_spent_nothing(
    deployment: EverySetting, capsys: pytest.CaptureFixture[str]
) -> None:
    _, team = told(deployment, capsys)
    assert (team["team"], team["runs_under_way"], team["spend_usd"]) == ("default", 0, 0)


def test_runs_under_way_count_at_their_most_and_ended_ones_at_their_cost(
    deployment: EverySetting, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = find_team_limits(deployment, "default")
    assert limits is not None
    for run in ("first", "second"):
        limits.acquire(run, Ask(clients=1, iops=0, usd_most=4.0), at=AT)
    limits.release("first", usd=0.25)
    _, team = told(deployment, capsys)
    assert (team["runs_under_way"], team["spend_usd"]) == (1, 4.25)


def test_another_months_spend_is_not_counted(
    deployment: EverySetting, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = find_team_limits(deployment, "default")
    assert limits is not None
    october = datetime(2026, 10, 31, 23, 59, tzinfo=UTC)
    limits.acquire("old", Ask(clients=1, iops=0, usd_most=4.0), at=october)
    _, team = told(deployment, capsys)
    assert (team["runs_under_way"], team["spend_usd"]) == (1, 0)
