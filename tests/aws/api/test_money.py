"""Quotes over the API, and what a team's limits answer."""

from typing import Any

import pytest

from plimsoll.model.run.quote import ExperimentQuote, Quote
from tests.aws.api.conftest import ENDPOINT_SECRET, OTHER, Api
from tests.support.requested import REQUESTED


def test_a_quote_says_time_and_money_and_makes_nothing(api: Api) -> None:
    before = len(api("GET", "/runs").body["runs"])
    answered = api("POST", "/quotes", REQUESTED)
    assert answered.status == 200
    found = Quote.model_validate(answered.body)
    assert found.usd is not None
    assert found.target_usd_per_hour == pytest.approx(0.171 + (12.5 + 100 + 0.4) / 730)
    assert len(api("GET", "/runs").body["runs"]) == before


@pytest.mark.parametrize("path", ["/quotes", "/runs"])
def test_a_version_that_rds_does_not_offer_is_neither_quoted_nor_run(api: Api, path: str) -> None:
    target = {**REQUESTED["target"], "engine_version": "11.4.99"}
    told = api("POST", path, {**REQUESTED, "target": target}).wrong["target.engine_version"]
    assert (told["value"], told["allowed"]) == ("11.4.99", ["11.4.10"])


STALL = {"step": 1, "volume": {"kind": "stall", "duration_s": 1}}
ELSEWHERE = {"kind": "endpoint", "engine": "mysql", "host": "x", "secret_arn": ENDPOINT_SECRET}


@pytest.mark.parametrize("path", ["/quotes", "/runs"])
@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"faults": [STALL]}, 422, "faults"),
        ({"target": ELSEWHERE}, 422, "target.host"),
        ({"team": "other"}, 403, "team"),
        ({"search": {"strategy": "steps", "clients": [5000]}}, 409, "search.clients"),
    ],
)
def test_what_cannot_be_run_is_not_quoted(
    api: Api, path: str, changes: dict[str, Any], status: int, field: str
) -> None:
    refused = api("POST", path, REQUESTED | changes)
    assert (refused.status, list(refused.wrong)) == (status, [field])


UNKNOWN = {**REQUESTED["target"], "snapshot": "arn:aws:rds:us-east-1:123456789012:snapshot:x"}
FAST = {"type": "io2", "size_gib": 1000, "iops": 200_000}


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"faults": [STALL]}, 422, "faults"),
        ({"target": ELSEWHERE}, 422, "target.host"),
        ({"target": UNKNOWN}, 422, "target.snapshot"),
        ({"target": {**REQUESTED["target"], "volume": FAST}}, 409, "target.volume.iops"),
        ({"search": {"strategy": "steps", "clients": [5000]}}, 409, "search.clients"),
        ({"search": {"strategy": "steps", "clients": [900]}}, 409, "budget_usd"),
    ],
)
def test_what_cannot_be_run_is_neither_quoted_nor_started_in_an_experiment_nor_scheduled(
    api: Api, changes: dict[str, Any], status: int, field: str
) -> None:
    on_aws = Api(api.deployment.model_copy(update={"on_one_machine": False}))
    asked = REQUESTED | changes
    shared = {name: value for name, value in asked.items() if name != "name"}
    seeds = {"one": {"load": {"seed": 1}}, "two": {"load": {"seed": 2}}}
    experiment = {"name": "matrix", "request": shared, "axes": {"seed": seeds}}
    check = {"schedule": "rate(7 days)", "request": asked}
    for method, path, body, within in (
        ("POST", "/quotes", asked, ""),
        ("POST", "/runs", asked, ""),
        ("POST", "/quotes/experiments", experiment, "request."),
        ("POST", "/experiments", experiment, "request."),
        ("PUT", "/schedules/never", check, "request."),
    ):
        refused = on_aws(method, path, body)
        assert (refused.status, list(refused.wrong)) == (status, [f"{within}{field}"]), path


def test_a_quote_says_that_a_limit_in_dollars_would_refuse_the_run(api: Api) -> None:
    target = {**REQUESTED["target"], "instance_class": "db.m8g.large"}
    answered = api("POST", "/quotes", {**REQUESTED, "target": target})
    assert any(note.startswith("It would be refused: ") for note in answered.body["notes"])
    assert api("POST", "/runs", {**REQUESTED, "target": target}).status == 409


def test_a_quote_has_the_version_that_rds_makes(api: Api) -> None:
    assert api("POST", "/quotes", REQUESTED).body["database_version"] == "11.4.10"
    shared = {name: value for name, value in REQUESTED.items() if name != "name"}
    versions = {"major": {"target": {"engine_version": "11.4"}},
                "whole": {"target": {"engine_version": "11.4.99"}}}  # fmt: skip
    asked = {"name": "matrix", "request": shared, "axes": {"version": versions}}
    for path in ("/quotes/experiments", "/experiments"):
        wrong = api("POST", path, asked).wrong
        assert "axes.version.whole.target.engine_version" in wrong


def test_a_quote_names_the_price_that_it_lacks(api: Api) -> None:
    target = {**REQUESTED["target"], "instance_class": "db.m8g.large"}
    answered = api("POST", "/quotes", {**REQUESTED, "target": target})
    assert answered.status == 200
    assert answered.body["usd"] is None
    assert answered.body["missing"] == ["rds-mariadb db.m8g.large"]


