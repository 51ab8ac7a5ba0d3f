"""A PostgreSQL server that means harm gets an error in time, little memory and no secret."""

from pathlib import Path

import pytest

from plimsoll.model.engine import EngineOperation, EngineStatement, EngineTarget, EngineWorkload
from plimsoll.model.engine_report import LoadReport
from plimsoll.model.values import IntegerValue
from plimsoll_engine import EngineError
from tests.local.load.driving import drive
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
    ANSWERS,
    ASKING,
    BROKEN_SCRAM,
    CLEAR_TEXT,
    LET_IN,
    LOGINS,
    MD5,
    NO_TLS,
    PLUS,
    PREPARED,
    SCRAM,
    SLOW,
    SLOW_IN_TLS,
    error,
    in_tls,
    let_in,
    scram,
    then_listens,
)
from tests.support.hostile_server import HostileServer, sends

SELECT = EngineStatement(
    sql=("SELECT v FROM t WHERE id = $1",), binds=(IntegerValue(low=0, high=9),)
)
READS = EngineWorkload(
    key_spaces=(), operations=(EngineOperation(name="read", weight=1, statements=(SELECT,)),)
)
PROVED = b",p="  # before the proof that the client knows the password


def by_engine(target: EngineTarget) -> None:
    """Connect as the load clients do."""
    driven(target)


def driven(target: EngineTarget) -> LoadReport:
    return drive(
        target, READS, connections=1, duration_s=60, operations_limit=1, timeout_ms=IN_TIME_MS
    )


@pytest.mark.parametrize("mode", LOGINS)
def test_a_login_that_is_none(mode: str) -> None:
    seen = attempt(by_engine, LOGINS[mode], "postgres")
    assert PROVED not in seen.told


@pytest.mark.parametrize("mode", BROKEN_SCRAM)
def test_a_login_that_breaks_the_rules_of_scram(mode: str) -> None:
    seen = attempt(by_engine, BROKEN_SCRAM[mode], "postgres")
    assert "in time" not in seen.line  # it is refused, not waited for


def test_a_server_that_knows_the_password_is_believed() -> None:
    seen = attempt(by_engine, then_listens(scram(PASSWORD.encode(), then=error())), "postgres")
    assert "SQLSTATE 28P01" in seen.line  # which came after its proof
    assert b"n,,n=,r=" in seen.told


@pytest.mark.parametrize("iterations", [100_001, 5_000_000, 2**31])
def test_no_proof_is_computed_for_more_iterations_than_any_server_needs(iterations: int) -> None:
    seen = attempt(by_engine, then_listens(scram(iterations=iterations)), "postgres")
    assert PROVED not in seen.told


@pytest.mark.parametrize("mode", ASKING)
def test_the_password_goes_to_nobody_without_tls(mode: str) -> None:
    seen = attempt(by_engine, ASKING[mode], "postgres")
    assert b"p\0\0\0" not in seen.told  # no message with a password at all


@pytest.mark.parametrize("asked", [CLEAR_TEXT, MD5], ids=["clear text", "md5"])
def test_nor_in_clear_text_or_by_md5_to_whoever_answers(asked: bytes, tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, "ours"), sends(asked))
    seen = attempt(by_engine, script, "postgres", tls=REQUIRE)
    assert b"p\0\0\0" not in seen.told


def test_a_verified_server_gets_it(tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, "ours"), sends(CLEAR_TEXT))
    with HostileServer(script) as server:
        target = target_on(server.port, "postgres", VERIFY, IN_TIME_MS)
        with pytest.raises(EngineError, match="in time"):  # it says nothing after the login
            by_engine(target)
    assert PASSWORD.encode() + b"\0" in server.told


def test_a_proof_is_bound_to_tls_where_the_server_offers_it(tmp_path: Path) -> None:
    refused = scram(PASSWORD.encode(), offers=(PLUS, SCRAM), then=error())
    script = in_tls(context_of(tmp_path, "ours"), refused)
    seen = attempt(by_engine, script, "postgres", tls=REQUIRE)
    assert b"SCRAM-SHA-256-PLUS\0" in seen.told
    assert b"p=tls-server-end-point,,n=,r=" in seen.told
    assert "SQLSTATE 28P01" in seen.line


def test_an_offer_that_was_taken_away_on_the_way_shows_in_the_proof(tmp_path: Path) -> None:
    refused = scram(PASSWORD.encode(), offers=(SCRAM,), then=error())
    script = in_tls(context_of(tmp_path, "ours"), refused)
    seen = attempt(by_engine, script, "postgres", tls=REQUIRE)
    assert b"y,,n=,r=" in seen.told  # "I could have, had you offered it": RFC 5802, section 6


@pytest.mark.parametrize("kind", NOT_BELIEVED)
def test_a_certificate_that_is_not_believed(kind: str, tmp_path: Path) -> None:
    script = in_tls(context_of(tmp_path, kind), sends(CLEAR_TEXT + LET_IN))
    seen = attempt(by_engine, script, "postgres", tls=VERIFY)
    assert "certificate" in seen.line.lower()
    assert b"application_name" not in seen.told  # nor has the login begun


@pytest.mark.parametrize("tls", [REQUIRE, VERIFY], ids=["require", "verify"])
@pytest.mark.parametrize("mode", NO_TLS)
def test_no_login_goes_on_without_the_tls_that_is_asked_for(mode: str, tls: object) -> None:
    seen = attempt(by_engine, NO_TLS[mode], "postgres", tls=tls)  # type: ignore[arg-type]
    assert b"application_name" not in seen.told
    assert "broken" not in seen.line  # words in clear are nobody's


@pytest.mark.parametrize("mode", SLOW)
def test_a_login_ends_in_time(mode: str) -> None:
    refused_in_time(by_engine, SLOW[mode], "postgres")


@pytest.mark.parametrize("mode", SLOW_IN_TLS)
def test_a_login_by_tls_ends_in_time(mode: str) -> None:
    refused_in_time(by_engine, SLOW_IN_TLS[mode], "postgres", REQUIRE)


@pytest.mark.parametrize("mode", PREPARED)
def test_an_answer_to_a_statement_that_is_prepared(mode: str) -> None:
    attempt(by_engine, let_in(PREPARED[mode]), "postgres")


@pytest.mark.parametrize("mode", ANSWERS)
def test_an_answer_to_an_execution_is_a_failed_operation(mode: str) -> None:
    with HostileServer(ANSWERS[mode]) as server, little_memory():
        report = driven(target_on(server.port, "postgres", None, None))
    read = report.operations["read"]
    assert (read.succeeded, sum(read.errors.values())) == (0, 1)


def test_the_engine_says_by_a_code_what_was_asked_of_it() -> None:
    with HostileServer(ASKING["clear text"]) as server, pytest.raises(EngineError) as refused:
        by_engine(target_on(server.port, "postgres", None, None))
    assert refused.value.code == "tls_required"
    assert "verifies the server" in str(refused.value)
