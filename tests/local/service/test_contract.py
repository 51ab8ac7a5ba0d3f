"""What the service promises to its callers, on this machine and deployed alike."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args
from uuid import uuid4

import pytest

from plimsoll import __version__
from plimsoll.client.service_client import download
from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.run.results import RunResult
from tests.local.service.conftest import Caller, body

NOT_THERE = {"no_such_parameter": 1}  # RDS refuses it: the run fails before there is a database


def test_it_says_that_it_is_well(api: Caller, stranger: Caller) -> None:
    for caller in (api, stranger):
        told = caller("GET", "/health")
        assert (told.status, told.body) == (200, {"status": "ok", "version": __version__})


def test_a_run_ends_with_a_verdict_and_the_proof_of_its_teardown(
    finished: Any, assert_gone: Callable[[Any], None]
) -> None:
    assert finished["state"] == "SUCCEEDED"
    assert finished["verdict"] in get_args(Verdict)  # which one, a busy machine decides
    assert finished["rows"] == 300
    assert finished["progress"]["step"] == finished["progress"]["steps_finished"] >= 1
    assert_gone(finished)


def test_an_accepted_run_has_an_address(api: Caller) -> None:
    told = api("POST", "/runs", body("address", target__parameters=NOT_THERE))
    assert told.status == 202
    assert told.headers["Location"].endswith(f"/runs/{told.body['run_id']}")
    assert told.body["team"] == "default"
    run = api.end(told.body["run_id"])
    assert (run["state"], run["failure"]["phase"]) == ("FAILED", "provision")
    assert "no_such_parameter" in run["failure"]["cause"]


def test_its_steps_and_its_results_can_be_read(api: Caller, finished: Any) -> None:
    steps = api("GET", f"/runs/{finished['run_id']}/steps").body["steps"]
    assert {step["plan"]["clients"] for step in steps} == {1}
    links = api.links(finished["run_id"])
    result = RunResult.model_validate_json(download(links["result_url"]))
    assert result.run_id == finished["run_id"]
    assert result.capacity is not None
    assert result.capacity.verdict == finished["verdict"]
    assert [step.model_dump(mode="json") for step in result.steps] == steps
    assert download(links["url"]).startswith(b"<!doctype html>")


def test_a_run_that_has_ended_cannot_be_stopped(api: Caller, finished: Any) -> None:
    told = api("DELETE", f"/runs/{finished['run_id']}")
    assert (told.status, told.body["state"]) == (200, "SUCCEEDED")


def test_a_run_that_is_stopped_in_its_step_is_torn_down(
    api: Caller, assert_gone: Callable[[Any], None]
) -> None:
    run_id = api.start(body("stopped", load__duration_s=120))
    api.until(run_id, lambda run: run["phase"] == "step")
    assert api("GET", f"/runs/{run_id}/report").kind == "no-report"
    first = api("DELETE", f"/runs/{run_id}")  # the answer can be later than the teardown
    assert (first.status, first.body["state"]) in {(202, "STOPPING"), (200, "STOPPED")}
    run = api.end(run_id)
    assert (run["state"], run["verdict"]) == ("STOPPED", None)
    assert_gone(run)
    again = api("DELETE", f"/runs/{run_id}")
    assert (again.status, again.body["state"]) == (200, "STOPPED")


def test_one_key_is_one_run_however_often_it_is_sent(api: Caller) -> None:
    key, request = uuid4().hex, body("keyed", target__parameters=NOT_THERE)
    with ThreadPoolExecutor(8) as callers:
        ids = set(callers.map(lambda _: api.start(request, key), range(8)))
    assert len(ids) == 1
    assert api.start(request, uuid4().hex) not in ids
    told = api("POST", "/runs", {**request, "time_limit_s": 600}, key=key)
    assert told.status in {409, 422}
    assert "another request" in told.body["detail"]


def test_a_list_is_filtered_and_turned_page_by_page(api: Caller) -> None:
    mark = uuid4().hex
    request = body("paged", tags={"mark": mark}, target__parameters=NOT_THERE)
    ids = [api.start(request) for _ in range(3)]
    for run_id in ids:
        api.end(run_id)
    found: list[str] = []
    query: dict[str, str | int | None] = {"tag": f"mark={mark}", "state": "FAILED", "limit": 2}
    while True:
        page = api("GET", "/runs", query=query).body
        assert len(page["runs"]) <= 2
        found += [run["run_id"] for run in page["runs"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert found == ids[::-1]
    none = api("GET", "/runs", query={"tag": f"mark={mark}", "state": "SUCCEEDED"}).body
    assert none["runs"] == []


@pytest.mark.parametrize("path", ["", "/steps", "/report"])
def test_another_teams_run_is_not_there(other: Caller, finished: Any, path: str) -> None:
    told = other("GET", f"/runs/{finished['run_id']}{path}")
    assert (told.status, told.kind) == (404, "not-found")


def test_another_teams_run_is_neither_listed_nor_stopped(
    api: Caller, other: Caller, finished: Any
) -> None:
    everything = other("GET", "/runs", query={"limit": 100}).body["runs"]
    assert finished["run_id"] not in {run["run_id"] for run in everything}
    run_id = api.start(body("foreign", load__duration_s=120))
    assert other("DELETE", f"/runs/{run_id}").status == 404
    assert api("GET", f"/runs/{run_id}").body["state"] in {"PENDING", "RUNNING"}
    api("DELETE", f"/runs/{run_id}")
    api.end(run_id)


def test_nobody_speaks_for_another_team(other: Caller) -> None:
    for told in (
        other("POST", "/runs", {**body("theirs"), "team": "default"}),
        other("GET", "/runs", query={"team": "default"}),
    ):
        assert (told.status, told.kind) == (403, "other-team")


def test_a_stranger_is_refused(stranger: Caller, finished: Any) -> None:
    for method, path in (
        ("GET", "/runs"),
        ("POST", "/runs"),
        ("GET", f"/runs/{finished['run_id']}"),
        ("DELETE", f"/runs/{finished['run_id']}"),
        ("GET", "/workloads"),
    ):
        told = stranger(method, path, {} if method == "POST" else None)
        assert (told.status, told.kind) == (403, "unknown-principal")


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"load": {"duration_s": 0}}, "load.duration_s", "greater than 0"),
        ({"nmae": "x"}, "nmae", "name"),
        ({"time_limit_s": 5}, "time_limit_s", "10"),
        ({"workload": {"name": "ycsb-z", "records": 1}}, "workload", "ycsb-f"),
        ({"faults": [{"step": 1, "volume": {"kind": "stall", "duration_s": 1}}]}, "faults", ""),
    ],
)
def test_a_wrong_request_names_the_field_and_what_is_allowed(
    api: Caller, changes: dict[str, Any], field: str, said: str
) -> None:
    told = api("POST", "/runs", {**body("wrong"), **changes})
    assert (told.status, told.kind) == (422, "invalid-request")
    [error] = [one for one in told.body["errors"] if one["field"].startswith(field)]
    assert said in error["detail"]


@pytest.mark.parametrize(
    ("method", "path", "query", "status"),
    [
        ("GET", "/nothing", None, 404),
        ("GET", "/runs/no-such-run", None, 404),
        ("DELETE", "/runs/no-such-run", None, 404),
        ("PATCH", "/runs", {"limit": 1}, 405),
        ("GET", "/runs", {"state": "GONE"}, 422),
        ("GET", "/runs", {"limit": 0}, 422),
        ("GET", "/runs", {"cursor": "of my own"}, 422),
        ("GET", "/runs", {"tga": "a=b"}, 422),
        ("POST", "/runs", None, 422),
    ],
)
def test_every_refusal_is_a_problem_document(
    api: Caller, method: str, path: str, query: dict[str, str | int | None] | None, status: int
) -> None:
    told = api(method, path, query=query)
    assert told.status == status
    assert told.kind
    assert told.body["instance"] == path
    assert told.body["request_id"]
