"""The API's log has a line for each call that leads to what the call was about, and no secret."""

import json
import logging
from typing import Any

import pytest

from plimsoll.api.app import LOG
from tests.aws.api.conftest import Api
from tests.support.requested import REQUESTED

SECRET = "hunter2"


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Each line, as Powertools formats it."""
    lines: list[dict[str, Any]] = []

    def info(message: str, *, extra: dict[str, Any]) -> None:
        record = logging.LogRecord("api", logging.INFO, "app.py", 1, message, None, None)
        vars(record).update(extra)
        lines.append(json.loads(LOG.registered_formatter.format(record)))

    monkeypatch.setattr(LOG, "info", info)
    return lines


def test_a_start_is_logged_with_the_run_that_the_clients_log(
    api: Api, logged: list[dict[str, Any]]
) -> None:
    run_id = api("POST", "/runs", {**REQUESTED, "description": SECRET}).body["run_id"]
    api("GET", f"/runs/{run_id}", query={"unknown": SECRET})
    api("POST", "/runs", f'{{"password": "{SECRET}"')
    started, asked, broken = logged
    assert (
        started.items()
        >= {
            "level": "INFO",
            "message": "ended",
            "correlation_id": run_id,
            "request_id": "request-1",
            "method": "POST",
            "path": "/runs",
            "status": 202,
        }.items()
    )
    assert (asked["correlation_id"], asked["status"]) == (run_id, 422)
    assert (broken.get("correlation_id"), broken["status"]) == (None, 400)
    assert SECRET not in json.dumps(logged)
