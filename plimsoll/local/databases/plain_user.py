"""Runs a program that refuses to run as root."""

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence

from plimsoll.errors import PlimsollError

# Within its own namespaces, the program runs as user 1000, who owns this user's files there. System
# V shared memory that it leaves when it is killed is removed with the namespaces.
_ANOTHER_USER = ("unshare", "--user", "--ipc", "--map-user=1000", "--map-group=1000", "--")


def wrap_for_plain_user(command: Sequence[str | os.PathLike[str]]) -> list[str | os.PathLike[str]]:
    """Return the command that runs a program as a plain user who owns this user's files.

    The program keeps its process id. If this machine forbids user namespaces, a plain user's
    command stays unchanged.

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
    """Return whether this user may create a namespace in which it is another user."""
    if shutil.which(_ANOTHER_USER[0]) is None:
        return False
    return (
        subprocess.run([*_ANOTHER_USER, "true"], capture_output=True, check=False).returncode == 0
    )
