"""A server that means harm: it does what a script says, and keeps all that it is told."""

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import BinaryIO

from tests.support.fake_server import FakeServer, Session

DRIP_S = 0.05  # between two bytes


class Peer:
    """The server's side of one connection, for a script."""

    def __init__(self, client: socket.socket, told: bytearray) -> None:
        """Take a connection over; `told` gets what comes, deciphered where TLS is spoken."""
        self._socket = client
        self._told = told

    def send(self, data: bytes) -> None:
        """Send it at once."""
        self._socket.sendall(data)

    def drip(self, data: bytes) -> None:
        """Send it byte by byte, and then the last one for ever."""
        for byte in data:
            self.send(bytes([byte]))
            threading.Event().wait(DRIP_S)
        while True:
            self.send(data[-1:])
            threading.Event().wait(DRIP_S)

    def flood(self, data: bytes) -> None:
        """Send it again and again, until the client has gone."""
        many = data * max(1, 65_536 // len(data))
        while True:
            self.send(many)

    def read(self, length: int) -> bytes:
        """Await so many bytes.

        Raises:
            ConnectionError: The client has gone.
        """
        data = b""
        while len(data) < length:
            piece = self._socket.recv(length - len(data))
            if not piece:
                raise ConnectionError
            self._told += piece
            data += piece
        return data

    def listen(self) -> None:
        """Say nothing, and hear all, until the client has gone."""
        while True:
            self.read(1)

    def start_tls(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._socket = context.wrap_socket(self._socket, server_side=True)

    def close(self) -> None:
        """End it, of whichever kind it is; whoever else holds the socket keeps it from nobody."""
        with suppress(OSError):  # the client has gone
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


Script = Callable[[Peer], object]


def in_turn(*scripts: Script) -> Script:
    """Follow one script after another."""

    def all_of_them(peer: Peer) -> None:
        for script in scripts:
            script(peer)

    return all_of_them


def sends(data: bytes) -> Script:
    """Send it."""
    return lambda peer: peer.send(data)


def floods(data: bytes) -> Script:
    """Send it for ever."""
    return lambda peer: peer.flood(data)


class HostileServer(FakeServer[Session]):
    """The server; a context manager.

    Attributes:
        told: All bytes that clients have sent.
    """

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        """Listen; `tls` is spoken from the first byte."""
        super().__init__(Session, tls=tls)
        self.told = bytearray()
        self._script = script
        self._peers: list[Peer] = []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection, also the one that speaks TLS of a client that holds it open."""
        for peer in self._peers:
            peer.close()
        super().__exit__(kind, error, trace)

    def converse(self, session: Session, client: socket.socket, stream: BinaryIO) -> None:
        """Follow the script; then the connection is closed."""
        del stream  # which would hold back what is meant for TLS
        self.sessions.append(session)
        peer = Peer(client, self.told)
        self._peers.append(peer)
        try:
            self._script(peer)
        finally:
            peer.close()
