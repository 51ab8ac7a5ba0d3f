"""Checks, as callers of the service make them. Disabled ones: nothing fires."""

from typing import Any

from tests.local.service.conftest import Caller, body

NAME = "contract"


def definition(**changes: Any) -> dict[str, Any]:
    """A check that does not run."""
    return {
        "schedule": "cron(30 2 ? * MON-FRI *)",
        "time_zone": "Europe/Berlin",
        "enabled": False,
        "request": body(NAME),
    } | changes


def test_a_check_is_made_read_and_deleted(api: Caller) -> None:
    made = api("PUT", f"/schedules/{NAME}", definition())
    assert made.status == 201, made
    assert (made.body["name"], made.body["next_at"]) == (NAME, None)
    assert api("PUT", f"/schedules/{NAME}", definition()).status == 200
    assert api("GET", f"/schedules/{NAME}").body == made.body
    assert made.body in api("GET", "/schedules").body["schedules"]
    history = api("GET", f"/schedules/{NAME}/history").body
    assert history == {"points": [], "changes": [], "announced": [], "silences": []}
    assert api("DELETE", f"/schedules/{NAME}").status == 204
    assert api("GET", f"/schedules/{NAME}").kind == "not-found"


def test_another_team_neither_sees_nor_deletes_it(api: Caller, other: Caller) -> None:
    api("PUT", f"/schedules/{NAME}", definition())
    assert other("GET", f"/schedules/{NAME}").kind == "not-found"
    assert other("DELETE", f"/schedules/{NAME}").kind == "not-found"
    assert other("GET", "/schedules").body["schedules"] == []
    assert api("DELETE", f"/schedules/{NAME}").status == 204


def test_a_wrong_one_names_its_field_and_is_not_made(api: Caller) -> None:
    refused = api("PUT", f"/schedules/{NAME}", definition(schedule="nightly"))
    assert refused.status == 422
    assert [error["field"] for error in refused.body["errors"]] == ["schedule"]
    assert api("GET", f"/schedules/{NAME}").status == 404
