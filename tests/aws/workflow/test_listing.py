"""A team's runs are found in the described table: all of them, the newest first."""

from datetime import timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_records import now
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.workflow.listing import list_page
from tests.support.every_setting import EverySetting

MINUTES = {"a": 1, "b": 3, "c": 2}  # names are in another order than submissions


def test_runs_are_listed_newest_first_whatever_their_state_or_name(
    deployment: EverySetting,
) -> None:
    submitted = now()
    for name, minutes in MINUTES.items():
        record = RunRecord(
            run_id=name,
            name=name,
            team="default",
            state=RunState.PENDING,  # nothing of it is known yet but its submission
            request_sha256="0" * 64,
            submitted_at=submitted + timedelta(minutes=minutes),
            time_limit_s=60,
        )
        deployment.records.create(record)
    deployment.records.change("c", state=RunState.RUNNING, started_at=submitted)
    page = list_page(deployment.runs_table, "default", limit=10)
    assert [run.run_id for run in page.runs] == ["b", "c", "a"]


def test_a_page_reads_no_more_than_it_shows_and_the_next_goes_on(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for minutes in range(5):
        record = RunRecord(
            run_id=f"run-{minutes}",
            name="run",
            team="default",
            state=RunState.PENDING,
            request_sha256="0" * 64,
            submitted_at=now() + timedelta(minutes=minutes),
            time_limit_s=60,
        )
        deployment.records.create(record)
    dynamodb, read = clients.dynamodb(), []
    query = dynamodb.query

    def counted(**asked: Any) -> Any:
        answer = query(**asked)
        read.append(answer["ScannedCount"])
        return answer

    monkeypatch.setattr(dynamodb, "query", counted)
    shown, cursor = [], None
    for _ in range(3):
        page = list_page(deployment.runs_table, "default", cursor=cursor, limit=2)
        shown.append([run.run_id for run in page.runs])
        cursor = page.next_cursor
    assert shown == [["run-4", "run-3"], ["run-2", "run-1"], ["run-0"]]
    assert cursor is None
    assert read == [3, 3, 1]  # one more than is shown says whether there is a next page
