"""A MySQL server that means harm gets an error in time, little memory and no secret."""

from pathlib import Path

import pytest

from plimsoll.databases.mysql.session import connect, execute
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll_engine import EngineError
from tests.local.load.driving import drive
from tests.local.login.conftest import (
    IN_TIME_MS,
    NOT_BELIEVED,
    PASSWORD,
    REQUIRE,
    VERIFY,
    Client,
    attempt,
    context_of,
    refused_in_time,
    target_on,
)
from tests.support.fake_mysql_server import OK, error_payload
from tests.support.hostile_mysql import (
    ANSWERS,
    ASKING,
    KEY_BYTES,
    LOGINS,
    NO_TLS,
    PREPARED,
    SLOW,
    SLOW_IN_TLS,
    in_tls,
    let_in,
    switch,
)
from tests.support.hostile_server import HostileServer

SETUP = 1  # what PyMySQL asks before it is asked anything: the letters


def by_engine(target: EngineTarget) -> None:
    """Connect as the load clients do."""
    drive(target, connections=1, duration_s=60, operations_limit=1)


def by_python(target: EngineTarget) -> None:
    """Connect as the functions do that prepare and watch a target, and ask something."""
    execute(connect(target), "SELECT 1")


CLIENTS = pytest.mark.parametrize("client", [by_engine, by_python], ids=["engine", "python"])


@CLIENTS
@pytest.mark.parametrize("mode", LOGINS)
def test_a_login_that_is_none(client: Client, mode: str) -> None:
    attempt(client, LOGINS[mode], "mysql", login_timeout_ms=3 * IN_TIME_MS)


@CLIENTS
@pytest.mark.parametrize("mode", ASKING)
def test_the_password_goes_to_nobody_without_tls(client: Client, mode: str) -> None:
    seen = attempt(client, ASKING[mode], "mysql")
    assert len(seen.told) < KEY_BYTES  # so nothing has come under its key


@CLIENTS
@pytest.mark.parametrize("plugin", [b"mysql_clear_password", b"dialog"])
def test_nor_in_clear_text_to_whoever_answers(
    client: Client, plugin: bytes, tmp_path: Path
) -> None:
    script = in_tls(context_of(tmp_path, "ours"), switch(plugin, b"\x04Password: "))
    attempt(client, script, "mysql", tls=REQUIRE)


@CLIENTS
def test_a_verified_server_gets_it(client: Client, tmp_path: Path) -> None:
    answers = switch(b"mysql_clear_password", b""), error_payload(1045, "no such account")
    with HostileServer(in_tls(context_of(tmp_path, "ours"), *answers)) as server:
        target = target_on(server.port, "mysql", VERIFY, None)
        with pytest.raises((PlimsollError, EngineError), match="no such account"):
            client(target)
    assert PASSWORD.encode() + b"\0" in server.told


@CLIENTS
@pytest.mark.parametrize("kind", NOT_BELIEVED)
def test_a_certificate_that_is_not_believed(client: Client, kind: str, tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, kind), switch(b"mysql_clear_password", b""), OK)
    seen = attempt(client, script, "mysql", tls=VERIFY)
    assert "certificate" in seen.line.lower()
    assert b"mysql_native_password" not in seen.told  # nor has the login begun


@CLIENTS
@pytest.mark.parametrize("tls", [REQUIRE, VERIFY], ids=["require", "verify"])
@pytest.mark.parametrize("mode", NO_TLS)
def test_no_login_goes_on_without_the_tls_that_is_asked_for(
    client: Client, mode: str, tls: object
) -> None:
    seen = attempt(client, NO_TLS[mode], "mysql", tls=tls)  # type: ignore[arg-type]
    assert b"mysql_native_password" not in seen.told


@CLIENTS
@pytest.mark.parametrize("mode", SLOW)
def test_a_login_ends_in_time(client: Client, mode: str) -> None:
    refused_in_time(client, SLOW[mode], "mysql")


@CLIENTS
@pytest.mark.parametrize("mode", SLOW_IN_TLS)
def test_a_login_by_tls_ends_in_time(client: Client, mode: str) -> None:
    refused_in_time(client, SLOW_IN_TLS[mode], "mysql", REQUIRE)


def test_every_login_has_10_seconds() -> None:
    assert target_on(1, "mysql", None, None).login_timeout_ms == 10_000


@pytest.mark.parametrize("mode", PREPARED)
def test_an_answer_to_a_statement_that_is_prepared(mode: str) -> None:
    attempt(by_engine, let_in(PREPARED[mode]), "mysql")


@pytest.mark.parametrize("during_login", [True, False], ids=["setup", "statement"])
@pytest.mark.parametrize("mode", ANSWERS)
def test_an_answer_to_a_statement(mode: str, *, during_login: bool) -> None:
    script = let_in(ANSWERS[mode], setup=0 if during_login else SETUP)
    attempt(by_python, script, "mysql")


def test_the_engine_says_by_a_code_what_was_asked_of_it() -> None:
    with (
        HostileServer(ASKING["mysql_clear_password"]) as server,
        pytest.raises(EngineError) as refused,
    ):
        by_engine(target_on(server.port, "mysql", None, None))
    assert refused.value.code == "tls_required"
    assert "verifies the server" in str(refused.value)
