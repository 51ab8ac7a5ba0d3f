"""A DSN says where the load goes; one that does not is refused without repeating it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.errors import UsageError
from plimsoll.model.engine.asked import EngineTarget, Tls
from plimsoll.model.request.dsn import find_engine, parse_dsn, rds_authorities

VERIFIED = Tls(verify=True, ca_pem=None)  # by whom the system trusts
RDS = "db-1.c9akciq32.eu-west-1.rds.amazonaws.com"
PROXY = "a.proxy-c9akciq32.eu-west-1.rds.amazonaws.com"  # has a certificate of Amazon's public ones


def target(**changes: object) -> EngineTarget:
    return EngineTarget.model_validate(
        {
            "protocol": "mysql",
            "host": "db",
            "port": 3306,
            "user": "u",
            "password": "p",
            "database": "d",
            **changes,
        }
    )


@pytest.mark.parametrize(
    ("dsn", "expected"),
    [
        ("mysql://u:p@db/d", target(tls=VERIFIED)),
        ("mariadb://u:p@db:3307/d", target(port=3307, tls=VERIFIED)),
        ("mysql://u@db/d", target(password="")),
        ("mysql://u:p%40%2F%3A%25@db/d", target(password="p@/:%", tls=VERIFIED)),
        ("mysql://u:p@[::1]:3306/d", target(host="::1")),
        ("mysql://u:p@localhost/d", target(host="localhost")),
        ("mysql://u:p@127.0.0.2/d", target(host="127.0.0.2")),
        ("mysql://u:p@10.0.0.2/d", target(host="10.0.0.2", tls=VERIFIED)),
        ("cassandra://u:p@db/k", target(protocol="cql", port=9042, database="k", tls=VERIFIED)),
        (
            "cassandra://db:19042/k",
            target(protocol="cql", port=19042, user="", password="", database="k"),
        ),
        ("postgres://u:p@db/d", target(protocol="postgres", port=5432, tls=VERIFIED)),
        ("postgresql://u@db:6432/d", target(protocol="postgres", port=6432, password="")),
        (
            "postgres://u:p@localhost/d?statement_mode=simple&allow_md5=true",
            target(
                protocol="postgres",
                host="localhost",
                port=5432,
                statement_mode="simple",
                allow_md5=True,
            ),
        ),
        ("mysql://u:p@db/d?tls=off", target()),
        ("mysql://u:p@db/d?tls=require", target(tls=Tls(verify=False))),
        ("mysql://u:p@db/d?tls=verify", target(tls=VERIFIED)),
        (f"mysql://u:p@{RDS}/d", target(host=RDS, tls=Tls(ca_pem=rds_authorities()))),
        (f"mysql://u:p@{PROXY}/d", target(host=PROXY, tls=VERIFIED)),
    ],
)
def test_what_it_means(dsn: str, expected: EngineTarget) -> None:
    assert parse_dsn(dsn) == expected


@pytest.mark.parametrize(
    ("dsn", "expected"),
    [
        ("mysql://u@db/d", target(password="q", tls=VERIFIED)),  # never in clear
        ("mysql://u@localhost/d", target(password="q", host="localhost")),
        ("mysql://u:p@db/d", target(tls=VERIFIED)),
    ],
)
def test_a_password_from_elsewhere_is_for_a_dsn_that_has_none(
    dsn: str, expected: EngineTarget
) -> None:
    assert parse_dsn(dsn, password="q") == expected


@pytest.mark.parametrize(
    ("dsn", "message"),
    [
        ("", "not a DSN; the form is mysql://USER:PASSWORD@HOST:PORT/DATABASE"),
        ("localhost", "not a DSN"),
        ("mysql:u:hunter2@db/d", "not a DSN"),
        ("oracle://u:hunter2@db/d", "unknown database oracle://"),
        ("mysql://:hunter2@db/d", "has no user"),
        ("mysql://u:hunter2@/d", "has no host"),
        ("mysql://u:hunter2@db", "has no database"),
        ("mysql://u:hunter2@db/", "has no database"),
        ("mysql://u:hunter2@db:port/d", "its host or port is not one"),
        ("mysql://u:hunter2@db:0/d", "the port must be from 1 to 65535, not 0"),
        ("mysql://u:hunter2@db:99999/d", "its host or port is not one"),
        ("mysql://u:hunter2@[::1/d", "its host or port is not one"),
        ("cassandra://u:hunter2@db", "has no keyspace"),
        ("mysql://u:hunter2@db/d/e", "a database's name has no /"),
        ("cassandra://u:hunter2@db/k/l", "a keyspace's name has no /"),
        (
            "mysql://u:hunter2@db/d?ssl=1",
            "unknown option 'ssl' (allowed: tls); write tls=verify or",
        ),
        ("mysql://u:hunter2@db/d?allow_md5=true", "unknown option 'allow_md5' (allowed: tls)"),
        (
            "postgres://u:hunter2@db/d?ssl=1",
            "unknown option 'ssl' (allowed: tls, statement_mode, allow_md5)",
        ),
        (
            "postgres://u:hunter2@db/d?statement_mode=text",
            "unknown statement_mode 'text' (allowed: prepared, simple)",
        ),
        (
            "postgres://u:hunter2@db/d?allow_md5=1",
            "unknown allow_md5 '1' (allowed: true, false)",
        ),
        ("mysql://u:hunter2@db/d?tls=on", "unknown tls 'on' (allowed: verify, require, off)"),
        ("mysql://u:hunter2@db/d?tls", "options are written ?tls=verify"),
    ],
)
def test_what_is_none_is_refused_and_never_repeated(dsn: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_dsn(dsn)
    assert str(error.value).startswith(f"--dsn: {message}")
    assert "hunter2" not in str(error.value)


@given(st.text())
def test_any_text_gives_a_target_or_one_line(text: str) -> None:
    try:
        parse_dsn(text)
    except UsageError as error:
        line = str(error)
    else:
        line = "a target"
    assert line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("dsn", "engine"),
    [
        ("mysql://u@db/d", "mysql"),
        ("mariadb://u@db/d", "mariadb"),
        ("postgres://u@db/d", "postgres"),
        ("postgresql://u@db/d", "postgres"),
        ("cassandra://db/k", "cassandra"),
    ],
)
def test_its_scheme_names_an_engine(dsn: str, engine: str) -> None:
    assert find_engine(dsn) == engine


@pytest.mark.parametrize("field", [{"statement_mode": "simple"}, {"allow_md5": True}])
def test_options_of_postgres_are_of_no_other(field: dict[str, object]) -> None:
    name = next(iter(field))
    with pytest.raises(ValidationError, match=f"{name}: is of PostgreSQL alone, not of mysql"):
        target(**field)


def test_a_target_does_not_show_its_password() -> None:
    assert "hunter2" not in repr(parse_dsn("mysql://u:hunter2@db/d"))


@pytest.mark.parametrize(
    ("dsn", "advice"),
    [
        ("mysql://u:p@ss/w?rd#1@host/db", "write @ as %40, / as %2F, ? as %3F, # as %23"),
        ("mysql://u:hunter2/@db/d", "write / as %2F"),
        ("mysql://u:hunter2?@db/d", "write ? as %3F"),
        ("mysql://u:hunter2#@db/d", "write # as %23"),
        ("mysql://u:hunter2#1@db", "write # as %23"),
        ("mysql://u:hunter2[@db/d", "write [ as %5B"),
        ("postgres://a/b:hunter2@db/d?tls=off", "write / as %2F"),
        ("mysql://u:hunter2@db/d#1", "write # as %23"),
    ],
)
def test_a_character_that_is_not_encoded_is_named_with_its_code(dsn: str, advice: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_dsn(dsn)
    assert str(error.value).endswith(advice)
    assert "hunter2" not in str(error.value)
    assert "ss/w" not in str(error.value)


def test_an_at_sign_alone_needs_no_code() -> None:
    assert parse_dsn("mysql://u:p@ss@db/d?tls=off") == target(password="p@ss")
    assert parse_dsn("mysql://u:p@db/d@x?tls=off") == target(database="d@x")
