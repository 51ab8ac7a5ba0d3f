"""Running a program that refuses to run as root."""

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence

from plimsoll.errors import PlimsollError

# Within namespaces of its own, this user's files are those of user 1000, and so is the program.
# What it leaves of System V's shared memory when it is killed goes with them.
_ANOTHER_USER = ("unshare", "--user", "--ipc", "--map-user=1000", "--map-group=1000", "--")


def as_plain_user(command: Sequence[str | os.PathLike[str]]) -> list[str | os.PathLike[str]]:
    """Give the command that runs a program as a plain user whose files are this user's own.

    The program keeps its process id. A plain user's command stays as it is where this machine
    forbids user namespaces.

    Raises:
        PlimsollError: This is root, and this machine forbids user namespaces.
    """
    if _has_namespaces():
        return [*_ANOTHER_USER, *command]
    if os.geteuid() == 0:
        raise PlimsollError(
            f"{os.fspath(command[0])} does not run as root, and this machine allows no user "
            "namespaces (unshare --user): run this as another user"
        )
    return list(command)


@functools.cache
def _has_namespaces() -> bool:
    """Whether this machine lets this user make a namespace in which it is another one."""
    if shutil.which(_ANOTHER_USER[0]) is None:
        return False
    return (
        subprocess.run([*_ANOTHER_USER, "true"], capture_output=True, check=False).returncode == 0
    )
