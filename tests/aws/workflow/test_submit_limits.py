"""A run takes its share of its team's limits before it is recorded, and gives it back however."""

from datetime import timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_files import RESULT
from plimsoll.aws.run_records import now
from plimsoll.errors import LimitReachedError, UsageError
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.request.request import Request
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.requests.checked_request import check_request
from plimsoll.teams.limits import Limits, find_team_limits
from plimsoll.teams.reconcile import reconcile_teams
from plimsoll.teams.room import Ask
from plimsoll.workflow import start_and_stop, submit
from plimsoll.workflow.end import end_run
from plimsoll.workflow.target import delete_target
from tests.aws.workflow.conftest import REQUESTED
from tests.support.aws_resources import make_state_machine
from tests.support.every_setting import EverySetting

START_EXECUTION = submit.start_execution
TEAMS = {"default": Team(concurrent_runs=2, usd_per_run=5.0)}


@pytest.fixture
def limited(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    monkeypatch.setattr(submit, "start_execution", lambda _arn, _run_id: None)
    return deployment.model_copy(update={"teams": TEAMS})


def asked(**changes: Any) -> Request:
    return Request.model_validate({**REQUESTED, **changes})


def submitted(deployment: EverySetting, key: str | None = None, **changes: Any) -> str:
    return submit.submit_run(deployment, check_request(asked(**changes)), idempotency_key=key)


def of_team(deployment: EverySetting) -> Limits:
    found = find_team_limits(deployment, "default")
    assert found is not None
    return found


def test_the_third_run_of_a_team_of_two_is_refused_and_leaves_no_record(
    limited: EverySetting,
) -> None:
    submitted(limited, "first")
    submitted(limited, "second")
    with pytest.raises(LimitReachedError, match="concurrent_runs: 2 in use"):
        submitted(limited, "third")
    third = submit.name_run("default", "third")
    assert limited.records.find(third) is None
    assert third not in of_team(limited).read_grants()


def test_an_end_gives_the_share_back_and_settles_the_spend(limited: EverySetting) -> None:
    run_id = submitted(limited)
    committed = of_team(limited).read_grants()[run_id].usd_micro
    start_and_stop.record_run(limited, run_id)
    delete_target(limited, run_id)
    end_run(limited, run_id)
    counted = of_team(limited).read_counters()
    spent = next(value for name, value in counted.items() if name.startswith("usd_"))
    assert counted["runs"] == 0
    assert 0 < spent < committed
    result = limited.files(run_id).get(RESULT, RunResult)
    assert result.cost is not None
    assert result.cost.usd == pytest.approx(spent / 1e6, abs=1e-6)
    end_run(limited, run_id, ended="ABORTED")  # the teardown comes to it too
    assert of_team(limited).read_counters() == counted


def test_a_repetition_of_a_run_that_has_ended_holds_nothing(limited: EverySetting) -> None:
    run_id = submitted(limited, "monday")
    assert submitted(limited, "monday") == run_id
    assert len(of_team(limited).read_grants()) == 1
    end_run(limited, run_id)
    assert submitted(limited, "monday") == run_id
    assert of_team(limited).read_grants() == {}
    with pytest.raises(UsageError, match="used for another request"):
        submitted(limited, "monday", name="other")
    assert of_team(limited).read_grants() == {}


def test_a_repetition_is_the_same_run_though_the_team_has_no_room_now(
    limited: EverySetting,
) -> None:
    run_id = submitted(limited, "monday")
    end_run(limited, run_id)
    submitted(limited, "tuesday")
    submitted(limited, "wednesday")
    assert submitted(limited, "monday") == run_id
    with pytest.raises(LimitReachedError, match="concurrent_runs: 2 in use"):
        submitted(limited, "thursday")


def test_a_run_that_cannot_be_started_gives_its_share_back_and_can_never_begin(
    limited: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_arn: str, _run_id: str) -> None:
        raise ConnectionError("Step Functions does not answer")

    monkeypatch.setattr(submit, "start_execution", refuses)
    with pytest.raises(ConnectionError):
        submitted(limited, "monday")
    run_id = submit.name_run("default", "monday")
    assert limited.records.get(run_id).state is RunState.FAILED
    counted = of_team(limited).read_counters()
    assert set(counted.values()) == {0}
    assert of_team(limited).read_grants() == {}


def test_the_janitor_releases_what_a_crash_has_left(limited: EverySetting) -> None:
    """Three crashes: before the record, before the start, and before the release."""
    team = of_team(limited)
    ended = submitted(limited, "ended")
    limited.records.change(ended, state=RunState.FAILED, started_at=now(), cost_usd="0.25")
    pending = submitted(limited, "pending")
    wide = Limits("service", "default", Team(concurrent_runs=10))
    from_ended = team.read_grants()[ended]
    wide.acquire("unrecorded", Ask(clients=2, iops=1000, usd_most=1.0), at=from_ended.at)
    assert reconcile_teams(limited, at=now()) == [ended]
    assert reconcile_teams(limited, at=now()) == []
    later = now() + timedelta(hours=2)
    assert sorted(reconcile_teams(limited, at=later)) == sorted([pending, "unrecorded"])
    counted = team.read_counters()
    assert counted["runs"] == counted["clients"] == counted["iops"] == 0
    assert sum(v for n, v in counted.items() if n.startswith("usd_")) == 250_000
    assert limited.records.get(pending).state is RunState.FAILED  # it cannot begin any more
    with pytest.raises(Exception, match="stopped before it began"):
        start_and_stop.record_run(limited, pending)


def test_one_record_that_cannot_be_read_keeps_no_other_share(limited: EverySetting) -> None:
    """It may go on: its own share comes back when no workflow lasts so long, cost not known."""
    team = of_team(limited)
    unreadable, ended = submitted(limited, "a"), submitted(limited, "b")
    limited.records.change(unreadable, state=RunState.FAILED, colour="blue")
    limited.records.change(ended, state=RunState.FAILED)
    assert reconcile_teams(limited, at=now()) == [ended]
    assert reconcile_teams(limited, at=now() + timedelta(days=4)) == [unreadable]
    assert team.read_grants() == {}
    assert sum(v for n, v in team.read_counters().items() if n.startswith("usd_")) > 0


def test_one_share_that_cannot_be_read_keeps_no_other(limited: EverySetting) -> None:
    ended = submitted(limited, "a")
    limited.records.change(ended, state=RunState.FAILED)
    clients.dynamodb().update_item(
        TableName="service",
        Key={"pk": {"S": "team#default"}, "sk": {"S": "limits"}},
        UpdateExpression="SET #grant = :grant",
        ExpressionAttributeNames={"#grant": "grant#newer"},
        ExpressionAttributeValues={":grant": {"M": {"gpus": {"N": "1"}}}},
    )
    assert reconcile_teams(limited, at=now()) == [ended]


def test_the_janitor_leaves_runs_alone_that_go_on(limited: EverySetting) -> None:
    run_id = submitted(limited)
    start_and_stop.record_run(limited, run_id)
    assert reconcile_teams(limited, at=now() + timedelta(days=2)) == []
    assert reconcile_teams(limited, at=now() + timedelta(days=4)) == [
        run_id
    ]  # no workflow lasts so long


def test_a_team_that_is_not_configured_is_refused(limited: EverySetting) -> None:
    with pytest.raises(UsageError, match=r"team: other is not a team .* \(allowed: default\)"):
        submitted(limited, team="other")


def test_of_a_team_that_is_not_configured_nothing_is_held(deployment: EverySetting) -> None:
    assert find_team_limits(deployment, "default") is not None
    assert find_team_limits(deployment, "other") is None


class Cut(BaseException):
    """The process ends here, as a function's does at its time-out."""


def submit_cut_off(deployment: EverySetting, calls: int) -> bool:
    """Submit a run whose process ends before its next call of AWS after so many; whether it did."""
    made = iter(range(calls))

    def count(**_: object) -> None:
        if next(made, None) is None:
            raise Cut

    known = (clients.dynamodb(), clients.s3(), clients.stepfunctions())
    for client in known:
        client.meta.events.register("before-call", count, unique_id="cut")
    try:
        submitted(deployment, f"cut-{calls}")
    except Cut:
        return True
    finally:
        for client in known:
            client.meta.events.unregister("before-call", unique_id="cut")
    return False


def test_a_submission_that_is_cut_off_leaves_a_share_and_a_record_or_neither(
    limited: EverySetting,
) -> None:
    deployment = limited.model_copy(update={"teams": {"default": Team(concurrent_runs=50)}})
    cuts = 0
    while submit_cut_off(deployment, cuts):
        run_id = submit.name_run("default", f"cut-{cuts}")
        held = run_id in of_team(deployment).read_grants()
        assert held == (deployment.records.find(run_id) is not None), f"cut at call {cuts}"
        cuts += 1
    assert cuts > 3


def test_the_share_of_a_submission_that_was_cut_off_is_free_within_a_minute(
    limited: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both runs of the team are recorded, and none was started."""
    first, second = submitted(limited, "first"), submitted(limited, "second")
    with pytest.raises(LimitReachedError, match="concurrent_runs: 2 in use"):
        submitted(limited, "third")
    later = now() + submit.STARTED_WITHIN + timedelta(seconds=1)
    monkeypatch.setattr(submit, "now", lambda: later)
    third = submitted(limited, "third")
    assert set(of_team(limited).read_grants()) == {third}
    assert {limited.records.get(run).state for run in (first, second)} == {RunState.FAILED}


def test_a_run_whose_workflow_has_not_come_to_its_first_state_keeps_its_share(
    limited: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = make_state_machine("run")
    monkeypatch.setattr(submit, "start_execution", START_EXECUTION)
    runs = {submitted(limited, "first"), submitted(limited, "second")}
    later = now() + timedelta(minutes=30)
    monkeypatch.setattr(submit, "now", lambda: later)
    with pytest.raises(LimitReachedError, match="concurrent_runs: 2 in use"):
        submitted(limited, "third")
    assert set(of_team(limited).read_grants()) == runs
    clients.stepfunctions().delete_state_machine(stateMachineArn=machine)
