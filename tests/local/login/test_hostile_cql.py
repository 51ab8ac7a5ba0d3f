"""A CQL server that means harm gets an error in time, little memory, and no secret before TLS."""

from pathlib import Path

import pytest

from plimsoll.databases.cassandra.session import CassandraSession
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll_engine import EngineError
from tests.local.load.driving import drive
from tests.local.login.conftest import (
    IN_TIME_MS,
    NOT_BELIEVED,
    PASSWORD,
    VERIFY,
    Client,
    attempt,
    context_of,
    refused_in_time,
    target_on,
)
from tests.support.fake_cql_server import AUTHENTICATE, ERROR, READY, STARTUP, frame
from tests.support.hostile_cql import (
    ELSEWHERE,
    LOGINS,
    PREPARED,
    ROWS,
    SLOW,
    error,
    read,
    says,
    text,
    until,
)
from tests.support.hostile_server import HostileServer, Peer


def by_engine(target: EngineTarget) -> None:
    """Connect as the load clients do."""
    drive(target, connections=1, duration_s=60, operations_limit=1)


def by_python(target: EngineTarget) -> None:
    """Connect as the functions do that prepare and watch a target, and ask something."""
    with CassandraSession(target) as session:
        session.execute("SELECT a FROM b")


CLIENTS = pytest.mark.parametrize("client", [by_engine, by_python], ids=["engine", "python"])
ASKING = until(STARTUP, says(AUTHENTICATE, text(b"PasswordAuthenticator")))


@CLIENTS
@pytest.mark.parametrize("mode", LOGINS)
def test_a_login_that_is_none(client: Client, mode: str) -> None:
    without = lambda target: client(target.model_copy(update={"user": "", "password": ""}))  # noqa: E731
    attempt(without, LOGINS[mode], "cql", login_timeout_ms=3 * IN_TIME_MS)


@CLIENTS
@pytest.mark.parametrize("mode", SLOW)
def test_a_login_ends_in_time(client: Client, mode: str) -> None:
    refused_in_time(client, SLOW[mode], "cql")


@CLIENTS
def test_an_answer_to_nothing_that_was_asked(client: Client) -> None:
    attempt(client, ELSEWHERE, "cql", login_timeout_ms=IN_TIME_MS)


@CLIENTS
@pytest.mark.parametrize("kind", NOT_BELIEVED)
def test_a_certificate_that_is_not_believed(client: Client, kind: str, tmp_path: Path) -> None:
    context = context_of(tmp_path, kind)
    seen = attempt(client, ASKING, "cql", tls=VERIFY, server_tls=context)
    assert "certificate" in seen.line.lower()
    assert seen.told == b""


@CLIENTS
@pytest.mark.parametrize("mode", ["TLS stripped", "TLS byte by byte", "silence"])
def test_no_login_goes_on_without_the_tls_that_is_asked_for(client: Client, mode: str) -> None:
    def script(peer: Peer) -> None:
        match mode:
            case "TLS stripped":
                peer.send(frame(0, READY) + frame(0, AUTHENTICATE, text(b"PasswordAuthenticator")))
            case "TLS byte by byte":
                peer.drip(b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb\x03\x03")
        peer.listen()

    attempt(client, script, "cql", tls=VERIFY, login_timeout_ms=IN_TIME_MS)


@CLIENTS
def test_a_verified_server_gets_the_password(client: Client, tmp_path: Path) -> None:
    def refuse(peer: Peer, stream: int) -> None:
        peer.send(frame(stream, AUTHENTICATE, text(b"PasswordAuthenticator")))
        told, _ = read(peer)
        peer.send(frame(told, ERROR, error(0x0100, b"no such account")))

    script = until(STARTUP, refuse)
    with HostileServer(script, tls=context_of(tmp_path, "ours")) as server:
        target = target_on(server.port, "cql", VERIFY, None)
        with pytest.raises((PlimsollError, EngineError)):
            client(target)
    assert PASSWORD.encode() in server.told


@pytest.mark.parametrize("mode", PREPARED)
def test_an_answer_to_a_statement_that_is_prepared(mode: str) -> None:
    attempt(by_engine, PREPARED[mode], "cql", login_timeout_ms=5 * IN_TIME_MS)


@pytest.mark.parametrize("mode", ROWS)
def test_an_answer_to_a_statement(mode: str) -> None:
    attempt(by_python, ROWS[mode], "cql", login_timeout_ms=5 * IN_TIME_MS)
