"""The pool: warm sandboxes per function, a new one when all are busy, none after its time-out."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.local.lambdas.environment import sandbox_environment
from plimsoll.local.lambdas.invocation import Answer, FunctionSpec, Invocation, exit_reason
from plimsoll.local.lambdas.logs import FunctionLogs
from plimsoll.local.lambdas.runtime_api import RuntimeApi

# AWS gives the start of a runtime 10 s; a hundred at once on two cores need longer.
START_TIMEOUT_S = 60.0


@dataclass
class Sandbox:
    """One runtime process.

    Attributes:
        pid: Process id, 0 until it has been forked.
        forked: Set when the process id is known, which may be after it asks for work.
        inbox: The invocation it is to run next; None ends it.
        running: The invocation it runs.
    """

    id: int
    function: FunctionSpec
    pid: int = 0
    forked: threading.Event = field(default_factory=threading.Event)
    inbox: "queue.SimpleQueue[Invocation | None]" = field(default_factory=queue.SimpleQueue)
    running: Invocation | None = None


class SandboxPool:
    """All sandboxes of a twin. Thread-safe.

    Nothing here invokes a function a second time: retries are the caller's.
    """

    def __init__(self, logs: Path, environment: Mapping[str, str]) -> None:
        """Start the nursery. Call it from a thread that lives as long as the pool.

        Args:
            logs: Folder for one log file per function.
            environment: Variables of every function: region, credentials, endpoint.
        """
        self._logs = FunctionLogs(logs)
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._sandboxes: dict[int, Sandbox] = {}
        self._idle: dict[FunctionSpec, list[Sandbox]] = {}
        self._count = 0
        self._closed = False
        self._api = RuntimeApi(self)
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "plimsoll.local.lambdas.nursery", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # a fork must find one thread
        )
        self._orders = threading.Lock()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def preload(self, task_roots: Sequence[Path]) -> None:
        """Load the libraries that functions import into the nursery."""
        self._order({"preload": [str(root) for root in task_roots]})

    def invoke(self, function: FunctionSpec, payload: bytes) -> Answer:
        """Run a function once and wait for its answer; a time-out kills its process."""
        invocation = Invocation(function.arn, payload, function.timeout_s)
        started = time.monotonic()
        sandbox = self._assign(function, invocation)
        if not invocation.delivered.wait(START_TIMEOUT_S):
            self._time_out(sandbox, invocation, START_TIMEOUT_S)
        elif not invocation.done.wait(function.timeout_s):
            self._time_out(sandbox, invocation, function.timeout_s)
        assert invocation.answer is not None  # noqa: S101 - done was set, here or by the runtime
        self._logs.ended(function.name, invocation, sandbox.pid, time.monotonic() - started)
        return invocation.answer

    def warm(self, function: FunctionSpec, count: int) -> None:
        """Start sandboxes until a function has `count`; they get ready in the background."""
        with self._lock:
            have = sum(sandbox.function == function for sandbox in self._sandboxes.values())
        for _ in range(count - have):
            self._spawn(function)

    def running(self) -> list[tuple[str, str, int]]:
        """List (function, request id, process id) of what runs now."""
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
            sandboxes = list(self._sandboxes.values())
        if self._nursery.stdin is not None:
            self._nursery.stdin.close()  # when the nursery ends, the kernel kills the sandboxes
        self._nursery.wait()
        self._listener.join()
        for sandbox in sandboxes:
            self._exited(sandbox.id, -9)
        self._api.close()

    # called by the Runtime API

    def next_invocation(self, sandbox: int) -> Invocation | None:
        """Offer a sandbox for use, and wait for what it is to run."""
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
            box.forked.wait(START_TIMEOUT_S)
            self._logs.started(box.function.name, invocation, box.pid)
            invocation.deliver()
        return invocation

    def answered(self, sandbox: int, request_id: str, body: bytes, *, failed: bool) -> bool:
        """Hand an answer to its caller."""
        with self._lock:
            box = self._sandboxes.get(sandbox)
            invocation = box.running if box else None
        if invocation is None or invocation.request_id != request_id:
            return False
        invocation.finish(Answer(body, failed=failed))
        return True

    def failed_to_start(self, sandbox: int, body: bytes) -> None:
        """Hand the error of a handler that cannot be loaded to the caller that waits for it."""
        with self._lock:
            box = self._sandboxes.get(sandbox)
        if box is not None and not box.inbox.empty():
            invocation = box.inbox.get()
            if invocation is not None:
                invocation.finish(Answer(body, failed=True))

    # processes

    def _assign(self, function: FunctionSpec, invocation: Invocation) -> Sandbox:
        with self._lock:
            idle = self._idle.get(function)
            sandbox = idle.pop() if idle else None
            if sandbox is not None:
                sandbox.inbox.put(invocation)
        return sandbox or self._spawn(function, invocation)

    def _spawn(self, function: FunctionSpec, invocation: Invocation | None = None) -> Sandbox:
        with self._lock:
            self._count += 1
            sandbox = Sandbox(self._count, function)
            self._sandboxes[sandbox.id] = sandbox
            if invocation is not None:
                sandbox.inbox.put(invocation)
        self._order(
            {
                "spawn": sandbox.id,
                "environment": sandbox_environment(
                    function, sandbox.id, self._environment, self._api.address
                ),
                "task_root": str(function.task_root),
                "handler": function.handler,
                "log": str(self._logs.file(function.name)),
            }
        )
        return sandbox

    def _time_out(self, sandbox: Sandbox, invocation: Invocation, limit_s: float) -> None:
        invocation.fail("Sandbox.Timedout", f"Task timed out after {limit_s:.2f} seconds")
        with self._lock:
            if sandbox.running is not invocation and invocation.delivered_to_handler:
                return  # it answered just now, and may already run another invocation
            self._sandboxes.pop(sandbox.id, None)
        self._order({"kill": sandbox.id})

    def _order(self, command: dict[str, Any]) -> None:
        line = json.dumps(command).encode() + b"\n"
        with self._orders:
            try:
                assert self._nursery.stdin is not None  # noqa: S101 - a pipe was asked for
                self._nursery.stdin.write(line)
                self._nursery.stdin.flush()
            except (OSError, ValueError):  # the nursery has ended, and its sandboxes with it
                if "spawn" in command:
                    self._exited(command["spawn"], -9)

    def _listen(self) -> None:
        assert self._nursery.stdout is not None  # noqa: S101 - a pipe was asked for
        with self._nursery.stdout as answers:
            for line in answers:
                message = json.loads(line)
                if "spawned" in message:
                    with self._lock:
                        if sandbox := self._sandboxes.get(message["spawned"]):
                            sandbox.pid = message["pid"]
                            sandbox.forked.set()
                else:
                    self._exited(message["exited"], message["status"])

    def _exited(self, sandbox_id: int, status: int) -> None:
        with self._lock:
            sandbox = self._sandboxes.pop(sandbox_id, None)
            if sandbox is None:  # killed at its time-out
                return
            idle = self._idle.get(sandbox.function, [])
            if sandbox in idle:
                idle.remove(sandbox)
            invocation = sandbox.running
        if invocation is None and not sandbox.inbox.empty():
            invocation = sandbox.inbox.get()
        sandbox.inbox.put(None)
        if invocation is not None and not invocation.done.is_set():
            invocation.fail("Runtime.ExitError", exit_reason(status))
