"""One log file per function: what it prints, and a line for each start and end, as on AWS."""

from contextlib import suppress
from pathlib import Path

from plimsoll.local.lambdas.invocation import Invocation


class FunctionLogs:
    """The folder of the logs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def file(self, function: str) -> Path:
        """Give a function's log."""
        return self._directory / f"{function}.log"

    def started(self, function: str, invocation: Invocation, pid: int) -> None:
        """Say that a handler got its event."""
        self._write(function, f"START RequestId: {invocation.request_id} pid: {pid}")

    def ended(self, function: str, invocation: Invocation, pid: int, elapsed_s: float) -> None:
        """Say how an invocation ended, how long it took and what its process has used."""
        answer = invocation.answer
        error = f" Error: {answer.payload.decode()}" if answer and answer.failed else ""
        self._write(
            function,
            f"REPORT RequestId: {invocation.request_id} Duration: {elapsed_s * 1000:.0f} ms"
            f" Max Memory Used: {_peak_memory_mib(pid)} MB{error}",
        )

    def _write(self, function: str, line: str) -> None:
        """Write a line; a full disk costs that line, not the invocation that it is about."""
        with suppress(OSError), self.file(function).open("a") as log:
            log.write(line + "\n")


def _peak_memory_mib(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "?"
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return str(int(lines[0].split()[1]) // 1024) if lines else "?"
