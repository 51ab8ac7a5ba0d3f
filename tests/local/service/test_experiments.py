"""Experiments of a team, over the API: on this machine, or deployed."""

import time
from typing import Any

import pytest

from tests.local.service.conftest import END_LOOK_S, PATIENCE_S, Caller, body


def matrix(**changes: Any) -> dict[str, Any]:
    """Two volumes; each a run of seconds."""
    shared = body("cell", **changes)
    del shared["name"]
    volumes = {f"iops-{n}": {"target": {"volume": {"iops": n}}} for n in (1000, 2000)}
    del shared["target"]["volume"]["iops"]
    return {"name": "matrix", "request": shared, "axes": {"storage": volumes}, "seed": 1}


def start(caller: Caller, asked: dict[str, Any], key: str | None = None) -> str:
    told = caller("POST", "/experiments", asked, key=key)
    assert told.status == 202, told
    assert told.headers["Location"].endswith(f"/experiments/{told.body['experiment_id']}")
    return str(told.body["experiment_id"])


def end(caller: Caller, experiment_id: str) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        shown = caller("GET", f"/experiments/{experiment_id}").body
        if shown["record"]["ended_at"] is not None:
            return shown
        assert time.monotonic() < deadline, shown
        time.sleep(END_LOOK_S)


@pytest.mark.whole  # test_verbs.py starts one, tests/local/experiments decides
def test_an_experiment_runs_every_cell_and_ends_with_its_decision(api: Caller) -> None:
    experiment_id = start(api, matrix(load__duration_s=2), key="matrix")
    assert start(api, matrix(load__duration_s=2), key="matrix") == experiment_id
    shown = end(api, experiment_id)
    assert shown["record"]["failure"] is None, shown["record"]["failure"]
    assert shown["record"]["state"] == "SUCCEEDED"
    assert [cell["name"] for cell in shown["cells"]] == ["iops-1000", "iops-2000"]
    for cell in shown["cells"]:
        run = api("GET", f"/runs/{cell['run_id']}").body
        assert (run["name"], run["tags"]["experiment"]) == (cell["name"], "matrix")
        assert run["deleted_at"] is not None
    (decision,) = shown["result"]["decisions"]
    assert decision["question"] == "all"
    (gain,) = shown["result"]["gains"]
    assert (gain["lower_iops"], gain["higher_iops"]) == (1000, 2000)


def test_stopping_an_experiment_stops_its_runs_and_nobody_else_may(
    api: Caller, other: Caller
) -> None:
    experiment_id = start(api, matrix(load__duration_s=60))
    address = f"/experiments/{experiment_id}"
    for method in ("GET", "DELETE"):
        assert other(method, address).kind == "not-found"
    deadline = time.monotonic() + PATIENCE_S
    while not any(cell["phase"] == "step" for cell in api("GET", address).body["cells"]):
        assert time.monotonic() < deadline
        time.sleep(0.3)
    assert api("DELETE", address).status in {202, 200}  # the answer can be later than its end
    shown = end(api, experiment_id)
    assert shown["record"]["state"] == "STOPPED"
    assert sorted(str(cell["state"]) for cell in shown["cells"]) == ["None", "STOPPED"]
    (begun,) = [cell for cell in shown["cells"] if cell["state"]]
    assert api("GET", f"/runs/{begun['run_id']}").body["deleted_at"] is not None
    assert api("DELETE", address).status == 200
