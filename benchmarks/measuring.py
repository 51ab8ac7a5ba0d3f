"""Running a client as a process of its own, and what it cost: its CPU, and what went on beside."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.surroundings import Beside, Surroundings

CLIENT_CORE = 0
SERVER_CORE = 1
CALM = 0.04  # share of this machine's CPU time
PATIENCE = 12  # tries


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one client did."""

    operations: int
    cpu_s: float  # user and system time of the client's process, from its start to its end
    wall_s: float
    output: str
    beside: Beside

    @property
    def rate(self) -> float:
        """Operations per second."""
        return self.operations / self.wall_s

    @property
    def server_us(self) -> float | None:
        """Server CPU time of one operation, in microseconds; logging in included."""
        server_s = self.beside.server_s
        return None if server_s is None else server_s * 1e6 / self.operations

    @property
    def interrupts(self) -> float | None:
        """Interrupts from one processor to another, for each operation."""
        count = self.beside.interrupts
        return None if count is None else count / self.operations

    def sample(self) -> dict[str, float | None]:
        """Everything that is kept of it."""
        return {
            "operations": self.operations,
            "ops_per_second": round(self.rate, 1),
            "client_cpu_us": round(self.cpu_us, 3),
            "server_cpu_us": self.server_us,
            "interrupts_per_operation": self.interrupts,
            "stolen_share": self.beside.stolen,
            "others_share": self.beside.others,
        }

    @property
    def cpu_us(self) -> float:
        """Client CPU time of one operation, in microseconds."""
        return self.cpu_s * 1e6 / self.operations


def measure(
    command: list[str],
    *,
    stdin: str = "",
    count: "re.Pattern[str]",
    seconds: float | None = None,
    port: int | None = None,
    pinned: bool = True,
) -> Outcome:
    """Runs a client on its core and reads its CPU time from the kernel.

    Args:
        command: What to run.
        stdin: What it reads.
        count: Finds the number of operations in its output, and where it says so their `seconds`.
        seconds: How long it sent; None: as it says, else as long as it ran.
        port: Of the server, whose work is read too.
        pinned: To its core; else it shares all of them with the server.

    Raises:
        RuntimeError: It failed; with the end of what it said.
    """
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as said:
        given.write(stdin)
        given.seek(0)
        place = ["taskset", "-c", str(CLIENT_CORE)] if pinned else []
        before = Surroundings.now(port)
        started = time.monotonic()
        process = subprocess.Popen(
            [*place, *command], stdin=given, stdout=said, stderr=subprocess.STDOUT
        )
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started
        after = Surroundings.now(port)
        said.seek(0)
        output = said.read()
    found = count.search(output)
    if status != 0 or found is None:
        raise RuntimeError(f"{command[0]}: {output[-400:]}")
    told = found.groupdict()
    return Outcome(
        operations=int(told.get("count") or found[1]),
        cpu_s=used.ru_utime + used.ru_stime,
        wall_s=seconds or float(told.get("seconds") or wall_s),
        output=output,
        beside=Beside.between(before, after),
    )


def undisturbed(client: Callable[[], Outcome]) -> Outcome | None:
    """What a client did while this machine had its cores to itself; None if it never had.

    CPU time of a virtual machine that others disturb is not the client's: the same exchange was
    seen to cost 6 and 700 us. A measurement is repeated for as long as more than `CALM` was stolen.
    """
    for _ in range(PATIENCE):
        outcome = client()
        stolen = outcome.beside.stolen
        if stolen is None or stolen <= CALM:  # None: nobody can tell
            return outcome
    return None
