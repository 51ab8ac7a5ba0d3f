"""The verbs that call the service, as a user meets them."""

import json
import time
from pathlib import Path
from typing import Any

import click
import pytest

from plimsoll.client.refusals import ServiceError
from plimsoll.errors import PlimsollError, PreflightError, UsageError
from tests.local.service.conftest import PATIENCE_S, Caller, Verb, body
from tests.local.workflow.conftest import wait_until

NOT_THERE = {"no_such_parameter": 1}


def _file(folder: Path, text: Any) -> str:
    path = folder / "request.yaml"
    path.write_text(json.dumps(text))  # JSON is YAML
    return str(path)


def test_a_run_is_watched_to_its_end_and_brought_home(
    verb: Verb, finished: Any, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = verb("watch", finished["run_id"], "--out", str(out))
    assert result.return_value == 0
    assert f"{finished['verdict']}: " in result.stdout
    assert "step 1: 1 client, 1 connection" in result.stderr
    assert "the target is gone" in result.stderr
    assert json.loads((out / "result.json").read_bytes())["run_id"] == finished["run_id"]
    assert (out / "report.html").read_bytes().startswith(b"<!doctype html>")
    rules = ("--expect", "capacity >= 1000000000", "--junit", str(tmp_path / "junit.xml"))
    missed = verb("watch", finished["run_id"], *rules)
    assert missed.return_value in {1, 3}  # 3: an open end decides nothing
    assert "capacity >= 1000000000: the capacity is" in missed.stdout
    assert 'name="capacity &gt;= 1000000000"' in (tmp_path / "junit.xml").read_text()
    again = verb("watch", finished["run_id"], "--json")
    assert json.loads(again.stdout)["capacity"]["verdict"] == finished["verdict"]


def test_the_runs_of_a_file_are_started_and_awaited(verb: Verb, tmp_path: Path) -> None:
    runs = {name: {"description": name} for name in ("one", "two")}
    file = _file(tmp_path, {**body("both", target__parameters=NOT_THERE), "runs": runs})
    result = verb("submit", file, "--wait", "--json")
    assert result.return_value == 1  # for they fail
    told = json.loads(result.stdout)["runs"]
    assert {name: run["state"] for name, run in told.items()} == {"one": "FAILED", "two": "FAILED"}
    assert {run["name"] for run in told.values()} == {"both-one", "both-two"}


def test_the_preflight_says_that_no_account_is_behind_one_machine(
    verb: Verb, tmp_path: Path
) -> None:
    file = _file(tmp_path, body("looked-at"))
    told = json.loads(verb("preflight", file, "--json").stdout)
    assert told["passed"] is True
    states = {check["name"]: check["state"] for check in told["checks"]}
    here = {"API": "passed", "version": "passed", "team": "passed", "request": "passed"}
    assert states == {**here, "AWS": "not applicable"}
    shown = verb("preflight", file)
    assert shown.return_value == 0
    assert "one machine stands in for it" in shown.stdout


def test_a_check_that_fails_keeps_a_run_from_being_submitted(verb: Verb, tmp_path: Path) -> None:
    """Another team's run, and a version of the engine that there never was."""
    file = _file(tmp_path, {**body("of-others"), "team": "other"})
    assert verb("preflight", file).return_value == 1
    refused = verb("submit", file)
    assert isinstance(refused.exception, PreflightError)
    assert refused.exception.exit_code == 3
    assert "1 check failed: nothing was submitted" in str(refused.exception)
    assert "belongs to team default" in refused.stderr
    unasked = verb("submit", file, "--no-preflight").exception
    assert isinstance(unasked, ServiceError)
    unknown = verb("submit", _file(tmp_path, body("unknown", target__engine_version="99.1")))
    assert isinstance(unknown.exception, UsageError)
    assert "RDS does not offer MariaDB 99.1" in str(unknown.exception)
    assert "of-others" not in verb("list").stdout


def test_a_run_that_failed_is_told_with_its_cause(verb: Verb, tmp_path: Path) -> None:
    file = _file(tmp_path, body("fails", target__parameters=NOT_THERE))
    [run_id] = json.loads(verb("submit", file, "--json").stdout).values()
    watched = verb("watch", run_id)
    assert watched.return_value == 1
    assert "FAILED in its provision phase" in watched.stdout
    told = verb("status", run_id)
    assert told.return_value == 0
    assert "no_such_parameter" in told.stdout


def test_a_key_is_one_run(verb: Verb, tmp_path: Path) -> None:
    file = _file(tmp_path, body("keyed", target__parameters=NOT_THERE))
    first, second = (verb("submit", file, "--key", "of-the-verb").stdout for _ in range(2))
    assert first == second


def test_stop_waits_until_the_target_is_gone(verb: Verb, api: Caller, tmp_path: Path) -> None:
    file = _file(tmp_path, body("long", load__duration_s=120))
    [run_id] = json.loads(verb("submit", file, "--json").stdout).values()
    api.until(run_id, lambda run: run["target_ready_at"] is not None)
    result = verb("stop", run_id, "--wait")
    assert result.return_value == 0
    assert f"{run_id} is STOPPED; its target was confirmed deleted at" in result.stdout


def test_runs_are_listed(verb: Verb, finished: Any) -> None:
    options = ("list", "--state", "succeeded", "--tag", "kind=whole")
    [line] = [one for one in verb(*options).stdout.splitlines() if finished["run_id"] in one]
    assert finished["verdict"] in line
    found = json.loads(verb(*options, "--json").stdout)["runs"]
    assert finished["run_id"] in {run["run_id"] for run in found}


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (("status", "no-such-run"), "there is no run 'no-such-run'", 2),
        (("status", "../health"), "run_id: string should match", 2),
        (("list", "--team", "other"), "belongs to team default", 1),
        (("list", "--tag", "kind"), "--tag: must be NAME=VALUE", 2),
        (("list", "--url", "nowhere"), "--url: must be an address", 2),
        (("list", "--url", "http://127.0.0.1:9"), "cannot be reached", 1),
    ],
)
def test_a_refusal_is_one_line(
    verb: Verb, arguments: tuple[str, ...], said: str, code: int
) -> None:
    error = verb(*arguments).exception
    assert isinstance(error, PlimsollError | click.UsageError)
    assert said in str(error)
    assert "\n" not in str(error)
    assert error.exit_code == code


