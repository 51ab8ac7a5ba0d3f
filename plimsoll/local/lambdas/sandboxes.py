"""The pool of warm sandboxes for each function: grows if all are busy, kills at time-outs."""

import os
import queue
import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.local.lambdas.invocation import (
    FunctionSpec,
    Invocation,
    InvocationAnswer,
    describe_exit,
)
from plimsoll.local.lambdas.logs import FunctionLogs
from plimsoll.local.lambdas.nursery_process import NurseryProcess
from plimsoll.local.lambdas.runtime_api import RuntimeApi

# AWS gives a runtime 10 s to start; a hundred at once on two cores need longer.
START_TIMEOUT_S = 60.0
# Before it can fork one, a new nursery loads what functions import: seconds of processor time.
FORK_TIMEOUT_S = 300.0
# Inherited by sandboxes: the locations of programs and libraries.
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR", "PYTHONPATH")


@dataclass
class Sandbox:
    """One runtime process.

    Attributes:
        id: The secret part of its path in the Runtime API.
        pid: Process id, 0 until it has been forked.
        forked: Event that is set when the process id is known, which may be after it asks for work,
            or when there will be none.
        inbox: The invocation to run next; None ends the sandbox.
        running: The invocation that it runs.
        ended_by: The reason for its end, once it has ended.
    """

    function: FunctionSpec
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    pid: int = 0
    forked: threading.Event = field(default_factory=threading.Event)
    inbox: "queue.SimpleQueue[Invocation | None]" = field(default_factory=queue.SimpleQueue)
    running: Invocation | None = None
    ended_by: str | None = None


