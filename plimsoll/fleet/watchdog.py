"""The end of a client that does not end by itself: no load outlives its step."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll import words


@contextmanager
def killed_after(seconds: float) -> Iterator[None]:
    """Kill this process if the block takes longer.

    Step Functions stops waiting at a time-out, but the function behind it runs on, and its load
    would fall into the next step. A killed process sends no more; Lambda reports its exit.
    """

    def kill() -> None:
        print(
            f"the client did not end within {words.duration(seconds)}", file=sys.stderr, flush=True
        )
        os._exit(70)

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
