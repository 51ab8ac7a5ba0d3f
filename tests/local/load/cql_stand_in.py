"""A stand-in for a CQL server: answers at once, or stalls on command, and records all."""

import math
import queue
import socket
import ssl
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, Self

from tests.local.load.stalling import Stall

ERROR, STARTUP, READY, AUTHENTICATE, QUERY, RESULT = 0x00, 0x01, 0x02, 0x03, 0x07, 0x08
PREPARE, EXECUTE, AUTH_RESPONSE, AUTH_SUCCESS = 0x09, 0x0A, 0x0F, 0x10
_REQUEST = 0x04  # of the protocol's version 4
_VOID = struct.pack(">i", 1)
_INT = 0x09
_ID = b"0123456789abcdef"
# what has arrived on a connection: stream, opcode, body, and whether its answer is held back
_Inbox = queue.SimpleQueue[tuple[int, int, bytes, bool] | None]


@dataclass
class Connection:
    """What one connection has sent: each execution's stream and body, and its times.

    Times are those of `time.monotonic`.
    """

    opened_at: float = field(default_factory=time.monotonic)
    ended_at: float = math.inf
    executions: list[tuple[int, bytes]] = field(default_factory=list)
    received_at: list[float] = field(default_factory=list)
    answered_at: list[float] = field(default_factory=list)

    def overlapping(self) -> int:
        """Count the requests on a stream whose last one had no answer yet."""
        free_at: dict[int, float] = {}
        overlapping = 0
        seen = zip(self.executions, self.received_at, self.answered_at, strict=True)
        for (stream, _), received_at, answered_at in seen:
            overlapping += received_at < free_at.get(stream, 0.0)
            free_at[stream] = answered_at
        return overlapping

    def numbers(self) -> list[tuple[int, int]]:
        """Give each execution's stream and its last bind, an int."""
        return [(stream, int.from_bytes(body[-4:], "big")) for stream, body in self.executions]


class CqlStandIn:
    """The server; a context manager. A connection's requests are answered one after another.

    Attributes:
        sessions: One for each connection that was ever let in.
        service_s: How long each execution takes.
        stall: When it answers no execution for a time, if ever.
    """

    def __init__(
        self,
        *,
        service_s: float = 0.0,
        stall: Stall | None = None,
        password: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Listen; `password`: of the user `u`, None asks for none; `tls`: what it offers."""
        self._password = password
        self._tls = tls
        self.sessions: list[Connection] = []
        self.service_s = service_s
        self.stall = stall
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.stall is not None:
            self.stall.end()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for client in list(self._sockets):
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it has gone already
        for thread in self._threads:
            thread.join(timeout=10)

    def _start(self, target: object, *arguments: object) -> None:
        assert callable(target)
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets.add(client)
            self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        connection, inbox = Connection(), _Inbox()
        try:
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
                self._sockets.add(client)
            with client, client.makefile("rb") as stream:
                self.sessions.append(connection)
                self._start(self._answer, client, connection, inbox)
                while (request := _read(stream)) is not None:
                    held = False
                    if request[1] == EXECUTE:
                        connection.executions.append((request[0], request[2]))
                        connection.received_at.append(time.monotonic())
                        held = self.stall is not None and self.stall.holds()
                    inbox.put((*request, held))
        except OSError:
            return  # the client has gone
        finally:
            connection.ended_at = time.monotonic()
            inbox.put(None)
            self._sockets.discard(client)

    def _answer(self, client: socket.socket, connection: Connection, inbox: _Inbox) -> None:
        while (request := inbox.get()) is not None:
            stream, opcode, body, held = request
            if held and self.stall is not None:
                self.stall.wait()
            answer = self._respond(connection, stream, opcode, body)
            with suppress(OSError):  # the client has gone: the rest is answered in vain
                client.sendall(answer)

    def _respond(self, connection: Connection, stream: int, opcode: int, body: bytes) -> bytes:
        if opcode == STARTUP:
            if self._password is None:
                return frame(stream, READY)
            return frame(stream, AUTHENTICATE, _string(b"PasswordAuthenticator"))
        if opcode == AUTH_RESPONSE:
            if body[4:] == b"\0u\0" + (self._password or "").encode():
                return frame(stream, AUTH_SUCCESS, struct.pack(">i", -1))
            return frame(stream, ERROR, struct.pack(">i", 0x0100) + _string(b"no such account"))
        if opcode == PREPARE:
            return frame(stream, RESULT, _prepared(body.count(b"?")))
        if opcode == EXECUTE:
            if self.service_s:
                threading.Event().wait(self.service_s)
            connection.answered_at.append(time.monotonic())
        return frame(stream, RESULT, _VOID)


def frame(stream: int, opcode: int, body: bytes = b"") -> bytes:
    """Build a response."""
    return struct.pack(">BBhBI", 0x84, 0, stream, opcode, len(body)) + body


def _prepared(binds: int) -> bytes:
    columns = (_string(b"id") + struct.pack(">H", _INT)) * binds
    metadata = struct.pack(">iii", 1, binds, 0) + _string(b"k") + _string(b"t") + columns
    return struct.pack(">i", 4) + _string(_ID) + metadata


def _string(text: bytes) -> bytes:
    return struct.pack(">H", len(text)) + text


def _read(stream: BinaryIO) -> tuple[int, int, bytes] | None:
    header = stream.read(9)
    if len(header) < 9:
        return None
    version, _, number, opcode, length = struct.unpack(">BBhBI", header)
    if version != _REQUEST:
        return None  # a real one says so and closes the connection, too
    body = stream.read(length)
    return (number, opcode, body) if len(body) == length else None
