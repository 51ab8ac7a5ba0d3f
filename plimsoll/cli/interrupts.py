"""Ctrl-C and SIGTERM that end a load early, with what it has measured."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ended_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` at the first signal; a second one is handled as before, and ends at once."""
    before = {number: signal.getsignal(number) for number in _NUMBERS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def interrupt(*_: object) -> None:
        restore()
        end()

    for number in _NUMBERS:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        restore()
