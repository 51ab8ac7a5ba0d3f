"""`plimsoll gate`, as its user calls it, on real servers: what it finds, and what it leaves."""

import json
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.postgres.session import connect as connect_postgres
from plimsoll.databases.postgres.session import execute as execute_postgres
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.gate import Count, GateResult
from plimsoll.model.request.dsn import parse_dsn
from tests.support.command import Output

WORKLOAD = """\
about: Orders of a shop.
tables:
  orders:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      paid: {type: int, value: {integer: [0, 1000]}}
operations:
  pay:
    weight: 1
    statements:
      - sql: UPDATE {orders} SET paid = ? WHERE id = ?
        binds: [{integer: [0, 1000]}, {key: orders}]
"""
SMALL = ["--records", "500", "--operations", "200", "--pairs", "4"]
# One pair of eight that background work moved by as much as an index leaves a t of 7, of four one
# of 3, which is nothing beside seventeen counts.
FINDING = ["--records", "500", "--operations", "100", "--pairs", "8"]
MIGRATION = "-- an index more\nCREATE INDEX more ON orders (paid);\n"


@pytest.fixture
def workload(tmp_path: Path) -> str:
    file = tmp_path / "shop.yaml"
    file.write_text(WORKLOAD)
    return str(file)


@pytest.fixture
def migration(tmp_path: Path) -> str:
    file = tmp_path / "migration.sql"
    file.write_text(MIGRATION)
    return str(file)


def copies_left(dsn: str) -> list[str]:
    """Name the gate's databases that a server still has."""
    target = parse_dsn(dsn)
    if target.protocol == "mysql":
        with closing(connect(target)) as connection:
            names = execute(connection, "SHOW DATABASES")
    else:
        with closing(connect_postgres(target)) as opened:
            names = execute_postgres(opened, "SELECT datname FROM pg_database")
    return [name for (name,) in names if str(name).startswith("plimsoll_gate")]


def check_migration_found(
    plimsoll: Callable[..., Output], call: list[str], out: Path, *, by: Count
) -> None:
    """Call the gate for a migration that costs an index more, and check all that it tells."""
    dsn = call[0]
    files = ["--junit", str(out / "junit.xml"), "--markdown", str(out / "summary.md")]
    code, text, err = plimsoll("gate", *call, *FINDING, "--json", *files)
    assert code == 1, err
    assert "pair 8 of 8: after" in err
    result = GateResult.model_validate_json(text)
    assert result.verdict == "more work"
    found = {(one.operation, one.count): one for one in result.changes}
    more = found["pay", by]
    assert more.outcome == "more"
    assert more.before is not None
    assert more.after is not None
    assert more.after > more.before
    for count in ("statements", "rows_met"):
        assert (found["pay", count].before, found["pay", count].after) == (1, 1)
        assert found["pay", count].outcome == "unchanged"
    assert found["pay", "rows_changed"].before == pytest.approx(1, abs=0.1)
    assert result.sentences[0].startswith("pay: ")
    assert 'failures="1"' in (out / "junit.xml").read_text()
    assert "pay: no more work | ❌ not met" in (out / "summary.md").read_text()
    assert copies_left(dsn) == []


@pytest.mark.whole
def test_an_index_more_is_found_on_mariadb(
    plimsoll: Callable[..., Output],
    mariadb: MariaDbServer,
    workload: str,
    migration: str,
    tmp_path: Path,
) -> None:
    # not by pages: now and then MariaDB's purge reads the rollback segments, some 500 pages
    call = [mariadb.dsn, "--workload", workload, "--after", migration]
    check_migration_found(plimsoll, call, tmp_path, by="log_bytes")


def test_an_index_more_is_found_on_postgres(
    plimsoll: Callable[..., Output],
    postgres: PostgresServer,
    workload: str,
    migration: str,
    tmp_path: Path,
) -> None:
    call = [postgres.dsn, "--workload", workload, "--after", migration]
    check_migration_found(plimsoll, call, tmp_path, by="pages_requested")


@pytest.mark.whole
def test_a_stored_state_is_compared_with_what_a_program_sets_up(
    plimsoll: Callable[..., Output], postgres: PostgresServer, workload: str, tmp_path: Path
) -> None:
    stored = tmp_path / "state.json"
    call = ["gate", postgres.dsn, "--workload", workload, *SMALL]
    code, text, err = plimsoll(*call, "--save", str(stored))
    assert (code, text) == (0, f"stored: {stored}\n"), err
    assert "before" not in err  # one state alone is measured
    assert len(json.loads(stored.read_text())["turns"]) == 4
    program = tmp_path / "migrate.py"
    program.write_text(
        "import os\n"
        "from contextlib import closing\n"
        "from plimsoll.databases.postgres.session import connect, execute\n"
        "from plimsoll.model.request.dsn import parse_dsn\n"
        "with closing(connect(parse_dsn(os.environ['PLIMSOLL_DSN']))) as opened:\n"
        "    execute(opened, 'CREATE INDEX more ON orders (paid)')\n"
    )
    migrate = ["--after-cmd", f"{sys.executable} {program}"]
    code, text, err = plimsoll(*call, "--baseline", str(stored), *migrate)
    assert code == 1, err
    assert text.startswith("more work: ")
    code, _, err = plimsoll(*call, "--baseline", str(stored), "--seed", "2")
    assert code == 2
    assert "--seed: --baseline was measured with 1, not 2" in err
    assert copies_left(postgres.dsn) == []


def test_a_migration_that_fails_leaves_no_copy(
    plimsoll: Callable[..., Output], postgres: PostgresServer, workload: str, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.sql"
    wrong.write_text("ALTER TABLE orders DROP COLUMN absent;")
    call = ["gate", postgres.dsn, "--workload", workload, *SMALL, "--before", str(wrong)]
    code, _, err = plimsoll(*call)
    assert code == 1
    assert '--before: the database says: column "absent" of relation "orders" does not exist' in err
    assert copies_left(postgres.dsn) == []


def test_cassandra_is_refused(plimsoll: Callable[..., Output], workload: str) -> None:
    code, _, err = plimsoll("gate", "cassandra://127.0.0.1/shop", "--workload", workload)
    assert code == 2
    assert "not on Cassandra" in err


def test_a_migration_that_does_not_commit_is_refused(
    plimsoll: Callable[..., Output], postgres: PostgresServer, workload: str, tmp_path: Path
) -> None:
    lost = tmp_path / "lost.sql"
    lost.write_text(f"BEGIN; {MIGRATION}")
    call = ["gate", postgres.dsn, "--workload", workload, *SMALL, "--before", str(lost)]
    code, _, err = plimsoll(*call)
    assert code == 1
    assert "--before: the statements leave a transaction open" in err
    assert copies_left(postgres.dsn) == []
