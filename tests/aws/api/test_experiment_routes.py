"""The experiments of a team: started, watched, stopped."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_records import now
from plimsoll.experiments.conclude_experiment import conclude_experiment
from plimsoll.experiments.records import open_experiments, read_experiment
from plimsoll.local.deploying import state_machine_arn
from plimsoll.model.run.run_record import RunState
from tests.aws.api.conftest import OTHER, Api
from tests.support.aws_resources import make_state_machine
from tests.support.requested import REQUESTED

EXPERIMENT: dict[str, Any] = {
    "name": "matrix",
    "request": {key: value for key, value in REQUESTED.items() if key != "name"},
    "axes": {"seed": {"one": {"load": {"seed": 1}}, "two": {"load": {"seed": 2}}}},
}
MACHINE = state_machine_arn("experiment")


@pytest.fixture(autouse=True)
def workflow(api: Api) -> Iterator[None]:
    make_state_machine("experiment")
    yield
    clients.stepfunctions().delete_state_machine(stateMachineArn=MACHINE)
    assert api.calls


def started(api: Api, **changes: Any) -> str:
    answered = api("POST", "/experiments", {**EXPERIMENT, **changes})
    experiment_id: str = answered.body["experiment_id"]
    return experiment_id


def test_an_experiment_is_accepted_recorded_and_started(api: Api) -> None:
    accepted = api("POST", "/experiments", EXPERIMENT)
    experiment_id = accepted.body["experiment_id"]
    assert accepted.status == 202
    assert accepted.headers["Location"] == f"/v1/experiments/{experiment_id}"
    found = clients.stepfunctions().list_executions(stateMachineArn=MACHINE)["executions"]
    assert [one["name"] for one in found] == [experiment_id]
    assert read_experiment(api.deployment, experiment_id).team == "default"
    shown = api("GET", f"/experiments/{experiment_id}").body
    assert shown["record"]["state"] == "PENDING"
    assert shown["record"]["local"] is True
    assert [cell["name"] for cell in shown["cells"]] == ["one", "two"]
    assert shown["result"] is None


def test_the_same_key_is_the_same_experiment(api: Api) -> None:
    key = {"Idempotency-Key": "weekly"}
    first = api("POST", "/experiments", EXPERIMENT, headers=key)
    assert api("POST", "/experiments", EXPERIMENT, headers=key).body == first.body
    another = api("POST", "/experiments", {**EXPERIMENT, "at_once": 2}, headers=key)
    assert another.status == 422
    assert another.wrong["Idempotency-Key"]["detail"] == "was used for another experiment"


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"at_once": 41}, "at_once", "less than or equal to 40"),
        ({"axes": {}}, "axes", "at least 1"),
        ({"axes": {"io": {"low": {"target": {"volume": {"iops": 9}}}}}},
         "axes.io.low.target.volume.iops", "9 is not allowed for io1 of 100 GiB"),
        ({"axes": {"n": {"a": {"load": {"seed": 1}}, "b": {}}}},
         "axes", "the runs a and b would be the same"),
        ({"sead": 1}, "sead", "unknown field"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_its_field(
    api: Api, changes: dict[str, Any], field: str, says: str
) -> None:
    refused = api("POST", "/experiments", {**EXPERIMENT, **changes})
    assert refused.status == 422
    assert says in refused.wrong[field]["detail"]
    assert clients.stepfunctions().list_executions(stateMachineArn=MACHINE)["executions"] == []


def test_another_teams_experiment_is_not_there(api: Api) -> None:
    experiment_id = started(api)
    for method in ("GET", "DELETE"):
        answered = api(method, f"/experiments/{experiment_id}", principal=OTHER)
        assert answered.status == 404
    assert api("POST", "/experiments", {**EXPERIMENT, "team": "other"}).status == 403


def test_stopping_marks_it_and_what_has_ended_stays(api: Api) -> None:
    experiment_id = started(api)
    stopped = api("DELETE", f"/experiments/{experiment_id}")
    assert (stopped.status, stopped.body["state"]) == (202, "STOPPING")
    conclude_experiment(api.deployment, experiment_id, ended="ABORTED")
    again = api("DELETE", f"/experiments/{experiment_id}")
    assert (again.status, again.body["state"]) == (200, "STOPPED")
    shown = api("GET", f"/experiments/{experiment_id}").body
    assert shown["result"]["cells"][0]["no_answer"] == "it was not started"
    record = open_experiments(api.deployment).get("default", experiment_id)
    assert record.state is RunState.STOPPED


def test_one_that_was_stopped_before_it_began_has_no_result(api: Api) -> None:
    experiment_id = started(api)
    experiments = open_experiments(api.deployment)
    record = experiments.get("default", experiment_id)
    experiments.change(record, state=RunState.STOPPED)
    shown = api("GET", f"/experiments/{experiment_id}")
    assert (shown.status, shown.body["result"]) == (200, None)


def test_experiments_are_listed_newest_first_and_by_team(api: Api) -> None:
    ids = [started(api, name=name) for name in ("first", "second", "third")]
    for number, experiment_id in enumerate(ids):  # they may have come within one moment
        experiments = open_experiments(api.deployment)
        record = experiments.get("default", experiment_id)
        experiments.change(record, submitted_at=now() + timedelta(seconds=number))
    told = api("GET", "/experiments", query={"limit": "2"}).body
    assert [one["experiment_id"] for one in told["experiments"]] == ids[:0:-1]
    assert told["unreadable"] == 0
    others = api("GET", "/experiments", principal=OTHER).body["experiments"]
    assert not {one["experiment_id"] for one in others} & set(ids)
