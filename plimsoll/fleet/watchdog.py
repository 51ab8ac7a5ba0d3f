"""A watchdog that kills a client which does not end, so that no load outlives its step."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll import words


@contextmanager
def kill_after(seconds: float) -> Iterator[None]:
    """Kill this process if the block takes longer.

    After a time-out Step Functions stops waiting, but the Lambda function runs on, and its load
    would reach into the next step. Lambda reports the exit of a killed process.
    """

    def kill() -> None:
        print(
            f"the client did not end within {words.format_duration(seconds)}",
            file=sys.stderr,
            flush=True,
        )
        os._exit(70)

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
