"""The process beside a volume that notices I/O past the preloaded library."""

import os
import shutil
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from plimsoll.errors import PlimsollError
from plimsoll.volumes.build import find_native_part
from plimsoll.volumes.places import WATCH


class Watcher:
    """A running watcher. It ends when its owner and all watched processes have ended.

    Attributes:
        pid: The process id. The process is no child of the one that started it.
    """

    def __init__(self, pipe: int, pid: int) -> None:
        self._pipe = pipe  # closes when the owner ends, which the watcher notices
        self.pid = pid

    @classmethod
    def start(cls, state: Path, directory: os.stat_result) -> Self:
        """Start the watcher of a volume.

        Args:
            state: The volume's state file; the watcher's socket is beside it.
            directory: The status of the folder; processes of its owner can reach the watcher.

        Raises:
            PlimsollError: It does not start; the message has the watcher's own reason.
            OSError: There is no space for its socket.
        """
        program = find_native_part("watcher")
        path = state.with_suffix(WATCH)
        path.unlink(missing_ok=True)  # left by an owner that was killed
        with ExitStack() as opened:
            incoming = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            _bind_socket(incoming, path)
            if os.geteuid() == 0:
                shutil.chown(path, directory.st_uid, directory.st_gid)
            ends, pipe = os.pipe()
            opened.callback(os.close, ends)
            try:
                pid = _run_watcher(program, state, incoming, ends)
            except BaseException:
                os.close(pipe)
                raise
        return cls(pipe, pid)

    def close(self) -> None:
        """Let it end when the watched processes have ended; new ones cannot join."""
        os.close(self._pipe)


def _run_watcher(program: Path, state: Path, incoming: socket.socket, ends: int) -> int:
    """Run the watcher, which goes into the background once it can watch.

    Returns:
        The process id in the background, which the watcher prints.
    """
    try:
        done = subprocess.run(
            [program, state, str(incoming.fileno())],
            stdin=ends,
            capture_output=True,
            pass_fds=[incoming.fileno()],
            text=True,
            errors="replace",
            check=False,
        )
        code, reason = done.returncode, done.stderr.strip()
    except OSError as error:  # such as a cache on a file system mounted with noexec
        code, reason = 1, f"{program}: {error.strerror}"
    if code != 0:
        reason = reason or f"exit code {code}"
        raise PlimsollError(f"the watcher of the volume on {state} does not start: {reason}")
    return int(done.stdout)


def _bind_socket(incoming: socket.socket, path: Path) -> None:
    """Bind a socket to a path of any length, although the kernel allows 107 bytes (unix(7)).

    The folder is named by its descriptor, so only the file's own name has to fit.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        incoming.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
