"""The same of Python's own connections to PostgreSQL: in time, little memory and no secret."""

from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.families.postgres.session import connect, execute
from plimsoll.model.engine import EngineTarget
from tests.local.login.conftest import (
    IN_TIME_MS,
    NOT_BELIEVED,
    PASSWORD,
    REQUIRE,
    VERIFY,
    attempt,
    context_of,
    little_memory,
    refused_in_time,
    target_on,
)
from tests.support.hostile_postgres import (
    ASKING,
    BROKEN_SCRAM,
    CLEAR_TEXT,
    LET_IN,
    LOGINS,
    MD5,
    MIB,
    NO_TLS,
    NOTICE,
    PLUS,
    SCRAM,
    SLOW,
    SLOW_IN_TLS,
    error,
    in_tls,
    message,
    read,
    read_startup,
    scram,
    then_listens,
)
from tests.support.hostile_server import HostileServer, Peer, Script, floods, sends

PROVED = b",p="  # before the proof that the client knows the password
IN_LOGIN = {mode: script for mode, script in SLOW.items() if mode != "silence after the login"}


def by_python(target: EngineTarget) -> None:
    """Connect as schemas, counts and counters do."""
    connect(target).close()


def asking(target: EngineTarget) -> None:
    """Log in and ask for something."""
    with closing(connect(target)) as connection:
        execute(connection, "SELECT 1")


@pytest.mark.parametrize("mode", sorted(LOGINS.keys() - {"letters of another kind"}))
def test_a_login_that_is_none(mode: str) -> None:
    seen = attempt(by_python, LOGINS[mode], "postgres")
    assert PROVED not in seen.told


@pytest.mark.parametrize("mode", BROKEN_SCRAM)
def test_a_login_that_breaks_the_rules_of_scram(mode: str) -> None:
    seen = attempt(by_python, BROKEN_SCRAM[mode], "postgres")
    assert "within" not in seen.line  # it is refused, not waited for


def test_a_server_that_knows_the_password_is_believed() -> None:
    seen = attempt(by_python, then_listens(scram(PASSWORD.encode(), then=error())), "postgres")
    assert "28P01" in seen.line  # which came after its proof


@pytest.mark.parametrize("iterations", [100_001, 2**31])
def test_no_proof_is_computed_for_more_iterations_than_any_server_needs(iterations: int) -> None:
    seen = attempt(by_python, then_listens(scram(iterations=iterations)), "postgres")
    assert PROVED not in seen.told


@pytest.mark.parametrize("mode", ASKING)
def test_the_password_goes_to_nobody_without_tls(mode: str) -> None:
    seen = attempt(by_python, ASKING[mode], "postgres")
    assert b"p\0\0\0" not in seen.told  # no message with a password at all


@pytest.mark.parametrize("asked", [CLEAR_TEXT, MD5], ids=["clear text", "md5"])
def test_nor_in_clear_text_or_by_md5_to_whoever_answers(asked: bytes, tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, "ours"), sends(asked))
    seen = attempt(by_python, script, "postgres", tls=REQUIRE)
    assert b"p\0\0\0" not in seen.told


def test_a_verified_server_gets_it(tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, "ours"), sends(CLEAR_TEXT))
    with HostileServer(script) as server:
        target = target_on(server.port, "postgres", VERIFY, IN_TIME_MS)
        with pytest.raises(PlimsollError, match="within"):  # it says nothing after the login
            by_python(target)
    assert PASSWORD.encode() + b"\0" in server.told


def test_a_proof_is_bound_to_tls_where_the_server_offers_it(tmp_path: Path) -> None:
    refused = scram(PASSWORD.encode(), offers=(PLUS, SCRAM), then=error())
    script = in_tls(context_of(tmp_path, "ours"), refused)
    seen = attempt(by_python, script, "postgres", tls=REQUIRE)
    assert b"SCRAM-SHA-256-PLUS\0" in seen.told
    assert b"p=tls-server-end-point,,n=" in seen.told
    assert "28P01" in seen.line


@pytest.mark.parametrize("kind", NOT_BELIEVED)
def test_a_certificate_that_is_not_believed(kind: str, tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, kind), sends(CLEAR_TEXT + LET_IN))
    seen = attempt(by_python, script, "postgres", tls=VERIFY)
    assert "certificate" in seen.line.lower()
    assert b"application_name" not in seen.told  # nor has the login begun


@pytest.mark.parametrize("tls", [REQUIRE, VERIFY], ids=["require", "verify"])
@pytest.mark.parametrize("mode", NO_TLS)
def test_no_login_goes_on_without_the_tls_that_is_asked_for(mode: str, tls: object) -> None:
    seen = attempt(by_python, NO_TLS[mode], "postgres", tls=tls)  # type: ignore[arg-type]
    assert b"application_name" not in seen.told
    assert "broken" not in seen.line  # words in clear are nobody's


@pytest.mark.parametrize("mode", IN_LOGIN)
def test_a_login_ends_in_time(mode: str) -> None:
    refused_in_time(by_python, IN_LOGIN[mode], "postgres")


@pytest.mark.parametrize("mode", SLOW_IN_TLS)
def test_a_login_by_tls_ends_in_time(mode: str) -> None:
    refused_in_time(by_python, SLOW_IN_TLS[mode], "postgres", REQUIRE)


def answered(then: Script) -> Script:
    """Let the client in, and answer the statement that it sends as `then` does."""

    def script(peer: Peer) -> None:
        read_startup(peer)
        peer.send(LET_IN)
        read(peer)
        then(peer)

    return script


@pytest.mark.parametrize(
    "answer",
    [
        floods(NOTICE),
        floods(message(b"D", bytes(90))),
        floods(message(b"T", bytes(MIB), length=1 << 30)),
        sends(message(b"?", b"what")),
        sends(message(b"G", bytes(3))),
        sends(CLEAR_TEXT),
        lambda peer: peer.close(),
    ],
)
def test_an_answer_to_a_statement(answer: Script) -> None:
    with little_memory():
        attempt(asking, answered(answer), "postgres")
