"""What a PostgreSQL server that means harm may say, by the moment at which it says it."""

import base64
import hashlib
import hmac
import ssl
import struct
from collections.abc import Callable

from tests.support.hostile_server import Peer, Script, floods, in_turn, sends

MIB = 1 << 20
_SALT = b"a salt of 16 by."
SCRAM, PLUS = b"SCRAM-SHA-256", b"SCRAM-SHA-256-PLUS"


def message(tag: bytes, body: bytes = b"", *, length: int | None = None) -> bytes:
    """Build a message; `length` is said in place of its own."""
    return tag + struct.pack("!I", len(body) + 4 if length is None else length) + body


def asks(code: int, data: bytes = b"") -> bytes:
    """Build a request for a login."""
    return message(b"R", struct.pack("!I", code) + data)


def error(code: str = "28P01", text: str = "no", severity: str = "FATAL") -> bytes:
    """Build an error."""
    fields = f"S{severity}\0V{severity}\0C{code}\0M{text}\0\0"
    return message(b"E", fields.encode())


def setting(name: str, value: str) -> bytes:
    """Build what a server tells of its settings."""
    return message(b"S", f"{name}\0{value}\0".encode())


OK = asks(0)
READY = message(b"Z", b"I")
LET_IN = OK + setting("client_encoding", "UTF8") + message(b"K", bytes(8)) + READY
CLEAR_TEXT = asks(3)
MD5 = asks(5, b"salt")
NOTICE = message(b"N", b"SWARNING\0VWARNING\0C01000\0Mtake care\0\0")


def sasl(*mechanisms: bytes) -> bytes:
    """Ask for one of these."""
    return asks(10, b"".join(name + b"\0" for name in mechanisms) + b"\0")


def read_startup(peer: Peer) -> bytes:
    """Await what a client says first, or its wish for TLS: these have no tag."""
    (length,) = struct.unpack("!I", peer.read(4))
    return peer.read(length - 4)


def read(peer: Peer) -> tuple[bytes, bytes]:
    """Await a message."""
    tag = peer.read(1)
    return tag, read_startup(peer)


def greeted(*answers: bytes) -> Script:
    """Answer the startup, and each message after it; then hear what comes."""

    def script(peer: Peer) -> None:
        for number, answer in enumerate(answers):
            if number == 0:
                read_startup(peer)
            else:
                read(peer)
            peer.send(answer)
        peer.listen()

    return script


def started(send: Script) -> Script:
    """Read the startup, and go on as `send` does."""
    return in_turn(read_startup, send)


def endless(data: bytes) -> Script:
    """Say the same thing for ever once the client has said who it is."""
    return started(floods(data))


def scram(
    password: bytes = b"",
    *,
    nonce: Callable[[bytes], bytes] = lambda theirs: theirs + b"ours",
    salt: bytes = base64.b64encode(_SALT),
    iterations: object = 4096,
    final: bytes | None = None,
    then: bytes = LET_IN,
    offers: tuple[bytes, ...] = (SCRAM,),
) -> Script:
    """Log in by SCRAM; what is not given is as it should be (RFC 5802, 7677)."""

    def script(peer: Peer) -> None:
        peer.send(sasl(*offers))
        _, first = read(peer)
        bare = first[first.index(b"n=") :]  # what binds it is seen in what the server was told
        challenge = (
            b"r="
            + nonce(bare[bare.index(b",r=") + 3 :])
            + b",s="
            + salt
            + b",i="
            + str(iterations).encode()
        )
        peer.send(asks(11, challenge))
        tag, response = read(peer)
        if tag != b"p":
            return  # it takes its leave
        unproved = response[: response.index(b",p=")]
        told = b",".join((bare, challenge, unproved))
        salted = hashlib.pbkdf2_hmac("sha256", password, _SALT, 4096)
        key = hmac.digest(salted, b"Server Key", "sha256")
        proof = b"v=" + base64.b64encode(hmac.digest(key, told, "sha256"))
        peer.send(asks(12, proof if final is None else final) + then)

    return script


def then_listens(script: Script) -> Script:
    """Read the startup, go on as `script` does, then hear what comes."""
    return in_turn(read_startup, script, lambda peer: peer.listen())


def in_tls(context: ssl.SSLContext, script: Script) -> Script:
    """Offer TLS, and go on within it."""

    def offered(peer: Peer) -> None:
        read_startup(peer)
        peer.send(b"S")
        peer.start_tls(context)
        then_listens(script)(peer)

    return offered


def after_asking_for_tls(send: Script) -> Script:
    """Do something else once TLS is asked for."""
    return in_turn(read_startup, send, lambda peer: peer.listen())


