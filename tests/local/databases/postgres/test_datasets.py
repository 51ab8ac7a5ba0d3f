"""Datasets on a real PostgreSQL: made once, completed when interrupted, dropped whole."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from plimsoll.databases import postgres as family
from plimsoll.databases.mysql import session as mysql_session
from plimsoll.databases.postgres.session import connect, execute
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.errors import PlimsollError
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.asked import EngineTarget, EngineWorkload
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import Compiled, list_builtin_names, load_workload, parse_workload
from tests.local.load.driving import drive

RECORDS = {
    "batch": 2000, "pgbench": 1, "ycsb": 500, "sysbench": 1000, "billing": 500, "tpcc": 1,
}  # fmt: skip
# whose smallest dataset has half a million rows
LARGE = {"tpcc"}


@pytest.fixture
def target(postgres: PostgresServer) -> Iterator[EngineTarget]:
    """A database of the test's own."""
    root = parse_dsn(postgres.dsn)
    with closing(connect(root)) as connection:
        execute(connection, "CREATE DATABASE fresh")
        yield root.model_copy(update={"database": "fresh"})
        execute(connection, "DROP DATABASE fresh WITH (FORCE)")


def compiled(name: str, records: int | None = None) -> Compiled:
    workload = load_workload(name)
    return workload.compile(records or RECORDS[workload.dataset], {}, "postgres")


def rows(target: EngineTarget, sql: str) -> tuple[tuple[object, ...], ...]:
    with closing(connect(target)) as connection:
        return execute(connection, sql)


def stripped(row: tuple[object, ...]) -> tuple[object, ...]:
    """A row without the spaces with which PostgreSQL fills CHAR."""
    return tuple(value.rstrip() if isinstance(value, str) else value for value in row)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.whole if name in LARGE else ())
        for name in list_builtin_names()
    ],
)
def test_the_server_counts_each_statement_that_the_clients_sent(
    target: EngineTarget, name: str
) -> None:
    workload = compiled(name)
    made = prepare_dataset(target, workload, connections=2)
    assert made.counted_rows == {table.name: table.rows for table in workload.tables}
    with family.open_datasets(target) as datasets:
        load_number = datasets.begin_load(workload) if workload.inserts else 0
    before = family.read_counters(target)
    report = drive(  # alone, no transaction meets another's rows
        target,
        workload.engine_workload(load_number),
        connections=1,
        duration_s=120.0,
        operations_limit=150,
    )
    after = family.read_counters(target)
    assert before is not None
    assert after is not None
    assert [operation.errors for operation in report.operations.values() if operation.errors] == []
    server = family.server_figures(before, after, statements_by_clients=report.statements_sent)
    assert not server.restarted
    assert server.statements_by_server == server.statements_by_clients == report.statements_sent > 0


def test_many_connections_are_counted_as_well(target: EngineTarget) -> None:
    workload = compiled("tpcb-like")
    prepare_dataset(target, workload, connections=2)
    before = family.read_counters(target)
    report = drive(target, workload.engine, connections=8, duration_s=120.0, operations_limit=400)
    after = family.read_counters(target)
    assert before is not None
    assert after is not None
    server = family.server_figures(before, after, statements_by_clients=report.statements_sent)
    assert server.statements_by_server == report.statements_sent == 5 * 400
    history = "SELECT COUNT(*), SUM(delta) FROM pgbench_history"
    balance = "SELECT SUM(abalance) FROM pgbench_accounts"
    ((count, delta),), ((total,),) = rows(target, history), rows(target, balance)
    assert (count, delta) == (400, total)


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("sysbench-oltp-point-select", "SELECT id, k, c, pad FROM sbtest1 ORDER BY id"),
        ("ycsb-c", "SELECT ycsb_key, field0, field9 FROM usertable WHERE ycsb_key LIKE '%7'"),
        ("batch-2-validation", "SELECT account_id, tariff_id, status, name FROM account"),
    ],
)
def test_a_row_is_what_it_is_in_mysql(
    target: EngineTarget, fresh_database: str, name: str, sql: str
) -> None:
    other = parse_dsn(fresh_database)
    prepare_dataset(target, compiled(name), connections=2, seed=7)
    records = RECORDS[load_workload(name).dataset]
    prepare_dataset(other, load_workload(name).compile(records), connections=1, seed=7)
    with closing(mysql_session.connect(other)) as connection:
        there = mysql_session.execute(connection, sql)
    here = rows(target, sql)
    assert len(here) > 40
    assert sorted(map(stripped, here)) == sorted(map(stripped, there))


