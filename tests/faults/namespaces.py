"""How a run gets a mount namespace of its own, by what this system allows.

`python -m tests.faults.namespaces` says whether there is a way; `make test` asks before all else.
"""

import subprocess
import sys
from dataclasses import dataclass
from functools import cache

from plimsoll.errors import MissingToolError

MEMORY = "/dev/shm"
NO_WAY = (
    "a run that faults are tried on has a mount namespace of its own, and this system lets this"
    " user make none: allow user namespaces (sysctl -w user.max_user_namespaces=10000; on Debian"
    " kernel.unprivileged_userns_clone=1; on Ubuntu"
    " kernel.apparmor_restrict_unprivileged_userns=0), or be root; a container needs"
    " --cap-add SYS_ADMIN"
)


@dataclass(frozen=True)
class Way:
    """A way to a mount namespace.

    Attributes:
        making: The command that runs another in a new one.
        entering: The command that runs another in that of a process, whose id comes next.
    """

    making: tuple[str, ...]
    entering: tuple[str, ...]


WAYS = (
    Way(  # of any user, where there are user namespaces (user_namespaces(7))
        ("unshare", "--user", "--map-root-user", "--mount"),
        ("nsenter", "--user", "--mount", "--preserve-credentials", "--target"),
    ),
    Way(("unshare", "--mount"), ("nsenter", "--mount", "--target")),  # of root
)


@cache
def way() -> Way:
    """Find the first that works, with a file system mounted in it.

    Raises:
        MissingToolError: None does; says what to allow.
    """
    for one in WAYS:
        try:
            tried = subprocess.run(
                [*one.making, "mount", "-t", "tmpfs", "tmpfs", MEMORY],
                capture_output=True,
                check=False,
            )
        except OSError:  # no such program
            continue
        if tried.returncode == 0:
            return one
    raise MissingToolError(NO_WAY)


if __name__ == "__main__":
    try:
        way()
    except MissingToolError as failure:
        sys.exit(f"plimsoll: {failure}")
