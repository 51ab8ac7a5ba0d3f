"""A PostgreSQL server that means harm: its logins get an error in time, little memory, no secret.

The engine's, as load clients log in, and Python's own, for schemas, counts and counters.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import Tls
from plimsoll_engine import EngineError
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
from tests.local.login.postgres_clients import by_engine, by_python
from tests.support.hostile_postgres import (
    ASKING,
    BROKEN_SCRAM,
    CLEAR_TEXT,
    LET_IN,
    LOGINS,
    MD5,
    NO_TLS,
    PLUS,
    SCRAM,
    SLOW,
    SLOW_IN_TLS,
    error,
    in_tls,
    read,
    scram,
    then_listens,
)
from tests.support.hostile_server import HostileServer, in_turn, sends

PROVED = b",p="  # before the proof that the client knows the password
CLIENTS = {"engine": by_engine, "python": by_python}
# what comes after a login of Python's, which is over then
NOT_PYTHONS = ("letters of another kind", "silence after the login")
both = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)


def both_with(modes: Iterable[str]) -> pytest.MarkDecorator:
    """Each client, with each of what the server may do that concerns it."""
    pairs = [
        pytest.param(client, mode, id=f"{name}-{mode}")
        for name, client in CLIENTS.items()
        for mode in modes
        if client is by_engine or mode not in NOT_PYTHONS
    ]
    return pytest.mark.parametrize(("client", "mode"), pairs)


@both_with(LOGINS)
def test_a_login_that_is_none(client: Client, mode: str) -> None:
    seen = attempt(client, LOGINS[mode], "postgres", login_timeout_ms=3 * IN_TIME_MS)
    assert PROVED not in seen.told


@both_with(BROKEN_SCRAM)
def test_a_login_that_breaks_the_rules_of_scram(client: Client, mode: str) -> None:
    seen = attempt(client, BROKEN_SCRAM[mode], "postgres")
    assert "in time" not in seen.line  # it is refused, not waited for
    assert "within" not in seen.line


@both
def test_a_server_that_knows_the_password_is_believed(client: Client) -> None:
    seen = attempt(client, then_listens(scram(PASSWORD.encode(), then=error())), "postgres")
    assert "28P01" in seen.line  # which came after its proof
    assert b"n,,n=" in seen.told


@both
@pytest.mark.parametrize("iterations", [100_001, 5_000_000, 2**31])
def test_no_proof_is_computed_for_more_iterations_than_any_server_needs(
    client: Client, iterations: int
) -> None:
    seen = attempt(client, then_listens(scram(iterations=iterations)), "postgres")
    assert PROVED not in seen.told


@both_with(ASKING)
def test_the_password_goes_to_nobody_without_tls(client: Client, mode: str) -> None:
    seen = attempt(client, ASKING[mode], "postgres")
    assert b"p\0\0\0" not in seen.told  # no message with a password at all


@both
@pytest.mark.parametrize("asked", [CLEAR_TEXT, MD5], ids=["clear text", "md5"])
def test_nor_in_clear_text_or_by_md5_to_whoever_answers(
    client: Client, asked: bytes, tmp_path: Path
) -> None:
    script = in_tls(context_of(tmp_path, "ours"), sends(asked))
    seen = attempt(client, script, "postgres", tls=REQUIRE)
    assert b"p\0\0\0" not in seen.told


@both
def test_a_verified_server_gets_it(client: Client, tmp_path: Path) -> None:
    refused = in_turn(sends(CLEAR_TEXT), read, sends(error()))
    with HostileServer(in_tls(context_of(tmp_path, "ours"), refused)) as server:
        target = target_on(server.port, "postgres", VERIFY, None)
        with pytest.raises((EngineError, PlimsollError), match="28P01"):
            client(target)
    assert PASSWORD.encode() + b"\0" in server.told


@both
def test_a_proof_is_bound_to_tls_where_the_server_offers_it(client: Client, tmp_path: Path) -> None:
    refused = scram(PASSWORD.encode(), offers=(PLUS, SCRAM), then=error())
    script = in_tls(context_of(tmp_path, "ours"), refused)
    seen = attempt(client, script, "postgres", tls=REQUIRE)
    assert b"SCRAM-SHA-256-PLUS\0" in seen.told
    assert b"p=tls-server-end-point,,n=" in seen.told
    assert "28P01" in seen.line


def test_an_offer_that_was_taken_away_on_the_way_shows_in_the_engines_proof(
    tmp_path: Path,
) -> None:
    refused = scram(PASSWORD.encode(), offers=(SCRAM,), then=error())
    script = in_tls(context_of(tmp_path, "ours"), refused)
    seen = attempt(by_engine, script, "postgres", tls=REQUIRE)
    assert b"y,,n=,r=" in seen.told  # "I could have, had you offered it": RFC 5802, section 6


@both
@pytest.mark.parametrize("kind", NOT_BELIEVED)
def test_a_certificate_that_is_not_believed(client: Client, kind: str, tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, kind), sends(CLEAR_TEXT + LET_IN))
    seen = attempt(client, script, "postgres", tls=VERIFY)
    assert "certificate" in seen.line.lower()
    assert b"application_name" not in seen.told  # nor has the login begun


@pytest.mark.parametrize("tls", [REQUIRE, VERIFY], ids=["require", "verify"])
@both_with(NO_TLS)
def test_no_login_goes_on_without_the_tls_that_is_asked_for(
    client: Client, mode: str, tls: Tls
) -> None:
    seen = attempt(client, NO_TLS[mode], "postgres", tls=tls)
    assert b"application_name" not in seen.told
    assert "broken" not in seen.line  # words in clear are nobody's


@both_with(SLOW)
def test_a_login_ends_in_time(client: Client, mode: str) -> None:
    refused_in_time(client, SLOW[mode], "postgres")


@both_with(SLOW_IN_TLS)
def test_a_login_by_tls_ends_in_time(client: Client, mode: str) -> None:
    refused_in_time(client, SLOW_IN_TLS[mode], "postgres", REQUIRE)


def test_the_engine_says_by_a_code_what_was_asked_of_it() -> None:
    with HostileServer(ASKING["clear text"]) as server, pytest.raises(EngineError) as refused:
        by_engine(target_on(server.port, "postgres", None, None))
    assert refused.value.code == "tls_required"
    assert "verifies the server" in str(refused.value)