def test_an_interrupted_load_is_completed_and_never_doubled(target: EngineTarget) -> None:
    workload = compiled("ycsb-c")
    prepare_dataset(target, workload, connections=2)
    rows(target, "DELETE FROM usertable WHERE ycsb_key LIKE '%3' RETURNING 1")
    with family.open_datasets(target) as datasets:
        datasets.note_progress(workload, {})
    again = prepare_dataset(target, workload, connections=2)
    assert again.counted_rows == {"usertable": 500}
    assert 0 < again.inserted_rows < again.sent_rows == 500


def test_a_number_of_the_servers_own_is_behind_those_that_were_loaded(
    target: EngineTarget,
) -> None:
    prepare_dataset(target, compiled("sysbench-oltp-insert"), connections=2)
    ((number,),) = rows(target, "INSERT INTO sbtest1 (k) VALUES (1) RETURNING id")
    assert number == RECORDS["sysbench"] + 1


def test_a_finished_dataset_has_its_indexes_and_the_planners_figures(target: EngineTarget) -> None:
    prepare_dataset(target, compiled("sysbench-oltp-read-only"), connections=2)
    indexes = rows(target, "SELECT indexname FROM pg_indexes WHERE tablename = 'sbtest1'")
    assert {"sbtest1_k_1", "sbtest1_pkey"} == {name for (name,) in indexes}
    # when two connections add pages at once, one page may stay without rows: it is not counted
    ((known, unseen),) = rows(
        target,
        "SELECT reltuples, (SELECT COUNT(DISTINCT (ctid::text::point)[0]) FROM sbtest1)"
        " - relallvisible FROM pg_class WHERE relname = 'sbtest1'",
    )
    # rows, and pages that need no look at their rows
    assert (known, unseen) == (RECORDS["sysbench"], 0)
    assert family.settle(target, longest_s=60)


def test_a_strangers_table_is_neither_filled_nor_dropped(target: EngineTarget) -> None:
    rows(target, "CREATE TABLE usertable (a INT)")
    with pytest.raises(PlimsollError, match="that Plimsoll did not create"):
        prepare_dataset(target, compiled("ycsb-c"), connections=2)
    with family.open_datasets(target) as datasets:
        datasets.drop(compiled("ycsb-c"))
    assert rows(target, "SELECT COUNT(*) FROM usertable") == ((0,),)


def test_a_dropped_dataset_leaves_nothing(target: EngineTarget) -> None:
    workload = compiled("tpcb-like")
    prepare_dataset(target, workload, connections=2)
    with family.open_datasets(target) as datasets:
        datasets.drop(workload)
    left = "SELECT COUNT(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    assert rows(target, f"{left} AND relname NOT LIKE 'pg_stat_statements%'") == ((0,),)


TYPES = """
about: every type
tables:
  typed:
    rows: $records
    first: 1
    primary_key: [id]
    columns:
      id: {type: bigint unsigned, value: row}
      tiny: {type: tinyint unsigned, value: {integer: [0, 255]}}
      small: {type: smallint unsigned, value: {integer: [0, 65535]}}
      medium: {type: mediumint, value: {integer: [-100, 100]}}
      plain: {type: int unsigned, value: {literal: 4294967295}}
      letters: {type: char(5), value: {text: 3, alphabet: alphanumeric}}
      words: {type: varchar(50), value: {text: 50}}
      long: {type: longtext, value: {text: 200}}
      bytes: {type: varbinary(20), value: {text: 20}}
      blob: {type: mediumblob, value: {text: 30}}
      exact: {type: "decimal(10, 2)", value: {literal: 12.5}}
      single: {type: float, value: {literal: 0.5}}
      double: {type: double, value: {literal: 1.5}}
      day: {type: date, value: {format: "2026-11-{}", of: [{integer: [10, 30]}]}}
      at: {type: "datetime(3)", value: {literal: "2026-11-22 12:00:00.125"}}
      stamp: {type: timestamp, nullable: true, value: {literal: null}}
      document: {type: json, value: {literal: "{}"}}
operations:
  read:
    weight: 1
    statements: [{sql: "SELECT * FROM {typed} WHERE id = ?", binds: [{key: typed}]}]
"""


def test_every_type_has_a_counterpart_that_holds_its_values(target: EngineTarget) -> None:
    workload = parse_workload(TYPES).compile(20, {}, "postgres")
    assert prepare_dataset(target, workload, connections=2).counted_rows == {"typed": 20}
    ((plain, exact, at, stamp),) = rows(
        target, "SELECT plain, exact::text, at::text, stamp FROM typed WHERE id = 1"
    )
    assert (plain, exact, at, stamp) == (4294967295, "12.50", "2026-11-22 12:00:00.125", None)
    sent = EngineWorkload.model_validate(workload.engine.model_dump())
    report = drive(target, sent, connections=1, duration_s=120.0, operations_limit=20)
    assert report.operations["read"].succeeded == 20
