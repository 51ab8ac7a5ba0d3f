"""A program that owns a process, to be killed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def owner_of(code: str, directory: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Run a Python program that starts something in a directory, and waits for its input's end.

    Yields:
        Its process, and the words of the first line that it prints.
    """
    with subprocess.Popen(
        [sys.executable, "-c", code, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        yield owner, owner.stdout.readline().split()
