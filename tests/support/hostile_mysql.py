"""What a server that means harm may say in MySQL's protocol, by the moment at which it says it."""

import ssl
import struct
from collections.abc import Sequence
from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.fake_mysql_server import EOF, OK, column, error_payload, packet
from tests.support.hostile_server import Peer, Script, floods, in_turn, sends

SCRAMBLE = b"abcdefghijklmnopqrst"
TLS_FLAG = 1 << 11
_FLAGS = 0x1 | 0x8 | (1 << 9) | (1 << 13) | (1 << 15) | (1 << 19)
KEY_BYTES = 256  # of a message under the server's key
FULL = 0xFF_FFFF  # of a packet's length


def greeting(plugin: bytes = b"mysql_native_password", *, flags: int = _FLAGS) -> bytes:
    """Build a greeting's payload."""
    halves = struct.pack("<HBHH", flags & 0xFFFF, 45, 2, flags >> 16)
    known = b"\x0a8.4.0\x00" + struct.pack("<I", 1) + SCRAMBLE[:8] + b"\x00" + halves
    return known + bytes([21]) + bytes(10) + SCRAMBLE[8:] + b"\x00" + plugin + b"\x00"


def switch(plugin: bytes, scramble: bytes = SCRAMBLE + b"\x00") -> bytes:
    """Build the payload that asks for another plugin."""
    return b"\xfe" + plugin + b"\x00" + scramble


@cache  # making one takes long, and every worker that collects makes it
def own_key() -> bytes:
    """Make a key of the server's own: what comes under it, it can read."""
    public = rsa.generate_private_key(65_537, 8 * KEY_BYTES).public_key()
    encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    return public.public_bytes(encoding, form)


def read(peer: Peer) -> bytes:
    """Await a packet's payload."""
    return peer.read(int.from_bytes(peer.read(4)[:3], "little"))


def first(data: bytes) -> Script:
    """Say this in place of a greeting, and close."""
    return lambda peer: peer.send(data)


def greeted(*answers: bytes, plugin: bytes = b"mysql_native_password") -> Script:
    """Greet, and answer each packet of the login with a payload; then hear what comes."""

    def script(peer: Peer) -> None:
        peer.send(packet(0, greeting(plugin)))
        _answer(peer, answers, first=2)

    return script


def _answer(peer: Peer, answers: Sequence[bytes], *, first: int) -> None:
    """Answer each packet of the login with a payload, from a number on; then hear what comes."""
    for number, answer in enumerate(answers):
        read(peer)
        peer.send(packet(2 * number + first, answer))
    peer.listen()


def endless(payload: bytes) -> Script:
    """Greet, and answer every packet of the login with the same payload."""

    def script(peer: Peer) -> None:
        peer.send(packet(0, greeting()))
        number = 0
        while True:
            read(peer)
            number += 2
            peer.send(packet(number % 256, payload))

    return script


def unasked(payload: bytes) -> Script:
    """Greet, and say the same thing again and again, whatever comes."""

    def script(peer: Peer) -> None:
        peer.send(packet(0, greeting()))
        read(peer)
        peer.flood(b"".join(packet(number, payload) for number in (*range(2, 256), 0, 1)))

    return script


def huge_for_ever(peer: Peer) -> None:
    """Go on in packets of 16 MiB, each of which says that its message goes on in the next."""
    peer.send(packet(0, greeting()))
    read(peer)
    number = 2
    while True:
        peer.send(struct.pack("<I", FULL)[:3] + bytes([number % 256]))
        for _ in range(15):
            peer.send(bytes(1 << 20))
        peer.send(bytes(FULL - (15 << 20)))
        number += 1


def without_reading(send: Script) -> Script:
    """Greet, read the login, and go on as `send` does."""

    def script(peer: Peer) -> None:
        peer.send(packet(0, greeting()))
        read(peer)
        send(peer)

    return script


def let_in(then: Script, *, setup: int = 0) -> Script:
    """Let the client in, accept so many commands, and answer the next one as `then` does."""

    def script(peer: Peer) -> None:
        peer.send(packet(0, greeting()))
        read(peer)
        peer.send(packet(2, OK))
        for _ in range(setup):
            read(peer)
            peer.send(packet(1, OK))
        read(peer)
        then(peer)

    return script


