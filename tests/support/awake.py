"""How long the machine went on: its time without the pauses in which it stood still."""

import threading
import time
from types import TracebackType
from typing import Self

TICK_S = 0.01
LONGEST_TICK_S = 0.1  # what lasts longer is a pause


class Awake:
    """Counts it between its beginning and its end, as a context manager.

    Attributes:
        seconds: How long the machine went on; a pause counts as `LONGEST_TICK_S`.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _tick(self) -> None:
        last = time.monotonic()
        over = False
        while not over:
            over = self._over.wait(TICK_S)
            now = time.monotonic()
            self.seconds += min(now - last, LONGEST_TICK_S)
            last = now
