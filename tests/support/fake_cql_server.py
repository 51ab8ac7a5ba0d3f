"""A fake CQL server: answers at once, or stalls on command, and records all."""

import queue
import socket
import ssl
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.support.fake_server import FakeServer, Session, Stall

ERROR, STARTUP, READY, AUTHENTICATE, RESULT = 0x00, 0x01, 0x02, 0x03, 0x08
PREPARE, EXECUTE, AUTH_RESPONSE, AUTH_SUCCESS = 0x09, 0x0A, 0x0F, 0x10
_REQUEST = 0x04  # of the protocol's version 4
_VOID = struct.pack(">i", 1)
_INT = 0x09
_ID = b"0123456789abcdef"
# what has arrived on a connection: stream, opcode, body, and whether its answer is held back
_Inbox = queue.SimpleQueue[tuple[int, int, bytes, bool] | None]


@dataclass
class CqlSession(Session):
    """What one connection has sent: each execution's stream and body, and when."""

    executions: list[tuple[int, bytes]] = field(default_factory=list)

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


class FakeCqlServer(FakeServer[CqlSession]):
    """The server; a context manager. A connection's requests are answered one after another."""

    def __init__(
        self,
        *,
        service_s: float = 0.0,
        stall: Stall | None = None,
        password: str | None = None,
        tls: ssl.SSLContext | None = None,
        instead: bytes | None = None,
    ) -> None:
        """Listen.

        Args:
            service_s: How long each execution takes.
            stall: When it answers no execution for a time, if ever.
            password: Of the user `u`; None asks for none.
            tls: What it offers.
            instead: What it sends before it closes each connection, which it never lets in.
        """
        super().__init__(CqlSession, service_s=service_s, stall=stall, tls=tls)
        self._password = password
        self._instead = instead

    def converse(self, session: CqlSession, client: socket.socket, stream: BinaryIO) -> None:
        """Read what a connection sends; it is answered in a thread of its own."""
        if self._instead is not None:
            client.recv(100)
            client.sendall(self._instead)
            return
        self.sessions.append(session)
        inbox = _Inbox()
        self.start(self._answer, client, session, inbox)
        try:
            while (request := _read(stream)) is not None:
                held = False
                if request[1] == EXECUTE:
                    session.executions.append((request[0], request[2]))
                    held = self.receive(session)
                inbox.put((*request, held))
        finally:
            inbox.put(None)

    def _answer(self, client: socket.socket, session: CqlSession, inbox: _Inbox) -> None:
        while (request := inbox.get()) is not None:
            answer = self._respond(session, *request)
            with suppress(OSError):  # the client has gone: the rest is answered in vain
                client.sendall(answer)

    def _respond(
        self, session: CqlSession, stream: int, opcode: int, body: bytes, held: bool
    ) -> bytes:
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
            self.execute(session, held=held)
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
