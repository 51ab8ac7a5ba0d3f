"""A place of its own for a command: what it leaves there is its own, to the last file and process.

Its temporary folder and its /dev/shm are file systems of a mount namespace that nothing else is in.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.faults.namespaces import MEMORY, way


@dataclass(frozen=True)
class Place:
    """A mount namespace, held by one process.

    Attributes:
        holder: Process id of who holds it.
        temporary: The folder for temporary files, on a file system of its own.
    """

    holder: int
    temporary: Path

    def start(self, command: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
        """Start a command there: the process is the command itself."""
        return subprocess.Popen(
            [*way().entering, str(self.holder), "--", *command],
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )

    def path(self, inside: Path | str) -> Path:
        """Give the way from outside to a path there."""
        return Path(f"/proc/{self.holder}/root{inside}")

    def processes(self) -> list[psutil.Process]:
        """List who is there besides the holder, whoever their parents are."""
        own = _namespace(self.holder)
        return [
            process
            for process in psutil.process_iter()
            if process.pid != self.holder and _namespace(process.pid) == own
        ]

    def files(self) -> list[str]:
        """List the files in its temporary folder and in its memory."""
        return [
            str(file.relative_to(self.path("/")))
            for folder in (self.temporary, MEMORY)
            for file in self.path(folder).rglob("*")
        ]

    def fill(self, folder: Path | str) -> None:
        """Leave no byte free on a file system of it; `empty` gives it back."""
        with self._filler(folder).open("ab", buffering=0) as file:
            for block in (1 << 20, 1 << 12, 1):  # others write there meanwhile
                with suppress(OSError):
                    while file.write(bytes(block)):
                        pass

    def empty(self, folder: Path | str) -> None:
        """Take back what `fill` took."""
        self._filler(folder).unlink(missing_ok=True)

    def _filler(self, folder: Path | str) -> Path:
        return self.path(folder) / "filler"


def _namespace(pid: int) -> Path | None:
    try:
        return Path(f"/proc/{pid}/ns/mnt").readlink()
    except OSError:  # it has ended
        return None


@contextmanager
def place(folder: Path, *, disk_mib: int = 2048, memory: str = "size=2g") -> Iterator[Place]:
    """Make a place, and end whatever is still in it at last.

    Args:
        folder: Of the test.
        disk_mib: The size of the file system for temporary files.
        memory: How its /dev/shm is mounted.
    """
    temporary = folder / "tmp"
    temporary.mkdir()
    mounts = (
        f"mount -t tmpfs -o size={disk_mib}m tmpfs '{temporary}' &&"
        f" mount -t tmpfs -o {memory} tmpfs {MEMORY} && echo there && exec cat"
    )
    with subprocess.Popen(
        [*way().making, "sh", "-c", mounts],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "there\n"
        made = Place(holder.pid, temporary)
        try:
            yield made
        finally:
            for process in made.processes():
                process.kill()
            assert holder.stdin is not None
            holder.stdin.close()
