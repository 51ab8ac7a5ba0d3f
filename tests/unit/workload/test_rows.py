"""How many rows a statement meets: stated, or derived from its kind and its key."""

import re
from typing import get_args

import pytest

from plimsoll.model.engine.asked import EngineOperation, Protocol
from plimsoll.model.engine.values import KeyValue
from plimsoll.workload import WorkloadError, list_builtin_names, load_workload, parse_workload

DOCUMENT = """\
about: a test
default_records: 100
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: varchar(20), value: {format: "i{}", of: [{fnv_hash: row}]}}
      name: {type: varchar(50), value: {text: 20}}
  part:
    copies: 2
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      n: {type: int, value: 0}
  log:
    rows: 0
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
operations:
  one:
    weight: 1
    let:
      item: {format: "i{}", of: [{fnv_hash: {key: item}}]}
      part: {key: part}
    statements:
      - STATEMENT
      - {sql: "SELECT name FROM {item} WHERE id = ? AND name = ?", binds: [item, {text: 3}]}
      - {sql: "SELECT n FROM {part} WHERE id = ? AND n = 0", binds: [part]}
"""


SEVERAL = 'sql: "INSERT INTO {part} (n, id) VALUES (?, ?)"'


def compile_one(statement: str, protocol: Protocol = "mysql") -> EngineOperation:
    """Compile the document with one more statement."""
    text = DOCUMENT.replace("STATEMENT", statement)
    (operation,) = parse_workload(text).compile(None, {}, protocol).engine.operations
    return operation


@pytest.mark.parametrize(
    ("statement", "least"),
    [
        ('{sql: "SELECT * FROM {item} WHERE id = ?", binds: [item]}', 1),
        ('{sql: "SELECT * FROM {item} WHERE ID = ? LIMIT 1 FOR UPDATE", binds: [item]}', 1),
        ('{sql: "UPDATE {part} SET n = ? WHERE id = ?", binds: [1, {key: part}]}', 1),
        ('{sql: "UPDATE {part} SET n = ? WHERE id = ?", repeat: 7, binds: [1, part]}', 7),
        ('{sql: "INSERT INTO {log} (id) VALUES (?)", binds: [{next_key: log}]}', 1),
        (
            '{sql: "INSERT INTO {log} (id) VALUES (?)", rows_per_statement: 5, binds: [7]}',
            5,
        ),
        # what may meet none
        ('{sql: "SELECT * FROM {item} WHERE id = ? LIMIT 0", binds: [item]}', 0),
        ('{sql: "SELECT * FROM {item} WHERE id = ? FOR UPDATE SKIP LOCKED", binds: [item]}', 0),
        ('{sql: "SELECT * FROM {item} WHERE id >= ?", binds: [item]}', 0),
        ('{sql: "SELECT * FROM {item} WHERE name = ?", binds: [item]}', 0),
        ('{sql: "SELECT * FROM {item} WHERE id = ?", binds: [{text: 20}]}', 0),
        ('{sql: "SELECT * FROM {part} WHERE id = ?", binds: [{integer: [0, 99]}]}', 0),
        ('{sql: "SELECT * FROM {part} WHERE id = ?", binds: [{sum: part, plus: 1}]}', 0),
        ('{sql: "SELECT * FROM {part} WHERE id = ?", binds: [{key: item}]}', 0),
        ('{sql: "SELECT * FROM {log} WHERE id = ?", binds: [{key: log}]}', 0),
        ('{sql: "INSERT IGNORE INTO {log} (id) VALUES (?)", binds: [{next_key: log}]}', 0),
        ('{sql: "INSERT INTO {log} (id) SELECT n FROM {part} WHERE id = ?", binds: [part]}', 0),
        ('{sql: "DELETE FROM {log} WHERE id = ?", binds: [{key: log}]}', 0),
        ('{sql: "UPDATE {part} SET id = ? WHERE id = ?", binds: [1, part]}', 0),
        # stated
        ('{sql: "SELECT * FROM {item} WHERE id = ?", binds: [item], rows: 0..1}', 0),
        ('{sql: "SELECT * FROM {item} WHERE id >= ?", binds: [item], rows: 1..}', 1),
        ('{sql: "SELECT * FROM {item} WHERE id >= ?", binds: [item], rows: [2, $records]}', 2),
        ('{sql: "SELECT * FROM {item} WHERE id >= ?", binds: [item], rows: 3, repeat: 2}', 6),
    ],
)
def test_the_fewest_rows_follow_from_kind_and_key_or_are_stated(statement: str, least: int) -> None:
    assert compile_one(statement).rows_least == least


