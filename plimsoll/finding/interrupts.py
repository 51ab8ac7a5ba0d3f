"""Ctrl-C and SIGTERM that end a load early, with what it has measured."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import plimsoll_engine
from plimsoll.errors import PlimsollError

INTERRUPTED = "interrupted"
_BOTH = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ended_by_signals(
    end: Callable[[], None], numbers: Sequence[signal.Signals] = _BOTH
) -> Iterator[None]:
    """Call `end` at the first signal; a second one is handled as before, and ends at once.

    Signals come to a program's main thread alone: in another one they do what they did before.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def interrupt(*_: object) -> None:
        restore()
        end()

    for number in numbers:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        restore()


@contextmanager
def cancelled_by_interrupt() -> Iterator[plimsoll_engine.CancelToken]:
    """Let an interrupt end the work whenever it comes.

    A shell's background processes ignore interrupts by default; this one does not. The exception
    that a signal raises can get lost while Python frees objects, so a token is cancelled as well.
    """
    token = plimsoll_engine.CancelToken()
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        token.cancel()
        raise KeyboardInterrupt

    with ended_by_signals(interrupt, (signal.SIGINT,)):
        try:
            yield token
        except PlimsollError:
            if interrupted:
                raise KeyboardInterrupt from None
            raise
