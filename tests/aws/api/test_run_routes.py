"""The runs of a team: started, listed, watched, stopped."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST
from plimsoll.aws.run_records import now
from plimsoll.model.request.request import Request
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.run.run_record import RunState
from tests.aws.api.conftest import OTHER, Api, executions
from tests.support.requested import REQUESTED


def started(api: Api, name: str = "small", **changes: Any) -> str:
    run_id: str = api("POST", "/runs", {**REQUESTED, "name": name, **changes}).body["run_id"]
    return run_id


def test_a_request_is_accepted_recorded_and_started(api: Api) -> None:
    accepted = api("POST", "/runs", REQUESTED)
    run_id = accepted.body["run_id"]
    assert accepted.status == 202
    assert accepted.headers["Location"] == f"/v1/runs/{run_id}"
    assert accepted.body == {"run_id": run_id, "name": "small", "team": "default"}
    assert set(executions()) == {run_id}
    recorded = api.deployment.files(run_id).get(REQUEST, Request)
    assert recorded == Request.model_validate({**REQUESTED, "team": "default"})


def test_the_same_key_is_the_same_run(api: Api) -> None:
    key = {"Idempotency-Key": "nightly-2026-11-21"}
    first = api("POST", "/runs", REQUESTED, headers=key)
    again = api("POST", "/runs", REQUESTED, headers=key)
    assert (again.status, again.body) == (202, first.body)
    assert len(executions()) == 1
    another = api("POST", "/runs", {**REQUESTED, "name": "large"}, headers=key)
    assert another.status == 422
    assert another.wrong["Idempotency-Key"]["detail"] == "was used for another request"
    assert len(executions()) == 1


def test_a_key_that_was_used_for_another_request_is_told(api: Api) -> None:
    key = {"idempotency-key": "nightly"}
    assert api("POST", "/runs", REQUESTED, headers=key).status == 202
    refused = api("POST", "/runs", {**REQUESTED, "name": "other"}, headers=key)
    [error] = refused.body["errors"]
    assert (error["field"], error["value"]) == ("Idempotency-Key", "nightly")


def test_the_same_key_of_another_team_is_another_run(api: Api) -> None:
    key = {"Idempotency-Key": "nightly"}
    mine = api("POST", "/runs", REQUESTED, headers=key)
    theirs = api("POST", "/runs", REQUESTED, headers=key, principal=OTHER)
    assert theirs.body["team"] == "other"
    assert theirs.body["run_id"] != mine.body["run_id"]


def test_a_run_shows_where_it_stands(api: Api) -> None:
    run_id = started(api, tags={"purpose": "nightly"})
    api.deployment.records.change(
        run_id,
        state=RunState.SUCCEEDED,
        phase="conclude",
        step=4,
        steps_finished=4,
        verdict="KNEE",
        capacity_ops_per_second="939.1",
    )
    shown = api("GET", f"/runs/{run_id}").body
    assert shown["state"] == "SUCCEEDED"
    assert shown["progress"] == {"step": 4, "steps_finished": 4}
    assert (shown["verdict"], shown["capacity_ops_per_second"]) == ("KNEE", 939.1)
    assert shown["request"]["target"]["volume"]["iops"] == 1000
    assert shown["tags"] == {"purpose": "nightly"}
    assert shown["local"] is True


def test_a_run_links_to_the_dashboards_that_the_deployment_names(api: Api) -> None:
    run_id = started(api)
    assert api("GET", f"/runs/{run_id}").body["links"] == {}
    pages = Dashboards(
        grafana="https://grafana.example/d/a",
        cloudwatch="https://eu-west-1.console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/P",
    )
    named = replace(api, deployment=api.deployment.model_copy(update={"dashboards": pages}))
    links = named("GET", f"/runs/{run_id}").body["links"]
    assert set(links) == {"grafana", "cloudwatch"}
    assert links["grafana"].startswith(f"https://grafana.example/d/a?var-run={run_id}&from=")
    assert links["grafana"].endswith("&to=now")


def test_runs_are_listed_newest_first_and_by_pages(api: Api) -> None:
    ids = [started(api, f"run-{number}") for number in range(5)]
    for number, run_id in enumerate(ids):  # they may have come within one moment
        api.deployment.records.change(run_id, submitted_at=now() + timedelta(seconds=number))
    seen, cursor = [], None
    for _ in range(3):
        query = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = api("GET", "/runs", query=query).body
        seen.append([run["run_id"] for run in page["runs"]])
        cursor = page["next_cursor"]
    assert seen == [ids[:2:-1], ids[2:0:-1], ids[:1]]
    assert cursor is None


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({}, {"plain", "tagged", "ended"}),
        ({"tag": "purpose=nightly"}, {"tagged"}),
        ({"tag": "purpose=daily"}, set()),
        ({"state": "FAILED"}, {"ended"}),
        ({"team": "default", "state": "PENDING"}, {"plain", "tagged"}),
    ],
)
def test_runs_are_listed_by_state_and_tag(api: Api, query: dict[str, str], named: set[str]) -> None:
    started(api, "plain")
    started(api, "tagged", tags={"purpose": "nightly", "other": "thing"})
    api.deployment.records.change(started(api, "ended"), state=RunState.FAILED)
    listed = api("GET", "/runs", query=query)
    assert {run["name"] for run in listed.body["runs"]} == named


def test_a_record_that_cannot_be_read_leaves_the_others_listed(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of another version, say: it names a state that this one does not know."""
    before, bad, after = (started(api, name) for name in ("before", "bad", "after"))
    clients.dynamodb().update_item(
        TableName=api.deployment.runs_table,
        Key={"run_id": {"S": bad}},
        UpdateExpression="SET #state = :state",
        ExpressionAttributeNames={"#state": "state"},
        ExpressionAttributeValues={":state": {"S": "PAUSED"}},
    )
    page = api("GET", "/runs")
    assert page.status == 200
    assert [run["run_id"] for run in page.body["runs"]] == [after, before]
    assert page.body["unreadable"] == 1
    told = f"the record of run {bad} cannot be read by this version: state (enum)"
    assert told in capsys.readouterr().out
    first = api("GET", "/runs", query={"limit": "1"}).body
    following = {"limit": "1", "cursor": first["next_cursor"]}
    second = api("GET", "/runs", query=following).body
    assert [one["runs"][0]["run_id"] for one in (first, second)] == [after, before]
    assert api("GET", f"/runs/{bad}").body["title"] == "Unexpected"


