"""What every client must keep to, towards a server that means harm."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.certificates import Authority
from plimsoll.model.engine.asked import EngineTarget, Protocol, Tls
from plimsoll_engine import EngineError
from tests.support.certificates import self_signed
from tests.support.hostile_server import HostileServer, Script
from tests.support.little_memory import little_memory

PASSWORD = "hunter2-the-secret"
MIB = 1 << 20
IN_TIME_MS = 1000  # of a login that a test lets pass in vain
OURS, ANOTHER = Authority.new(), Authority.new()
VERIFY, REQUIRE = Tls(verify=True, ca_pem=OURS.pem), Tls(verify=False)
Client = Callable[[EngineTarget], None]


@dataclass(frozen=True)
class Attempt:
    """What became of a login: the error's line, and what the server was told."""

    line: str
    told: bytes


def target_on(
    port: int, protocol: Protocol, tls: Tls | None, login_timeout_ms: int | None
) -> EngineTarget:
    """Give a hostile server's address, and an account with a secret."""
    target = EngineTarget(
        protocol=protocol,
        host="127.0.0.1",
        port=port,
        user="u",
        password=PASSWORD,
        database="d",
        tls=tls,
    )
    if login_timeout_ms is None:
        return target
    return target.model_copy(update={"login_timeout_ms": login_timeout_ms})


def attempt(
    client: Client,
    script: Script,
    protocol: Protocol,
    *,
    tls: Tls | None = None,
    login_timeout_ms: int | None = None,
    server_tls: ssl.SSLContext | None = None,
) -> Attempt:
    """Connect to a hostile server: one line of error comes of it, and no secret leaves.

    Args:
        client: Connects, and asks something.
        script: What the server does.
        protocol: Which it speaks.
        tls: How the client is to be encrypted.
        login_timeout_ms: For the whole login; None: what every login has.
        server_tls: What the server speaks from the first byte.
    """
    with (
        HostileServer(script, tls=server_tls) as server,
        little_memory(),
        pytest.raises((PlimsollError, EngineError)) as refused,
    ):
        client(target_on(server.port, protocol, tls, login_timeout_ms))
    line = str(refused.value)
    assert line
    assert "\n" not in line
    assert len(line) < 1_000
    assert "Traceback" not in line
    assert PASSWORD not in line
    assert PASSWORD.encode() not in server.told
    return Attempt(line, bytes(server.told))


def refused_in_time(
    client: Client, script: Script, protocol: Protocol, tls: Tls | None = None
) -> None:
    """See that a login that would take for ever ends in its time, and says so."""
    seen = attempt(client, script, protocol, tls=tls, login_timeout_ms=IN_TIME_MS)
    assert "answer" in seen.line or "in time" in seen.line


def context_of(folder: Path, kind: str) -> ssl.SSLContext:
    """Make what a server speaks TLS with: `ours`, or a certificate that must not be believed."""
    match kind:
        case "ours":
            files = OURS.sign(folder / kind, "127.0.0.1")
        case "expired":
            files = OURS.sign(folder / kind, "127.0.0.1", until=timedelta(days=-1))
        case "of another name":
            files = OURS.sign(folder / kind, "127.0.0.2")
        case "of another authority":
            files = ANOTHER.sign(folder / kind, "127.0.0.1")
        case _:
            files = self_signed(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    return context


NOT_BELIEVED = ("expired", "of another name", "of another authority", "of nobody")
