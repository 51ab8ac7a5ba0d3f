"""A client that does not end by itself is ended, with its process."""

import subprocess
import sys

STUCK = """\
import threading
from plimsoll.fleet.watchdog import kill_after

with kill_after({limit_s}):
    threading.Event().wait({takes_s})
print("ended by itself")
"""


def run(*, limit_s: float, takes_s: float) -> "subprocess.CompletedProcess[str]":
    code = STUCK.format(limit_s=limit_s, takes_s=takes_s)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_it_is_killed_when_its_time_is_over_and_says_why() -> None:
    ended = run(limit_s=0.05, takes_s=3600)
    assert (ended.returncode, ended.stdout) == (70, "")
    assert "the client did not end within 0.05 s" in ended.stderr


def test_one_that_ends_in_time_is_let_be() -> None:
    ended = run(limit_s=3600, takes_s=0)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended by itself\n", "")
