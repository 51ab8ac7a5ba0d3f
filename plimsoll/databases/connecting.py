"""Limits on every connection that Python opens, for all families of databases.

A server may belong to anybody. It gets a limited time for a login, however little it sends at a
time, and a limited number of bytes for an answer. `Trust` decides what a connection may reveal: the
password goes only to a server that is known to be the target. The engine's counterpart is
`trust.rs`. All text of a server is escaped here, once. An answer of an unexpected form is a
`PlimsollError`.
"""

import select
import socket
import ssl
import time
import typing
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.model.databases import find_protocol_facts
from plimsoll.model.engine.asked import EngineTarget, Protocol, Tls

# Our queries have answers of some kB; as Python objects this limit takes about 50 MiB.
ANSWER_MAX_BYTES = 1 << 20
_SAID_MAX = 300  # characters of a server's message that are shown
_SHORT_MAX = 80  # characters of a statement that an error line shows
# Raised by code that reads an answer of another form: fewer columns, a text for a number.
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
ASKS_FOR_PASSWORD = "the server asks for the password itself"  # noqa: S105 - a message


class Trust(IntEnum):
    """How well a connection protects what is sent on it."""

    OPEN = 0  # anybody on the network path can read it
    ENCRYPTED = 1  # only the server can read it, but any server may have answered
    VERIFIED = 2  # only the server that the certificate names can read it

    @classmethod
    def of(cls, tls: Tls | None) -> "Trust":
        """Return the trust that TLS settings give."""
        if tls is None:
            return cls.OPEN
        return cls.VERIFIED if tls.verify else cls.ENCRYPTED


@dataclass(frozen=True)
class Pooler:
    """What answers in a server's place, and logs in for itself: PgBouncer, ProxySQL, RDS Proxy.

    A server tells each client the number of its session at the login (PostgreSQL: the process in
    BackendKeyData; MySQL: the thread in the greeting), and again when it is asked. A pooler logs in
    for itself, so the two numbers differ through one. In transaction mode it gives each transaction
    a session that others used before and use afterwards: what is SET there stays on their
    connections.

    Attributes:
        name: The product; None if it does not say.
        differs: Settings that a load relies on and that its sessions do not have, each with the
            value in force.
    """

    name: str | None = None
    differs: Mapping[str, str] = field(default_factory=dict)


class UnrulyServerError(OSError):
    """A server sends more bytes than any answer may have."""


class Watch:
    """Limits how long a server may take, and how many bytes it may send."""

    def __init__(self, login_timeout_s: float) -> None:
        """Start the time limit of a login."""
        self._deadline: float | None = time.monotonic() + login_timeout_s
        self._bytes_left = ANSWER_MAX_BYTES
        self._login_timeout_s = login_timeout_s
        self._sockets: list[socket.socket] = []

    def add(self, opened: socket.socket) -> None:
        """Add a socket."""
        self._sockets.append(opened)

    def cut_off(self) -> None:
        """Shut down all sockets, so that nobody waits for them any longer."""
        for opened in self._sockets:
            with suppress(OSError):  # it has ended already
                opened.shutdown(socket.SHUT_RDWR)

    def lift_limit(self) -> None:
        """Lift the time limit: building an index may take hours."""
        self._deadline = None

    def begin_answer(self) -> None:
        """Reset the byte count for the next answer."""
        self._bytes_left = ANSWER_MAX_BYTES

    def left_s(self) -> float | None:
        """Return how many seconds a server may still take; None if the time is unlimited.

        Raises:
            TimeoutError: The time is up.
        """
        if self._deadline is None:
            return None
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(describe_no_answer(self._login_timeout_s))
        return left_s

    def count(self, received: int) -> None:
        """Count received bytes.

        Raises:
            UnrulyServerError: They exceed the limit of an answer.
        """
        self._bytes_left -= received
        if self._bytes_left < 0:
            raise UnrulyServerError(f"an answer of more than {ANSWER_MAX_BYTES >> 20} MiB")


