"""The pool's side of the nursery: orders to it, its reports, and a new one where it dies."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

LOG = logging.getLogger(__name__)


class NurseryProcess:
    """A running nursery, supervised: one that dies is told of and replaced. Thread-safe.

    Attributes:
        orders: Held by whoever registers a sandbox and orders it, so that each belongs to one
            nursery: that which dies, or the one after it.
    """

    def __init__(
        self,
        *,
        report: Callable[[dict[str, Any]], None],
        died: Callable[[str], None],
        hopeless: Callable[[str], None],
    ) -> None:
        """Start it. Call it from a thread that lives as long as this.

        Args:
            report: Takes what the nursery says of its sandboxes.
            died: Takes the reason where it has died, and all of its sandboxes with it; the next one
                gets no order before this has returned.
            hopeless: Called with it where one died before it had any sandbox: so would the next.
        """
        self.orders = threading.RLock()
        self._report = report
        self._died = died
        self._hopeless = hopeless
        self._preload: dict[str, Any] | None = None
        self._forked = False
        self._closed = False
        self._process = _start()
        # The kernel ends a nursery with the thread that started it: this one starts the next ones.
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def preload(self, task_roots: list[str]) -> None:
        """Have it load, and every later one, the libraries that functions import."""
        with self.orders:
            self._preload = {"preload": task_roots}
            self.order(self._preload)

    def order(self, command: dict[str, Any]) -> bool:
        """Give it an order; one that has died is seen to by its supervisor.

        Returns:
            False once this is closed.
        """
        with self.orders:
            if self._closed:
                return False
            try:
                assert self._process.stdin is not None  # noqa: S101 - a pipe was asked for
                self._process.stdin.write(json.dumps(command).encode() + b"\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                LOG.debug("the nursery has died")
            return True

    def close(self) -> None:
        """End it: when it ends, the kernel kills its sandboxes."""
        with self.orders:
            self._closed = True
            _close_input(self._process)
        self._supervisor.join()

    def _supervise(self) -> None:
        while True:
            assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
            with self._process.stdout as reports:
                for line in reports:
                    self._forked = True
                    self._report(json.loads(line))
            code = self._process.wait()
            with self.orders:
                if self._closed:
                    return
                _close_input(self._process)
                reason = _describe_end(code)
                LOG.error("%s", reason)
                self._died(reason)
                if not self._forked:
                    self._closed = True
                    self._hopeless(reason)
                    return
                self._forked = False
                self._process = _start()
                if self._preload is not None:
                    self.order(self._preload)


def _start() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "plimsoll.local.lambdas.nursery", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # a fork must find one thread
    )


def _close_input(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    try:
        process.stdin.close()
    except BrokenPipeError:
        LOG.debug("the nursery died with an order half read")


def _describe_end(code: int) -> str:
    """Say how it ended, and why it may have."""
    what = "the process that functions are forked from"
    if code == -signal.SIGKILL:
        return f"{what} was killed, as happens when this machine runs out of memory"
    how = f"by {signal.strsignal(-code)}" if code < 0 else f"with exit status {code}"
    return f"{what} ended {how}"