def test_an_experiment_is_quoted_for_as_many_at_once_as_the_team_may_have(api: Api) -> None:
    """The other team may have 20."""
    shared = {name: value for name, value in REQUESTED.items() if name != "name"}
    seeds = {f"s{n}": {"load": {"seed": n}} for n in range(30)}
    asked = {"name": "matrix", "request": shared, "axes": {"seed": seeds}, "at_once": 30}
    answered = api("POST", "/quotes/experiments", asked, principal=OTHER)
    assert answered.status == 200
    found = ExperimentQuote.model_validate(answered.body)
    one = Quote.model_validate(api("POST", "/quotes", REQUESTED).body)
    assert found.at_once == 20
    assert found.time_s.expected == pytest.approx(2 * one.time_s.expected)
    assert found.usd is not None
    assert one.usd is not None
    assert found.usd.expected == pytest.approx(30 * one.usd.expected)
    assert api("GET", "/runs", principal=OTHER).body["runs"] == []


def test_an_experiment_that_cannot_be_is_not_quoted(api: Api) -> None:
    asked = {"name": "matrix", "request": REQUESTED, "axes": {"a": {"b": {}}}}
    refused = api("POST", "/quotes/experiments", asked)
    assert refused.status == 422
    assert "a run of an experiment gets its own" in refused.wrong["request.name"]["detail"]


def test_a_limit_that_is_reached_is_a_problem_that_names_it(api: Api) -> None:
    """The other team may have 200 clients at once."""
    body = {**REQUESTED, "search": {"strategy": "steps", "clients": [150]}}
    first = api("POST", "/runs", body, principal=OTHER)
    assert first.status == 202
    refused = api("POST", "/runs", body, principal=OTHER)
    assert refused.status == 429
    assert refused.body["type"] == "urn:plimsoll:problem:limit-reached"
    assert "the run asks for 150, the limit is 200" in refused.body["detail"]
    [error] = refused.body["errors"]
    assert error == {
        "field": "search.clients",
        "detail": refused.body["detail"],
        "value": 150,
        "allowed": ["<= 50"],
    }
    api("DELETE", f"/runs/{first.body['run_id']}", principal=OTHER)


def test_what_no_waiting_makes_room_for_is_a_conflict(api: Api) -> None:
    body = {**REQUESTED, "search": {"strategy": "steps", "clients": [500]}}
    answered = api("POST", "/runs", body, principal=OTHER)
    assert answered.status == 409
    assert "clients: the run asks for 500, the limit is 200" in answered.body["detail"]
    [error] = answered.body["errors"]
    assert (error["field"], error["value"]) == ("search.clients", 500)
    assert error["allowed"] == ["<= 200"]


SMALL = {**REQUESTED, "budget_usd": 0.01}
UNKNOWN = {**REQUESTED, "target": {**REQUESTED["target"], "instance_class": "db.m99.large"}}


@pytest.mark.parametrize(
    ("method", "path", "body", "place"),
    [
        ("POST", "/runs", SMALL, ""),
        ("POST", "/quotes", SMALL, ""),
        ("PUT", "/schedules/nightly", {"schedule": "rate(1 day)", "request": SMALL}, "request."),
    ],
)
def test_a_budget_that_cannot_suffice_names_its_field_and_what_would(
    api: Api, method: str, path: str, body: dict[str, Any], place: str
) -> None:
    answered = api(method, path, body)
    assert answered.status == 422
    error = answered.wrong[f"{place}budget_usd"]
    assert "does not pay for a run of a single step" in error["detail"]
    assert error["value"] == 0.01
    assert error["allowed"] == [">= 0.10"]


@pytest.mark.parametrize("path", ["/experiments", "/quotes/experiments"])
def test_one_run_whose_budget_cannot_suffice_refuses_its_experiment(api: Api, path: str) -> None:
    shared = {name: value for name, value in REQUESTED.items() if name != "name"}
    axes = {"budget": {"low": {"budget_usd": 0.01}, "high": {"budget_usd": 5}}}
    refused = api("POST", path, {"name": "matrix", "request": shared, "axes": axes})
    assert refused.status == 422
    assert set(refused.wrong) == {"axes.budget.low.budget_usd"}


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/runs", UNKNOWN, "target.instance_class"),
        (
            "PUT",
            "/schedules/nightly",
            {"schedule": "rate(1 day)", "request": UNKNOWN},
            "request.target.instance_class",
        ),
    ],
)
def test_one_machine_refuses_a_class_that_it_cannot_stand_in_for(
    api: Api, method: str, path: str, body: dict[str, Any], field: str
) -> None:
    """AWS may have it: its quote says that no price is known."""
    answered = api(method, path, body)
    assert answered.status == 422
    assert answered.wrong[field]["value"] == "db.m99.large"
    assert "db.m5" in answered.wrong[field]["allowed"]
    quoted = api("POST", "/quotes", UNKNOWN).body
    assert quoted["missing"] == ["rds-mariadb db.m99.large"]