def test_rows_of_a_table_from_which_an_operation_deletes_may_be_gone() -> None:
    read = '      - {sql: "SELECT n FROM {part} WHERE id = ?", binds: [part]}'
    delete = '      - {sql: "DELETE FROM {part} WHERE id = ?", binds: [{key: part}]}'
    reading = DOCUMENT.replace("      - STATEMENT", read)
    gone = f"  gone:\n    weight: 1\n    statements:\n{delete}\n"
    for text, least in ((reading, 1), (reading + gone, 0)):
        operation, *_ = parse_workload(text).compile(None, {}).engine.operations
        assert operation.rows_least == least


def test_postgresql_may_have_other_rows() -> None:
    statement = (
        '{sql: "UPDATE {part} SET n = ? WHERE id = ?", binds: [1, part], postgres_rows: 0..1}'
    )
    assert compile_one(statement).rows_least == 1
    assert compile_one(statement, "postgres").rows_least == 0


@pytest.mark.parametrize("rows", ["-1", "true", "1..0", "few", "[1]", "[2, 1]", "{a: 1}", "1...2"])
def test_what_is_no_number_of_rows_is_refused(rows: str) -> None:
    statement = f'{{sql: "SELECT * FROM {{item}} WHERE id = ?", binds: [item], rows: {rows}}}'
    with pytest.raises(WorkloadError, match=re.escape("operations.one.statements[0].rows")):
        compile_one(statement)


BY_PROTOCOL: dict[str, dict[str, int]] = {
    "ycsb-a": {"read": 1, "update": 1},
    "ycsb-d": {"read": 1, "insert": 1},
    "ycsb-e": {"scan": 1, "insert": 1},
    "ycsb-f": {"read": 1, "read_modify_write": 2},
    "tpcb-like": {"transaction": 5},
    "sysbench-oltp-read-only": {"transaction": 14},
    "sysbench-oltp-read-write": {"transaction": 18},
    "sysbench-oltp-write-only": {"transaction": 4},
    "sysbench-oltp-update-index": {"update_index": 1},
    "sysbench-oltp-delete": {"delete": 0},
    "batch-1-bulk-insert": {"bulk_insert": 100},
    "batch-2-validation": {"accept": 3, "reject": 4},
    "batch-3-charges": {"charge": 10},
    "batch-full-scan": {"scan": 1},
    # a new order whose items are not there; a delivery with nothing to deliver
    "tpcc": {"new_order": 5, "payment": 6, "order_status": 7, "delivery": 0, "stock_level": 2},
}


@pytest.mark.parametrize("name", BY_PROTOCOL)
def test_built_in_workloads_mean_these_rows(name: str) -> None:
    operations = load_workload(name).compile(1000, {}).engine.operations
    assert {one.name: one.rows_least for one in operations} == BY_PROTOCOL[name]


@pytest.mark.parametrize("name", list_builtin_names())
def test_only_deletes_and_deliveries_mean_no_row(name: str) -> None:
    workload = load_workload(name)
    meant = {one.name: one.rows_least for one in workload.compile(1000, {}).engine.operations}
    if workload.has_procedures:
        assert {*meant.values()} == {0}, "what a CALL meets is not known"
    else:
        assert {one for one, rows in meant.items() if not rows} <= {"delete", "delivery"}


def test_in_postgresql_a_replaced_row_may_be_met_by_none() -> None:
    for name, least in (("sysbench-oltp-read-write", 14), ("sysbench-oltp-write-only", 0)):
        (one,) = load_workload(name).compile(1000, {}, "postgres").engine.operations
        assert one.rows_least == least


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ('{sql: "UPDATE {part} SET n = n + 1 WHERE id = ?", binds: [part]}', ("part1", 0)),
        (
            '{sql: "UPDATE {item} SET name = ? WHERE id = ?", binds: [{text: 9}, item]}',
            ("item", 1),
        ),
        (
            '{sql: "UPDATE {part} SET n = ? WHERE id = ?", binds: [{integer: [0, 5000]}, part]}',
            ("part1", 1),
        ),
        # after these the row may be as it was
        ('{sql: "UPDATE {part} SET n = 1 WHERE id = ?", binds: [part]}', None),
        ('{sql: "UPDATE {part} SET n = n + 0 WHERE id = ?", binds: [part]}', None),
        (
            '{sql: "UPDATE {part} SET n = ? WHERE id = ?", binds: [{integer: [0, 1]}, part]}',
            None,
        ),
        ('{sql: "UPDATE {item} SET name = ? WHERE name = ?", binds: [{text: 9}, item]}', None),
        ('{sql: "SELECT n FROM {part} WHERE id = ?", binds: [part]}', None),
    ],
)
def test_a_row_that_an_update_surely_changes_can_be_read_back(
    statement: str, found: tuple[str, int] | None
) -> None:
    row = compile_one(statement).statements[0].row_written
    assert (None if row is None else (row.table, row.bind)) == found