def test_an_experiment_is_started_watched_and_told(verb: Verb, tmp_path: Path) -> None:
    shared = {k: v for k, v in body("x").items() if k not in {"name", "team", "tags"}}
    parameters = {
        f"v{n}": {"target": {"parameters": {f"no_such_parameter_{n}": 1}}} for n in (1, 2)
    }
    asked = {"name": "matrix", "request": shared, "axes": {"parameter": parameters}, "seed": 1}
    file = _file(tmp_path, asked)
    rules = ("--wait", "--expect", "capacity >= 1")
    assert "not to an experiment" in str(verb("submit", file, *rules).exception)
    started = verb("submit", file, "--wait", "--json")  # as `experiment start` does
    assert started.return_value == 3  # every cell fails, so nothing can be said
    result = json.loads(started.stdout)
    assert result["state"] == "SUCCEEDED"
    assert {cell["name"]: cell["state"] for cell in result["cells"]} == dict.fromkeys(
        ("v1", "v2"), "FAILED"
    )
    experiment_id = result["experiment_id"]
    assert experiment_id in started.stderr
    told = verb("experiment", "status", experiment_id).stdout
    assert "No cell has an answer: nothing can be decided." in told
    assert verb("experiment", "watch", experiment_id).return_value == 3
    stopped = verb("experiment", "stop", experiment_id)
    assert stopped.stdout.strip() == f"{experiment_id} is SUCCEEDED"


def test_a_file_without_axes_is_no_experiment(verb: Verb, tmp_path: Path) -> None:
    error = verb("experiment", "start", _file(tmp_path, body("one"))).exception
    assert "has no `axes`" in str(error)