def test_a_stopped_run_is_marked_and_its_workflow_ends(api: Api) -> None:
    run_id = started(api)
    stopped = api("DELETE", f"/runs/{run_id}")
    assert (stopped.status, stopped.body["state"]) == (202, "STOPPING")
    assert api("DELETE", f"/runs/{run_id}").status == 202
    api.deployment.records.change(run_id, state=RunState.STOPPED)
    ended = api("DELETE", f"/runs/{run_id}")
    assert (ended.status, ended.body["state"]) == (200, "STOPPED")


def test_a_run_that_was_recorded_but_never_started_ends_when_it_is_stopped(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.workflow.submit.start_execution", lambda *_: None)
    run_id = started(api)
    stopped = api("DELETE", f"/runs/{run_id}")
    assert (stopped.status, stopped.body["state"]) == (200, "STOPPED")


def test_a_run_that_tears_itself_down_is_left_to_it(api: Api) -> None:
    run_id = started(api)
    records = api.deployment.records
    records.change(run_id, state=RunState.STOPPING, teardown_asked_at=now())
    before = executions()
    assert api("DELETE", f"/runs/{run_id}").status == 202
    assert executions() == before


def test_a_report_is_linked_once_it_is_there(api: Api) -> None:
    run_id = started(api)
    early = api("GET", f"/runs/{run_id}/report")
    assert (early.status, early.body["title"]) == (404, "No report")
    api.deployment.files(run_id).put("report.html", "<p>sustains 939 ops/s</p>")
    links = api("GET", f"/runs/{run_id}/report").body
    assert f"/runs/{run_id}/report.html?" in links["url"]
    assert f"/runs/{run_id}/result.json?" in links["result_url"]
    assert "X-Amz-Expires=300" in links["url"] or "Expires=" in links["url"]


def test_the_results_of_a_run_whose_page_is_not_drawn_are_linked_all_the_same(api: Api) -> None:
    """Right after its end it may still be: a run of hours has too many seconds for a page."""
    run_id, nothing = started(api), started(api)
    api.deployment.files(run_id).put("result.json", "{}")
    for one in (run_id, nothing):
        # in ten minutes, so that the page is still being drawn however slow this machine is
        ended_at = now() + timedelta(minutes=10)
        api.deployment.records.change(one, state=RunState.SUCCEEDED, ended_at=ended_at)
    early = api("GET", f"/runs/{run_id}/report")
    assert early.status == 404
    assert early.body["detail"].endswith("SUCCEEDED, and its page is drawn right after its end")
    for one in (run_id, nothing):
        api.deployment.records.change(one, ended_at=now() - timedelta(seconds=21))
    links = api("GET", f"/runs/{run_id}/report")
    assert (links.status, links.body["url"]) == (200, None)
    assert f"/runs/{run_id}/result.json?" in links.body["result_url"]
    assert api("GET", f"/runs/{nothing}/report").status == 404


def test_what_is_answered_without_a_run(api: Api) -> None:
    assert api("GET", "/health").body == {"status": "ok", "version": "0.1.0"}
    names = [one["name"] for one in api("GET", "/workloads").body["workloads"]]
    assert "ycsb-a" in names
    assert "tpcc-procedures" not in names, "a request has no procedures"
    assert names == sorted(names)


def test_a_service_whose_table_is_gone_is_not_healthy(api: Api) -> None:
    api.deployment = api.deployment.model_copy(update={"runs_table": "gone"})
    sick = api("GET", "/health")
    assert sick.status == 500
    assert sick.body["request_id"] == "request-1"
    assert "ResourceNotFound" not in sick.text
