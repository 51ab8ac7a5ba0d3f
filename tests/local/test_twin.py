"""The whole twin: deployed from the project's own tables and files, and gone without a trace."""

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.volumes.places import state_path
from tests.local.workflow.conftest import PATIENCE_S

PROJECT = Path(__file__).parents[2]


def test_it_deploys_what_the_project_deploys_and_leaves_no_process(tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    with LocalTwin(tmp_path / "aws") as twin:
        functions = twin.client("lambda").list_functions()["Functions"]
        assert {function["FunctionName"] for function in functions} == set(FUNCTIONS)
        for function in functions:
            assert function["Timeout"] == FUNCTIONS[function["FunctionName"]].timeout_s
        machines = twin.client("stepfunctions").list_state_machines()["stateMachines"]
        files = (PROJECT / "statemachines").glob("*.asl.json")
        assert {m["name"] for m in machines} == {f.name.removesuffix(".asl.json") for f in files}
        rule = twin.client("events").describe_rule(Name="plimsoll-teardown")
        detail = json.loads(rule["EventPattern"])["detail"]
        assert detail["status"] == ["FAILED", "ABORTED", "TIMED_OUT"]
        assert detail["stateMachineArn"] == [twin.state_machine_arn("run")]
        children = set(psutil.Process().children(recursive=True)) - before
        assert children
        port = twin.endpoint_url
    assert not psutil.wait_procs(children, timeout=PATIENCE_S)[1]
    assert port.startswith("http://127.0.0.1:")


def test_it_is_gone_after_an_exception(tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    with (
        pytest.raises(RuntimeError, match="mine"),
        LocalTwin(tmp_path / "aws", functions={}, state_machines_directory=tmp_path),
    ):
        raise RuntimeError("mine")
    left = set(psutil.Process().children(recursive=True)) - before
    assert not psutil.wait_procs(left, timeout=PATIENCE_S)[1]


def test_one_whose_process_is_killed_says_so_to_whoever_calls_it(tmp_path: Path) -> None:
    before = set(psutil.Process().children())

    def call_a_killed_one() -> None:
        with LocalTwin(tmp_path / "aws", functions={}, state_machines_directory=tmp_path) as twin:
            (server,) = set(psutil.Process().children()) - before
            server.kill()
            twin.client("s3").list_buckets()

    with pytest.raises(PlimsollError, match=r"stand-in for AWS has ended \(Killed\)"):
        call_a_killed_one()


def test_a_second_twin_in_one_folder_is_refused(twin: LocalTwin, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is in use by another run"):
        LocalTwin(twin.directory, functions={}, state_machines_directory=tmp_path).start()
    assert twin.client("lambda").list_functions()["Functions"]


def test_two_twins_know_nothing_of_each_other(twin: LocalTwin, tmp_path: Path) -> None:
    with LocalTwin(tmp_path / "aws", functions={}, state_machines_directory=tmp_path) as other:
        assert other.endpoint_url != twin.endpoint_url
        assert other.client("lambda").list_functions()["Functions"] == []
        assert twin.client("lambda").list_functions()["Functions"]
    assert twin.client("lambda").list_functions()["Functions"]


END: dict[str, Callable[[psutil.Process, psutil.Process], Any]] = {
    "parent-killed": lambda parent, _: parent.kill(),
    "parent-terminated": lambda parent, _: parent.terminate(),
    "server-killed": lambda _, server: server.kill(),
}


@pytest.mark.parametrize(
    "how",
    [
        "parent-killed",
        *(pytest.param(h, marks=pytest.mark.whole) for h in END if h != "parent-killed"),
    ],
)
def test_its_processes_die_with_their_parent_and_its_data_goes(tmp_path: Path, how: str) -> None:
    sys_path, directory = str(PROJECT), tmp_path / "aws"
    script = textwrap.dedent(
        f"""
        import sys, time
        sys.path[:0] = [{sys_path!r}]
        from pathlib import Path
        from plimsoll.local.twin import LocalTwin
        from tests.local.resources.test_stacks import Stacks
        none = Path({str(tmp_path)!r})
        with LocalTwin(
            Path({str(directory)!r}), functions={{}}, state_machines_directory=none
        ) as twin:
            Stacks(twin).create("doomed")
            print(twin.databases["plimsoll-doomed"].pid, flush=True)
            try:
                sys.stdin.read()
            except KeyboardInterrupt:
                pass
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        database = int(parent.stdout.readline())
        children = psutil.Process(parent.pid).children(recursive=True)
        assert database in {child.pid for child in children}
        server = next(child for child in children if "plimsoll.local.aws.server" in child.cmdline())
        state = state_path(directory / "databases/plimsoll-doomed")
        END[how](psutil.Process(parent.pid), server)
        if how == "server-killed":
            others = [child for child in children if child != server]
            assert not psutil.wait_procs(others, timeout=PATIENCE_S)[1]
            parent.stdin.close()
    assert not psutil.wait_procs(children, timeout=PATIENCE_S)[1]
    assert directory.exists() == (how == "server-killed")  # its parent has an interest in the logs
    assert not list(directory.glob("databases/*"))
    assert not state.exists()
