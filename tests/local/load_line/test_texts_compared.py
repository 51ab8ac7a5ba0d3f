"""Keys that a server has as texts, and a workload draws as numbers: what it costs, who says it."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.databases import mysql, postgres
from plimsoll.databases.compared_types import find_texts_compared_with_numbers
from plimsoll.databases.existing_keys import draw_from_existing
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import parse_workload
from tests.local.load.driving import drive
from tests.local.load_line.test_own_keys import ORDERS, SAMPLED, run_sql
from tests.support.command import BRIEF, Output

ROWS = 2000
OPERATIONS = 20
TEXT = ORDERS.replace(
    "bigint, value: row", 'varchar(20), value: {format: "{}", of: [row]}'
).replace("binds: [{key: orders}]", 'binds: [{format: "{}", of: [{key: orders}]}]')


def fill(target: EngineTarget, key: str) -> None:
    mysql_rows, postgres_rows = f"mysql.seq_0_to_{ROWS - 1}", f"generate_series(0, {ROWS - 1}) seq"
    number = "CAST(seq AS VARCHAR(20))" if target.protocol == "postgres" else "seq"
    run_sql(
        target,
        f"CREATE TABLE orders (id {key} PRIMARY KEY, paid INT)",
        f"INSERT INTO orders SELECT {number}, 0 FROM "
        + (mysql_rows if target.protocol == "mysql" else postgres_rows),
    )


def count_read_rows(target: EngineTarget, text: str) -> float:
    """The rows that MariaDB reads for each operation of a workload."""
    compiled = parse_workload(text).compile(ROWS, {}, target.protocol)
    status = "SHOW GLOBAL STATUS LIKE 'Handler_read_rnd_next'"
    with closing(mysql.session.connect(target)) as session:
        ((_, before),) = mysql.session.execute(session, status)
        report = drive(
            target, compiled.engine, connections=1, duration_s=60.0, operations_limit=OPERATIONS
        )
        ((_, after),) = mysql.session.execute(session, status)
    assert report.operations["read"].rows == OPERATIONS
    return (int(str(after)) - int(str(before))) / OPERATIONS


def find_texts(target: EngineTarget, text: str) -> tuple[str, ...]:
    compiled = parse_workload(text).compile(ROWS, {}, target.protocol)
    return find_texts_compared_with_numbers(target, draw_from_existing(target, compiled))


@pytest.mark.parametrize(
    ("key", "cures"), [("varchar(20)", (TEXT, SAMPLED)), ("varbinary(20)", (TEXT,))]
)
def test_a_text_that_mariadb_compares_with_a_number_is_told(
    fresh_database: str, key: str, cures: tuple[str, ...]
) -> None:
    target = parse_dsn(fresh_database)
    fill(target, key)
    (told,) = find_texts(target, ORDERS)
    assert f"the column id of orders is {key}" in told
    assert 'Give the column a text as its value in the workload, such as {format: "{}"' in told
    # others may read in the shared server, too
    assert count_read_rows(target, ORDERS) >= ROWS
    for cured in cures:
        assert find_texts(target, cured) == ()


def test_a_number_beside_a_number_is_not_told(fresh_database: str) -> None:
    target = parse_dsn(fresh_database)
    fill(target, "decimal(20,0)")
    assert find_texts(target, ORDERS) == ()


@pytest.mark.parametrize("target", ["postgres"], indirect=True)
def test_postgresql_uses_the_index_of_a_text_for_a_number(target: EngineTarget) -> None:
    fill(target, "varchar(20)")
    assert find_texts(target, ORDERS) == ()
    compiled = parse_workload(ORDERS).compile(ROWS, {}, "postgres")
    ((sql,),) = (one.sql for one in compiled.engine.operations[0].statements)
    with closing(postgres.session.connect(target)) as session:
        postgres.session.execute(session, f"PREPARE read AS {sql}")
        plan = postgres.session.execute(session, "EXPLAIN EXECUTE read(7)")
    assert "Index" in str(plan)
    report = drive(
        target, compiled.engine, connections=1, duration_s=60.0, operations_limit=OPERATIONS
    )
    assert report.operations["read"].rows == OPERATIONS


def test_load_and_find_say_it_before_anything_runs(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    fill(parse_dsn(fresh_database), "varchar(20)")
    file = tmp_path / "orders.yaml"
    file.write_text(ORDERS)
    asked = ["--workload", str(file), "--records", str(ROWS)]
    load = ["load", "--dsn", fresh_database, *asked, "--connections", "1", "--duration", "1"]
    code, out, err = plimsoll(*load)
    assert code == 0
    told = "the column id of orders is varchar(20), and orders compares it with a number"
    assert err.startswith(told)
    assert told in out
    out_folder = tmp_path / "found"
    _, _, err = plimsoll(
        "find", fresh_database, *asked, *BRIEF, "--limit", "10s", "--out", str(out_folder)
    )
    assert told in err
    assert told in (out_folder / "result.json").read_text()
