"""The built-in workloads are what their originals are."""

import pytest

from plimsoll.model.engine.asked import EngineOperation
from plimsoll.model.engine.values import IntegerValue, KeyValue, PatternValue
from plimsoll.workload import Compiled, list_builtin_names, load_workload

YCSB_MIXES = {
    "ycsb-a": {"read": 50, "update": 50},
    "ycsb-b": {"read": 95, "update": 5},
    "ycsb-c": {"read": 100},
    "ycsb-d": {"read": 95, "insert": 5},
    "ycsb-e": {"scan": 95, "insert": 5},
    "ycsb-f": {"read": 50, "read_modify_write": 50},
    "ycsb-read-80-update-20": {"read": 80, "update": 20},
    "ycsb-read-20-update-80": {"read": 20, "update": 80},
    "ycsb-read-50-update-50": {"read": 50, "update": 50},
}


def compiled(name: str, **parameters: int | str) -> Compiled:
    return load_workload(name).compile(1000, parameters)


def operation(name: str, which: str = "transaction", **parameters: int | str) -> EngineOperation:
    operations = {o.name: o for o in compiled(name, **parameters).engine.operations}
    return operations[which]


def statements(sent: EngineOperation) -> list[tuple[str, int]]:
    return [(statement.sql[0], statement.repeat) for statement in sent.statements]


@pytest.mark.parametrize("name", list_builtin_names())
def test_each_is_sound_and_says_what_it_is_and_where_it_comes_from(name: str) -> None:
    workload = load_workload(name)
    assert workload.name == name
    assert workload.about
    assert "source:" in workload.text
    assert workload.compile(1000).rows >= 1000


@pytest.mark.parametrize("name", YCSB_MIXES)
def test_ycsb_mixes(name: str) -> None:
    mix = {o.name: o.weight for o in compiled(name).engine.operations}
    assert mix == YCSB_MIXES[name]


def test_ycsb_has_a_key_and_ten_fields_of_100_bytes() -> None:
    (table,) = compiled("ycsb-a").tables
    assert table.columns == ("YCSB_KEY", *(f"FIELD{n}" for n in range(10)))
    assert [getattr(value, "length", None) for value in table.row] == [None] + [100] * 10
    assert "`YCSB_KEY` varchar(255) NOT NULL" in table.create_sql
    assert "`FIELD0` text NULL" in table.create_sql
    assert table.rows == 1000


def test_ycsb_updates_one_field_of_ten() -> None:
    (update,) = operation("ycsb-a", "update").statements
    assert update.sql == tuple(
        f"UPDATE `usertable` SET FIELD{n} = ? WHERE YCSB_KEY = ?" for n in range(10)
    )
    assert update.choose is None  # uniform


def test_sysbench_read_write_sends_what_the_original_sends_in_its_order() -> None:
    sent = operation("sysbench-oltp-read-write")
    assert sent.transaction
    assert statements(sent) == [
        ("SELECT c FROM `sbtest1` WHERE id=?", 10),
        ("SELECT c FROM `sbtest1` WHERE id BETWEEN ? AND ?", 1),
        ("SELECT SUM(k) FROM `sbtest1` WHERE id BETWEEN ? AND ?", 1),
        ("SELECT c FROM `sbtest1` WHERE id BETWEEN ? AND ? ORDER BY c", 1),
        ("SELECT DISTINCT c FROM `sbtest1` WHERE id BETWEEN ? AND ? ORDER BY c", 1),
        ("UPDATE `sbtest1` SET k=k+1 WHERE id=?", 1),
        ("UPDATE `sbtest1` SET c=? WHERE id=?", 1),
        ("DELETE FROM `sbtest1` WHERE id=?", 1),
        ("INSERT INTO `sbtest1` (id, k, c, pad) VALUES (?, ?, ?, ?)", 1),
    ]


def test_sysbench_read_only_and_write_only_are_the_two_halves() -> None:
    both = statements(operation("sysbench-oltp-read-write"))
    assert statements(operation("sysbench-oltp-read-only")) == both[:5]
    assert statements(operation("sysbench-oltp-write-only")) == both[5:]


