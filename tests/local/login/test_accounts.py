"""Accounts as people have them: any password, locked and expired ones, plugins that are unknown."""

from contextlib import closing

import pytest

from plimsoll.cli.main import main
from plimsoll.databases.family import find_family
from plimsoll.databases.mysql import session as mysql_session
from plimsoll.databases.postgres import session as postgres_session
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.asked import (
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
    Protocol,
)
from plimsoll.model.request.dsn import parse_dsn
from tests.local.load.driving import drive
from tests.local.login.conftest import attempt, target_on
from tests.support.hostile_mysql import greeted, switch
from tests.support.hostile_postgres import asks
from tests.support.hostile_postgres import greeted as greeted_by_postgres
from tests.support.hostile_server import HostileServer, Peer

SELECT = EngineWorkload(
    key_spaces=(),
    operations=(
        EngineOperation(name="one", weight=1, statements=(EngineStatement(sql=("SELECT 1",)),)),
    ),
)
PASSWORDS = ["pässwörd", "€uro", "日本語 パスワード", "a'b\"c`d\\e%f@g:h/i?j#k", " ", "p" * 79]


def refusal_of(target: EngineTarget) -> str:
    with (
        pytest.raises(PlimsollError) as refused,
        find_family(target.protocol).open_datasets(target) as datasets,
    ):
        datasets.version()
    return str(refused.value)


def with_account(target: EngineTarget, user: str, password: str) -> EngineTarget:
    return target.model_copy(update={"user": user, "password": password})


def by_python(target: EngineTarget) -> None:
    find_family(target.protocol).open_datasets(target).__enter__()


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_of_mariadb_may_have_any_character(
    mariadb: MariaDbServer, password: str
) -> None:
    target = parse_dsn(mariadb.dsn)
    with closing(mysql_session.connect(target)) as admin:
        create = "CREATE OR REPLACE USER 'jürgen €' IDENTIFIED BY %s"
        mysql_session.execute(admin, create, (password,))
        mysql_session.execute(admin, "GRANT SELECT ON *.* TO 'jürgen €'")
        account = with_account(target, "jürgen €", password)
        assert mysql_session.read_parameters(account, ["max_connections"])
        report = drive(account, SELECT, connections=1, duration_s=60, operations_limit=1)
        assert report.operations["one"].succeeded == 1
        mysql_session.execute(admin, "DROP USER 'jürgen €'")


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_of_postgres_may_have_any_character(
    postgres: PostgresServer, password: str
) -> None:
    target = parse_dsn(postgres.dsn)
    quoted = password.replace("'", "''")
    with closing(postgres_session.connect(target)) as admin:
        postgres_session.execute(admin, f"""CREATE ROLE "jürgen €" LOGIN PASSWORD '{quoted}'""")
        account = with_account(target, "jürgen €", password)
        assert postgres_session.read_parameters(account, ["max_connections"])
        report = drive(account, SELECT, connections=1, duration_s=60, operations_limit=1)
        assert report.operations["one"].succeeded == 1
        postgres_session.execute(admin, 'DROP ROLE "jürgen €"')


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("ACCOUNT LOCK", "the account is locked"),
        ("PASSWORD EXPIRE", "the account's password has expired"),
    ],
)
def test_an_account_of_mariadb_that_may_not_log_in_says_why(
    mariadb: MariaDbServer, made: str, told: str
) -> None:
    target = parse_dsn(mariadb.dsn)
    with closing(mysql_session.connect(target)) as admin:
        mysql_session.execute(admin, f"CREATE OR REPLACE USER idle IDENTIFIED BY 'p' {made}")
        mysql_session.execute(admin, "GRANT ALL ON plimsoll.* TO idle")
        assert told in refusal_of(with_account(target, "idle", "p"))
        mysql_session.execute(admin, "DROP USER idle")


def test_an_account_of_postgres_that_may_not_log_in_says_why(postgres: PostgresServer) -> None:
    target = parse_dsn(postgres.dsn)
    with closing(postgres_session.connect(target)) as admin:
        postgres_session.execute(admin, "CREATE ROLE idle NOLOGIN PASSWORD 'p'")
        assert "the account may not log in" in refusal_of(with_account(target, "idle", "p"))
        postgres_session.execute(admin, "ALTER ROLE idle LOGIN VALID UNTIL '2020-01-01'")
        assert "or the password has expired" in refusal_of(with_account(target, "idle", "p"))
        postgres_session.execute(admin, "DROP ROLE idle")


