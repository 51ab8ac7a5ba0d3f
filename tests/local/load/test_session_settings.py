"""A server whose defaults would falsify a load: each session sets what the load relies on."""

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

import plimsoll_engine
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.load_line.durability import note_durability
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import SESSION_SETTINGS, EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from tests.local.load.test_postgres import connected as connected_to_postgres
from tests.support.command import Output
from tests.support.mariadb_connection import connected

ROWS = 100
UPDATES = 400
# Refused or without effect for most accounts, but settable by whoever runs the server.
HOSTILE = {
    "autocommit": "0",
    "sql_mode": "'ORACLE,NO_BACKSLASH_ESCAPES'",
    "time_zone": "'-11:00'",
    "completion_type": "'RELEASE'",
    "foreign_key_checks": "0",
    "unique_checks": "0",
    "sql_select_limit": "1",
    "sql_safe_updates": "1",
    "innodb_flush_log_at_trx_commit": "2",
}
INIT_CONNECT = "SET autocommit = 0, sql_mode = 'ANSI', character_set_client = latin1"


def update(target: EngineTarget, sql: str) -> LoadReport:
    """Update rows by their number until so many updates have succeeded."""
    statement = {"sql": [sql], "binds": [{"kind": "key", "key_space": "t"}]}
    workload = {
        "key_spaces": [{"name": "t", "first": 1, "records": ROWS}],
        "operations": [{"name": "update", "weight": 1, "statements": [statement]}],
    }
    spec: dict[str, Any] = {"target": target.model_dump(), "workload": workload}
    spec |= {"connections": 4, "duration_s": 120, "operations_limit": UPDATES}
    return LoadReport.model_validate_json(plimsoll_engine.run(json.dumps(spec), None))


@pytest.fixture
def hostile_mariadb(mariadb_factory: Callable[..., MariaDbServer]) -> EngineTarget:
    """A server of its own with hostile defaults, and an account that `init_connect` is run for."""
    server = mariadb_factory()
    with closing(connected(server, autocommit=True)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (id int PRIMARY KEY, k bigint NOT NULL)")
        cursor.execute(f"INSERT INTO t SELECT seq, 0 FROM seq_1_to_{ROWS}")
        cursor.execute("CREATE USER plain@'%' IDENTIFIED BY 'plain'")
        cursor.execute(f"GRANT ALL ON {server.database}.* TO plain@'%'")
        for name, value in HOSTILE.items():
            cursor.execute(f"SET GLOBAL {name} = {value}")
        cursor.execute("SET GLOBAL init_connect = %s", (INIT_CONNECT,))
    return parse_dsn(f"mysql://plain:plain@{server.host}:{server.port}/{server.database}")


def test_updates_on_a_mariadb_with_autocommit_off_are_committed(
    hostile_mariadb: EngineTarget,
) -> None:
    as_set = " AND ".join(
        f"@@{name} = {value}"
        for name, value in hostile_mariadb.session_settings
        if not name.startswith("character_set")
    )
    report = update(hostile_mariadb, f"UPDATE t SET k = k + 1 WHERE id = ? AND {as_set}")
    assert report.operations["update"].succeeded == UPDATES
    with closing(connect(hostile_mariadb)) as second:
        assert execute(second, "SELECT sum(k) FROM t") == ((UPDATES,),)


def test_our_own_sessions_on_mariadb_set_the_same(hostile_mariadb: EngineTarget) -> None:
    names = [name for name, _ in hostile_mariadb.session_settings]
    with closing(connect(hostile_mariadb)) as session:
        (row,) = execute(session, f"SELECT {', '.join(f'@@{n}' for n in names)}")
    in_force = {name: str(value) for name, value in zip(names, row, strict=True)}
    assert in_force == {n: v.strip("'") for n, v in SESSION_SETTINGS["mysql"]}


def test_commits_that_do_not_wait_for_the_storage_of_a_mariadb_are_said(
    hostile_mariadb: EngineTarget,
) -> None:
    (note,) = note_durability(hostile_mariadb)
    assert "COMMITs do not wait for the storage (innodb_flush_log_at_trx_commit = 2)" in note


def test_rows_prepared_on_a_mariadb_with_autocommit_off_are_there(
    hostile_mariadb: EngineTarget, plimsoll: Callable[..., Output]
) -> None:
    place = f"{hostile_mariadb.host}:{hostile_mariadb.port}/{hostile_mariadb.database}"
    dsn = f"mysql://plain:plain@{place}"
    code, out, _ = plimsoll(
        "prepare", "--dsn", dsn, "--workload", "ycsb-a", "--records", "300", "--json"
    )
    assert code == 0
    assert json.loads(out)["rows_counted"] == {"usertable": 300}
    with closing(connect(hostile_mariadb)) as second:
        assert execute(second, "SELECT count(*) FROM usertable") == ((300,),)


@pytest.mark.parametrize("mode", ["prepared", "simple"])
def test_the_settings_of_a_role_do_not_reach_a_load_on_postgresql(
    postgres: PostgresServer, mode: str
) -> None:
    role = f"hostile_{mode}"
    with closing(connected_to_postgres(postgres, postgres.database)) as administrator:
        administrator.run(f"CREATE ROLE {role} LOGIN PASSWORD 'plain'")
        for name, value in {
            "client_encoding": "LATIN1",
            "DateStyle": "German",
            "TimeZone": "Pacific/Apia",
            "standard_conforming_strings": "off",
            "synchronous_commit": "off",
        }.items():
            administrator.run(f"ALTER ROLE {role} SET {name} = '{value}'")
        administrator.run(f"CREATE TABLE {role} (id int PRIMARY KEY, k bigint NOT NULL)")
        administrator.run(f"INSERT INTO {role} SELECT n, 0 FROM generate_series(1, {ROWS}) n")
        administrator.run(f"GRANT ALL ON {role} TO {role}")
        place = f"{postgres.host}:{postgres.port}/{postgres.database}?statement_mode={mode}"
        target = parse_dsn(f"postgres://{role}:plain@{place}")
        as_set = " AND ".join(
            f"current_setting('{name}') = '{value}'" for name, value in target.session_settings
        )
        report = update(target, f"UPDATE {role} SET k = k + 1 WHERE id = $1 AND {as_set}")
        assert report.operations["update"].succeeded == UPDATES
        assert note_durability(parse_dsn(postgres.dsn)) == ()
        assert "storage (synchronous_commit = off)" in note_durability(target)[0]
        assert administrator.run(f"SELECT sum(k) FROM {role}") == [[UPDATES]]
        administrator.run(f"DROP OWNED BY {role}; DROP TABLE {role}; DROP ROLE {role}")
