"""What is done on a twin until every function has been called, and which function each part calls.

`make test` holds the table below against the functions that are deployed, so that a new function
cannot be left out; `test_permissions.py` does what it says.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from plimsoll.client.address import read_address
from plimsoll.local.experiment_runner import LocalExperiment
from plimsoll.local.http_front import LocalService
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.run_record import RunState
from plimsoll.requests.cells import check_experiment
from plimsoll.requests.checked_request import check_request
from tests.local.experiments.test_experiment import matrix
from tests.local.service.conftest import Caller, body
from tests.local.workflow.conftest import tiny
from tests.local.workflow.test_toggle import QUICK

NEVER = "cron(30 2 1 1 ? 2099)"  # the time of a check that is started by hand here


def run_with_a_toggle(twin: LocalTwin) -> None:
    """Measure a target in two states, with a restart between them."""
    run = LocalRun(twin, check_request(tiny("toggle", **QUICK)))
    assert run.wait().state is RunState.SUCCEEDED


def restore_a_prepared_dataset(twin: LocalTwin) -> None:
    """Prepare a dataset once, and measure a target that is restored from its snapshot."""
    axes = {"clients": {"one": {"search": {"clients": [1]}}}}
    _succeed(twin, matrix(axes=axes, dataset={}, **_shared()))


def search_for_a_boundary(twin: LocalTwin) -> None:
    """Choose the cells of an experiment one by one."""
    want = {"ops_per_second": 1, "limits_us": {"read": 30e6, "update": 30e6}}
    axes = {"volume": {"one": {"target": {"volume": {"iops": 1000}}}}}
    _succeed(twin, matrix(search="boundary", want=want, axes=axes, at_once=1, **_shared()))


def use_the_api(twin: LocalTwin) -> None:
    """Start, follow and stop a run; make a check, whose time comes, and delete it."""
    with LocalService(twin) as service:
        api = Caller(read_address(service.url, source="the test"), principal=None, profile=None)
        run_id = api.start(body("stopped"))
        assert api("GET", "/runs").status == 200
        api.until(run_id, lambda run: run["target_ready_at"] is not None)
        assert api("GET", f"/runs/{run_id}/live").status == 200
        assert api("GET", "/experiments").status == 200
        assert api("DELETE", f"/runs/{run_id}").status == 202
        api.end(run_id)
        assert (
            api("PUT", "/schedules/check", {"schedule": NEVER, "request": body("check")}).status
            < 300
        )
        api.end(_start_check(twin))
        for method in ("GET", "DELETE"):
            assert api(method, "/schedules/check").status < 300


def look_for_what_is_left(twin: LocalTwin) -> None:
    """Call what a schedule calls every few minutes."""
    twin.client("lambda").invoke(FunctionName="janitor", Payload=b"{}")


# The functions that each part is the first to call, in order.
LIVES: Mapping[Callable[[LocalTwin], None], frozenset[str]] = {
    run_with_a_toggle: frozenset(
        {
            "record-run", "arm-deletion", "create-target", "await-target", "create-schema",
            "load-dataset", "verify-dataset", "plan-step", "switch-target", "load-client",
            "judge-step", "conclude", "publish-target", "delete-target", "end-run", "judge-check",
        }
    ),
    restore_a_prepared_dataset: frozenset(
        {
            "plan-experiment", "submit-cell", "take-snapshot", "settle-cells", "delete-datasets",
            "conclude-experiment",
        }
    ),
    search_for_a_boundary: frozenset({"choose-cell"}),
    use_the_api: frozenset({"api", "start-check"}),
    look_for_what_is_left: frozenset({"janitor"}),
}  # fmt: skip


def _succeed(twin: LocalTwin, experiment: Experiment) -> None:
    ended = LocalExperiment(twin, check_experiment(experiment)).wait()
    assert ended.record.state is RunState.SUCCEEDED, ended.record.failure


def _shared() -> dict[str, Any]:
    shared = tiny("cell").model_dump(mode="json", exclude={"name", "team", "tags", "search"})
    return {"request": {**shared, "search": {"strategy": "steps", "clients": [1]}}}


def _start_check(twin: LocalTwin) -> str:
    """Call what the check's schedule calls; give the id of the run that it starts."""
    event = {"team": "default", "name": "check", "scheduled_at": datetime.now(UTC).isoformat()}
    answer = twin.client("lambda").invoke(
        FunctionName="start-check", Payload=json.dumps(event).encode()
    )
    return str(json.loads(answer["Payload"].read())["target"])
