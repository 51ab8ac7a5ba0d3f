"""How a CQL connection is opened: passwords, and TLS under it."""

import ssl

import pytest

import plimsoll_engine
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.request.dsn import parse_dsn
from tests.local.load.driving import drive
from tests.support.certificates import self_signed
from tests.support.fake_cql_server import FakeCqlServer


def load(server: FakeCqlServer, *, account: str = "u:p@", options: str = "") -> LoadReport:
    target = parse_dsn(f"cassandra://{account}127.0.0.1:{server.port}/k{options}")
    return drive(target, connections=40, duration_s=120.0, operations_limit=400)


def succeeded(report: LoadReport) -> int:
    assert report.operations["read"].errors == {}
    return report.operations["read"].succeeded


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    files = self_signed(tmp_path_factory.mktemp("certificate"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    return context


def test_a_password_is_given_where_it_is_asked_for() -> None:
    with FakeCqlServer(password="hunter2") as server:
        assert succeeded(load(server, account="u:hunter2@")) == 400
        with pytest.raises(plimsoll_engine.EngineError, match="no such account") as refused:
            load(server, account="u:hunter3@")
    assert refused.value.code == "bad_credentials"
    assert "hunter3" not in str(refused.value)


def test_all_streams_go_through_one_encrypted_connection(tls: ssl.SSLContext) -> None:
    with FakeCqlServer(tls=tls) as server:
        assert succeeded(load(server, options="?tls=require")) == 400
        (session,) = server.sessions
        assert len(session.executions) == 400


def test_a_certificate_that_nobody_vouches_for_is_refused(tls: ssl.SSLContext) -> None:
    with (
        FakeCqlServer(tls=tls) as server,
        pytest.raises(plimsoll_engine.EngineError, match="certificate"),
    ):
        load(server, options="?tls=verify")


def test_one_side_alone_with_tls_is_one_clear_error(tls: ssl.SSLContext) -> None:
    with FakeCqlServer(tls=tls) as server, pytest.raises(plimsoll_engine.EngineError) as refused:
        load(server)
    assert refused.value.code in {"protocol", "connection_lost"}
    with FakeCqlServer() as server, pytest.raises(plimsoll_engine.EngineError) as refused:
        load(server, options="?tls=require")
    assert refused.value.code in {"tls", "connect_timeout", "connection_lost"}