@pytest.mark.parametrize(
    ("plugin", "name"),
    [
        (b"client_ed25519", "ed25519"),
        (b"parsec", "parsec"),
        (b"auth_gssapi_client", "gssapi"),
        (b"authentication_ldap_sasl_client", "ldap"),
        (b"authentication_of_ours", "authentication_of_ours"),
    ],
)
def test_a_plugin_of_mysql_that_is_not_known_is_named(plugin: bytes, name: str) -> None:
    seen = attempt(by_python, greeted(switch(plugin)), "mysql")
    assert f"the account logs in by the plugin {name}, which Plimsoll does not know" in seen.line
    assert "mysql_native_password or caching_sha2_password" in seen.line


@pytest.mark.parametrize(("kind", "name"), [(7, "GSSAPI"), (9, "SSPI")])
def test_a_login_of_postgres_that_is_not_known_is_named(kind: int, name: str) -> None:
    seen = attempt(by_python, greeted_by_postgres(asks(kind)), "postgres")
    assert f"the server asks for a login by {name}" in seen.line


# --- a server of another protocol at the port ---


def test_a_dsn_of_mysql_at_the_port_of_postgres_is_told_at_once(postgres: PostgresServer) -> None:
    """It is recognized before the login's time is over: that would be long after this test's."""
    dsn = f"mysql://u:p@{postgres.host}:{postgres.port}/d"
    patient = parse_dsn(dsn).model_copy(update={"login_timeout_ms": 600_000})
    told = refusal_of(patient)
    assert told.endswith("this is PostgreSQL: begin the DSN with postgres://")


@pytest.mark.parametrize("scheme", ["postgres", "cassandra"])
def test_another_dsn_at_the_port_of_mariadb_is_told_at_once(
    mariadb: MariaDbServer, scheme: str
) -> None:
    told = refusal_of(parse_dsn(f"{scheme}://u:p@{mariadb.host}:{mariadb.port}/d"))
    assert told.endswith("this is MySQL or MariaDB: begin the DSN with mysql://")


@pytest.mark.parametrize("scheme", ["mysql", "postgres"])
@pytest.mark.parametrize(
    ("said", "what"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "a server of SSH"),
        (b"220 mail.example.com ESMTP\r\n", "a server of mail or FTP"),
    ],
)
def test_what_is_no_database_is_named(scheme: str, said: bytes, what: str) -> None:
    def greets(peer: Peer) -> None:
        peer.send(said)

    with HostileServer(greets) as server:
        told = refusal_of(parse_dsn(f"{scheme}://u:p@127.0.0.1:{server.port}/d"))
    assert told.endswith(f"this is {what}, and no database that Plimsoll knows: look at the port")


@pytest.mark.parametrize("scheme", ["mysql", "postgres"])
def test_a_server_of_http_is_named(scheme: str) -> None:
    def answers(peer: Peer) -> None:
        peer.read(1)
        peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with HostileServer(answers) as server:
        told = refusal_of(parse_dsn(f"{scheme}://u:p@127.0.0.1:{server.port}/d"))
    assert "this is a server of HTTP" in told


def test_a_cassandra_is_recognized() -> None:
    def answers(peer: Peer) -> None:
        peer.read(1)
        peer.send(b"\x84\x00\x00\x00\x06\x00\x00\x00\x00")

    protocols: tuple[Protocol, ...] = ("mysql", "postgres")
    with HostileServer(answers) as server:
        for protocol in protocols:
            told = refusal_of(target_on(server.port, protocol, None, None))
            assert told.endswith("this is Cassandra: begin the DSN with cassandra://")


# --- the password in a variable ---


def test_load_and_prepare_take_the_password_from_the_variable(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = parse_dsn(fresh_database)
    monkeypatch.setenv("PLIMSOLL_PASSWORD", target.password)
    dsn = f"mysql://{target.user}@{target.host}:{target.port}/{target.database}"
    load = ["load", "--warmup=0", "--operations=9"]
    for verb in (["prepare", "--records=100"], load):
        with pytest.raises(SystemExit) as ended:
            main([*verb, "--workload=ycsb-a", "--dsn", dsn])
        assert ended.value.code == 0
