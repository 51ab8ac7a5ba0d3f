"""Forks sandboxes: it has the libraries loaded, so that a cold start costs milliseconds.

Runs as `python -m plimsoll.local.lambdas.nursery`, started by `sandboxes.py`. It imports what the
functions import, never a function itself: each sandbox runs its handler's module afresh, as on AWS.
It has one thread, so that forking is safe, and its death ends its sandboxes (PR_SET_PDEATHSIG).

Standard input carries JSON lines: `{"preload": [folders]}`,
`{"spawn": id, "environment": {...}, "task_root": folder, "handler": name, "log": file}` and
`{"kill": id}`. Standard output answers `{"spawned": id, "pid": n}` and
`{"exited": id, "status": n}` (as subprocess has it: negative for a signal), or
`{"exited": id, "why": text}` where it could not be forked.
The end of standard input ends everything.
"""

import ast
import ctypes
import errno
import gc
import importlib
import io
import json
import os
import select
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from plimsoll.process_limits import describe_system_error

SERVICES = ("s3", "dynamodb", "secretsmanager", "cloudformation", "cloudwatch", "scheduler")

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when the thread that started it ends.

    Args:
        parent: Process id of the parent at the start: if it has gone meanwhile, exit at once.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def list_imported_modules(source: str) -> set[str]:
    """Return the modules that a Python source imports at any level, relative ones left out."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return names


def preload(task_roots: list[str]) -> None:
    """Import the libraries that the functions import; what fails to import fails in the sandbox."""
    gc.disable()  # nothing that is loaded is unloaded again
    names = {"boto3", "botocore.session", "botocore.endpoint", "json", "logging"}
    for root in task_roots:
        for file in Path(root).glob("*.py"):
            try:
                names |= list_imported_modules(file.read_text())
            except SyntaxError:
                continue
        names -= {file.stem for file in Path(root).glob("*.py")}
    for name in sorted(names):
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - the sandbox reports it, with the handler's name
            continue
    warm_sdk()
    if "plimsoll.requests" in sys.modules:
        warm_models()
    # What is loaded lives as long as the process: a collector that walked through it in a sandbox
    # would write to every page, and each sandbox would have a copy of its own. Looking for garbage
    # before takes 0.1 s, and finds little.
    gc.freeze()
    gc.enable()


def warm_sdk() -> None:
    """Make a client of each service once, and throw it away.

    boto3's session keeps the models that it has read: 0.15 s of CPU that each sandbox would spend
    before its first call, and a hundred load clients before their barrier. No call is made, and
    what a client is made with (region, credentials, endpoint) is read anew in each sandbox.
    """
    import boto3  # noqa: PLC0415 - as all that is loaded here

    for service in SERVICES:
        boto3.client(  # type: ignore[call-overload]  # its types know a service's name as a literal
            service,
            region_name="us-east-1",
            aws_access_key_id="none",
            aws_secret_access_key="none",  # noqa: S106 - it never signs
        )


def warm_models() -> None:
    """Build the models that most functions read, and one workload's parts.

    pydantic builds a model when it is first used: 0.3 s of CPU over the sandboxes of a first run.
    """
    from plimsoll.model.request.request import Request  # noqa: PLC0415 - as all that is loaded here
    from plimsoll.model.run.fleet import StepPlan  # noqa: PLC0415
    from plimsoll.model.run.results import StepResult  # noqa: PLC0415
    from plimsoll.model.run.run_record import RunRecord  # noqa: PLC0415
    from plimsoll.workload.library import load_builtin_workload  # noqa: PLC0415

    load_builtin_workload("ycsb-a")
    for model in (Request, RunRecord, StepPlan, StepResult):
        model.model_rebuild()


class Nursery:
    """The command loop: forks, kills and reaps sandboxes."""

    def __init__(self) -> None:
        self.pids: dict[str, int] = {}  # sandbox id -> process id

    def run(self) -> None:
        """Serve until standard input ends."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pending = b""
        while True:
            readable, _, _ = select.select([0, wake_read], [], [])
            if wake_read in readable:
                os.read(wake_read, 4096)
                self._reap()
            if 0 in readable:
                data = os.read(0, 1 << 16)
                if not data:
                    self._end()
                    return
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    self._obey(json.loads(line))

    def _obey(self, command: dict[str, Any]) -> None:
        if "preload" in command:
            preload(command["preload"])
        elif "spawn" in command:
            self._spawn(command)
        elif "kill" in command and (pid := self.pids.get(command["kill"])):
            os.kill(pid, signal.SIGKILL)  # not reaped yet, so the id is still its own

    def _spawn(self, command: dict[str, Any]) -> None:
        nursery = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            return say({"exited": command["spawn"], "why": describe_system_error(error)})
        if pid == 0:
            become_sandbox(nursery, command)
        self.pids[command["spawn"]] = pid
        return say({"spawned": command["spawn"], "pid": pid})

    def _end(self) -> None:
        """Kill and reap all, so that none is left when whoever waits for the nursery goes on."""
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)
        for pid in self.pids.values():
            os.waitpid(pid, 0)

    def _reap(self) -> None:
        while self.pids:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            sandbox = next(key for key, value in self.pids.items() if value == pid)
            del self.pids[sandbox]
            say({"exited": sandbox, "status": os.waitstatus_to_exitcode(status)})


class LogFile(io.FileIO):
    """A function's log, which loses what a full disk or file has no room for; it goes on."""

    def write(self, data: Any, /) -> int:
        """Write bytes, or say that they were written."""
        try:
            return super().write(data)
        except OSError as failed:
            if failed.errno not in _NO_ROOM:
                raise
            return len(data)


def become_sandbox(nursery: int, command: dict[str, Any]) -> NoReturn:
    """Turn a fresh fork into one function's runtime; never returns."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        die_with(nursery)
        log = os.open(command["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.closerange(3, 64)
        os.environ.clear()
        os.environ.update(command["environment"])
        os.chdir(command["task_root"])
        sys.path.insert(0, command["task_root"])
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.BufferedWriter(LogFile(number, "w")), line_buffering=True)
            for number in (1, 2)
        )
        # after the fork: awslambdaric reads its environment when it is imported
        from plimsoll.local.lambdas.runtime import serve_invocations  # noqa: PLC0415

        serve_invocations(command["handler"])
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:  # noqa: BLE001 - the last frame of this process: say why, and end it
        traceback.print_exc()
    finally:
        os._exit(code)


def say(message: dict[str, Any]) -> None:
    """Write one line to whoever started the nursery."""
    os.write(
        1, json.dumps(message).encode() + b"\n"
    )  # shorter than PIPE_BUF, so that lines of several writers never mix


def main() -> None:
    """Run the nursery; should it be killed, the kernel kills what it forked."""
    die_with(int(sys.argv[1]))
    Nursery().run()


if __name__ == "__main__":
    main()
