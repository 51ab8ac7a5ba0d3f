"""Servers that let everybody in, and answer every statement with the same texts or one error.

The texts are whatever bytes a test chooses: values of rows, names of columns, an error's message.
"""

import struct
from dataclasses import dataclass

from tests.support import hostile_mysql, hostile_postgres
from tests.support.fake_mysql_server import EOF, OK, packet, text
from tests.support.hostile_postgres import LET_IN, READY, message, types
from tests.support.hostile_server import Peer

_TEXT_OID = 25
_COM_QUERY = 3


@dataclass
class Answer:
    """What is answered to each statement; may be changed while the server runs.

    Attributes:
        rows: The rows, each with its values.
        name: The name of each column.
        error: The message of an error in place of the rows; None for rows.
    """

    rows: tuple[tuple[bytes, ...], ...] = ()
    name: bytes = b"value"
    error: bytes | None = None

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0]) if self.rows else 1

    def serve_mysql(self, peer: Peer) -> None:
        """Speak MySQL's protocol."""
        peer.send(packet(0, hostile_mysql.greeting()))
        hostile_mysql.read(peer)
        peer.send(packet(2, OK))
        while command := hostile_mysql.read(peer):
            asks = command[0] == _COM_QUERY and not command[1:].lstrip().startswith(b"SET ")
            peer.send(self._in_mysql() if asks else packet(1, OK))

    def _in_mysql(self) -> bytes:
        if self.error is not None:
            return packet(1, b"\xff" + struct.pack("<H", 1105) + b"#HY000" + self.error)
        parts = (b"def", b"", b"", b"", self.name, b"")
        kind = struct.pack("<BHIBHBH", 12, 45, 1024, 253, 0, 0, 0)
        column = b"".join(map(text, parts)) + kind
        rows = [b"".join(map(text, row)) for row in self.rows]
        payloads = [bytes([self.width]), *[column] * self.width, EOF, *rows, EOF]
        return b"".join(packet(number, payload) for number, payload in enumerate(payloads, 1))

    def serve_postgres(self, peer: Peer) -> None:
        """Speak PostgreSQL's protocol."""
        hostile_postgres.read_startup(peer)
        peer.send(LET_IN)
        kinds = b""
        while True:
            kind, _ = hostile_postgres.read(peer)
            kinds += kind
            if kind in (b"Q", b"S"):  # a whole question: a query, or messages up to a Sync
                peer.send(self._in_postgres(kinds))
                kinds = b""

    def _in_postgres(self, kinds: bytes) -> bytes:
        if self.error is not None and (b"Q" in kinds or b"E" in kinds):
            fields = b"SERROR\0VERROR\0C42P01\0M" + self.error.replace(b"\0", b" ")
            return message(b"E", fields + b"\0\0") + READY
        column = self.name.replace(b"\0", b" ") + b"\0"
        column += struct.pack("!IHIHIH", 0, 0, _TEXT_OID, 0xFFFF, 0xFFFF_FFFF, 0)
        described = message(b"T", struct.pack("!H", self.width) + column * self.width)
        rows = b"".join(
            message(
                b"D",
                struct.pack("!H", len(row))
                + b"".join(struct.pack("!I", len(value)) + value for value in row),
            )
            for row in self.rows
        )
        done = rows + message(b"C", b"SELECT 1\0")
        answers = {b"Q": described + done, b"P": message(b"1"), b"D": types() + described}
        answers |= {b"B": message(b"2"), b"E": done}
        return b"".join(answers.get(bytes([kind]), b"") for kind in kinds) + READY
