"""How every connection of Python's logs in, of all families. The engine's half is `trust.rs`.

A server may be anybody's. It gets so much time for a login and no more, however little it sends at
a time, and so many bytes for an answer. The password itself goes to nobody who could be another
than the target: `Trust` says what may be told over which connection.
"""

import socket
import ssl
import time
from contextlib import suppress
from enum import IntEnum

from plimsoll.model.engine.asked import EngineTarget, Tls

# What we ask of servers has answers of some kB; in Python's objects this much is some 50 MiB.
ANSWER_MAX_BYTES = 1 << 20
_SAID_MAX = 300  # characters of a server's message
_SHORT_MAX = 80  # characters of a statement in an error's line
ASKS_FOR_PASSWORD = "the server asks for the password itself"  # noqa: S105 - a message


class Trust(IntEnum):
    """How far a connection keeps what is said on it."""

    OPEN = 0  # whoever is on the way reads it
    ENCRYPTED = 1  # whoever answers reads it, and nobody else
    VERIFIED = 2  # the server reads it whose name the certificate has

    @classmethod
    def of(cls, tls: Tls | None) -> "Trust":
        """Say it of a connection."""
        if tls is None:
            return cls.OPEN
        return cls.VERIFIED if tls.verify else cls.ENCRYPTED


class UnrulyServerError(OSError):
    """A server sends more than any answer has."""


class Watch:
    """What a server may take of our time and of our memory."""

    def __init__(self, login_timeout_s: float) -> None:
        """Begin a login."""
        self._deadline: float | None = time.monotonic() + login_timeout_s
        self._bytes_left = ANSWER_MAX_BYTES
        self._login_timeout_s = login_timeout_s
        self._sockets: list[socket.socket] = []

    def add(self, opened: socket.socket) -> None:
        """Take a connection in."""
        self._sockets.append(opened)

    def cut_off(self) -> None:
        """End every connection, so that nobody waits for it any more."""
        for opened in self._sockets:
            with suppress(OSError):  # it has ended by itself
                opened.shutdown(socket.SHUT_RDWR)

    def logged_in(self) -> None:
        """End the limit of time: building an index may take hours."""
        self._deadline = None

    def answer_begins(self) -> None:
        """Let another answer have its bytes."""
        self._bytes_left = ANSWER_MAX_BYTES

    def left_s(self) -> float | None:
        """Say how long a server may take now; None: as long as it likes.

        Raises:
            TimeoutError: Its time is up.
        """
        if self._deadline is None:
            return None
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(no_answer(self._login_timeout_s))
        return left_s

    def count(self, received: int) -> None:
        """Count bytes.

        Raises:
            UnrulyServerError: They are more than an answer has.
        """
        self._bytes_left -= received
        if self._bytes_left < 0:
            raise UnrulyServerError(f"an answer of more than {ANSWER_MAX_BYTES >> 20} MiB")


class WatchedSocket(socket.socket):
    """A socket each of whose reads minds a watch; of a driver's own loop, its bytes alone."""

    watch: Watch

    @classmethod
    def made(cls, watch: Watch, *kind: int) -> "WatchedSocket":
        """Make one, of a family, a type, a protocol and a descriptor, as sockets are made."""
        made = cls(*kind)
        made.watch = watch
        watch.add(made)
        return made

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Receive some bytes."""
        received = super().recv(size, flags)
        self.watch.count(len(received))
        return received

    def recv_into(self, buffer: bytearray, nbytes: int = 0, flags: int = 0) -> int:  # type: ignore[override]  # any buffer
        """Receive into a buffer."""
        self.settimeout(self.watch.left_s())
        received = super().recv_into(buffer, nbytes, flags)
        self.watch.count(received)
        return received


class WatchedTls(ssl.SSLSocket):
    """The same, encrypted."""

    @property
    def _watch(self) -> Watch:
        assert isinstance(self.context, WatchedContext)  # noqa: S101 - which makes these alone
        return self.context.watch

    def do_handshake(self, block: bool = False) -> None:
        """Do TLS's own login, whose time counts as a whole."""
        self._watch.add(self)
        left_s = self._watch.left_s()
        if left_s is not None:
            self.settimeout(left_s)
        super().do_handshake(block)

    def recv(self, size: int = 1024, flags: int = 0) -> bytes:
        """Receive some bytes."""
        received = super().recv(size, flags)
        self._watch.count(len(received))
        return received

    def recv_into(self, buffer: bytearray, nbytes: int | None = None, flags: int = 0) -> int:  # type: ignore[override]  # any buffer
        """Receive into a buffer."""
        self.settimeout(self._watch.left_s())
        received = super().recv_into(buffer, nbytes, flags)
        self._watch.count(received)
        return received


class WatchedContext(ssl.SSLContext):
    """Makes sockets that mind a watch."""

    sslsocket_class = WatchedTls
    watch: Watch


def reach(target: EngineTarget, watch: Watch) -> WatchedSocket:
    """Connect to a target's server.

    Raises:
        OSError: It cannot be reached in time. (Finding its address takes what the system takes.)
    """
    reached = socket.create_connection((target.host, target.port), watch.left_s())
    reached.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reached.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    kind = reached.family, reached.type, reached.proto
    made = WatchedSocket.made(watch, *kind, reached.detach())
    made.settimeout(watch.left_s())  # what a driver asks before TLS has its time, too
    return made


def tls_context(tls: Tls | None, watch: Watch) -> ssl.SSLContext | None:
    """Make what a driver needs for TLS; None where the target is reached without it."""
    if tls is None:
        return None
    context = WatchedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.watch = watch
    # As the engine: names and signatures count, not every rule on how an authority writes its own
    # certificate, which Python 3.13 added and certificates of databases often break.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif tls.ca_pem is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=tls.ca_pem)
    return context


def no_answer(timeout_s: float) -> str:
    """Say that a login has not ended in time."""
    return f"no answer to the login within {timeout_s:g} s"


def tls_problem(error: ssl.SSLError) -> str:
    """Say in words what a TLS error means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS: the server's certificate is not believed: {error.verify_message}"
    return f"TLS: {error.reason or error}"


def unreadable(error: Exception) -> str:
    """Say that a driver has met what it does not know."""
    return f"the database's answer cannot be read ({type(error).__name__})"


def said(words: object) -> str:
    """Write what a server says in one line that a terminal can show, cut to 300 characters."""
    line = " ".join(str(words).split())
    return "".join(letter for letter in line if letter.isprintable())[:_SAID_MAX]


def short(statement: str) -> str:
    """Write a statement in one line, cut to 80 characters."""
    line = " ".join(statement.split())
    return line if len(line) <= _SHORT_MAX else line[: _SHORT_MAX - 3] + "..."
