"""What a server that means harm may say in CQL's protocol, by the moment at which it says it."""

import struct
from collections.abc import Callable

from tests.support.fake_cql_server import (
    AUTH_SUCCESS,
    AUTHENTICATE,
    ERROR,
    READY,
    RESULT,
    STARTUP,
    frame,
)
from tests.support.hostile_server import Peer, Script, floods, in_turn, sends

OPTIONS, SUPPORTED, QUERY, PREPARE, EVENT, CHALLENGE = 0x05, 0x06, 0x07, 0x09, 0x0C, 0x0E
AUTH_RESPONSE = 0x0F
_HEAD = struct.Struct(">BBhBI")
_STRING = struct.Struct(">H")
_ROWS, _PREPARED = struct.pack(">i", 2), struct.pack(">i", 4)
MOST = (1 << 31) - 1


def text(value: bytes) -> bytes:
    """Build a [string]."""
    return _STRING.pack(len(value)) + value


def error(code: int, message: bytes) -> bytes:
    """Build the body of an error."""
    return struct.pack(">i", code) + text(message)


def read(peer: Peer) -> tuple[int, int]:
    """Await a request; gives its stream and opcode."""
    _, _, stream, opcode, length = struct.unpack(">BBhBI", peer.read(9))
    peer.read(length)
    return stream, opcode


_VERSION = text(b"CQL_VERSION") + struct.pack(">H", 1) + text(b"3.4.5")
SUPPORTED_BODY = struct.pack(">H", 2) + _VERSION + text(b"COMPRESSION") + struct.pack(">H", 0)


def until(wanted: int, send: Callable[[Peer, int], None]) -> Script:
    """Be a good server up to the first request of a kind, and answer that one, by its stream."""

    def script(peer: Peer) -> None:
        while True:
            stream, opcode = read(peer)
            if opcode == wanted:
                send(peer, stream)
                return
            if opcode == OPTIONS:
                peer.send(frame(stream, SUPPORTED, SUPPORTED_BODY))
            elif opcode == STARTUP:
                peer.send(frame(stream, READY))
            else:
                peer.send(frame(stream, RESULT, struct.pack(">i", 1)))

    return script


def says(opcode: int, body: bytes) -> Callable[[Peer, int], None]:
    """Answer with a frame, and then hear what comes."""

    def send(peer: Peer, stream: int) -> None:
        peer.send(frame(stream, opcode, body))
        peer.listen()

    return send


def raw(data: bytes) -> Callable[[Peer, int], None]:
    """Answer with bytes, and close."""
    return lambda peer, _stream: peer.send(data)


def at_once(send: Script) -> Script:
    """Await the first request, and go on as `send` does."""

    def script(peer: Peer) -> None:
        read(peer)
        send(peer)

    return script


def challenges(peer: Peer) -> None:
    """Ask for one login after another, for ever."""
    while True:
        stream, opcode = read(peer)
        if opcode == OPTIONS:
            peer.send(frame(stream, SUPPORTED, SUPPORTED_BODY))
        elif opcode == STARTUP:
            peer.send(frame(stream, AUTHENTICATE, text(b"org.example.Mine")))
        else:
            peer.send(frame(stream, CHALLENGE, struct.pack(">i", -1)))


def events(peer: Peer, _stream: int) -> None:
    """Send events without end in place of an answer."""
    peer.flood(frame(-1, EVENT, text(b"STATUS_CHANGE") + text(b"UP") + b"\x04\x7f\0\0\1\0\0\0\1"))


def endless(peer: Peer, stream: int) -> None:
    """Send an answer of 2 GiB."""
    peer.send(_HEAD.pack(0x84, 0, stream, RESULT, MOST))
    peer.flood(bytes(9))


def elsewhere(peer: Peer, stream: int) -> None:
    """Answer on other streams than the one that asks."""
    for other in range(100):
        if other != stream:
            peer.send(frame(other, READY))
    peer.listen()


# --- what ends a login at once ---
LOGINS: dict[str, Script] = {
    **{f"an answer cut off after {n}": at_once(sends(frame(0, READY)[:n])) for n in (0, 1, 8)},
    "another protocol": at_once(lambda peer: peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9)),
    "another version": at_once(lambda peer: peer.send(b"\x99" + frame(0, READY)[1:])),
    "a request": at_once(lambda peer: peer.send(b"\x04" + frame(0, READY)[1:])),
    "2 GiB": at_once(in_turn(sends(_HEAD.pack(0x84, 0, 0, SUPPORTED, MOST)), floods(bytes(9)))),
    "less than nothing": at_once(lambda peer: peer.send(_HEAD.pack(0x84, 0, 0, READY, 1 << 31))),
    "compressed": at_once(lambda peer: peer.send(_HEAD.pack(0x84, 1, 0, READY, 4) + b"\xff" * 4)),
    "an error": until(STARTUP, says(ERROR, error(0, b"a\nb\x1b[2J" * 2000))),
    "an error that is cut off": until(STARTUP, says(ERROR, b"\0\0")),
    "a wrong password": until(STARTUP, says(ERROR, error(0x0100, b"no such account"))),
    "another login for ever": challenges,
    "nothing of what it can do": at_once(sends(frame(0, SUPPORTED, struct.pack(">H", 0)))),
    "a login that ends in nothing": until(STARTUP, says(AUTHENTICATE, b"\xff\xff")),
    "closed at the first statement": until(QUERY, raw(b"")),
    "a late error": until(QUERY, says(ERROR, error(0x2200, b"gone"))),
    "a result of no known kind": until(QUERY, says(RESULT, struct.pack(">i", 99))),
    "a result that is none": until(QUERY, says(AUTH_SUCCESS, b"")),
}

# --- what takes its time: an error at the deadline ---
SLOW: dict[str, Script] = {
    "silence": lambda peer: peer.listen(),
    "byte by byte": at_once(lambda peer: peer.drip(frame(0, READY, bytes(99)))),
    "silence after the login": until(QUERY, lambda peer, _: peer.listen()),
}

# --- what answers nothing that was asked: in time at the latest ---
ELSEWHERE = until(STARTUP, elsewhere)

# --- what a table's description may be; the engine prepares ---
_COLUMNS = struct.pack(">i", 1) + struct.pack(">i", MOST) + text(b"k") + text(b"t")
PREPARED: dict[str, Script] = {
    "2^31 columns": until(
        PREPARE, says(RESULT, _PREPARED + text(b"id") + struct.pack(">iii", 1, MOST, 0))
    ),
    "2^31 keys": until(
        PREPARE, says(RESULT, _PREPARED + text(b"id") + struct.pack(">iii", 1, 0, MOST))
    ),
    "less than no columns": until(
        PREPARE, says(RESULT, _PREPARED + text(b"id") + struct.pack(">iii", 1, -1, -1))
    ),
    "cut off": until(PREPARE, says(RESULT, _PREPARED + b"\0\x10id")),
    "a late error": until(PREPARE, says(ERROR, error(0x2200, b"no such table"))),
    "events without end": until(PREPARE, events),
    "2 GiB": until(
        PREPARE,
        endless,
    ),
}  # fmt: skip

# --- what a statement is answered with; Python asks ---
ROWS: dict[str, Script] = {
    "2^31 columns": until(QUERY, says(RESULT, _ROWS + _COLUMNS)),
    "2^31 rows": until(
        QUERY,
        says(RESULT, _ROWS + struct.pack(">ii", 4, 1) + struct.pack(">i", MOST)),
    ),
    "2 GiB": until(
        QUERY,
        endless,
    ),
}  # fmt: skip
