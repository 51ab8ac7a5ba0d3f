"""Tables whose writes wait for no storage, whatever the server's settings: who says it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.load_line.durability import note_tables
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import parse_workload
from plimsoll.workload.pgbench.workload import make_workload
from tests.local.load_line.test_own_keys import run_sql
from tests.support.command import BRIEF, Output

WRITES = """
about: Pays orders, after it has looked into prices.
tables:
  orders: &rows
    rows: $records
    primary_key: [id]
    columns: {id: {type: int, value: row}, paid: {type: int, value: row}}
  prices: *rows
operations:
  pay:
    weight: 1
    statements:
      - {sql: "SELECT paid FROM {prices} WHERE id = ? FOR UPDATE", binds: [{key: prices}]}
      - {sql: "UPDATE {orders} SET paid = paid + 1 WHERE id = ?", binds: [{key: orders}]}
"""
COLUMNS = "(id INT NOT NULL, paid INT NOT NULL)"


def notes_of(target: EngineTarget, text: str = WRITES) -> tuple[str, ...]:
    return note_tables(target, parse_workload(text).compile(10, {}, target.protocol))


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("InnoDB", ()),
        ("Aria TRANSACTIONAL = 1", ("orders: an Aria table has no transactions",)),
        ("Aria TRANSACTIONAL = 0", ("orders: writes to an Aria table without TRANSACTIONAL",)),
        ("MyISAM", ("orders: writes to a MyISAM table do not wait for the storage",)),
        ("CSV", ("orders: writes to a CSV table do not wait for the storage",)),
        ("MEMORY", ("orders: a MEMORY table is never on the storage",)),
    ],
)
def test_engines_of_mariadb_whose_writes_wait_for_nothing(
    fresh_database: str, engine: str, told: tuple[str, ...]
) -> None:
    target = parse_dsn(fresh_database)
    run_sql(
        target,
        f"CREATE TABLE orders {COLUMNS} ENGINE = {engine}",
        f"CREATE TABLE prices {COLUMNS} ENGINE = MyISAM",  # only read
    )
    notes = notes_of(target)
    assert len(notes) == len(told)
    assert all(note.startswith(start) for note, start in zip(notes, told, strict=True)), notes


def test_a_view_of_mariadb_is_told_by_the_table_behind_it(fresh_database: str) -> None:
    target = parse_dsn(fresh_database)
    run_sql(
        target,
        f"CREATE TABLE `old ``orders` {COLUMNS} ENGINE = MyISAM",
        "CREATE VIEW between_them AS SELECT id, paid FROM `old ``orders`",
        "CREATE VIEW orders AS SELECT id, paid FROM between_them",
    )
    (note,) = notes_of(target)
    assert note.startswith("old `orders: writes to a MyISAM table")


UNLOGGED = {
    "": f"CREATE TABLE orders {COLUMNS}",
    "orders": f"CREATE UNLOGGED TABLE orders {COLUMNS}",
    "old": f"""
        CREATE TABLE orders {COLUMNS} PARTITION BY RANGE (id);
        CREATE TABLE young PARTITION OF orders FOR VALUES FROM (0) TO (9);
        CREATE UNLOGGED TABLE old PARTITION OF orders DEFAULT""",
    "behind": f"""
        CREATE UNLOGGED TABLE behind {COLUMNS};
        CREATE VIEW orders AS SELECT id, paid FROM behind""",
}


@pytest.mark.parametrize("target", ["postgres"], indirect=True)
@pytest.mark.parametrize("named", UNLOGGED, ids=["logged", "unlogged", "partition", "view"])
def test_unlogged_tables_of_postgresql(target: EngineTarget, named: str) -> None:
    made = UNLOGGED[named].split(";")
    run_sql(target, *made, f"CREATE UNLOGGED TABLE prices {COLUMNS}")
    notes = notes_of(target)
    assert bool(notes) == bool(named)
    for note in notes:
        assert note.startswith(f"{named}: an UNLOGGED table is not in the log")


@pytest.mark.parametrize("target", ["postgres"], indirect=True)
def test_a_script_of_pgbench_names_tables_that_no_workload_declares(target: EngineTarget) -> None:
    run_sql(
        target,
        "CREATE SCHEMA shop",
        f'CREATE UNLOGGED TABLE shop."Log" {COLUMNS}',
        f"CREATE UNLOGGED TABLE orders {COLUMNS}",
        f"CREATE UNLOGGED TABLE prices {COLUMNS}",
        f"CREATE TABLE kept {COLUMNS}",
    )
    script = (
        "BEGIN; UPDATE ONLY orders SET paid = 1; INSERT INTO kept SELECT * FROM prices;"
        ' WITH gone AS (DELETE FROM shop."Log" RETURNING id) SELECT count(*) FROM gone; COMMIT;'
        " CREATE TEMP TABLE IF NOT EXISTS scratch (id int); INSERT INTO scratch VALUES (1);"
    )
    compiled = make_workload([("mine.sql", 1, script)]).compile(None, {}, "postgres")
    unlogged, temporary = note_tables(target, compiled)
    assert unlogged.startswith('orders and shop."Log": an UNLOGGED table')
    assert temporary.startswith("scratch: a temporary table")


def test_load_and_find_say_it_before_anything_runs(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    target = parse_dsn(fresh_database)
    for table in ("orders", "prices"):
        run_sql(
            target,
            f"CREATE TABLE {table} {COLUMNS} ENGINE = MyISAM",
            f"INSERT INTO {table} SELECT seq, 0 FROM mysql.seq_0_to_99",
        )
    file = tmp_path / "orders.yaml"
    file.write_text(WRITES)
    asked = ["--workload", str(file), "--records", "100"]
    load = ["load", "--dsn", fresh_database, *asked, "--connections", "1", "--duration", "1"]
    told = "orders: writes to a MyISAM table do not wait for the storage"
    code, out, err = plimsoll(*load)
    assert code == 0
    assert err.startswith(told)
    assert told in out
    found = ["--allow-writes", *BRIEF, "--limit", "10s", "--out", str(tmp_path / "found")]
    _, _, err = plimsoll("find", fresh_database, *asked, *found)
    assert told in err
    assert told in (tmp_path / "found" / "result.json").read_text()