def in_tls(context: ssl.SSLContext, *answers: bytes) -> Script:
    """Offer TLS, and answer each packet of the login within it."""

    def script(peer: Peer) -> None:
        peer.send(packet(0, greeting(flags=_FLAGS | TLS_FLAG)))
        read(peer)  # that it wants TLS
        peer.start_tls(context)
        _answer(peer, answers, first=3)

    return script


def after_asking_for_tls(send: Script) -> Script:
    """Offer TLS, and do something else once it is asked for."""

    def script(peer: Peer) -> None:
        peer.send(packet(0, greeting(flags=_FLAGS | TLS_FLAG)))
        read(peer)
        send(peer)
        peer.listen()

    return script


_HELLO = packet(0, greeting())

# --- what is said before a password could be sent, or in its place ---
LOGINS: dict[str, Script] = {
    **{f"greeting cut off after {n}": first(_HELLO[:n]) for n in (0, 1, 3, 4, 9, 20, 40)},
    "an empty greeting": first(packet(0, b"")),
    "a greeting that says nothing": first(packet(0, b"\x0a")),
    "a greeting whose version never ends": first(packet(0, b"\x0a" + b"8" * 500)),
    "a greeting of another protocol": first(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9),
    "a greeting of protocol 9": first(packet(0, b"\x09" + greeting()[1:])),
    "a greeting without capabilities": first(packet(0, greeting(flags=0))),
    "a greeting out of sequence": first(packet(7, greeting())),
    "a greeting of 16 MiB": lambda peer: peer.flood(packet(0, bytes(FULL))),
    "packets of 16 MiB without end": huge_for_ever,
    "an error of one byte": first(packet(0, b"\xff")),
    "an error of many lines": first(packet(0, error_payload(1040, "a\nb\r\n" * 2000))),
    "an error that is no text": first(packet(0, b"\xff\x10\x04#08004" + bytes(range(128, 256)))),
    "a packet of no known kind": greeted(b"\x42" * 9),
    "an empty packet": greeted(b""),
    "closed at the login": in_turn(sends(_HELLO), read),
    "an OK out of sequence": without_reading(lambda peer: peer.send(packet(9, OK))),
    "an error after the login": greeted(error_payload(1045, "Access denied")),
    "another plugin for ever": endless(switch(b"mysql_native_password")),
    "more data for ever": unasked(b"\x01\x03"),
    "a plugin that nobody knows": greeted(switch(b"kerberos_of_mine")),
    "a plugin of no known letters": greeted(switch(b"\xc3\x28\xff")),
    "a plugin without a name": greeted(b"\xfe\x00"),
    "a scramble of no bytes": greeted(switch(b"caching_sha2_password", b"")),
    "a scramble of one byte": greeted(switch(b"caching_sha2_password", b"a")),
    "a scramble of a MiB": greeted(switch(b"mysql_native_password", b"a" * (1 << 20))),
}

# --- what asks for the password itself ---
_SHA = b"caching_sha2_password"
ASKING: dict[str, Script] = {
    "mysql_clear_password": greeted(switch(b"mysql_clear_password", b"")),
    "mysql_clear_password as its own": greeted(b"\x01", plugin=b"mysql_clear_password"),
    "dialog": greeted(switch(b"dialog", b"\x04Password: ")),
    "the oldest login": greeted(b"\xfe"),
    "mysql_old_password": greeted(switch(b"mysql_old_password")),
    "sha256_password": greeted(switch(b"sha256_password"), b"\x01" + own_key()),
    "sha256_password as its own": greeted(b"\x01" + own_key(), plugin=b"sha256_password"),
    "all of SHA-2, as its own": greeted(b"\x01\x04", b"\x01" + own_key(), plugin=_SHA),
    "all of SHA-2": greeted(switch(_SHA), b"\x01\x04", b"\x01" + own_key()),
    "a key that was not asked for": greeted(b"\x01" + own_key(), plugin=_SHA),
}