# --- what is said before a password could be sent, or in its place ---
LOGINS: dict[str, Script] = {
    **{
        f"a login cut off after {n}": started(lambda peer, n=n: peer.send(LET_IN[:n]))  # type: ignore[misc]
        for n in (0, 1, 4, 5, 8, 12, 40)
    },
    "another protocol": started(sends(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9)),
    "a message of length 0": greeted(message(b"R", length=0)),
    "a message of length 3": greeted(message(b"R", length=3)),
    "a message of 4 GiB": endless(message(b"R", bytes(MIB), length=0xFFFF_FFFF)),
    "a message of 2 GiB": endless(message(b"R", bytes(MIB), length=0x7FFF_FFFF)),
    "a message of 1 GiB": endless(message(b"R", bytes(MIB), length=1 << 30)),
    "an error of 1 GiB": endless(message(b"E", bytes(MIB), length=1 << 30)),
    "a message of no known kind": greeted(message(b"?", b"what")),
    "an empty request": greeted(message(b"R")),
    "notices without end": endless(NOTICE),
    "settings without end": endless(setting("a", "b")),
    "keys without end": in_turn(read_startup, sends(OK), floods(message(b"K", bytes(8)))),
    "notices of a MiB without end": endless(message(b"N", bytes(MIB - 9))),
    "an error without fields": greeted(message(b"E")),
    "an error of many lines": greeted(error(text="a\nb\r\n" * 2000)),
    "an error that is no text": greeted(message(b"E", b"C28P01\0M" + bytes(range(128, 256)))),
    "an error of half a MiB": greeted(error(text="x" * (MIB // 2))),
    "an error after the login": greeted(OK + error("53300", "too many")),
    "letters of another kind": greeted(OK + setting("client_encoding", "SJIS") + READY),
    "another protocol's version": greeted(message(b"v", bytes(8))),
    "a row in place of a login": greeted(message(b"D", bytes(9))),
    "ready before the login": greeted(READY),
    "GSSAPI": greeted(asks(7)),
    "SSPI": greeted(asks(9)),
    "Kerberos": greeted(asks(2)),
    "no known login": greeted(asks(4_000_000_000)),
    "no mechanism": greeted(asks(10, b"\0")),
    "mechanisms that nobody knows": greeted(sasl(b"PLAIN", b"OAUTHBEARER")),
    "a mechanism of no letters": greeted(sasl(b"\xc3\x28\xff")),
    "the middle of SCRAM first": greeted(asks(11, b"r=a,s=YQ==,i=4096")),
    "the end of SCRAM first": greeted(asks(12, b"v=YQ==")),
    "closed at the login": started(lambda peer: peer.close()),
}

# --- what breaks SCRAM's rules: the server must prove that it knows the password, too ---
BROKEN_SCRAM: dict[str, Script] = {
    "let in without its proof": greeted(sasl(SCRAM), LET_IN),
    "let in after the challenge": greeted(sasl(SCRAM), asks(11, b"r=a,s=YQ==,i=4096"), LET_IN),
    "a proof of another password": then_listens(scram(b"another")),
    "a proof of no bytes": then_listens(scram(final=b"v=")),
    "a proof that is none": then_listens(scram(final=b"v=" + base64.b64encode(bytes(32)))),
    "no proof": then_listens(scram(final=b"")),
    "an error in place of its proof": then_listens(scram(final=b"e=other-error")),
    "a nonce of its own": then_listens(scram(nonce=lambda _: b"ours")),
    "a challenge that is no text": greeted(sasl(SCRAM), asks(11, b"\xff\xfe\x00")),
    "a salt that is none": then_listens(scram(salt=b"!!")),
    "5 million iterations": then_listens(scram(iterations=5_000_000)),
    "2^31 iterations": then_listens(scram(iterations=2**31)),
    "10^30 iterations": then_listens(scram(iterations=10**30)),
    "iterations that are no number": then_listens(scram(iterations="many")),
    "-1 iterations": then_listens(scram(iterations=-1)),
    "a second login in clear text": greeted(sasl(SCRAM), CLEAR_TEXT),
    "a second login by md5": greeted(sasl(SCRAM), MD5),
    "SCRAM again and again": greeted(*(9 * [sasl(SCRAM)])),
}

# --- what asks for the password itself, or for what is as good as it ---
ASKING: dict[str, Script] = {
    "clear text": greeted(CLEAR_TEXT, LET_IN),
    "md5": greeted(MD5, LET_IN),
    "md5 without a salt": greeted(asks(5), LET_IN),
}

# --- what takes its time: an error at the deadline ---
SLOW: dict[str, Script] = {
    "silence": lambda peer: peer.listen(),
    "a login byte by byte": started(lambda peer: peer.drip(b"R\x00\x0f\xff\xff\x00")),
    "notices one by one": started(lambda peer: peer.drip(NOTICE[:-1] + bytes(200))),
    "silence after the startup": started(lambda peer: peer.listen()),
    "silence after the challenge": greeted(sasl(SCRAM)),
    "silence after the login": greeted(LET_IN),
}
SLOW_IN_TLS: dict[str, Script] = {
    "silence in place of TLS": after_asking_for_tls(lambda _: None),
    "TLS byte by byte": after_asking_for_tls(
        lambda peer: peer.drip(b"S\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb\x03\x03")
    ),
}
NO_TLS: dict[str, Script] = {
    "TLS stripped": after_asking_for_tls(in_turn(sends(b"N"), greeted(CLEAR_TEXT, LET_IN))),
    "an error in place of TLS": after_asking_for_tls(sends(error(text="TLS is \x1b[31m broken"))),
    "let in in place of TLS": after_asking_for_tls(sends(LET_IN)),
    "closed in place of TLS": after_asking_for_tls(lambda peer: peer.close()),
    "letters in place of TLS": after_asking_for_tls(sends(b"TLS!" * 99)),
    "a password asked for behind the yes": after_asking_for_tls(sends(b"S" + CLEAR_TEXT + LET_IN)),
}


# --- what answers a statement ---
def let_in(then: Script) -> Script:
    """Let the client in, and answer the statement that it prepares as `then` does."""

    def script(peer: Peer) -> None:
        read_startup(peer)
        peer.send(LET_IN)
        for _ in range(3):  # Parse, Describe, Sync
            read(peer)
        then(peer)

    return script


def types(*oids: int, count: int | None = None) -> bytes:
    """Describe parameters of these types."""
    said = struct.pack("!H", len(oids) if count is None else count)
    return message(b"t", said + b"".join(struct.pack("!I", oid) for oid in oids))


_PARSED = message(b"1")
NO_ROWS = message(b"n")
PREPARED: dict[str, Script] = {
    "an error": sends(error("42P01", "no such\ntable", "ERROR") + READY),
    "closed": lambda peer: peer.close(),
    "another answer": sends(message(b"C", b"SELECT 1\0") + READY),
    "notices without end": floods(NOTICE),
    "rows without end": in_turn(sends(_PARSED), floods(message(b"D", bytes(90)))),
    "65,535 parameters": sends(_PARSED + types(*(65_535 * [23])) + NO_ROWS + READY),
    "65,535 parameters, and no more": sends(_PARSED + types(count=65_535) + NO_ROWS + READY),
    "more parameters than it says": sends(_PARSED + types(23, 23, count=1) + NO_ROWS + READY),
    "no count of parameters": sends(_PARSED + message(b"t") + NO_ROWS + READY),
    "a type that nobody knows": sends(_PARSED + types(987_654) + NO_ROWS + READY),
    "parameters of 1 GiB": in_turn(
        sends(_PARSED), floods(message(b"t", bytes(MIB), length=1 << 30))
    ),
    "columns of 1 GiB": in_turn(
        sends(_PARSED + types(23)), floods(message(b"T", bytes(MIB), length=1 << 30))
    ),
}


def executed(then: Script) -> Script:
    """Let the client in, prepare its statement, and answer its execution as `then` does."""

    def script(peer: Peer) -> None:
        peer.send(_PARSED + types(20) + NO_ROWS + READY)
        for _ in range(3):  # Bind, Execute, Sync
            read(peer)
        then(peer)
        peer.listen()

    return let_in(script)


ANSWERS: dict[str, Script] = {
    "rows without end": executed(floods(message(b"D", bytes(90)))),
    "a row of 1 GiB": executed(in_turn(sends(message(b"D", length=1 << 30)), floods(bytes(MIB)))),
    "a row of 2 GiB": executed(sends(message(b"D", length=1 << 31))),
    "an error of 1 GiB": executed(in_turn(sends(message(b"E", length=1 << 30)), floods(b"C"))),
    "errors without end": executed(floods(error("40001", "again", "ERROR"))),
    "notices without end": executed(floods(NOTICE)),
    "a notice of 1 GiB": executed(in_turn(sends(message(b"N", length=1 << 30)), floods(b"C"))),
    "a COPY": executed(sends(message(b"G", bytes(3)))),
    "a COPY to the client": executed(in_turn(sends(message(b"H", bytes(3))), floods(b"d"))),
    "ready without an answer": executed(sends(READY)),
    "an answer too many": executed(sends(message(b"C", b"SELECT 1\0") * 2 + READY)),
    "no known state": executed(sends(message(b"C", b"SELECT 1\0") + message(b"Z", b"?"))),
    "a login": executed(sends(CLEAR_TEXT)),
    "a session's end": executed(sends(error("57P01", "shutting\ndown"))),
    "silence": executed(lambda peer: peer.listen()),
    "closed": executed(lambda peer: peer.close()),
}
