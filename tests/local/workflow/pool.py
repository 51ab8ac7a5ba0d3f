"""One twin for each worker of pytest, for all tests that have no reason for one of their own.

Its functions are the real ones, each behind a gate (see `gates.py`). Files follow each other on it
in any order, so each leaves it without a target and without an execution that goes on
(`assert_idle`).
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.local.deploying import ONE_MACHINE, PRINCIPAL
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import FUNCTIONS, Setting

ROOT = Path(__file__).parents[3]
OTHER = "arn:aws:iam::123456789012:user/other"
FUZZER = "arn:aws:iam::123456789012:user/fuzzer"
# Runs of `default` have no limits that a test could meet; those of the others are asserted on.
TEAMS = {
    "default": {**ONE_MACHINE, "principals": [PRINCIPAL], "concurrent_runs": 20},
    "other": {"principals": [OTHER]},
    "fuzzers": {"principals": [FUZZER], "concurrent_runs": 1, "clients": 1},
}
IDLE_PATIENCE_S = 480.0  # a run that nobody waits for takes minutes on a busy machine
# `real` is the function's own module. It lies beside this one, so that the nursery loads its
# libraries once: otherwise each sandbox would import them, 0.4 s of CPU for every cold start.
HANDLER = """\
import sys
from pathlib import Path

sys.path.append({root!r})
from tests.local.workflow.gates import pass_gate
import real


def handler(event, context):
    pass_gate(Path({gates!r}), {name!r}, event)
    return real.handler(event, context)
"""


def write_gated_functions(folder: Path, gates: Path) -> Path:
    """Write every function of Plimsoll with a gate before it; return the folder."""
    for name, function in FUNCTIONS.items():
        place = folder / function.folder
        place.mkdir(parents=True)
        (place / "real.py").symlink_to(ROOT / "functions" / function.folder / "handler.py")
        (place / "handler.py").write_text(
            HANDLER.format(root=str(ROOT), gates=str(gates), name=name)
        )
    return folder


def executions(twin: LocalTwin) -> list[str]:
    """List the executions that go on; one that starts another is listed until that has begun."""
    states = twin.client("stepfunctions")
    return [
        execution["executionArn"]
        for name in ("experiment", "run", "experiment-end", "teardown")
        for execution in states.list_executions(
            stateMachineArn=twin.state_machine_arn(name), statusFilter="RUNNING"
        )["executions"]
    ]


def assert_idle(twin: LocalTwin) -> None:
    """Wait until no run goes on, and see that no target is left."""
    deadline = time.monotonic() + IDLE_PATIENCE_S
    while going := executions(twin):
        assert time.monotonic() < deadline, f"{going} go on"
        time.sleep(0.5)
    assert twin.databases == {}


@pytest.fixture(scope="session")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a file closes a gate."""
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="session")
def run_twin(tmp_path_factory: pytest.TempPathFactory, gates: Path) -> Iterator[LocalTwin]:
    """One machine as AWS, for runs, experiments and the service."""
    functions = write_gated_functions(tmp_path_factory.mktemp("functions"), gates)
    settings = {
        Setting.TEAMS: json.dumps(TEAMS),
        # what is tested is not how soon clients start: a busy machine gets some time for it
        Setting.START_LEAD_MS: "2000",
    }
    home = tmp_path_factory.mktemp("twin")
    with LocalTwin(home, functions_directory=functions, settings=settings) as twin:
        twin.warm("load-client", 2)
        yield twin
        assert_idle(twin)
