"""A command that is killed while its target is being made leaves nothing of it, nor in memory."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from itertools import product
from pathlib import Path

import psutil
import pytest

from plimsoll.volumes.places import state_path
from tests.local.workflow.conftest import PATIENCE_S, wait_until

PROJECT = Path(__file__).parents[2]
SCRIPT = """\
import sys
sys.path[:0] = [{project!r}]
from pathlib import Path
from plimsoll.local.twin import LocalTwin
from tests.local.resources.test_stacks import RDS, TEMPLATE, parameters
none = Path({none!r})
with LocalTwin(Path({directory!r}), functions={{}}, state_machines_directory=none) as twin:
    twin.client("cloudformation").create_stack(
        StackName="plimsoll-run-doomed",
        TemplateBody=TEMPLATE,
        Parameters=parameters("doomed", dict(RDS)),
    )
    sys.stdin.read()
"""
MOMENTS: dict[str, Callable[[Path], bool]] = {
    "its volume is there": lambda target: target.exists() and state_path(target).exists(),
    "its first data is being copied": lambda target: (target / "server/data").exists(),
    "its server starts": lambda target: (target / "server/server.log").exists(),
}
KILLED: dict[str, Callable[[psutil.Process, psutil.Process], None]] = {
    "the command": lambda command, _: command.kill(),
    "the stand-in": lambda _, server: server.kill(),
}


# each of those killed once, at the moments at which most is there to be left
REPRESENTATIVE = {
    ("its first data is being copied", "the command"),
    ("its server starts", "the stand-in"),
}


@pytest.mark.parametrize(
    ("moment", "killed"),
    [
        pytest.param(*case, marks=() if case in REPRESENTATIVE else pytest.mark.whole)
        for case in product(MOMENTS, KILLED)
    ],
)
def test_nothing_stays(tmp_path: Path, moment: str, killed: str) -> None:
    directory = tmp_path / "aws"
    target = directory / "databases/plimsoll-doomed"
    script = textwrap.dedent(SCRIPT).format(
        project=str(PROJECT), none=str(tmp_path), directory=str(directory)
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as parent:
        assert parent.stdin is not None
        wait_until(lambda: MOMENTS[moment](target), moment, 0.002)
        state = state_path(target)
        command = psutil.Process(parent.pid)
        children = command.children(recursive=True)
        server = next(child for child in children if "plimsoll.local.aws.server" in child.cmdline())
        KILLED[killed](command, server)
        parent.stdin.close()
    assert not psutil.wait_procs(children, timeout=PATIENCE_S)[1]
    assert [s for s in ("", ".json", ".lock") if state.with_suffix(s).exists()] == []
    assert not target.exists()
    assert directory.exists() == (killed == "the stand-in")  # its parent may want its logs