@pytest.mark.parametrize("protocol", ["mysql", "postgres"])
def test_the_key_to_read_back_is_written_without_names(protocol: Protocol) -> None:
    statement = '{sql: "UPDATE {part} SET n = n + 1 WHERE id = ?", binds: [part]}'
    row = compile_one(statement, protocol).statements[0].row_written
    assert row is not None
    assert (row.table, row.column, row.key) == ("part1", "id", KeyValue(key_space="part"))


@pytest.mark.parametrize("protocol", ["mysql", "postgres"])
@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ('{sql: "DELETE FROM {part} WHERE id = ?", binds: [part]}', ("delete", 0, 1)),
        ('{sql: "DELETE FROM {part} WHERE id = ? AND n = 0", binds: [part]}', None),
        ('{sql: "DELETE FROM {part} WHERE n = ?", binds: [3]}', None),
        (
            '{sql: "INSERT INTO {part} (n, id) VALUES (?, ?)", binds: [3, {next_key: part}]}',
            ("insert", 1, 1),
        ),
        (
            '{sql: "INSERT INTO {part} (n, id) VALUES (ABS(?), ?)", binds: [3, {next_key: part}]}',
            ("insert", 1, 1),
        ),
        (f"{{{SEVERAL}, rows_per_statement: 5, binds: [3, {{next_key: part}}]}}", ("insert", 1, 5)),
        # the row of a key that is there, for an operation that has deleted it
        (
            f"{{{SEVERAL}, binds: [{{integer: [0, 5000]}}, part]}}",
            ("insert_again", 1, 1),
        ),
        # the values may be those of before, the row may be left out
        (
            '{sql: "INSERT INTO {part} (n, id) VALUES (?, ?)", binds: [{integer: [0, 1]}, part]}',
            None,
        ),
        # the key is drawn, not there, or within something; the row may be left out; no columns
        ('{sql: "INSERT INTO {part} (n, id) VALUES (?, ?)", binds: [3, part]}', None),
        ('{sql: "INSERT INTO {part} (n) VALUES (?)", binds: [3]}', None),
        ('{sql: "INSERT INTO {part} (id) VALUES (ABS(?))", binds: [{next_key: part}]}', None),
        ('{sql: "INSERT INTO {part} VALUES (?, 0)", binds: [{next_key: part}]}', None),
        (
            '{sql: "INSERT INTO {part} (id) SELECT n FROM {part} WHERE n = ?", binds: [3]}',
            None,
        ),
    ],
)
def test_rows_that_are_surely_inserted_or_deleted_can_be_read_back(
    statement: str, found: tuple[str, int, int] | None, protocol: Protocol
) -> None:
    row = compile_one(statement, protocol).statements[0].row_written
    assert (None if row is None else (row.kind, row.bind, row.rows)) == found


@pytest.mark.parametrize(
    ("key", "kind"), [("part", "insert_again"), ("{next_key: part}", None)], ids=["there", "new"]
)
def test_on_conflict_leaves_nothing_out_of_what_was_deleted(key: str, kind: str | None) -> None:
    sql = "INSERT INTO {part} (n, id) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"
    binds = f"[{{integer: [0, 5000]}}, {key}]"
    statement = (
        f'{{sql: "INSERT INTO {{part}} (n, id) VALUES (?, ?)", postgres: "{sql}", binds: {binds}}}'
    )
    row = compile_one(statement, "postgres").statements[0].row_written
    assert (None if row is None else row.kind) == kind


@pytest.mark.parametrize("protocol", get_args(Protocol))
def test_the_rows_that_ycsb_inserts_are_found_on_every_database(protocol: Protocol) -> None:
    operations = load_workload("ycsb-d").compile(100, {}, protocol).engine.operations
    written = [one.row_written for operation in operations for one in operation.statements]
    column = "y_id" if protocol == "cql" else "ycsb_key"
    assert [(row.kind, row.column, row.bind) for row in written if row] == [("insert", column, 0)]
