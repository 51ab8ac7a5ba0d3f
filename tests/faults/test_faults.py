"""Each phase of a run x each fault: nothing hangs, nothing is left, one sentence says what it was.

`make test` tries those of `REPRESENTATIVE`; `make test-all` and `make faults` try all of them.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from plimsoll.local.leftovers import HOME_PREFIX
from tests.faults.faulty_run import (
    HELD,
    PATIENCE_S,
    POSTGRES,
    FaultyRun,
    await_true,
    started,
)
from tests.faults.namespaces import MEMORY
from tests.faults.place import place
from tests.local.workflow.pool import ROOT

DOCTOR = "from plimsoll.cli.main import main; main(['doctor', '--json'])"
STOPPED_S = 10
NOTICED_S = 20.0  # within which a twin notices that its folder is gone: it looks every second
EARLY = ("provision", "prepare", "load", "judge")  # a database or a disk is still needed
INTERRUPTED = 128 + signal.SIGINT


@dataclass(frozen=True)
class Fault:
    """What is done to a held run, and how the run has to end.

    Attributes:
        codes: The exit code by phase; of phases that are not named, 0.
        told: What its output says where it does not end well (a regular expression).
        may_answer: Phases after which the run may also answer (0), saying what `told` asks for.
        ends_the_stand_in: Whether guards end what it had started, each told by its death.
    """

    does: Callable[[FaultyRun], None]
    codes: Mapping[str, int]
    told: str
    may_answer: frozenset[str] = frozenset()
    ends_the_stand_in: bool = False


def everywhere(code: int) -> dict[str, int]:
    return dict.fromkeys(HELD, code)


# a function at work is lost, and its run with it; the target's deletion is asked for again
AT_WORK = {**everywhere(1), "teardown": 0}


def stop_and_go(run: FaultyRun) -> None:
    stand_in = run.process("plimsoll.local.aws.server")
    stand_in.suspend()
    time.sleep(STOPPED_S)  # the fault itself
    stand_in.resume()


def remove_home(run: FaultyRun) -> None:
    """Remove the twin's folder, as a cleaner of temporary folders does; the twin notices."""
    stand_in = run.process("plimsoll.local.aws.server")
    (home,) = run.place.path(run.place.temporary).glob("plimsoll-twin-*")
    shutil.rmtree(home, ignore_errors=True)  # what runs there still writes
    await_true(lambda: has_ended(stand_in), "the end of the stand-in", NOTICED_S)


def has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


FAULTS = {
    "INT": Fault(
        lambda run: run.command.send_signal(signal.SIGINT), everywhere(INTERRUPTED), "interrupted"
    ),
    "TERM": Fault(
        lambda run: run.command.send_signal(signal.SIGTERM), everywhere(INTERRUPTED), "interrupted"
    ),
    "KILL": Fault(lambda run: run.command.kill(), everywhere(-signal.SIGKILL), ""),
    "KILL of the stand-in": Fault(
        lambda run: run.process("plimsoll.local.aws.server").kill(),
        everywhere(1),
        r"the local stand-in for AWS has ended \(Killed\)|the local stand-in for AWS is gone",
        ends_the_stand_in=True,
    ),
    "KILL of the database": Fault(
        lambda run: run.process(run.server).kill(),
        dict.fromkeys(EARLY, 1),
        r"FAILED in its (provision|prepare|step) phase: \w+",
    ),
    "KILL of the worker": Fault(
        lambda run: run.worker.kill(),
        AT_WORK,
        r"FAILED in its .* phase: .*signal: killed",
    ),
    "KILL of the nursery": Fault(
        lambda run: run.process("plimsoll.local.lambdas.nursery").kill(),
        AT_WORK,
        "FAILED in its .* phase: .*the process that functions are forked from was killed",
    ),
    "STOP for 10 s": Fault(stop_and_go, {}, ""),
    "removed folder": Fault(
        remove_home,
        everywhere(1),
        r"its folder \S*/plimsoll-twin-\w+ was removed",
        ends_the_stand_in=True,
    ),
    "full disk": Fault(
        lambda run: run.place.fill(run.place.temporary),
        {"provision": 1, "prepare": 1, "switch": 1},  # a server that starts writes files
        "(?i)no space left",
        # A server that cannot start again after a switch has freed some room. Where that holds what
        # else is written, the answer stands, and says why it has no pairs.
        may_answer=frozenset({"switch"}),
    ),
}
# tests/local/test_killed_in_provision.py kills the command in a provision, and
# workflow/test_run_verb.py ends it by SIGTERM under load
REPRESENTATIVE = {
    ("prepare", "INT"),
    ("load", "KILL of the stand-in"),
    ("load", "removed folder"),
    ("switch", "KILL"),
}


