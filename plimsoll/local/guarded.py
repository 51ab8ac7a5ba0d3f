"""Programs that never outlive the process that started them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self
from weakref import WeakSet

from plimsoll.errors import PlimsollError

_STARTED: "WeakSet[GuardedProcess]" = WeakSet()
_GUARD = Path(__file__).with_name("process_guard.py")


def kill_all() -> None:
    """Kill everything that this process has started guarded; waiting callers see it ended."""
    for process in list(_STARTED):
        process.kill()


class GuardedProcess:
    """A program under `process_guard.py`: killed when this process ends, however that happens.

    When it has ended, the processes that it leaves behind are killed too.

    Attributes:
        pid: Process id of the program itself, not of its guard.
    """

    def __init__(self, guard: subprocess.Popen[bytes], pid: int) -> None:
        self._guard = guard
        self.pid = pid
        _STARTED.add(self)

    @classmethod
    def start(
        cls,
        command: Sequence[str | os.PathLike[str]],
        *,
        environment: Mapping[str, str],
        working_directory: Path,
        log: Path,
        remove_on_orphaned: Sequence[Path] = (),
    ) -> Self:
        """Start a program in a session of its own, so that Ctrl-C does not reach it.

        Args:
            command: Program and arguments.
            environment: The program's whole environment.
            working_directory: The program's working directory.
            log: File to which its standard output and error are appended.
            remove_on_orphaned: Folders deleted if this process dies before it has ended.

        Raises:
            PlimsollError: The program could not be started.
        """
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert guard.stdin is not None  # noqa: S101 - both were asked for above
        assert guard.stdout is not None  # noqa: S101
        program = [os.fspath(part) for part in command]
        request = {
            "command": program,
            "environment": dict(environment),
            "working_directory": os.fspath(working_directory),
            "log": os.fspath(log),
            "remove_on_orphaned": [os.fspath(folder) for folder in remove_on_orphaned],
        }
        guard.stdin.write(json.dumps(request).encode() + b"\n")
        guard.stdin.flush()
        line = guard.stdout.readline()
        guard.stdout.close()
        answer = json.loads(line or b'{"error": "its guard died"}')
        if "error" in answer:
            guard.stdin.close()
            guard.wait()
            raise PlimsollError(f"cannot start {program[0]}: {answer['error']}")
        return cls(guard, answer["pid"])

    def poll(self) -> int | None:
        """Return the exit code (128 + signal if a signal ended it), None while it runs."""
        code = self._guard.poll()
        return None if code is None else self.wait()

    def wait(self, timeout_s: float | None = None) -> int:
        """Wait until it has ended and return its exit code.

        Raises:
            subprocess.TimeoutExpired: It still runs after `timeout_s`.
        """
        code = self._guard.wait(timeout_s)
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send the program a signal; no error if it has ended."""
        if self.poll() is None:  # not reaped by the guard yet, so the id still names this program
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def stop(self, timeout_s: float, asking: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end by a signal, insist (SIGKILL) after `timeout_s`; return its exit code."""
        self.send_signal(asking)
        try:
            return self.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        """End it at once (SIGKILL) and return its exit code."""
        self.send_signal(signal.SIGKILL)
        return self.wait()
