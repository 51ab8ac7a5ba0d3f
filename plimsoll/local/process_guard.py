"""Runs one program and kills it when the process that asked for it is gone.

This is a process of its own, started by `plimsoll.local.guarded` as a plain script. Its standard
input is a pipe whose other end only the parent holds. The first line says what to run. The end of
the pipe, which comes with the parent's death whatever its cause, kills the program. If the guard
itself is killed, the kernel kills the program (PR_SET_PDEATHSIG, which holds here because the
guard's main thread, the one that starts it, lives as long as the guard). Processes that the program
leaves behind are killed too: they become children of the guard (PR_SET_CHILD_SUBREAPER). System V
shared memory that they have made and nobody uses is removed, as a killed PostgreSQL leaves it where
it has no namespace of its own.

The request, one JSON line: `command`, `environment`, `working_directory`, `log` (a file for
standard output and error) and `remove_on_orphaned` (folders to delete if the parent died). The
answer on standard output, one JSON line: `{"pid": ...}` or `{"error": ...}`.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# field of proc_pid_stat(5), counted from the state, which follows the name in parentheses
_PARENT = 1
_SEGMENTS = Path("/proc/sysvipc/shm")
_IPC_RMID = 0
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_guard() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _list_children() -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = process.read_text().rpartition(")")[2].split()
            if int(fields[_PARENT]) == os.getpid():
                found.append(int(process.parent.name))
    return found


def _kill_descendants() -> set[int]:
    """Kill the processes that the program has left behind, and those that they leave."""
    killed = set()
    while left := _list_children():
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            killed.add(pid)
    return killed


class Segment(NamedTuple):
    """A System V shared memory segment: proc_sysvipc(5)."""

    key: int
    number: int
    creator: int  # process id
    users: int  # processes that have it attached
    changed_s: int  # when it was made, in seconds of the epoch


def list_segments() -> list[Segment]:
    """List the segments of this IPC namespace; none if the system does not show them."""
    try:
        rows = [line.split() for line in _SEGMENTS.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [Segment(*(int(row[column]) for column in (0, 1, 4, 6, 13))) for row in rows]


def remove_shared_memory(creators: Collection[int], *, since_s: float = 0) -> None:
    """Remove the segments that some processes have made, that nobody uses, and that are not older.

    Those of other users stay: the kernel refuses.
    """
    for segment in list_segments():
        if segment.creator in creators and not segment.users and segment.changed_s >= since_s:
            _libc.shmctl(segment.number, _IPC_RMID, None)


def main() -> int:
    """Run the requested program; return its exit code, 128 + signal if a signal ended it."""
    request = json.loads(sys.stdin.buffer.readline())
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        with Path(request["log"]).open("ab") as log:
            program = subprocess.Popen(
                request["command"],
                env=request["environment"],
                cwd=request["working_directory"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_guard,  # noqa: PLW1509 - no other thread runs yet
            )
    except OSError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 127
    print(json.dumps({"pid": program.pid}), flush=True)

    orphaned = threading.Event()

    def watch_parent() -> None:
        while os.read(
            0, 4096
        ):  # the parent sends nothing more: this read ends when the parent closes the pipe or dies
            pass
        orphaned.set()
        program.kill()

    threading.Thread(target=watch_parent, daemon=True).start()
    code = program.wait()
    remove_shared_memory({program.pid, *_kill_descendants()})
    if orphaned.is_set():
        for folder in request["remove_on_orphaned"]:
            shutil.rmtree(folder, ignore_errors=True)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        # only the pipe decides when to end; no SIG_IGN, which the program would inherit
        signal.signal(number, lambda *_: None)
    sys.exit(main())
