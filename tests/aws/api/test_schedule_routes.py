"""The checks of a team, as its callers make, read and delete them."""

from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.aws import clients
from tests.aws.api.conftest import Api
from tests.support.requested import REQUESTED

OTHER = "arn:aws:sts::123456789012:assumed-role/other/ci"
BODY: dict[str, Any] = {
    "schedule": "cron(30 2 ? * MON-FRI *)",
    "time_zone": "Europe/Berlin",
    "request": REQUESTED,
}


@pytest.fixture
def checks(api: Api) -> Iterator[Api]:
    yield api
    for principal in (None, OTHER):
        for one in api("GET", "/schedules", principal=principal).body["schedules"]:
            api("DELETE", f"/schedules/{one['name']}", principal=principal)
    assert schedule_names() == []


def schedule_names() -> list[str]:
    found = clients.scheduler().list_schedules(GroupName="plimsoll-checks")["Schedules"]
    return [one["Name"] for one in found]


def test_a_check_is_made_replaced_read_and_deleted(checks: Api) -> None:
    made = checks("PUT", "/schedules/nightly", BODY)
    assert (made.status, made.body["name"]) == (201, "nightly")
    assert made.body["next_at"].endswith("30:00Z")
    assert schedule_names() == ["default.nightly"]
    replaced = checks("PUT", "/schedules/nightly", BODY | {"enabled": False})
    assert (replaced.status, replaced.body["next_at"]) == (200, None)
    assert checks("GET", "/schedules/nightly").body == replaced.body
    assert checks("GET", "/schedules").body["schedules"] == [replaced.body]
    empty: dict[str, list[object]] = {"points": [], "changes": [], "announced": [], "silences": []}
    assert checks("GET", "/schedules/nightly/history").body == empty
    deleted = checks("DELETE", "/schedules/nightly")
    assert (deleted.status, deleted.text or "") == (204, "")
    for method, path in (
        ("GET", "/schedules/nightly"),
        ("GET", "/schedules/nightly/history"),
        ("DELETE", "/schedules/nightly"),
    ):
        gone = checks(method, path)
        assert (gone.status, gone.body["type"]) == (404, "urn:plimsoll:problem:not-found")
    assert schedule_names() == []


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"schedule": "every day"}, "schedule", "is not a schedule"),
        ({"time_zone": "Europe/Atlantis"}, "time_zone", "is not a time zone"),
        ({"compare": []}, "compare", "at least 1 entry"),
        (
            {"compare": [{"kind": "latency", "operation": "read", "rate_ops_per_second": 5}]},
            "compare",
            "needs request.search.strategy `rate`, not `steps`",
        ),
        ({"request": REQUESTED | {"workload": {"name": "ycsb-z", "records": 1}}}, "request", ""),
        ({"threshold": {}}, "threshold", "thresholds"),
        ({"name": "nightly"}, "name", "unknown field"),
    ],
)
def test_what_cannot_be_names_its_field_and_nothing_is_made(
    checks: Api, changes: dict[str, Any], field: str, words: str
) -> None:
    refused = checks("PUT", "/schedules/nightly", BODY | changes)
    assert refused.status == 422, refused
    [(named, problem)] = refused.wrong.items()
    assert named.startswith(field)
    assert words in problem["detail"] + " ".join(problem.get("allowed") or ())
    assert schedule_names() == []
    assert checks("GET", "/schedules").body["schedules"] == []


def test_a_name_that_cannot_be_is_refused(checks: Api) -> None:
    assert checks("PUT", "/schedules/Nightly", BODY).status == 422


def test_one_team_neither_sees_nor_touches_anothers_checks(checks: Api) -> None:
    checks("PUT", "/schedules/nightly", BODY)
    assert checks("GET", "/schedules", principal=OTHER).body["schedules"] == []
    for method in ("GET", "DELETE"):
        assert checks(method, "/schedules/nightly", principal=OTHER).status == 404
    theirs = BODY | {"request": REQUESTED | {"team": "default"}}
    assert checks("PUT", "/schedules/nightly", theirs, principal=OTHER).status == 403
    assert checks("PUT", "/schedules/nightly", BODY, principal=OTHER).status == 201
    assert sorted(schedule_names()) == ["default.nightly", "other.nightly"]
