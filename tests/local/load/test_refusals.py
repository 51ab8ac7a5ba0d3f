"""What a server refuses is one clear line on standard error, and never the password."""

import socket
from contextlib import closing, suppress
from pathlib import Path

import pymysql
import pytest

from plimsoll.cli.main import main
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.request.dsn import parse_dsn
from tests.local.conftest import MariaDbFactory
from tests.support.certificates import self_signed
from tests.support.mariadb_connection import connected

PREPARE = ["prepare", "--workload", "ycsb-a", "--records", "100", "--dsn"]
LOAD = ["load", "--workload", "ycsb-a", "--records", "100", "--warmup=0", "--operations=9", "--dsn"]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert isinstance(ended.value.code, int)
    return ended.value.code, captured.err


@pytest.mark.parametrize("verb", [PREPARE, LOAD])
@pytest.mark.parametrize(
    ("dsn", "code", "line"),
    [
        ("mysql://plimsoll:hunter2@127.0.0.1:PORT/plimsoll", 1, "wrong user or password"),
        ("mysql://plimsoll:plimsoll@127.0.0.1:PORT/nowhere", 1, "there is no such database"),
        (
            "mysql://plimsoll:plimsoll@127.0.0.1:PORT/plimsoll?tls=verify",
            1,
            "offers no TLS",
        ),
        ("plimsoll:hunter2@127.0.0.1:PORT/plimsoll", 2, "--dsn: not a DSN"),
        ("oracle://plimsoll:hunter2@127.0.0.1:PORT/plimsoll", 2, "--dsn: unknown database"),
        ("mysql://plimsoll:hunter2@127.0.0.1:9PORT/plimsoll", 2, "--dsn: its host or port"),
    ],
)
def test_one_line(
    mariadb: MariaDbServer,
    capsys: pytest.CaptureFixture[str],
    *,
    verb: list[str],
    dsn: str,
    code: int,
    line: str,
) -> None:
    exit_code, error = refused([*verb, dsn.replace("PORT", str(mariadb.port))], capsys)
    assert exit_code == code
    assert line in error
    assert "hunter2" not in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("verb", [PREPARE, LOAD])
def test_nobody_there(capsys: pytest.CaptureFixture[str], verb: list[str]) -> None:
    exit_code, error = refused([*verb, "mysql://u:hunter2@127.0.0.1:1/d"], capsys)
    assert exit_code == 1
    assert error.startswith("plimsoll: cannot connect to 127.0.0.1:1: ")
    assert len(error.strip().splitlines()) == 1
    assert "hunter2" not in error


def test_a_server_that_never_greets_is_given_up_after_10_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        exit_code, error = refused([*PREPARE, f"mysql://u:hunter2@127.0.0.1:{port}/d"], capsys)
    assert exit_code == 1
    assert (
        f"plimsoll: cannot connect to 127.0.0.1:{port}: no answer to the login within 10 s" in error
    )
    assert len(error.strip().splitlines()) == 1


def test_that_limit_is_the_logins_alone(mariadb: MariaDbServer) -> None:
    target = parse_dsn(mariadb.dsn).model_copy(update={"login_timeout_ms": 1000})
    for tries_left in reversed(range(10)):  # logins in a machine that stands still take longer
        try:
            connection = connect(target)
            break
        except PlimsollError:
            assert tries_left
    with closing(connection):
        assert execute(connection, "SELECT SLEEP(1.1)") == ((0,),)


def test_a_long_statement_is_told_by_its_beginning(
    fresh_database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["load", "--workload", "batch-1-bulk-insert", "--records", "100", "--dsn"]
    exit_code, error = refused([*words, fresh_database], capsys)
    assert exit_code == 1
    assert 'cannot prepare "INSERT INTO `usage_record` (usage_id' in error
    assert "usage_record' doesn't exist" in error
    assert len(error) < 350


def test_no_dataset(mariadb: MariaDbServer, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [word for word in LOAD if word not in {"--records", "100"}]
    exit_code, error = refused([*arguments, mariadb.dsn], capsys)
    assert exit_code == 1
    assert "plimsoll prepare --workload ycsb-a --records N" in error


@pytest.mark.parametrize("verb", [PREPARE, LOAD])
def test_a_full_server(
    mariadb_factory: MariaDbFactory, capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    server = mariadb_factory(settings={"max_connections": 10})
    held: list[pymysql.Connection[pymysql.cursors.Cursor]] = []
    while len(held) < 11:  # one is spare
        # bounded by the time-out: whoever asked whether it is ready may not have left yet
        with suppress(pymysql.err.OperationalError):
            held.append(connected(server))
    exit_code, error = refused([*verb, server.dsn], capsys)
    for connection in held:
        connection.close()
    assert exit_code == 1
    assert "the server is full of connections" in error


def test_tls_demanded_and_given(
    mariadb_factory: MariaDbFactory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = mariadb_factory(settings=self_signed(tmp_path).settings)
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.execute("SET GLOBAL require_secure_transport = ON")
    for verb in (PREPARE, LOAD):
        exit_code, error = refused([*verb, server.dsn], capsys)
        assert exit_code == 1
        assert "the server demands TLS: `tls` must be verify or require" in error
        exit_code, error = refused([*verb, server.dsn + "?tls=verify"], capsys)
        assert exit_code == 1
        assert "certificate" in error.lower()
    for verb in (PREPARE, LOAD):
        with pytest.raises(SystemExit) as ended:
            main([*verb, server.dsn + "?tls=require"])
        assert ended.value.code == 0
