"""`plimsoll find` on tables whose keys have gaps: what is missing is told, or draws avoid it."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.databases import mysql, postgres
from plimsoll.databases.existing_keys import draw_from_existing, find_missing_keys
from plimsoll.databases.family import find_family
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.engine.values import ColumnValue
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import parse_workload
from tests.support.command import BRIEF, Output

ORDERS = """\
about: Reads orders.
tables:
  orders:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      paid: {type: int, value: 0}
operations:
  read:
    weight: 1
    statements:
      - {sql: "SELECT paid FROM {orders} WHERE id = ?", binds: [{key: orders}]}
"""
SAMPLED = ORDERS.replace("    primary_key", "    keys: sampled\n    primary_key")


def run_sql(target: EngineTarget, *statements: str) -> None:
    """Execute statements in a session of our own."""
    if target.protocol == "mysql":
        with closing(mysql.session.connect(target)) as connection:
            for sql in statements:
                mysql.session.execute(connection, sql)
        return
    with closing(postgres.session.connect(target)) as connection:
        for sql in statements:
            postgres.session.execute(connection, sql)


@pytest.fixture
def target(target: EngineTarget) -> EngineTarget:
    """A database of the test's own, with 5,000 orders."""
    mysql_rows, postgres_rows = "mysql.seq_0_to_4999", "generate_series(0, 4999) seq"
    run_sql(
        target,
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, paid INT)",
        "INSERT INTO orders SELECT seq, 0 FROM "
        + (mysql_rows if target.protocol == "mysql" else postgres_rows),
    )
    return target


def find_lack(target: EngineTarget, records: int) -> list[str]:
    compiled = parse_workload(ORDERS).compile(records, {}, target.protocol)
    return [str(lack) for lack in find_missing_keys(target, compiled)]


def test_missing_keys_are_counted_exactly_or_from_many(target: EngineTarget) -> None:
    assert find_lack(target, 5000) == []
    run_sql(target, "DELETE FROM orders WHERE id >= 500")
    assert find_lack(target, 5000) == ["4,500 of 5,000 keys of orders are missing"]
    run_sql(target, "DELETE FROM orders")
    (empty,) = find_lack(target, 50_000)
    assert empty == (
        "about 50,000 of 50,000 keys of orders are missing (10,000 of 10,000 that were looked for)"
    )


def test_a_sample_has_keys_that_exist_alone(target: EngineTarget) -> None:
    run_sql(target, "DELETE FROM orders WHERE id % 7 <> 3")
    there = set(range(3, 5000, 7))
    with find_family(target.protocol).open_datasets(target) as datasets:
        assert set(datasets.sample_keys("orders", "id", 5000)) == there
        some = datasets.sample_keys("orders", "id", 100)
    assert 50 < len(some) <= 100
    assert set(some) <= there
    compiled = parse_workload(SAMPLED).compile(10, {}, target.protocol)
    drawn = draw_from_existing(target, compiled)
    (bind,) = drawn.engine.operations[0].statements[0].binds
    assert isinstance(bind, ColumnValue)
    assert set(bind.values) <= there
    assert len(set(bind.values)) > len(there) / 2


def test_texts_are_sampled_and_large_tables_of_them_refused(target: EngineTarget) -> None:
    run_sql(
        target,
        "CREATE TABLE names (id VARCHAR(40) PRIMARY KEY, paid INT)",
        "INSERT INTO names SELECT CONCAT('n', id), 0 FROM orders",
    )
    with find_family(target.protocol).open_datasets(target) as datasets:
        assert set(datasets.sample_keys("names", "id", 5000)) == {f"n{n}" for n in range(5000)}
        with pytest.raises(Exception, match="has more than 100 rows, and id is no whole number"):
            datasets.sample_keys("names", "id", 100)


def test_find_says_what_is_missing_and_draws_what_is_there(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    target = parse_dsn(fresh_database)
    run_sql(
        target,
        "CREATE TABLE orders (id BIGINT PRIMARY KEY, paid INT)",
        "INSERT INTO orders SELECT seq, 0 FROM mysql.seq_0_to_499",
    )
    numbered, sampled = tmp_path / "numbered.yaml", tmp_path / "sampled.yaml"
    numbered.write_text(ORDERS)
    sampled.write_text(SAMPLED)
    find = ["find", fresh_database, *BRIEF, "--records", "5000", "--limit", "10s", "--json"]
    code, _, err = plimsoll(*find, "--workload", str(numbered), "--out", str(tmp_path / "refused"))
    assert code == 2
    assert "4,500 of 5,000 keys of orders are missing: `keys: sampled`" in err
    out = tmp_path / "found"
    plimsoll(*find, "--workload", str(sampled), "--out", str(out))
    result = json.loads((out / "result.json").read_text())
    # where this machine stands still, a step has nothing
    read = [step["operations"]["read"] for step in result["steps"] if step["operations"]]
    assert sum(step["succeeded"] for step in read) > 0
    assert all(step["rows"] == step["succeeded"] for step in read)
    assert not any(step["rows_missing"] for step in read)


def test_cassandra_is_refused_by_name() -> None:
    text = SAMPLED.replace("sql:", "cql:")
    with pytest.raises(WorkloadError, match="Cassandra's keys cannot be sampled"):
        parse_workload(text).compile(10, {}, "cql")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("value: row", "value: {text: 9}"), "the value of which is row"),
        (("primary_key: [id]", "primary_key: [id, paid]"), "a primary key of one column"),
        (("keys: sampled", "keys: sampled\n    copies: 2"), "a table with copies"),
        (("keys: sampled", "keys: some"), "tables.orders.keys"),
    ],
)
def test_what_cannot_be_sampled_is_refused(change: tuple[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_workload(SAMPLED.replace(*change)).compile(10)