@pytest.fixture
def check_file(tmp_path: Path) -> Path:
    """A check whose run fails at once."""
    path = tmp_path / "check.yaml"
    request = body("checked", target__parameters=NOT_THERE)
    path.write_text(json.dumps({"schedule": "cron(0 0 1 1 ? 2190)", "request": request}))
    return path


def test_a_check_is_put_shown_and_deleted(verb: Verb, check_file: Path) -> None:
    made = verb("schedule", "put", "yearly", str(check_file))
    assert "yearly  cron(0 0 1 1 ? 2190)  next: 2190-01-01 00:00" in made.stdout
    assert "yearly" in verb("schedule", "list").stdout
    shown = verb("schedule", "show", "yearly")
    check_file.write_text(shown.stdout)
    told = json.loads(verb("schedule", "show", "yearly", "--json").stdout)
    again = json.loads(verb("schedule", "put", "yearly", str(check_file), "--json").stdout)
    assert again == told
    assert json.loads(verb("schedule", "history", "yearly", "--json").stdout)["points"] == []
    assert verb("schedule", "delete", "yearly").return_value == 0
    gone = verb("schedule", "show", "yearly").exception
    assert isinstance(gone, PlimsollError)
    assert "yearly" in str(gone)


def test_a_check_fires_and_its_runs_are_its_history(
    verb: Verb, api: Caller, check_file: Path
) -> None:
    written = json.loads(check_file.read_text())
    check_file.write_text(json.dumps({**written, "schedule": "rate(1 day)"}))
    assert verb("schedule", "put", "daily", str(check_file)).return_value == 0
    deadline = time.monotonic() + PATIENCE_S
    while not (points := api("GET", "/schedules/daily/history").body["points"]):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    run_id = points[0]["target"]["run_id"]
    # the point is there before the run's record
    wait_until(lambda: api("GET", f"/runs/{run_id}").status == 200, run_id)
    api.end(run_id)
    while "FAILED" not in (told := verb("schedule", "history", "daily").stdout):
        assert time.monotonic() < deadline, told
        time.sleep(0.5)
    assert run_id in told
    assert verb("schedule", "delete", "daily", "--json").return_value == 0


def test_a_wrong_check_is_told_with_its_line(verb: Verb, tmp_path: Path) -> None:
    path = tmp_path / "check.yaml"
    path.write_text("request: {}\nschedule: tomorrow\n")
    error = verb("schedule", "put", "wrong", str(path)).exception
    assert isinstance(error, PlimsollError)
    assert f"{path}:2: schedule: 'tomorrow' is not a schedule: allowed are at(" in str(error)


def test_a_request_is_quoted_by_the_service_and_nothing_is_made(
    verb: Verb, api: Caller, tmp_path: Path
) -> None:
    def run_ids() -> list[str]:
        return [run["run_id"] for run in api("GET", "/runs").body["runs"]]

    before = run_ids()
    file = _file(tmp_path, body("quoted"))
    quoted = json.loads(verb("quote", file, "--json").stdout)["quotes"]["quoted"]
    assert quoted["usd"]["least"] <= quoted["usd"]["expected"] <= quoted["usd"]["most"]
    assert "quoted" in verb("quote", file).stdout
    assert run_ids() == before


def test_an_experiment_is_quoted_by_the_service(verb: Verb, tmp_path: Path) -> None:
    shared = {k: v for k, v in body("x").items() if k not in {"name", "team", "tags"}}
    seeds = {f"s{n}": {"load": {"seed": n}} for n in (1, 2)}
    file = _file(tmp_path, {"name": "m", "request": shared, "axes": {"seed": seeds}})
    quoted = json.loads(verb("quote", file, "--json").stdout)["experiment"]
    assert [cell["name"] for cell in quoted["cells"]] == ["s1", "s2"]
    assert quoted["usd"]["most"] == pytest.approx(2 * quoted["cells"][0]["quote"]["usd"]["most"])
    assert "2 runs in 1 batch, 1 at once" in verb("quote", file).stdout
