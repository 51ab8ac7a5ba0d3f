import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from plimsoll import machine, packaged
from plimsoll.errors import MissingToolError, PlimsollError, UsageError
from plimsoll.local import twin
from plimsoll.local.aws import server
from plimsoll.local.aws.process import find_end_reason
from plimsoll.local.twin import LocalTwin
from plimsoll.machine import ClockWatch

ROOT = Path(__file__).parents[3]


def test_another_system_than_linux_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="--local needs Linux"):
        LocalTwin(tmp_path).start()


def test_missing_packages_are_named_with_the_command_that_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "find_spec", lambda name: None if name == "jsonata" else name)
    with pytest.raises(MissingToolError, match=r"stand-in for AWS .*\(jsonata\): make setup"):
        LocalTwin(tmp_path).start()


def test_a_clock_that_nobody_set_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "time", SimpleNamespace(time=lambda: 180.0))
    with pytest.raises(PlimsollError, match="this machine's clock shows 1970-01-01 00:03 UTC"):
        LocalTwin(tmp_path).start()


class EndedError(Exception):
    pass


def test_a_twin_ends_when_the_clock_is_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its steps would wait for their barriers as long as the clock was set back."""
    looks = iter([None, "the clock was set back"])

    def end(reason: str) -> None:
        raise EndedError(reason)

    monkeypatch.setattr(server, "_LOOK_S", 0)
    monkeypatch.setattr(server, "_end_at_once", end)
    monkeypatch.setattr(ClockWatch, "look", lambda _: next(looks))
    with (tmp_path / "lock").open("w") as lock, pytest.raises(EndedError, match="was set back"):
        server._watch_machine([lock])


def test_a_twin_ends_when_it_may_open_no_further_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody who connects would be answered; each call waits for a thousand seconds."""

    def end(reason: str) -> None:
        raise EndedError(reason)

    def refuse(_: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(server, "_LOOK_S", 0)
    monkeypatch.setattr(server, "_end_at_once", end)
    monkeypatch.setattr(server, "os", SimpleNamespace(**vars(os) | {"dup": refuse}))
    with (tmp_path / "lock").open("w") as lock, pytest.raises(EndedError, match=r"ulimit -n"):
        server._watch_machine([lock])


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("it ends: its folder /a was removed\n", "its folder /a was removed"),
        (
            "a warning\nit ends: its folder /a was removed\nOSError: 32\n",
            "its folder /a was removed",
        ),
        ("half a lineit ends: the clock was set back\n", "the clock was set back"),
        ("Traceback\nImportError: no moto\n", "ImportError: no moto"),
        ("", "it said nothing"),
    ],
)
def test_why_a_stand_in_ended_is_its_reason_whatever_its_threads_log_after_it(
    log: str, reason: str
) -> None:
    assert find_end_reason(log) == reason


WITHOUT_THREADS = """
threading._start_new_thread = lacks(RuntimeError("can't start new thread"))
threading.Thread(target=print).start()
"""
WITHOUT_MEMORY = """
thread = threading.Thread(target=lacks(MemoryError()))
thread.start()
thread.join()
"""
LACKING = """
import threading
from plimsoll.local.aws import server
from plimsoll.local.aws.process import find_end_reason

def lacks(error):
    def refuse(*_):
        raise error
    return refuse

server._end_at_limits()
"""


@pytest.mark.parametrize(
    ("lacks", "told"),
    [
        (WITHOUT_THREADS, "no further thread can be started"),
        (WITHOUT_MEMORY, "out of memory"),
    ],
    ids=["threads", "memory"],
)
def test_a_stand_in_that_lacks_a_thread_or_its_memory_ends_and_says_so(
    lacks: str, told: str
) -> None:
    """Whoever waits for that thread would wait forever; an answer that never came was a trace."""
    ran = subprocess.run(
        [sys.executable, "-c", f"{LACKING}{lacks}print('goes on')"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert find_end_reason(ran.stderr).startswith(told)
    assert ran.stderr.count("\n") == 1


REFUSED = ClientError({"Error": {"Code": "500", "Message": "Internal Server Error"}}, "GetObject")
CLOSED = ConnectionClosedError(endpoint_url="http://127.0.0.1:1/")


def broken(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, ended: str | None = None, low: str = ""
) -> LocalTwin:
    """A twin whose stand-in fails: it has ended, or limits of its process are low."""
    made = LocalTwin(folder)
    monkeypatch.setattr(
        made, "_aws", SimpleNamespace(explain_end=lambda: ended, close=lambda: None)
    )
    monkeypatch.setattr(made, "start", lambda: made)
    monkeypatch.setattr(twin, "name_low_limits", lambda: low)
    return made


@pytest.mark.parametrize(
    ("error", "ended", "told"),
    [
        (CLOSED, "Killed", "has ended (Killed), and with it all that ran there"),
        (CLOSED, None, "failed: low limits: LOW: Connection was closed"),
        (REFUSED, None, "failed: low limits: LOW: An error occurred (500)"),
    ],
)
def test_an_answer_that_never_came_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, ended: str, told: str
) -> None:
    made = broken(tmp_path, monkeypatch, ended=ended, low="LOW")
    with pytest.raises(PlimsollError, match=re.escape(f"stand-in for AWS {told}")), made:
        raise error


def test_a_defect_on_a_twin_keeps_its_stack_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClientError), broken(tmp_path, monkeypatch):
        raise REFUSED
