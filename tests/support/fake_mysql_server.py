"""A fake MySQL server: answers at once, stalls or misbehaves on command, records all.

It speaks enough of the client/server protocol for a load: the handshake (any password will do),
prepared statements, and text statements. Every answer is an OK packet or one row of one column.
"""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from tests.support.fake_server import FakeServer, Session, Stall

_PROTOCOL_41 = 1 << 9
_CAPABILITIES = 0x1 | 0x8 | _PROTOCOL_41 | (1 << 13) | (1 << 15) | (1 << 19)
_AUTOCOMMIT = 2

OK = b"\x00\x00\x00" + struct.pack("<HH", _AUTOCOMMIT, 0)
EOF = b"\xfe" + struct.pack("<HH", 0, _AUTOCOMMIT)


def packet(sequence: int, payload: bytes) -> bytes:
    """Frame one packet."""
    return struct.pack("<I", len(payload))[:3] + bytes([sequence]) + payload


def error_payload(code: int, message: str) -> bytes:
    """Build the payload of an error packet."""
    return b"\xff" + struct.pack("<H", code) + b"#HY000" + message.encode()


def text(value: bytes) -> bytes:
    """Build a length-encoded string of under 16 MiB."""
    if len(value) < 251:
        return bytes([len(value)]) + value
    if len(value) < 1 << 16:
        return b"\xfc" + struct.pack("<H", len(value)) + value
    return b"\xfd" + struct.pack("<I", len(value))[:3] + value


def column() -> bytes:
    """Build the definition of a column of text."""
    parts = (b"def", b"", b"", b"", b"value", b"")
    return b"".join(text(part) for part in parts) + struct.pack(
        "<BHIBHBH", 12, 45, 1024, 253, 0, 0, 0
    )


def one_row(value: bytes = b"x") -> bytes:
    """Build the whole binary answer to a SELECT that finds one row."""
    payloads = [b"\x01", column(), EOF, b"\x00\x00" + text(value), EOF]
    return b"".join(packet(number + 1, payload) for number, payload in enumerate(payloads))


@dataclass
class MySqlSession(Session):
    """What one connection has sent: the payloads of its executions, in order, and when."""

    executions: list[bytes] = field(default_factory=list)
    statements: list[bytes] = field(default_factory=list)

    def numbers(self) -> list[tuple[int, int]]:
        """Give each execution's lane, of which there is one, and its last bind, a whole number."""
        return [(0, int.from_bytes(payload[-8:], "little")) for payload in self.executions]


class FakeMySqlServer(FakeServer[MySqlSession]):
    """The server; a context manager."""

    def __init__(
        self,
        *,
        service_s: float = 0.0,
        stall: Stall | None = None,
        answer: Callable[[int, bytes], bytes | None] = lambda _number, _statement: None,
    ) -> None:
        """Listen.

        Args:
            service_s: How long each execution takes.
            stall: When it answers nothing for a time, if ever.
            answer: Given the number of the execution in its session and the statement, what goes
                back on the wire instead of the usual answer (None: the usual one).
        """
        super().__init__(MySqlSession, service_s=service_s, stall=stall)
        self._answer = answer

    def converse(self, session: MySqlSession, client: socket.socket, stream: BinaryIO) -> None:
        """Let the connection in, and answer its commands one after another."""
        client.sendall(packet(0, _greeting(len(self.sessions) + 1)))
        _read(stream)
        client.sendall(packet(2, OK))
        self.sessions.append(session)
        while (payload := _read(stream)) is not None:
            if payload[0] == 0x01:  # COM_QUIT
                return
            client.sendall(self._respond(session, payload))

    def _respond(self, session: MySqlSession, payload: bytes) -> bytes:
        command = payload[0]
        if command == 0x16:  # COM_STMT_PREPARE
            session.statements.append(payload[1:])
            return _prepared(len(session.statements), payload[1:])
        if command != 0x17:  # COM_STMT_EXECUTE
            return packet(1, OK)
        session.executions.append(payload)
        self.execute(session, held=self.receive(session))
        statement = session.statements[struct.unpack_from("<I", payload, 1)[0] - 1]
        special = self._answer(len(session.executions) - 1, statement)
        if special is not None:
            return special
        return one_row() if _selects(statement) else packet(1, OK)


def _selects(statement: bytes) -> bool:
    return statement.lstrip().upper().startswith(b"SELECT")


def _greeting(connection_id: int) -> bytes:
    scramble = b"abcdefghijklmnopqrst"
    return (
        b"\x0a11.4.5-fake\x00"
        + struct.pack("<I", connection_id)
        + scramble[:8]
        + b"\x00"
        + struct.pack("<HBHH", _CAPABILITIES & 0xFFFF, 45, _AUTOCOMMIT, _CAPABILITIES >> 16)
        + bytes([21])
        + bytes(10)
        + scramble[8:]
        + b"\x00mysql_native_password\x00"
    )


def _prepared(number: int, statement: bytes) -> bytes:
    parameters = statement.count(b"?")
    columns = 1 if _selects(statement) else 0
    payloads = [b"\x00" + struct.pack("<IHHBH", number, columns, parameters, 0, 0)]
    for count in (parameters, columns):
        if count:
            payloads += [column()] * count + [EOF]
    return b"".join(packet(n + 1, payload) for n, payload in enumerate(payloads))


def _read(stream: BinaryIO) -> bytes | None:
    header = stream.read(4)
    if len(header) < 4:
        return None
    length = int.from_bytes(header[:3], "little")
    payload = stream.read(length)
    return payload if len(payload) == length and payload else None
