"""Measures the lines that a Python process runs, for `make coverage`.

Python imports a module of this name when it starts, if its folder is on PYTHONPATH. That also
reaches processes that get no other variable, such as the functions of the twin. These are forked,
and killed at their end, so a forked process writes down after a second what it has run, and again
each time that as long as that has gone by: dozens of them wait for work, and each writing takes the
processor. Others write at their end; they have no thread for it, since some of them fork and rely
on having one alone.
"""

import atexit
import os
import threading
from pathlib import Path
from typing import NoReturn

import coverage

ROOT = Path(__file__).parents[2]
DATA = ROOT / ".cache/coverage-data/lines"
SAVED_AFTER_S = 1.0
# of processes that run nothing of Plimsoll, or that have imported it before a fork
_EXPECTED = ["no-data-collected", "module-not-imported", "module-not-measured", "already-imported"]
_exit = os._exit


class Measurement:
    """Lines that this process runs; a forked one begins anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held while data is written
        self._ended = threading.Event()
        self._begin()

    def _begin(self) -> None:
        self._coverage = coverage.Coverage(
            data_file=str(DATA),
            data_suffix=True,  # a file for each process
            source=[str(ROOT / "plimsoll")],
            config_file=False,
        )
        self._coverage.set_option("run:disable_warnings", _EXPECTED)
        self._coverage.start()

    def _save_now_and_then(self) -> None:
        pause_s = SAVED_AFTER_S
        while not self._ended.wait(pause_s):
            with self._lock:
                self._coverage.save()
            pause_s *= 2

    def end(self) -> None:
        """Write the rest."""
        self._ended.set()
        with self._lock:
            self._coverage.stop()
            self._coverage.save()

    def begin_in_child(self) -> None:
        """Begin anew in a forked process."""
        self._coverage.stop()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._begin()
        threading.Thread(target=self._save_now_and_then, daemon=True).start()


def exit_at_once(status: int) -> NoReturn:
    """Write what was run, and end as `os._exit` does."""
    measurement.end()
    _exit(status)


measurement = Measurement()
atexit.register(measurement.end)
os._exit = exit_at_once
os.register_at_fork(after_in_child=measurement.begin_in_child)