def test_sysbench_reinserts_the_row_that_it_deleted_into_the_same_table() -> None:
    sent = operation("sysbench-oltp-write-only", tables=4)
    delete, insert = sent.statements[2:]
    assert delete.binds[0] == insert.binds[0]
    assert delete.choose == insert.choose
    assert {let.name: let.value for let in sent.let}["replaced"] == IntegerValue(low=0, high=3)


def test_sysbench_ranges_span_range_size_rows() -> None:
    lets = {let.name: let.value for let in operation("sysbench-oltp-read-only").let}
    assert lets["simple_to"].model_dump() == {
        "kind": "sum",
        "of": {"kind": "variable", "name": "simple_from"},
        "plus": 99,
    }


def test_sysbench_tables_are_numbered_and_indexed_as_the_originals() -> None:
    tables = compiled("sysbench-oltp-point-select", tables=3).tables
    assert [table.name for table in tables] == ["sbtest1", "sbtest2", "sbtest3"]
    assert [table.first for table in tables] == [1, 1, 1]
    assert tables[2].index_sql == {"k_3": "CREATE INDEX `k_3` ON `sbtest3` (`k`)"}
    assert "`id` integer NOT NULL AUTO_INCREMENT" in tables[0].create_sql
    assert "`c` char(120) NOT NULL DEFAULT ''" in tables[0].create_sql
    c, pad = (value for value in tables[0].row if isinstance(value, PatternValue))
    assert (len(c.pattern), len(pad.pattern)) == (119, 59)  # 10 and 5 groups of 11 digits


@pytest.mark.parametrize(
    "distribution", ["uniform", "gaussian", "special", "pareto", "sysbench_zipfian"]
)
def test_sysbench_draws_rows_as_asked(distribution: str) -> None:
    sent = operation("sysbench-oltp-point-select", "point_select", distribution=distribution)
    (value,) = sent.statements[0].binds
    assert isinstance(value, KeyValue)
    assert value.distribution.kind == distribution


def test_batch_phases_count_records() -> None:
    assert operation("batch-1-bulk-insert", "bulk_insert").records == 100
    assert operation("batch-1-bulk-insert", "bulk_insert", rows_per_statement=7).records == 7
    assert operation("batch-2-validation", "accept").records == 1
    assert operation("batch-3-charges", "charge").records == 10


def test_a_bulk_insert_is_one_statement_of_many_rows() -> None:
    (insert,) = operation("batch-1-bulk-insert", "bulk_insert", rows_per_statement=3).statements
    assert insert.sql[0].endswith(
        "VALUES (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?)"
    )
    assert len(insert.binds) == 18


@pytest.mark.parametrize(
    ("name", "table", "key"),
    [("batch-full-scan", "batch_record", "record_id"), ("sysbench-full-scan", "sbtest1", "id")],
)
def test_a_full_scan_reads_one_block_after_another_in_key_order(
    name: str, table: str, key: str
) -> None:
    sent = operation(name, "scan")
    (scan,) = sent.statements
    assert scan.sql[0].endswith(
        f"FROM `{table}` WHERE {key} BETWEEN (? - 1) * 1000 + 1 AND ? * 1000"
    )
    assert scan.binds[0] == scan.binds[1], "one block"
    (block,) = sent.let
    assert isinstance(block.value, IntegerValue)
    assert (block.value.low, block.value.high) == (1, 1)  # of 1,000 records
    assert block.value.distribution.kind == "sequential"
    assert sent.records == 1000


def test_an_import_and_small_commits_insert_rows_of_their_own() -> None:
    insert = operation("batch-bulk-insert", "bulk_insert", rows_per_statement=3)
    assert (insert.records, insert.transaction) == (3, True)
    assert insert.statements[0].sql[0].endswith("VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?)")
    (commit,) = operation("log-flush", "commit").statements
    assert commit.sql == ("INSERT INTO `batch_log` (log_id, entry) VALUES (?, ?)",)
    assert compiled("log-flush").inserts
    assert compiled("batch-bulk-insert").inserts
