"""A drained deployment starts nothing new and answers everything else."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.aws.drain import begin_drain, end_drain
from tests.aws.api.conftest import Api, executions
from tests.aws.api.test_experiment_routes import EXPERIMENT
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


def test_a_drain_ends_by_itself(api: Api) -> None:
    begin_drain(api.deployment.service_table, datetime.now(UTC) - timedelta(seconds=1))
    assert api("POST", "/runs", REQUESTED).status == 202
    assert end_drain(api.deployment.service_table)
    assert not end_drain(api.deployment.service_table)
