"""The process beside a volume that sees what goes past the preloaded library."""

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Self

from plimsoll.errors import PlimsollError
from plimsoll.volumes.build import native_part
from plimsoll.volumes.places import WATCH


class Watcher:
    """A running watcher. It ends when its owner has and no process is left that it watches."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe  # the watcher waits for its end, which comes with the owner's

    @classmethod
    def start(cls, state: Path, directory: os.stat_result) -> Self:
        """Start the watcher of the volume whose state file this is.

        Args:
            state: The volume's state file; the watcher's socket lies beside it.
            directory: Of the volume; processes of its owner can reach the watcher.

        Raises:
            PlimsollError: It does not start.
        """
        program = native_part("watcher")
        path = state.with_suffix(WATCH)
        path.unlink(missing_ok=True)  # of an owner that was killed
        ends, pipe = os.pipe()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as incoming:
            _bind(incoming, path)
            if os.geteuid() == 0:
                shutil.chown(path, directory.st_uid, directory.st_gid)
            done = subprocess.run(
                [program, state, str(incoming.fileno())],
                stdin=ends,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[incoming.fileno()],
                check=False,
            )
        os.close(ends)
        if done.returncode != 0:
            os.close(pipe)
            raise PlimsollError(f"the watcher of the volume on {state} does not start")
        return cls(pipe)

    def close(self) -> None:
        """Let it end, once the processes that it watches have; new ones cannot come any more."""
        os.close(self._pipe)


def _bind(incoming: socket.socket, path: Path) -> None:
    """Bind a socket to a path of any length: the kernel takes 107 bytes (unix(7)).

    The folder is named by its descriptor, so that the file's own name is all that has to fit.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        incoming.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
