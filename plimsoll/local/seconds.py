"""Receives the live seconds of this machine's load clients, while a page follows a run."""

import hmac
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from plimsoll.console.told_seconds import SecondsReader, ToldSeconds
from plimsoll.workflow.client import FILE, LONGEST_BYTES, SecondDatagram, SecondsAddress

_RUNS_MOST = 50  # the latest runs, whose seconds are kept


class SecondsListener:
    """Listens as long as any page follows a run."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / FILE
        self._lock = threading.Lock()
        self._readers = 0
        self._key = secrets.token_urlsafe(16)
        self._incoming: socket.socket | None = None
        self._told: dict[str, ToldSeconds] = {}

    @contextmanager
    def reading(self, run_id: str) -> Iterator[SecondsReader]:
        """Yield a reader of a run's seconds as they arrive."""
        with self._lock:
            self._readers += 1
            if self._readers == 1:
                self._open()
        try:
            yield SecondsReader(self._of(run_id))
        finally:
            with self._lock:
                self._readers -= 1
                if self._readers == 0:
                    self._close()

    def _open(self) -> None:
        incoming = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        incoming.bind(("127.0.0.1", 0))
        self._incoming = incoming
        threading.Thread(target=self._listen, args=(incoming,), daemon=True).start()
        to = SecondsAddress(port=incoming.getsockname()[1], key=self._key)
        self._file.unlink(missing_ok=True)
        with os.fdopen(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
            f.write(to.model_dump_json())

    def _close(self) -> None:
        self._file.unlink(missing_ok=True)
        assert self._incoming is not None  # noqa: S101 - it was opened
        ending, self._incoming = self._incoming, None
        # wakes the thread that waits for the next datagram
        ending.sendto(b"", ending.getsockname())
        self._told.clear()

    def _listen(self, incoming: socket.socket) -> None:
        with incoming:
            while True:
                datagram = incoming.recv(LONGEST_BYTES)
                if self._incoming is not incoming:
                    return
                self.take(datagram)

    def take(self, datagram: bytes) -> None:
        """Take a datagram; ignore one that is invalid or lacks the key."""
        try:
            told = SecondDatagram.model_validate_json(datagram)
        except ValidationError:
            return
        if hmac.compare_digest(told.key.encode(), self._key.encode()):
            self._of(told.run_id).add(
                told.step,
                told.client,
                told.second,
                start_at_epoch_ms=told.start_at_epoch_ms,
                clients=told.clients,
            )

    def _of(self, run_id: str) -> ToldSeconds:
        if run_id not in self._told and len(self._told) >= _RUNS_MOST:
            self._told.pop(next(iter(self._told)))
        return self._told.setdefault(run_id, ToldSeconds())
