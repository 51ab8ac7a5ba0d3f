"""The described rules leave no end unseen, and lead to what there is."""

import json
from datetime import timedelta
from typing import Any

import boto3
import pytest

from plimsoll.experiments import conclude_experiment
from plimsoll.model.deployment.events import EVENTS
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.deployment.rules import (
    EVERY_EVENT,
    EXECUTION_RULES,
    JANITOR,
    RUN_ENDED,
    ExecutionRule,
)
from plimsoll.statemachines import STATE_MACHINES, read_definition
from plimsoll.teams.reconcile import LASTS_AT_MOST
from plimsoll.workflow import end

# docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html: the execution
# goes on, or has succeeded; PENDING_REDRIVE is for children of a Distributed Map, and goes on too
NOT_BAD = {"RUNNING", "PENDING_REDRIVE", "SUCCEEDED"}


def statuses_of_aws() -> set[str]:
    client = boto3.client("stepfunctions", region_name="us-east-1")
    shape: Any = client.meta.service_model.shape_for("ExecutionStatus")
    return set(shape.enum)


@pytest.mark.parametrize("rule", EXECUTION_RULES, ids=lambda rule: str(rule.machine))
def test_every_way_to_end_but_success_starts_what_tears_down(rule: ExecutionRule) -> None:
    unseen = statuses_of_aws() - NOT_BAD - set(rule.statuses)
    assert not unseen, f"nothing is torn down after a {rule.machine} that ended {unseen}"
    assert set(rule.statuses) <= statuses_of_aws() - NOT_BAD


@pytest.mark.parametrize("rule", EXECUTION_RULES, ids=lambda rule: str(rule.machine))
def test_the_machine_that_is_started_is_told_what_it_reads(rule: ExecutionRule) -> None:
    assert {rule.machine, rule.starts} <= set(STATE_MACHINES)
    started = read_definition(rule.starts)
    for field in rule.input_paths:
        assert f"$states.input.{field} %}}" in started


@pytest.mark.parametrize("ways_out", [end.WAYS_OUT, conclude_experiment.WAYS_OUT])
def test_every_end_that_starts_it_has_a_state_of_its_own(ways_out: dict[str, object]) -> None:
    for rule in EXECUTION_RULES:
        assert set(ways_out) == set(rule.statuses)


def test_rules_of_the_bus_name_events_and_functions_that_there_are() -> None:
    assert EVERY_EVENT.pattern == {"source": ["plimsoll"]}
    assert set(RUN_ENDED.detail_types) <= {event.detail_type for event in EVENTS}
    assert {RUN_ENDED.function, JANITOR.function} <= set(FUNCTIONS)


def test_no_workflow_lasts_longer_than_the_janitor_waits_for_its_share() -> None:
    seconds = [json.loads(read_definition(n))["TimeoutSeconds"] for n in ("run", "teardown")]
    assert timedelta(seconds=sum(seconds)) < LASTS_AT_MOST
