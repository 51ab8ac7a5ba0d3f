"""`plimsoll workload derive` on real servers that are under load."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.observing import open_statements
from plimsoll.databases.postgres import session
from plimsoll.databases.trying import open_trial
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload
from tests.local.sizing.conftest import under_load
from tests.support.command import Output
from tests.support.postgres_connection import connected

Call = Callable[..., Output]


def a_database(server: MariaDbServer, name: str) -> str:
    with closing(connect(parse_dsn(server.dsn))) as connection:
        execute(connection, f"CREATE DATABASE `{name}`")
    return f"{server.dsn.rpartition('/')[0]}/{name}"


def derived(call: Call, dsn: str, *options: str, time: str = "2s") -> dict[str, Any]:
    code, out, err = call("workload", "derive", dsn, "--for", time, "--json", *options)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def require_a_twentieth_of_updates(found: dict[str, Any]) -> None:
    """Refuse shares that are more than five standard errors away: the load draws operations."""
    shares = {one["name"]: one["share"] for one in found["operations"]}
    error = 5 * (0.05 * 0.95 / sum(one["calls"] for one in found["operations"])) ** 0.5
    assert shares["select_usertable_by_ycsb_key"] == pytest.approx(0.95, abs=error)
    assert shares["update_usertable_by_ycsb_key"] == pytest.approx(0.05, abs=error)


def test_ycsb_b_is_derived_from_a_mariadb_under_it(
    plimsoll_command: Call, counting_mariadb: MariaDbServer, tmp_path: Path
) -> None:
    dsn, path = a_database(counting_mariadb, "ycsb"), tmp_path / "found.yaml"
    plimsoll.prepare(dsn, workload="ycsb-b", records=3000)
    with under_load(dsn, "ycsb-b"):
        found = derived(plimsoll_command, dsn, "--writes", "--out", str(path))
    require_a_twentieth_of_updates(found)
    assert found["share_of_calls"] > 0.99
    derived_reads, derived_updates = load_workload(str(path)).compile().engine.operations
    reads, updates = load_workload("ycsb-b").compile(3000).engine.operations
    assert derived_reads.statements[0].sql == reads.statements[0].sql
    assert set(derived_updates.statements[0].sql) == set(updates.statements[0].sql)
    (table,) = load_workload(str(path)).compile().tables
    (original,) = load_workload("ycsb-b").compile(3000).tables
    assert table.create_sql == original.create_sql
    assert table.rows == pytest.approx(3000, rel=0.5)  # InnoDB's own estimate
    scratch = a_database(counting_mariadb, "scratch")
    plimsoll.prepare(scratch, workload=path, records=300)
    again = plimsoll.load(scratch, workload=path, connections=1, warmup_s=0, duration_s=2)
    assert again.throughput_ops_per_second
    assert not any(one.errors for one in again.report.operations.values())


def test_it_reads_and_changes_nothing(
    plimsoll_command: Call, counting_mariadb: MariaDbServer
) -> None:
    dsn = a_database(counting_mariadb, "kept")
    plimsoll.prepare(dsn, workload="ycsb-b", records=100)
    with closing(connect(parse_dsn(dsn))) as connection:
        execute(connection, "SELECT FIELD0 FROM usertable WHERE YCSB_KEY = 'a secret'")
        before = execute(connection, "CHECKSUM TABLE usertable")
        code, out, _ = plimsoll_command("workload", "derive", dsn)
        assert code == 0
        assert execute(connection, "CHECKSUM TABLE usertable") == before
        assert len(execute(connection, "SHOW TABLES")) == 2  # and Plimsoll's notes
    assert "a secret" not in out


def test_a_server_that_does_not_count_says_how_it_would(
    plimsoll_command: Call, mariadb: MariaDbServer
) -> None:
    code, _, err = plimsoll_command("workload", "derive", mariadb.dsn)
    assert code == 1
    assert "performance_schema=ON" in err


def test_ycsb_b_is_derived_from_a_postgresql(
    plimsoll_command: Call, postgres: PostgresServer, tmp_path: Path
) -> None:
    with closing(connected(postgres)) as connection:
        connection.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        connection.run("CREATE DATABASE observed")
    dsn = f"{postgres.dsn.rpartition('/')[0]}/observed"
    path = tmp_path / "found.yaml"
    with closing(connected(postgres)) as connection:
        connection.run("SELECT 1")
    _extension(dsn)
    plimsoll.prepare(dsn, workload="ycsb-b", records=1000)
    with under_load(dsn, "ycsb-b"):
        found = derived(plimsoll_command, dsn, "--writes", "--out", str(path))
    require_a_twentieth_of_updates(found)
    assert "derived from the statements that observed was sent" in path.read_text()
    compiled = load_workload(str(path)).compile(protocol="postgres")
    original = load_workload("ycsb-b").compile(1000, protocol="postgres")
    assert [one.create_sql for one in compiled.tables] == [
        one.create_sql for one in original.tables
    ]


def _extension(dsn: str) -> None:
    with closing(session.connect(parse_dsn(dsn))) as connection:
        session.execute(connection, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")


ARTICLE = """
CREATE TABLE article (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, kind varchar(20) NOT NULL,
  slug varchar(200) NOT NULL, code varchar(64) NOT NULL,
  KEY slug (slug(191), id DESC), KEY kind (kind), UNIQUE KEY code (code))
