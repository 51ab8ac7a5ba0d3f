"""One log file per function: its output, and a line for each start and end, as on AWS."""

import logging
from pathlib import Path

from plimsoll.local.lambdas.invocation import Invocation

LOG = logging.getLogger(__name__)


class FunctionLogs:
    """The folder of the logs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def file(self, function: str) -> Path:
        """Return a function's log file."""
        return self._directory / f"{function}.log"

    def log_start(self, function: str, invocation: Invocation, pid: int) -> None:
        """Log that a handler got its event."""
        self._write(function, f"START RequestId: {invocation.request_id} pid: {pid}")

    def log_end(self, function: str, invocation: Invocation, pid: int, elapsed_s: float) -> None:
        """Log how an invocation ended, how long it took and what its process has used."""
        answer = invocation.answer
        error = f" Error: {answer.payload.decode()}" if answer and answer.failed else ""
        self._write(
            function,
            f"REPORT RequestId: {invocation.request_id} Duration: {elapsed_s * 1000:.0f} ms"
            f" Max Memory Used: {_read_peak_memory_mib(pid)} MB{error}",
        )

    def _write(self, function: str, line: str) -> None:
        try:
            with self.file(function).open("a") as log:
                log.write(line + "\n")
        except OSError as error:  # a full disk, for instance, must not delay an invocation
            LOG.warning("%s: %s: %s", self.file(function), error.strerror, line)


def _read_peak_memory_mib(pid: int) -> str:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "?"
    lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return str(int(lines[0].split()[1]) // 1024) if lines else "?"
