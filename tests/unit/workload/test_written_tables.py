"""Which tables a workload's statements write, by their texts alone."""

from dataclasses import replace

import pytest

from plimsoll.workload import load_workload
from plimsoll.workload.pgbench.workload import make_workload
from plimsoll.workload.written_tables import find_made_tables, list_written_tables


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT v FROM t WHERE id = 1 FOR UPDATE;", ()),
        ("SELECT v FROM t WHERE id = 1 FOR NO KEY UPDATE SKIP LOCKED;", ()),
        ("SELECT 'then UPDATE t SET v = 1' FROM u;", ()),
        ("UPDATE t SET v = 1;", ("t",)),
        ('update only shop."Log" set v = 1;', ('shop."Log"',)),
        ("INSERT INTO t (k) SELECT k FROM u ON CONFLICT (k) DO UPDATE SET k = 1;", ("t",)),
        ("DELETE FROM t WHERE id = 1;", ("t",)),
        ("MERGE INTO t USING u ON t.k = u.k WHEN MATCHED THEN UPDATE SET k = 1;", ("t", "SET")),
        ("WITH x AS (DELETE FROM t RETURNING k) INSERT INTO u SELECT k FROM x;", ("t", "u")),
    ],
)
def test_tables_of_a_statement(sql: str, tables: tuple[str, ...]) -> None:
    compiled = make_workload([("mine.sql", 1, sql)]).compile(None, {}, "postgres")
    assert list_written_tables(compiled) == tables


def test_mysql_s_upserts_and_the_bodies_of_procedures_count() -> None:
    compiled = load_workload("ycsb-c").compile(10, {}, "mysql")
    assert list_written_tables(compiled) == ()
    body = "CREATE PROCEDURE p() BEGIN INSERT IGNORE INTO `a` VALUES (1)"
    body += " ON DUPLICATE KEY UPDATE k = 1; REPLACE INTO b VALUES (1); END"
    called = replace(compiled, procedures={"p": body, "q": None})
    assert list_written_tables(called) == ("`a`", "b")


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        ("CREATE TABLE t (id int);", {}),
        ("CREATE TEMP TABLE IF NOT EXISTS t (id int);", {"t": True}),
        ("CREATE UNLOGGED TABLE t AS SELECT 1;", {"t": False}),
        ("SELECT 1 INTO TEMPORARY TABLE t;", {"t": True}),
    ],
)
def test_tables_that_a_script_makes(sql: str, made: dict[str, bool]) -> None:
    compiled = make_workload([("mine.sql", 1, sql)]).compile(None, {}, "postgres")
    assert find_made_tables(compiled) == made
