"""One team cannot see, stop or read another's runs: to it they are not there."""

import pytest

from tests.aws.api.conftest import OTHER, Api, executions
from tests.support.requested import REQUESTED


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("GET", "/steps"), ("GET", "/report"), ("GET", "/live"), ("DELETE", "")],
)
def test_another_teams_run_is_not_there(api: Api, method: str, path: str) -> None:
    run_id = api("POST", "/runs", REQUESTED).body["run_id"]
    api.deployment.files(run_id).put("report.html", "<p>ours alone</p>")
    before = executions()
    theirs = api(method, f"/runs/{run_id}{path}", principal=OTHER)
    nobodys = api(method, f"/runs/20260101-000000-abcdef{path}", principal=OTHER)
    assert theirs.status == nobodys.status == 404
    assert theirs.body["detail"] == f"there is no run '{run_id}'"
    assert executions() == before
    assert api("GET", f"/runs/{run_id}").body["state"] == "PENDING"


def test_another_teams_runs_are_not_listed_whatever_the_cursor(api: Api) -> None:
    for _ in range(3):
        api("POST", "/runs", REQUESTED)
    cursor = api("GET", "/runs", query={"limit": "1"}).body["next_cursor"]
    assert cursor is not None
    assert api("GET", "/runs", query={"cursor": cursor}, principal=OTHER).body["runs"] == []