def cases() -> list[object]:
    """All of them; those that `make test` leaves out carry a mark."""
    every = [(phase, name) for name in FAULTS for phase in HELD]
    return [
        pytest.param(*case, marks=() if case in REPRESENTATIVE else pytest.mark.whole)
        for case in every
    ]


@pytest.mark.parametrize(("phase", "name"), cases())
def test_a_fault(
    tmp_path: Path, phase: str, name: str, record_property: Callable[[str, object], None]
) -> None:
    meet(tmp_path, phase, name, {}, record_property)


# PostgreSQL is many processes, in namespaces of their own where root runs them
WITH_POSTGRES = [
    ("load", "KILL of the database"),
    pytest.param("load", "KILL", marks=pytest.mark.whole),
    pytest.param("load", "KILL of the stand-in", marks=pytest.mark.whole),
    pytest.param("prepare", "INT", marks=pytest.mark.whole),
]


@pytest.mark.parametrize(("phase", "name"), WITH_POSTGRES)
def test_a_fault_with_postgres(
    tmp_path: Path, phase: str, name: str, record_property: Callable[[str, object], None]
) -> None:
    meet(tmp_path, phase, name, POSTGRES, record_property)


def meet(
    tmp_path: Path,
    phase: str,
    name: str,
    target: Mapping[str, str],
    record_property: Callable[[str, object], None],
) -> None:
    """Let a run meet a fault, and see that it ends as it has to."""
    fault = FAULTS[name]
    with place(tmp_path, disk_mib=1024) as own:
        run = FaultyRun.start(own, tmp_path, phase, target)
        fault.does(run)
        run.let_go()
        code, output = ended(run.command)
        own.empty(own.temporary)
        left = what_is_left(run, guarded=fault.ends_the_stand_in)
    record_property("fault", name)
    record_property("hung", code is None)
    record_property("leaked", bool(left))
    record_property("traced", "Traceback" in output)
    answers = phase in fault.may_answer
    assert code == fault.codes.get(phase, 0) or (answers and code == 0), output
    assert left == []
    assert "Traceback" not in output
    if code or answers:
        assert re.search(fault.told, output), output


@pytest.mark.parametrize(
    "target", [{}, pytest.param(POSTGRES, marks=pytest.mark.whole)], ids=["mariadb", "postgres"]
)
def test_what_is_left_when_all_are_killed_at_once_is_swept_by_doctor(
    tmp_path: Path, target: Mapping[str, str]
) -> None:
    with place(tmp_path, disk_mib=1024) as own:
        run = FaultyRun.start(own, tmp_path, "load", target)
        all_of_it = own.processes()
        for process in all_of_it:
            process.suspend()  # so that none removes what another one leaves
        for process in all_of_it:
            process.kill()
        run.command.communicate()
        await_true(lambda: not own.processes(), "the end of all")
        assert own.files()
        for folder in (own.temporary, MEMORY):
            for lock in own.path(folder).glob(f"{HOME_PREFIX}*/lock"):
                os.utime(lock, (0, 0))  # a younger twin may be one that starts
        _, output = ended(own.start([sys.executable, "-c", DOCTOR], folder=ROOT))
        left = own.files()
    assert "removed what a killed run had left: " in output, output
    assert left == []


def ended(command: "subprocess.Popen[str]") -> tuple[int | None, str]:
    """Give the exit code, None where it hangs, and all that it printed."""
    try:
        stdout, stderr = command.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        command.kill()
        stdout, stderr = command.communicate()
        return None, stderr + stdout
    return command.returncode, stderr + stdout


def what_is_left(run: FaultyRun, *, guarded: bool = False) -> list[str]:
    """List what is left, once whoever was told by a death has done his part."""
    own = run.place
    if guarded or run.command.returncode == -signal.SIGKILL:
        await_true(lambda: not own.processes(), "the end of what it had started")
    return [" ".join(process.cmdline()) for process in own.processes()] + own.files()


@pytest.mark.parametrize(
    ("memory", "full"),
    [("ro", False), ("size=2g", True)],
    ids=["no /dev/shm", "a full /dev/shm"],
)
@pytest.mark.whole
def test_no_memory_to_share(
    tmp_path: Path, memory: str, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """The state of volumes lies elsewhere then, or the run says that there is no room for it."""
    (tmp_path / "gates").mkdir()
    with place(tmp_path, memory=memory) as own:
        if full:
            own.fill(MEMORY)
        command = started(own, tmp_path, tmp_path / "gates")
        code, output = ended(command)
        if full:
            own.empty(MEMORY)
        left = [str(process) for process in own.processes()] + own.files()
    record_property("fault", f"{'a full' if full else 'no'} /dev/shm")
    record_property("hung", code is None)
    record_property("leaked", bool(left))
    record_property("traced", "Traceback" in output)
    assert code == (1 if full else 0), output
    assert left == []
    assert "Traceback" not in output
    if full:
        assert re.search("(?i)no space left", output), output