# --- what takes its time: an error at the deadline ---
SLOW: dict[str, Script] = {
    "silence": lambda peer: peer.listen(),
    "a greeting byte by byte": lambda peer: peer.drip(_HELLO),
    "silence after the greeting": greeted(),
    "an OK byte by byte": without_reading(lambda peer: peer.drip(b"\xff\xff\x0f\x02\x00")),
    "silence after the login": greeted(OK),
}
SLOW_IN_TLS: dict[str, Script] = {
    "silence in place of TLS": after_asking_for_tls(lambda _: None),
    "TLS byte by byte": after_asking_for_tls(
        lambda peer: peer.drip(b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb\x03\x03")
    ),
}
NO_TLS: dict[str, Script] = {
    "TLS stripped": greeted(OK),
    "an error in place of TLS": after_asking_for_tls(
        lambda peer: peer.send(packet(2, error_payload(1045, "no TLS for you")))
    ),
    "an OK in place of TLS": after_asking_for_tls(lambda peer: peer.send(packet(2, OK))),
    "closed in place of TLS": after_asking_for_tls(lambda peer: peer.close()),
    "letters in place of TLS": after_asking_for_tls(lambda peer: peer.send(b"TLS!" * 99)),
}

# --- what answers a statement ---
_MANY = b"\xfe" + struct.pack("<Q", 1 << 32)  # a column count of 2^32


def _columns_for_ever(peer: Peer) -> None:
    peer.send(packet(1, _MANY))
    numbers = (*range(2, 256), 0, 1)
    peer.flood(b"".join(packet(number, column()) for number in numbers))


def _rows_for_ever(peer: Peer) -> None:
    peer.send(packet(1, b"\x01") + packet(2, column()) + packet(3, EOF))
    numbers = (*range(4, 256), *range(4))
    peer.flood(b"".join(packet(number, b"\x01x") for number in numbers))


ANSWERS: dict[str, Script] = {
    "2^32 columns, and no more": lambda peer: peer.send(packet(1, _MANY)),
    "2^32 columns": _columns_for_ever,
    "rows without end": _rows_for_ever,
    "a packet of 16 MiB without end": lambda peer: peer.flood(packet(1, bytes(FULL))),
    "a length without a number": lambda peer: peer.send(packet(1, b"\xfd\x01")),
    "a text of 2^63 bytes": lambda peer: peer.send(
        packet(1, b"\x01")
        + packet(2, column())
        + packet(3, EOF)
        + packet(4, b"\xfe" + struct.pack("<Q", 1 << 63))
    ),
    "a column that is cut off": lambda peer: peer.send(
        packet(1, b"\x01") + packet(2, column()[:5]) + packet(3, EOF)
    ),
    "an empty answer": lambda peer: peer.send(packet(1, b"")),
    "an answer out of sequence": lambda peer: peer.send(packet(9, OK)),
    "a file of the client's": in_turn(sends(packet(1, b"\xfb/etc/passwd")), read),
    "a late error": lambda peer: peer.send(packet(1, error_payload(1194, "crashed\nand burned"))),
    "closed": lambda peer: peer.close(),
}  # fmt: skip


def _prepared(columns: int, binds: int) -> bytes:
    return packet(1, b"\x00" + struct.pack("<IHHBH", 1, columns, binds, 0, 0))


PREPARED: dict[str, Script] = {
    **{name: answer for name, answer in ANSWERS.items() if "2^32" not in name},
    "65,535 columns, without end": in_turn(
        sends(_prepared(65_535, 65_535)),
        floods(b"".join(packet(n, column()) for n in (*range(2, 256), 0, 1))),
    ),
    "65,535 columns, and no more": lambda peer: peer.send(_prepared(65_535, 0)),
    "columns of a MiB each": in_turn(
        sends(_prepared(65_535, 65_535)), floods(packet(2, bytes((1 << 20) - 1)))
    ),
    "more binds than are given": lambda peer: peer.send(
        _prepared(0, 7) + b"".join(packet(n, column()) for n in range(2, 9)) + packet(9, EOF)
    ),
}  # fmt: skip