class WatchedSocket(socket.socket):
    """A socket whose reads obey a watch; in a driver's own event loop, only its bytes count."""

    watch: Watch

    @classmethod
    def make(cls, watch: Watch, *kind: int) -> "WatchedSocket":
        """Make a socket; `kind` is family, type, protocol and file descriptor, as for `socket`."""
        made = cls(*kind)
        made.watch = watch
        watch.add(made)
        return made

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Receive bytes."""
        received = super().recv(size, flags)
        self.watch.count(len(received))
        return received

    def recv_into(self, buffer: bytearray, nbytes: int = 0, flags: int = 0) -> int:  # type: ignore[override]  # any buffer
        """Receive bytes into a buffer."""
        self.settimeout(self.watch.left_s())
        received = super().recv_into(buffer, nbytes, flags)
        self.watch.count(received)
        return received


class WatchedTls(ssl.SSLSocket):
    """A TLS socket whose reads obey a watch."""

    @property
    def _watch(self) -> Watch:
        assert isinstance(self.context, WatchedContext)  # noqa: S101 - which makes these alone
        return self.context.watch

    def do_handshake(self, block: bool = False) -> None:
        """Do the TLS handshake, whose total time is limited."""
        self._watch.add(self)
        left_s = self._watch.left_s()
        if left_s is not None:
            self.settimeout(left_s)
        super().do_handshake(block)

    def recv(self, size: int = 1024, flags: int = 0) -> bytes:
        """Receive bytes."""
        received = super().recv(size, flags)
        self._watch.count(len(received))
        return received

    def recv_into(self, buffer: bytearray, nbytes: int | None = None, flags: int = 0) -> int:  # type: ignore[override]  # any buffer
        """Receive bytes into a buffer."""
        self.settimeout(self._watch.left_s())
        received = super().recv_into(buffer, nbytes, flags)
        self._watch.count(received)
        return received


class WatchedContext(ssl.SSLContext):
    """An SSL context that makes sockets which obey a watch."""

    sslsocket_class = WatchedTls
    watch: Watch


def open_socket(target: EngineTarget, watch: Watch) -> WatchedSocket:
    """Connect to a target's server.

    Raises:
        OSError: It cannot be reached in time. (Resolving its name is not limited.)
    """
    reached = socket.create_connection((target.host, target.port), watch.left_s())
    reached.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reached.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    kind = reached.family, reached.type, reached.proto
    made = WatchedSocket.make(watch, *kind, reached.detach())
    made.settimeout(watch.left_s())  # limits what a driver reads before TLS, too
    return made


def make_tls_context(tls: Tls | None, watch: Watch) -> ssl.SSLContext | None:
    """Make the SSL context for a driver; None if the target uses no TLS."""
    if tls is None:
        return None
    context = WatchedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.watch = watch
    # Like the engine, check names and signatures only. The rules on an authority's own certificate
    # that Python 3.13 added are often broken by certificates of databases.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif tls.ca_pem is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=tls.ca_pem)
    return context


# What a server says first, or to the first bytes of each protocol's client.
_POSTGRES_TLS_REQUEST = bytes.fromhex("0000000804d2162f")  # SSLRequest
_CQL_OPTIONS = bytes.fromhex("040000000500000000")
_CQL_ANSWERS = range(0x81, 0x87)  # first byte of an answer: 0x80 + protocol version, 1 to 6
_GREETING_BYTES = 5  # MySQL's length, number, protocol version or error
_GREETING_KINDS = (0x0A, 0xFF)
_SPEAKS_WITHIN_S = 1.0
_HTTP_REQUEST = b"GET / HTTP/1.0\r\n\r\n"
# How those that are often at a wrong port begin: unasked, or answering to a request of HTTP
_STRANGERS = {
    b"HTTP/": "a server of HTTP",
    b"SSH-": "a server of SSH",
    b"220 ": "a server of mail or FTP",
    b"220-": "a server of mail or FTP",
    b"-ERR": "Redis or the like",
    b"\x15\x03": "a server that speaks TLS from its first byte, as of HTTPS",
}
_SCHEMES: dict[str, Protocol] = {
    "MySQL or MariaDB": "mysql",
    "PostgreSQL": "postgres",
    "Cassandra": "cql",
}


class OtherServerError(Exception):
    """A server of another protocol is at the port; the message says which, and what to write."""


def describe_other_server(target: EngineTarget) -> str | None:
    """Recognize a server of another protocol by its first bytes: `this is PostgreSQL: ...`.

    It asks on connections of its own, all at once, and takes two seconds at most.

    Returns:
        The product, and with which scheme the DSN has to begin, or what is no database; None if
        nobody answers, the server is not recognized, or is one of the target's protocol.
    """
    questions = (
        (b"", _GREETING_BYTES),
        (_POSTGRES_TLS_REQUEST, 2),
        (_CQL_OPTIONS, 1),
        (_HTTP_REQUEST, _GREETING_BYTES),
    )
    with ThreadPoolExecutor(len(questions)) as asking:
        said, postgres, cql, http = asking.map(lambda question: _hear(target, *question), questions)
    if len(said) == _GREETING_BYTES and said[3] == 0 and said[4] in _GREETING_KINDS:
        product = "MySQL or MariaDB"
    elif postgres in {b"S", b"N"}:  # it says one letter, and waits
        product = "PostgreSQL"
    elif (cql or b"\0")[0] in _CQL_ANSWERS:
        product = "Cassandra"
    else:
        return _describe_stranger(said or http)
    if _SCHEMES[product] == target.protocol:
        return None
    scheme = find_protocol_facts(_SCHEMES[product]).dsn_schemes[0]
    return f"this is {product}: begin the DSN with {scheme}://"


def _describe_stranger(said: bytes) -> str | None:
    """Describe what is no database that a workload runs on; None if it is not recognized."""
    for begin, what in _STRANGERS.items():
        if said.startswith(begin):
            return f"this is {what}, and no database that Plimsoll knows: look at the port"
    return None


def speaks_first(reached: socket.socket, within_s: float) -> bool:
    """Return whether a server says something unasked, as MySQL and MariaDB do."""
    readable, _, _ = select.select([reached], [], [], within_s)
    return bool(readable)


def _hear(target: EngineTarget, question: bytes, length: int) -> bytes:
    """Return the first bytes that a server says to a question; fewer if it does not say so many."""
    said = b""
    with suppress(OSError):
        place = (target.host, target.port)
        with socket.create_connection(place, _SPEAKS_WITHIN_S) as reached:
            reached.sendall(question)
            while len(said) < length and (piece := reached.recv(length - len(said))):
                said += piece
    return said


class Closable(typing.Protocol):
    """Something that is closed after use."""

    def close(self) -> None:
        """Close it."""


Used = TypeVar("Used", bound=Closable)


@contextmanager
def use_connection(connection: Used) -> Iterator[Used]:
    """Use a connection to a server, and close it at the end.

    Raises:
        PlimsollError: An answer of the server is not of the form that was asked for.
    """
    with closing(connection), refuse_other_answers():
        yield connection


@contextmanager
def refuse_other_answers() -> Iterator[None]:
    """Read answers of a server.

    Raises:
        PlimsollError: One of them is not of the form that was asked for.
    """
    try:
        yield
    except PlimsollError:
        raise
    except _UNREADABLE as error:
        raise PlimsollError(describe_unreadable(error)) from error


def escape_rows(rows: Iterable[Iterable[Any]]) -> tuple[tuple[Any, ...], ...]:
    """Return a server's rows with all control characters made visible but line breaks and tabs."""
    return tuple(tuple(map(escape_value, row)) for row in rows)


