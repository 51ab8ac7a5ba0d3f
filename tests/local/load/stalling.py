"""A stall of a stand-in's: begun and ended by what it has received, not by the clock alone."""

import threading
import time


class Stall:
    """A time in which a server answers nothing, once.

    It begins with an execution, so that the load is under way however slow the machine is, and its
    seconds count from the moment at which so many executions wait for their answers.

    Attributes:
        began_at: When as many waited as were awaited, by `time.monotonic`; None until then.
        ended_at: When answers came again.
    """

    def __init__(self, *, after: int, waiting: int, seconds: float) -> None:
        """Hold back what comes after so many executions, until `waiting` of it wait so long."""
        self.began_at: float | None = None
        self.ended_at: float | None = None
        self._left, self._awaited, self._seconds = after, waiting, seconds
        self._lock = threading.Lock()
        self._over = threading.Event()

    @property
    def length_s(self) -> float:
        """How long nothing was answered, with all that was awaited waiting; it has to be over."""
        assert self.began_at is not None, "the load ended before its stall"
        assert self.ended_at is not None
        return self.ended_at - self.began_at

    def holds(self) -> bool:
        """Count an execution; whether its answer has to wait."""
        with self._lock:
            self._left -= 1
            if self._left >= 0 or self._over.is_set():
                return False
            self._awaited -= 1
            if self._awaited == 0:
                self.began_at = time.monotonic()
                threading.Timer(self._seconds, self.end).start()
            return True

    def wait(self) -> None:
        """Wait until answers may be given again."""
        self._over.wait()

    def end(self) -> None:
        """Let answers be given, for good."""
        with self._lock:
            if not self._over.is_set():
                self.ended_at = time.monotonic()
                self._over.set()