class SandboxPool:
    """All sandboxes of a twin. Thread-safe.

    Nothing here invokes a function a second time: callers do the retries.
    """

    def __init__(
        self,
        logs: Path,
        environment: Mapping[str, str],
        hopeless: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start the nursery. Call it from a thread that lives as long as the pool.

        Args:
            logs: Folder for one log file per function.
            environment: Variables of every function: region, credentials, endpoint.
            hopeless: The function called with the reason if no function can run any more.
        """
        self._logs = FunctionLogs(logs)
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._sandboxes: dict[str, Sandbox] = {}
        self._idle: dict[FunctionSpec, list[Sandbox]] = {}
        self._closed = False
        self._api = RuntimeApi(self)
        self._nursery = NurseryProcess(
            report=self._on_report, died=self._end_all, hopeless=hopeless
        )

    def preload(self, task_roots: Sequence[Path]) -> None:
        """Load the libraries that functions import into the nursery."""
        self._nursery.preload([str(root) for root in task_roots])

    def invoke(self, function: FunctionSpec, payload: bytes) -> InvocationAnswer:
        """Run a function once and wait for its answer; a time-out kills its process."""
        invocation = Invocation(function.arn, payload, function.timeout_s)
        started = time.monotonic()
        sandbox = self._assign(function, invocation)
        if not sandbox.forked.wait(FORK_TIMEOUT_S):
            self._time_out(sandbox, invocation, FORK_TIMEOUT_S)
        elif not invocation.delivered.wait(START_TIMEOUT_S):
            self._time_out(sandbox, invocation, START_TIMEOUT_S)
        elif not invocation.done.wait(function.timeout_s):
            self._time_out(sandbox, invocation, function.timeout_s)
        assert invocation.answer is not None  # noqa: S101 - done was set, here or by the runtime
        self._logs.log_end(function.name, invocation, sandbox.pid, time.monotonic() - started)
        return invocation.answer

    def warm(self, function: FunctionSpec, count: int) -> None:
        """Start sandboxes until a function has `count`; they get ready in the background."""
        with self._lock:
            have = sum(sandbox.function == function for sandbox in self._sandboxes.values())
        for _ in range(count - have):
            self._spawn(function)

    def list_running(self) -> list[tuple[str, str, int]]:
        """List (function, request id, process id) of running invocations."""
        with self._lock:
            return [
                (sandbox.function.name, sandbox.running.request_id, sandbox.pid)
                for sandbox in self._sandboxes.values()
                if sandbox.running is not None
            ]

    def close(self) -> None:
        """End every sandbox, running or not."""
        with self._lock:
            self._closed = True
        self._nursery.close()
        self._end_all(describe_exit(-9))
        self._api.close()

    # called by the Runtime API

    def knows(self, sandbox: str) -> bool:
        """Return whether a sandbox belongs to the pool."""
        with self._lock:
            return sandbox in self._sandboxes

    def next_invocation(self, sandbox: str) -> Invocation | None:
        """Offer a sandbox for use, and wait for its next invocation."""
        with self._lock:
            box = self._sandboxes.get(sandbox)
            if box is None or self._closed:
                return None
            box.running = None
            if box.inbox.empty():
                self._idle.setdefault(box.function, []).append(box)
        invocation = box.inbox.get()
        if invocation is not None:
            with self._lock:
                box.running = invocation
                ended_by = box.ended_by
            if ended_by is not None:  # it got this invocation at the moment it ended
                invocation.fail("Runtime.ExitError", ended_by)
                return None
            box.forked.wait(START_TIMEOUT_S)
            self._logs.log_start(box.function.name, invocation, box.pid)
            invocation.deliver()
        return invocation

    def take_answer(self, sandbox: str, request_id: str, body: bytes, *, failed: bool) -> bool:
        """Hand an answer to its caller."""
        with self._lock:
            box = self._sandboxes.get(sandbox)
            invocation = box.running if box else None
        if invocation is None or invocation.request_id != request_id:
            return False
        invocation.finish(InvocationAnswer(body, failed=failed))
        return True

    def take_start_error(self, sandbox: str, body: bytes) -> None:
        """Return the error of a handler that cannot be loaded to the waiting caller."""
        with self._lock:
            box = self._sandboxes.get(sandbox)
        if box is not None and not box.inbox.empty():
            invocation = box.inbox.get()
            if invocation is not None:
                invocation.finish(InvocationAnswer(body, failed=True))

    # processes

    def _assign(self, function: FunctionSpec, invocation: Invocation) -> Sandbox:
        with self._lock:
            idle = self._idle.get(function)
            sandbox = idle.pop() if idle else None
            if sandbox is not None:
                sandbox.inbox.put(invocation)
        return sandbox or self._spawn(function, invocation)

    def _spawn(self, function: FunctionSpec, invocation: Invocation | None = None) -> Sandbox:
        sandbox = Sandbox(function)
        if invocation is not None:
            sandbox.inbox.put(invocation)
        order = {
            "spawn": sandbox.id,
            "environment": _build_environment(
                function, sandbox.id, self._environment, self._api.address
            ),
            "task_root": str(function.task_root),
            "handler": function.handler,
            "log": str(self._logs.file(function.name)),
        }
        with self._nursery.orders:
            with self._lock:
                self._sandboxes[sandbox.id] = sandbox
            ordered = self._nursery.order(order)
        if not ordered:
            self._note_end(sandbox.id, describe_exit(-9))
        return sandbox

    def _time_out(self, sandbox: Sandbox, invocation: Invocation, limit_s: float) -> None:
        invocation.fail("Sandbox.Timedout", f"Task timed out after {limit_s:.2f} seconds")
        with self._lock:
            if sandbox.running is not invocation and invocation.delivered_to_handler:
                return  # it has just answered, and may already run another invocation
            self._sandboxes.pop(sandbox.id, None)
        self._nursery.order({"kill": sandbox.id})

    def _on_report(self, message: dict[str, Any]) -> None:
        if "spawned" in message:
            with self._lock:
                if sandbox := self._sandboxes.get(message["spawned"]):
                    sandbox.pid = message["pid"]
                    sandbox.forked.set()
        else:
            why = message.get("why") or describe_exit(message["status"])
            self._note_end(message["exited"], why)

    def _end_all(self, reason: str) -> None:
        with self._lock:
            sandboxes = list(self._sandboxes)
        for sandbox in sandboxes:
            self._note_end(sandbox, reason)

    def _note_end(self, sandbox_id: str, reason: str) -> None:
        with self._lock:
            sandbox = self._sandboxes.pop(sandbox_id, None)
            if sandbox is None:  # it was killed at its time-out
                return
            sandbox.ended_by = reason
            sandbox.forked.set()
            idle = self._idle.get(sandbox.function, [])
            if sandbox in idle:
                idle.remove(sandbox)
            invocation = sandbox.running
        if invocation is None and not sandbox.inbox.empty():
            invocation = sandbox.inbox.get()
        sandbox.inbox.put(None)
        if invocation is not None and not invocation.done.is_set():
            invocation.fail("Runtime.ExitError", reason)


def _build_environment(
    function: FunctionSpec, sandbox_id: str, shared: Mapping[str, str], api_address: str
) -> dict[str, str]:
    """Return a sandbox's whole environment.

    Its variables are the defined runtime variables of
    https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html

    Args:
        function: The function that it runs.
        sandbox_id: The sandbox's secret part of the Runtime API's path.
        shared: Variables of every function.
        api_address: Host and port of the Runtime API.
    """
    return {
        **{name: os.environ[name] for name in _INHERITED if name in os.environ},
        **shared,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{sys.version_info[0]}.{sys.version_info[1]}",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mib),
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": sandbox_id[:8],
        "AWS_LAMBDA_RUNTIME_API": f"{api_address}/{sandbox_id}",
        "LAMBDA_TASK_ROOT": str(function.task_root),
        "TZ": ":UTC",
        "_HANDLER": function.handler,
        **dict(function.environment),
    }
