"""`plimsoll serve` as a user meets it: a process that answers, and that leaves nothing."""

import signal
from pathlib import Path

from plimsoll.client.address import read_address
from plimsoll.model.results import RunResult
from tests.local.runs.test_run_verb import left_of, plimsoll
from tests.local.service.conftest import Caller, body


def test_its_end_stops_every_run_and_leaves_their_results_alone(tmp_path: Path) -> None:
    results = tmp_path / "results"
    process = plimsoll(tmp_path, "serve", "--port", "0", "--dir", str(results))
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    api = Caller(read_address(url, source="serve"), principal=None, profile=None)
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
    assert left_of(tmp_path) == []


def _long_experiment() -> dict[str, object]:
    """Two runs, one after the other, of which the first would take minutes."""
    written = body("x", load__duration_s=120)
    shared = {name: value for name, value in written.items() if name not in {"name", "tags"}}
    seeds = {f"seed-{n}": {"load": {"seed": n}} for n in (1, 2)}
    return {"name": "long", "request": shared, "axes": {"seed": seeds}, "at_once": 1}


def test_a_port_that_is_taken_is_named(tmp_path: Path, api: Caller) -> None:
    port = api.url.rpartition(":")[2]
    process = plimsoll(tmp_path, "serve", "--port", port, "--dir", str(tmp_path / "results"))
    _, stderr = process.communicate(timeout=400)
    assert process.returncode == 2
    assert f"--port {port}: " in stderr
    assert left_of(tmp_path) == []
