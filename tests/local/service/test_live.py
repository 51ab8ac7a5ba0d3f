"""A real run, followed as the page follows it: by the stream, and by asking."""

import http.client
import json
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from plimsoll.local.past_runs import restore_run
from plimsoll.local.runner import make_twin_settings
from plimsoll.local.twin import LocalTwin
from plimsoll.report.folder import find_newest_runs
from tests.local.service.conftest import PATIENCE_S, Caller, body
from tests.local.workflow.conftest import ANSWERED
from tests.support.synthetic_run import synthetic_run

Event = tuple[str, str | None, Any]


def events(url: str, path: str, **headers: str) -> Generator[Event, None, None]:
    """Read a stream to its end: each event's name, id and data."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=PATIENCE_S)
    with closing(connection):
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        assert response.status == 200, response.read()
        fields: dict[str, str] = {}
        for line in response:
            name, _, value = line.decode().strip().partition(": ")
            if name:
                fields[name] = value
            elif "data" in fields:
                yield fields["event"], fields.get("id"), json.loads(fields["data"])
            if not name:
                fields = {}


@pytest.fixture(scope="module")
def followed(api: Caller, twin_of_service: LocalTwin) -> tuple[str, list[Event]]:
    """A run of seconds and all that was told of it, from its start to the end of the stream."""
    assert twin_of_service.alive
    run_id = api.start(body("followed", load__duration_s=4, **ANSWERED))
    return run_id, list(events(api.url, f"/events?run_id={run_id}"))


def lives(told: list[Event]) -> list[Any]:
    return [data for name, _, data in told if name == "live"]


def test_it_is_told_from_its_record_to_the_proof_of_its_teardown(
    followed: tuple[str, list[Event]],
) -> None:
    _, told = followed
    first, *_, last = lives(told)
    assert first["run"]["ended_at"] is None
    assert last["run"]["state"] == "SUCCEEDED"
    assert last["teardown"]["gone"]
    assert last["answer"] is not None
    lines = {line["id"]: line["text"] for live in lives(told) for line in live["log"]}
    assert {"recorded", "provision", "ready", "prepare", "rows", "step-1", "gone", "ended"} <= set(
        lines
    )
    assert told[-1][0] == "live"  # it ends by itself, without a goodbye


def test_what_the_target_does_is_told_while_a_step_is_under_way(
    followed: tuple[str, list[Event]],
) -> None:
    _, told = followed
    before = [live for live in lives(told) if live["run"]["progress"]["steps_finished"] == 0]
    iops = [value for live in before for value in live["resources"]["write_iops"] if value]
    assert iops, "the volume was written to before the first step ended"


def test_each_finished_step_is_told_once_with_its_seconds(
    api: Caller, followed: tuple[str, list[Event]]
) -> None:
    run_id, told = followed
    steps = [step["step"] for live in lives(told) for step in live["steps"]]
    assert steps == list(range(1, len(steps) + 1))
    of_seconds = {step for live in lives(told) for step in live["seconds"]["step"]}
    ended = api("GET", f"/runs/{run_id}/steps").body["steps"]
    # a step whose clients came too late on a busy machine has no seconds, and was repeated
    assert of_seconds == {step["plan"]["index"] for step in ended if step["fleet"]["ran"]}
    last = lives(told)[-1]
    assert sum(load["repetitions"] for load in last["loads"]) <= len(steps)


def test_seconds_of_the_step_under_way_come_before_its_own(
    followed: tuple[str, list[Event]],
) -> None:
    _, told = followed
    seconds = [(at, data) for at, (name, _, data) in enumerate(told) if name == "second"]
    assert seconds
    at, second = seconds[0]
    ended = next(
        place
        for place, (name, _, data) in enumerate(told)
        if name == "live" and second["step"] in [step["step"] for step in data["steps"]]
    )
    assert at < ended
    assert sum(figures["succeeded"] for figures in second["operations"].values()) > 0
    assert 1 <= second["clients_told"] <= second["clients"]


def test_who_lost_the_stream_goes_on_where_it_was(
    api: Caller, followed: tuple[str, list[Event]]
) -> None:
    run_id, told = followed
    first_with_steps = next(live for live in lives(told) if live["steps"])
    cursor = first_with_steps["cursor"]
    seen = max(step["step"] for step in first_with_steps["steps"])
    path = f"/events?run_id={run_id}"
    rest = lives(list(events(api.url, path, **{"Last-Event-ID": cursor})))
    later = [step["step"] for live in rest for step in live["steps"]]
    assert later == list(range(seen + 1, seen + 1 + len(later)))
    asked = api("GET", f"/runs/{run_id}/live", query={"after": cursor}).body
    assert [step["step"] for step in asked["steps"]] == later
    assert asked["loads"] == rest[-1]["loads"]


def test_another_teams_run_has_no_stream(other: Caller, followed: tuple[str, list[Event]]) -> None:
    run_id, _ = followed
    address = urlsplit(other.url)
    connection = http.client.HTTPConnection(address.netloc, timeout=PATIENCE_S)
    with closing(connection):
        headers = {"X-Test-Principal": "arn:aws:iam::123456789012:user/other"}
        connection.request("GET", f"/events?run_id={run_id}", headers=headers)
        assert connection.getresponse().status == 404


def test_the_list_is_told_whole_at_first(api: Caller, followed: tuple[str, list[Event]]) -> None:
    run_id, _ = followed
    stream = events(api.url, "/events")
    name, number, data = next(stream)
    stream.close()
    assert (name, number) == ("runs", "1")
    row = next(run for run in data["runs"] if run["run_id"] == run_id)
    assert row["curve"]
    assert row["target_words"]
    assert row["deleted_at"] is not None


def test_a_run_of_before_is_shown_as_it_was(
    api: Caller, twin_of_service: LocalTwin, tmp_path: Path
) -> None:
    result, seconds = synthetic_run(run_id="of-before")
    folder = tmp_path / "serve-20260302-100000" / "of-before"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(result.model_dump_json())
    (folder / "seconds.json").write_text(seconds.model_dump_json())
    (folder / "report.html").write_text("<!doctype html><p>the page")
    assert find_newest_runs(tmp_path) == [folder]
    assert restore_run(make_twin_settings(twin_of_service), result, folder)
    assert not restore_run(
        make_twin_settings(twin_of_service), result, folder
    )  # it is there already
    shown = api("GET", "/runs/of-before/live").body
    assert (shown["run"]["past"], shown["run"]["verdict"]) == (True, "KNEE")
    assert shown["answer"]["tag"] == "knee found"
    assert len(shown["steps"]) == len(result.steps)
    assert shown["teardown"]["gone"]
    assert api.links("of-before")["url"] is not None