"""
_MARIADB_INDEXES = """
SELECT seq_in_index, column_name, sub_part, non_unique, collation
  FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'article'
 ORDER BY 2, 1, 3
"""


def test_the_indexes_of_a_mariadb_are_made_as_they_are(
    plimsoll_command: Call, counting_mariadb: MariaDbServer, tmp_path: Path
) -> None:
    dsn, path = a_database(counting_mariadb, "press"), tmp_path / "press.yaml"
    with closing(connect(parse_dsn(dsn))) as connection:
        execute(connection, ARTICLE)
        execute(
            connection,
            "INSERT INTO article (kind, slug, code)"
            " SELECT 'post', CONCAT('a', seq), MD5(seq) FROM seq_1_to_300",
        )
        execute(connection, "SELECT id FROM article WHERE slug = 'a17'")
        execute(connection, "SELECT id FROM article WHERE code = 'x'")
        before = execute(connection, _MARIADB_INDEXES)
        code, _, err = plimsoll_command("workload", "derive", dsn, "--out", str(path))
        assert code == 0, err
    scratch = a_database(counting_mariadb, "press_again")
    plimsoll.prepare(scratch, workload=path, records=300)
    with closing(connect(parse_dsn(scratch))) as connection:
        assert execute(connection, _MARIADB_INDEXES) == before


USERS = """
CREATE TABLE users (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
                    email varchar(255) NOT NULL, state varchar(20) NOT NULL, score int NOT NULL);
CREATE UNIQUE INDEX users_email ON users (email);
CREATE INDEX users_score ON users (score DESC, id);
CREATE INDEX users_state ON users (state) WHERE state <> 'active';
CREATE INDEX users_lower ON users (lower(state));
CREATE INDEX users_wide ON users (score) INCLUDE (state)
"""


def test_the_indexes_of_a_postgresql_are_kept_as_they_are_or_named(
    postgres: PostgresServer,
) -> None:
    with closing(connected(postgres)) as connection:
        connection.run("CREATE DATABASE kept_indexes")
    dsn = f"{postgres.dsn.rpartition('/')[0]}/kept_indexes"
    _extension(dsn)
    target = parse_dsn(dsn)
    with closing(session.connect(target)) as connection:
        for statement in USERS.split(";"):
            session.execute(connection, statement)
    with open_statements(target) as reader:
        (table,) = reader.tables(["users"])
    assert table.indexes == {"users_email": ("email",), "users_score": ("score desc", "id")}
    assert table.unique == ("users_email",)
    assert {name: one.why for name, one in table.indexes_left.items()} == {
        "users_state": "is partial",
        "users_lower": "has an expression",
        "users_wide": "has INCLUDE columns",
    }


def test_a_second_derivation_does_not_count_the_first(
    plimsoll_command: Call, counting_mariadb: MariaDbServer
) -> None:
    dsn = a_database(counting_mariadb, "twice")
    with closing(connect(parse_dsn(dsn))) as connection:
        execute(connection, ARTICLE)
        execute(connection, "INSERT INTO article (kind, slug, code) VALUES ('a', 'b', 'c')")
        execute(connection, "SELECT id FROM article WHERE code = 'x'")
    found = []
    for _ in range(2):
        code, out, err = plimsoll_command("workload", "derive", dsn, "--json")
        assert code == 0, err
        found.append(json.loads(out))
    first, second = found
    assert first["operations"] == second["operations"]
    assert first["left_out"] == second["left_out"]


def test_a_database_that_is_not_there_is_named(
    plimsoll_command: Call, counting_mariadb: MariaDbServer
) -> None:
    dsn = f"{counting_mariadb.dsn.rpartition('/')[0]}/nowhere"
    code, _, err = plimsoll_command("workload", "derive", dsn)
    assert code == 1
    assert "Unknown database 'nowhere'" in err


VISIT = """
CREATE TABLE visit (id bigserial PRIMARY KEY, page int NOT NULL, at timestamptz NOT NULL,
                    opens time);
