"""`plimsoll serve` as a user meets it: a process that answers, and that leaves nothing."""

import signal
import stat
import time
from pathlib import Path

import pytest

from plimsoll.client.address import read_address
from plimsoll.client.tokens import HOME_VARIABLE
from plimsoll.model.run.results import RunResult
from tests.local.service.conftest import Caller, body
from tests.local.workflow.test_run_verb import left_of, plimsoll
from tests.support.synthetic_run import synthetic_run


def test_its_end_stops_every_run_and_leaves_their_results_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    results = tmp_path / "results"
    process = plimsoll(tmp_path, "serve", "--port", "0", "--dir", str(results))
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    address = read_address(url, source="serve")
    [file] = (tmp_path / "home").rglob("*.token")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    api = Caller(address, principal=None, profile=None)  # it finds the token by itself
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv(HOME_VARIABLE, str(tmp_path / "of another user"))
        stranger = Caller(address, principal=None, profile=None)
    assert stranger("GET", "/runs").status == 401
    failed = api.start(body("fails", target__parameters={"no_such_parameter": 1}))
    api.end(failed)  # else it is stopped, too
    started = api("POST", "/experiments", _long_experiment())
    assert started.status == 202, started
    [first, second] = api("GET", f"/experiments/{started.body['experiment_id']}").body["cells"]
    running = api.until_one_is_in_its_step([first["run_id"], second["run_id"]])
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=400)
    assert process.returncode == 0, stderr
    assert f"stopping {running} and deleting its target" in stderr
    assert "Traceback" not in stderr
    saved = {
        path.parent.name: RunResult.model_validate_json(path.read_bytes()).state
        for path in results.glob("*/result.json")
    }
    assert saved == {failed: "FAILED", running: "STOPPED"}
    assert "the token is " in stderr
    assert not file.exists()
    assert left_of(tmp_path) == []


def _long_experiment() -> dict[str, object]:
    """Two runs, one after the other, of which the first would take minutes."""
    written = body("x", load__duration_s=120)
    shared = {name: value for name, value in written.items() if name not in {"name", "tags"}}
    seeds = {f"seed-{n}": {"load": {"seed": n}} for n in (1, 2)}
    return {"name": "long", "request": shared, "axes": {"seed": seeds}, "at_once": 1}


@pytest.mark.whole  # runs of before are read without one
def test_without_a_token_whoever_is_on_this_machine_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    results = str(tmp_path / "results")
    process = plimsoll(tmp_path, "serve", "--port", "0", "--no-token", "--dir", results)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    anybody = Caller(read_address(url, source="serve"), principal=None, profile=None)
    assert anybody("GET", "/runs").body["runs"] == []
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=400)
    assert "the token is" not in stderr
    assert f"open {url}/ in a browser" in stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.whole  # test_live.py shows one
def test_runs_of_before_are_listed_and_stay_in_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    result, seconds = synthetic_run(run_id="of-before")
    results = tmp_path / "results"
    for name, text in (
        ("good", result.model_dump_json()),
        ("hostile", result.model_copy(update={"run_id": "../../etc"}).model_dump_json()),
        ("damaged", "{"),
    ):
        (results / name).mkdir(parents=True)
        (results / name / "result.json").write_text(text)
    (results / "good" / "seconds.json").write_text(seconds.model_dump_json())
    process = plimsoll(tmp_path, "serve", "--port", "0", "--no-token", "--dir", str(results))
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    api = Caller(read_address(url, source="serve"), principal=None, profile=None)
    while not (runs := api("GET", "/runs").body["runs"]):
        time.sleep(0.2)
    [run] = runs
    assert (run["run_id"], run["past"], run["verdict"]) == ("of-before", True, "KNEE")
    assert api("GET", "/runs/of-before/live").body["answer"]["tag"] == "knee found"
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=400)
    assert process.returncode == 0, stderr
    assert stderr.count("a past run is left out") == 2
    assert sorted(path.name for path in results.iterdir()) == ["damaged", "good", "hostile"]


def test_a_port_that_is_taken_is_named(tmp_path: Path, api: Caller) -> None:
    port = api.url.rpartition(":")[2]
    process = plimsoll(tmp_path, "serve", "--port", port, "--dir", str(tmp_path / "results"))
    _, stderr = process.communicate(timeout=400)
    assert process.returncode == 2
    assert f"--port {port}: " in stderr
    assert left_of(tmp_path) == []