def escape_value(value: Any) -> Any:
    """Return a server's value with control characters made visible if it is a text, or has any.

    A line ends in a line feed alone, so that a statement of many lines stays one.
    """
    if isinstance(value, str):
        return words.escape_controls(value.replace("\r\n", "\n").replace("\r", "\n"))
    return [escape_value(part) for part in value] if isinstance(value, list) else value


def describe_no_answer(timeout_s: float) -> str:
    """Describe a login that has not ended in time."""
    return f"no answer to the login within {timeout_s:g} s"


def describe_tls_error(error: ssl.SSLError) -> str:
    """Describe what a TLS error means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS: the server's certificate is not trusted: {error.verify_message}"
    return f"TLS: {error.reason or error}"


def describe_unreadable(error: Exception) -> str:
    """Describe an answer that the driver cannot read."""
    return f"the database's answer cannot be read ({type(error).__name__})"


def shorten_message(words: object) -> str:
    """Return a server's message as one line that a terminal can show, cut to 300 characters."""
    line = " ".join(str(words).split())
    return "".join(letter for letter in line if letter.isprintable())[:_SAID_MAX]


def shorten_statement(statement: str) -> str:
    """Return a statement as one line, cut to 80 characters."""
    line = " ".join(statement.split())
    return line if len(line) <= _SHORT_MAX else line[: _SHORT_MAX - 3] + "..."
