"""A drained deployment starts nothing new and answers everything else."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.aws import clients
from plimsoll.aws.configuration import store_configuration
from plimsoll.aws.drain import begin_drain, end_drain
from plimsoll.experiments.in_progress import list_in_progress
from plimsoll.model.deployment.functions import FUNCTIONS, Setting
from plimsoll.workflow.submit import STARTED_WITHIN
from tests.aws.api.conftest import TEAMS, Api, executions
from tests.aws.api.test_experiment_routes import EXPERIMENT
from tests.support.aws_resources import make_state_machine
from tests.support.requested import REQUESTED


@pytest.fixture
def until(api: Api) -> Iterator[datetime]:
    time = datetime.now(UTC) + timedelta(hours=2)
    begin_drain(api.deployment.service_table, time)
    yield time
    end_drain(api.deployment.service_table)


@pytest.mark.parametrize(("path", "body"), [("/runs", REQUESTED), ("/experiments", EXPERIMENT)])
def test_nothing_new_is_started_and_the_time_is_told(
    api: Api, until: datetime, path: str, body: dict[str, object]
) -> None:
    refused = api("POST", path, body)
    assert (refused.status, refused.body["title"]) == (503, "Draining")
    assert f"{until:%Y-%m-%d %H:%M} UTC" in refused.body["detail"]
    assert 0 < int(refused.headers["Retry-After"]) <= 2 * 3600
    assert executions() == {}


def test_whatever_starts_nothing_is_answered(api: Api, until: datetime) -> None:
    assert until
    assert api("GET", "/health").status == 200
    assert api("POST", "/quotes", REQUESTED).status == 200
    assert api("GET", "/runs").status == 200


def test_a_run_in_progress_goes_on_and_can_be_stopped(api: Api) -> None:
    run_id = api("POST", "/runs", REQUESTED).body["run_id"]
    begin_drain(api.deployment.service_table, datetime.now(UTC) + timedelta(hours=2))
    try:
        assert api("GET", f"/runs/{run_id}").status == 200
        assert api("DELETE", f"/runs/{run_id}").status in {200, 202}
    finally:
        end_drain(api.deployment.service_table)


@pytest.fixture
def table(api: Api) -> Iterator[str]:
    """Empty the service table but for the teams, as a deployment begins."""
    name = api.deployment.service_table
    configured = {Setting.TEAMS.name: json.dumps(TEAMS)}
    for values in (configured, None):
        for item in clients.dynamodb().scan(TableName=name)["Items"]:
            clients.dynamodb().delete_item(TableName=name, Key={"pk": item["pk"], "sk": item["sk"]})
        if values is not None:
            store_configuration(name, "teams", values)
            yield name


@pytest.mark.parametrize(("path", "body"), [("/runs", REQUESTED), ("/experiments", EXPERIMENT)])
def test_what_passed_its_check_just_before_the_drain_is_not_recorded(
    api: Api, table: str, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, object]
) -> None:
    until = datetime.now(UTC) + timedelta(hours=2)

    def pass_and_drain(*_: object) -> None:
        begin_drain(table, until)

    with monkeypatch.context() as patch:
        for module in ("plimsoll.workflow.submit", "plimsoll.experiments.lifecycle"):
            patch.setattr(f"{module}.require_no_drain", pass_and_drain)
        refused = api("POST", path, body, headers={"Idempotency-Key": "once"})
    assert (refused.status, refused.body["title"]) == (503, "Draining")
    assert executions() == {}
    assert list_in_progress(table, [], datetime.now(UTC)) == []
    end_drain(table)
    make_state_machine("experiment")
    assert api("POST", path, body, headers={"Idempotency-Key": "once"}).status == 202


@pytest.mark.parametrize(("path", "body"), [("/runs", REQUESTED), ("/experiments", EXPERIMENT)])
def test_what_was_recorded_just_before_the_drain_is_in_progress(
    api: Api, table: str, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, object]
) -> None:
    seen: list[str] = []

    def drain_and_look(_machine: str, name: str, _given: object) -> None:
        begin_drain(table, datetime.now(UTC) + timedelta(hours=2))
        seen.extend([name, *list_in_progress(table, [], datetime.now(UTC))])

    for module in ("plimsoll.workflow.submit", "plimsoll.experiments.lifecycle"):
        monkeypatch.setattr(f"{module}.begin_execution", drain_and_look)
    api("POST", path, body)
    name, *in_progress = seen
    assert in_progress == [name]
    later = datetime.now(UTC) + STARTED_WITHIN + timedelta(seconds=1)
    assert list_in_progress(table, [], later) == []


def test_no_caller_has_more_time_to_start_a_run_than_it_counts_as_new() -> None:
    for name in ("api", "start-check"):
        assert timedelta(seconds=FUNCTIONS[name].timeout_s) <= STARTED_WITHIN


def test_a_drain_ends_by_itself(api: Api) -> None:
    begin_drain(api.deployment.service_table, datetime.now(UTC) - timedelta(seconds=1))
    assert api("POST", "/runs", REQUESTED).status == 202
    assert end_drain(api.deployment.service_table)
    assert not end_drain(api.deployment.service_table)
