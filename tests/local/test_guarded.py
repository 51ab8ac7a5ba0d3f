"""A guarded program ends with its owner, and says how it ended."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.guarded import GuardedProcess
from plimsoll.local.process_guard import list_segments
from tests.local.workflow.conftest import PATIENCE_S
from tests.support.owner import owner_of


def start(tmp_path: Path, *command: str) -> GuardedProcess:
    return GuardedProcess.start(
        command, environment={"A": "b"}, working_directory=tmp_path, log=tmp_path / "log"
    )


def test_its_output_environment_and_exit_code(tmp_path: Path) -> None:
    process = start(tmp_path, "/bin/sh", "-c", "echo $A; pwd; exit 7")
    assert process.wait(PATIENCE_S) == 7
    assert (tmp_path / "log").read_text() == f"b\n{tmp_path.resolve()}\n"


def test_a_program_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(PlimsollError, match=r"cannot start /no/such: .*No such file"):
        start(tmp_path, "/no/such")


def test_killed_and_stopped_are_told_apart(tmp_path: Path) -> None:
    assert start(tmp_path, "/bin/sleep", "600").kill() == 128 + signal.SIGKILL
    assert start(tmp_path, "/bin/sleep", "600").stop(PATIENCE_S) == 128 + signal.SIGTERM


def test_one_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    script = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True)\n"
    process = start(tmp_path, sys.executable, "-c", script + "signal.pause()")
    while not (tmp_path / "log").read_text():
        assert process.poll() is None
        time.sleep(0.01)
    assert process.stop(0.2) == 128 + signal.SIGKILL


MAKES_MEMORY = """
import ctypes, signal
print(ctypes.CDLL(None).shmget(0, 4096, 0o1600), flush=True)  # private, made anew
signal.pause()
"""


def test_shared_memory_that_it_left_is_removed(tmp_path: Path) -> None:
    """As a killed PostgreSQL leaves it where it has no namespace of its own."""
    process = start(tmp_path, sys.executable, "-c", MAKES_MEMORY)
    while not (told := (tmp_path / "log").read_text()).endswith("\n"):
        assert process.poll() is None
        time.sleep(0.01)
    assert int(told) in {segment.number for segment in list_segments()}
    process.kill()
    assert int(told) not in {segment.number for segment in list_segments()}


def test_ending_twice_is_no_error(tmp_path: Path) -> None:
    process = start(tmp_path, "/bin/sleep", "600")
    assert process.kill() == process.kill() == process.stop(1)


OWNER = """
import sys, threading
from pathlib import Path
from plimsoll.local.guarded import GuardedProcess
from plimsoll.local.process_guard import list_segments
folder = Path(sys.argv[1])
started = []
def start():  # from a thread that ends: the program must outlive the thread, not the process
    started.append(
        GuardedProcess.start(
            ["/bin/sleep", "600"],
            environment={},
            working_directory=folder,
            log=folder / "log",
            remove_on_orphaned=[folder / "data"],
        )
    )
thread = threading.Thread(target=start)
thread.start()
thread.join()
print(started[0].pid, started[0].poll(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_its_owner_and_its_folder_goes(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "data").mkdir()
    with owner_of(OWNER, tmp_path) as (owner, (pid, state)):
        program = psutil.Process(int(pid))
        guard = program.parent()
        assert guard is not None
        assert state == "None"
        os.kill(owner.pid, number)
        psutil.wait_procs([program, guard], timeout=PATIENCE_S)
        assert not program.is_running()
        assert not guard.is_running()
    assert not (tmp_path / "data").exists()