CREATE INDEX visit_page ON visit (page);
INSERT INTO visit (page, at) SELECT g % 40, now() FROM generate_series(1, 200) g;
ANALYZE visit;
SELECT id FROM visit WHERE page = 3 AND id > 0;
SELECT id FROM visit WHERE page = 3 AND at > now() - interval '7 days';
SELECT EXTRACT(HOUR FROM opens) FROM visit WHERE page = 3
"""


def test_what_a_postgresql_refuses_is_left_out_with_its_reason(
    plimsoll_command: Call, postgres: PostgresServer, tmp_path: Path
) -> None:
    with closing(connected(postgres)) as connection:
        connection.run("CREATE DATABASE tried")
        connection.run("CREATE DATABASE tried_again")
    dsn, path = f"{postgres.dsn.rpartition('/')[0]}/tried", tmp_path / "tried.yaml"
    _extension(dsn)
    target = parse_dsn(dsn)
    with closing(session.connect(target)) as connection:
        for statement in VISIT.split(";"):
            verb, _, rest = statement.strip().partition(" ")
            connection.run(f"{verb} {rest}")  # as a program sends it, without our mark
        before = session.execute(connection, "SELECT relname FROM pg_class ORDER BY 1")
        code, out, err = plimsoll_command("workload", "derive", dsn, "--json", "--out", str(path))
        assert code == 0, err
        assert session.execute(connection, "SELECT relname FROM pg_class ORDER BY 1") == before
    found = json.loads(out)
    (reason,) = [one["why"] for one in found["left_out"] if "opens" in one["statement"]]
    assert reason.startswith("the server refuses it: ")
    assert "select_visit_by_page_at" in {one["name"] for one in found["operations"]}
    plimsoll.prepare(f"{dsn}_again", workload=path, records=100)


def test_what_a_mariadb_refuses_is_left_out_with_its_reason_and_no_table_is_left(
    counting_mariadb: MariaDbServer,
) -> None:
    dsn = a_database(counting_mariadb, "tried")
    target = parse_dsn(dsn)
    workload = load_workload("ycsb-b").compile(10)
    with open_trial(target) as trial:
        assert trial.create(workload.tables) is None
        assert trial.refuse("SELECT FIELD0 FROM usertable WHERE YCSB_KEY = ?") is None
        twice = "SELECT a.FIELD0 FROM usertable a JOIN usertable b ON a.YCSB_KEY = b.YCSB_KEY"
        assert trial.refuse(twice) is None
        refused = trial.refuse("SELECT FIELD0 FROM usertable WHERE YCSB_KEY = INTERVAL ?")
        assert "You have an error in your SQL syntax" in str(refused)
        assert "Unknown column" in str(trial.refuse("SELECT FIELD10 FROM usertable"))
    with closing(connect(target)) as connection:
        assert execute(connection, "SHOW TABLES") == ()
