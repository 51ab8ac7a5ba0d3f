"""Rows that are gone, and writes that are not committed, on real servers: neither counts."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.capacity.steps.audits import audit_rows_met, audit_writes
from plimsoll.databases.family import find_family
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.postgres import session as postgres_session
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.databases.reading_back import ROWS, add_read_back
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.run.results import split_known_rows
from plimsoll.workflow.client import send_load
from plimsoll.workload import Compiled, list_builtin_names, load_workload, parse_workload
from tests.support.command import BRIEF, Output

LOAD = ["--warmup", "0", "--duration", "120", "--operations", "2000", "--connections", "4"]
# PostgreSQL looks for a deadlock after a second: 500 of these transactions waited for 45 s
OPERATIONS = {"sysbench-oltp-read-write": 100}
RECORDS = {"pgbench": 1, "tpcc": 1, "billing": 2000, "batch": 2000, "sysbench-full-scan": 1000}


def measure(target: EngineTarget, compiled: Compiled, operations: int) -> LoadReport:
    """Send a workload's operations over 8 connections, as a client of a step does."""
    with find_family(target.protocol).open_datasets(target) as datasets:
        number = datasets.begin_load(compiled) if compiled.inserts else 0
    spec = LoadSpec(
        target=target,
        workload=compiled.engine_workload(number),
        connections=8,
        duration_s=120,
        operations_limit=operations,
    )
    return add_read_back(spec, send_load(spec))


def count_commits(target: EngineTarget) -> int:
    counters = find_family(target.protocol).read_counters(target)
    assert counters is not None
    return counters.values["Handler_commit"]


def judge_rows(report: LoadReport) -> bool | None:
    meant, missing = split_known_rows(report.operations)
    return audit_rows_met(Step(rows_meant=meant, rows_missing=missing), 0.001).passed


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "sysbench-oltp-read-write" else pytest.mark.whole)
        for name in list_builtin_names()
    ],
)
def test_each_workload_meets_the_rows_that_it_means(target: EngineTarget, name: str) -> None:
    workload = load_workload(name)
    # few rows, so that operations meet on the same ones
    records = RECORDS.get(name, RECORDS.get(workload.dataset, 200))
    compiled = workload.compile(records, {}, target.protocol)
    prepare_dataset(target, compiled, connections=4)
    report = measure(target, compiled, OPERATIONS.get(name, 500))
    assert judge_rows(report) is True, report.operations
    if report.read_back is not None:
        assert report.read_back.kept > 0


def test_updates_that_a_mariadb_never_commits_are_told(fresh_database: str) -> None:
    target = parse_dsn(fresh_database)
    compiled = load_workload("ycsb-a").compile(200)
    prepare_dataset(target, compiled, connections=4)
    lax = target.model_copy(update={"session_settings": (("autocommit", "0"),)})
    spec = LoadSpec(
        target=lax,
        workload=compiled.engine,
        connections=1,  # others would wait for its locks
        duration_s=120,
        operations_limit=500,
    )
    with closing(connect(target)) as second:
        before = execute(second, "SELECT MD5(GROUP_CONCAT(MD5(FIELD0))) FROM usertable")
        commits = count_commits(target)
        report = add_read_back(spec, send_load(spec))
        assert execute(second, "SELECT MD5(GROUP_CONCAT(MD5(FIELD0))) FROM usertable") == before
    updates = report.operations["update"].succeeded
    assert updates > 0
    assert count_commits(target) - commits >= updates, "the server counts those of statements, too"
    assert report.read_back is not None
    step = Step(written_back=report.read_back.written, read_back=report.read_back.kept)
    assert audit_writes(step).passed is False
    assert "another session saw 0" in audit_writes(step).detail
    kept = add_read_back(spec.model_copy(update={"target": target}), report)
    assert kept.read_back is not None
    assert kept.read_back.kept > 0


COUNTING = """\
about: Counts.
tables:
  odd:
    rows: $records
    primary_key: [id]
    columns: {id: {type: bigint, value: row}, v: {type: int, value: 0}}
operations:
  count:
    weight: 1
    statements:
      - {sql: "UPDATE {odd} SET v = v + 1 WHERE id = ?", binds: [{key: odd}]}
"""


def test_a_write_to_a_column_that_is_invisible_is_read_back(fresh_database: str) -> None:
    target = parse_dsn(fresh_database)
    with closing(connect(target)) as session:
        execute(
            session,
            "CREATE TABLE odd (id BIGINT PRIMARY KEY, v INT INVISIBLE DEFAULT 0, `a``b` INT)",
        )
        execute(session, "INSERT INTO odd (id) SELECT seq FROM mysql.seq_0_to_99")
    report = measure(target, parse_workload(COUNTING).compile(100, {}, "mysql"), 200)
    assert report.read_back is not None
    assert report.read_back.kept > 0


@pytest.mark.parametrize("name", ["ycsb-a", "sysbench-oltp-read-write"])
def test_a_load_on_rows_that_are_gone_says_so(
    plimsoll: Callable[..., Output], fresh_database: str, name: str
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", name, "--records", "1000")
    load = ["load", "--dsn", fresh_database, "--workload", name, *LOAD]
    code, out, _ = plimsoll(*load)
    assert code == 0
    assert "does not count" not in out
    table = "usertable" if name == "ycsb-a" else "sbtest1"
    with closing(connect(parse_dsn(fresh_database))) as session:
        execute(session, f"DELETE FROM {table} ORDER BY RAND() LIMIT 900")
    code, out, _ = plimsoll(*load)
    assert code == 0
    assert "this load does not count: rows are missing: " in out


def test_a_search_on_rows_that_are_gone_has_no_figure(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-a", "--records", "1000")
    with closing(connect(parse_dsn(fresh_database))) as session:
        execute(session, "DELETE FROM usertable LIMIT 900")
    find = ["find", fresh_database, "--workload", "ycsb-a", *BRIEF, "--limit", "10s", "--json"]
    code, out, err = plimsoll(*find, "--out", str(tmp_path / "found"))
    assert code == 3, err
    capacity = json.loads(out)["capacity"]
    assert capacity["verdict"] in {"INCONSISTENT", "DISTURBED"}
    assert "audit:rows_met" in capacity["causes"]


INSERTS = """\
  write:
    weight: 1
    statements:
      - {sql: "INSERT INTO {part} (id, n) VALUES (?, 7)", binds: [{next_key: part}]}
"""
DELETES = """\
  write:
    weight: 1
    statements:
      - {sql: "DELETE FROM {part} WHERE id = ?", binds: [{key: part}]}
"""
REPLACES = """\
  write:
    weight: 1
    let: {part: {key: part}}
    statements:
      - {sql: "DELETE FROM {part} WHERE id = ?", binds: [part], rows: 0..1}
      - sql: "INSERT INTO {part} (id, n) VALUES (?, ?)"
        postgres: "INSERT INTO {part} (id, n) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"
        binds: [part, {integer: [1, 1000000]}]
"""
KINDS = {"inserts": INSERTS, "deletes": DELETES, "replaces": REPLACES}
WRITES = """\
about: writes of one kind
default_records: 5000
tables:
  part:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      n: {type: int, value: 0}
operations:
"""


def load_writes(target: EngineTarget, text: str, connect_as: EngineTarget) -> LoadReport:
    compiled = parse_workload(WRITES + text).compile(None, {}, target.protocol)
    prepare_dataset(target, compiled, connections=4)
    with find_family(target.protocol).open_datasets(target) as datasets:
        number = datasets.begin_load(compiled) if compiled.inserts else 0
    spec = LoadSpec(
        target=connect_as,
        workload=compiled.engine_workload(number),
        connections=1,
        duration_s=120,
        operations_limit=200,
    )
    return add_read_back(spec, send_load(spec))


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_rows_inserted_deleted_and_replaced_are_read_back(target: EngineTarget, text: str) -> None:
    found = load_writes(target, text, connect_as=target).read_back
    assert found is not None
    assert (found.written, found.kept) == (ROWS, ROWS)


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_inserts_and_deletes_that_a_mariadb_never_commits_are_told(
    fresh_database: str, text: str
) -> None:
    target = parse_dsn(fresh_database)
    lax = target.model_copy(update={"session_settings": (("autocommit", "0"),)})
    found = load_writes(target, text, connect_as=lax).read_back
    assert found is not None
    assert found.written > 0
    assert found.kept == 0
    step = Step(written_back=found.written, read_back=found.kept)
    assert audit_writes(step).passed is False


KEEPS_ROWS = (  # as of a table whose deleted rows are only marked
    "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "CREATE TRIGGER keep BEFORE DELETE ON sbtest1 FOR EACH ROW EXECUTE FUNCTION keep()",
)


@pytest.mark.parametrize("target", ["postgres"], indirect=True)
def test_rows_that_a_postgresql_does_not_replace_are_told(target: EngineTarget) -> None:
    compiled = load_workload("sysbench-oltp-write-only").compile(200, {}, "postgres")
    prepare_dataset(target, compiled, connections=4)
    report = measure(target, compiled, 100)
    assert report.read_back is not None
    assert report.read_back.kept == report.read_back.written > 0
    with closing(postgres_session.connect(target)) as session:
        for sql in KEEPS_ROWS:
            postgres_session.execute(session, sql)
    report = measure(target, compiled, 100)
    assert judge_rows(report) is not False, "none is meant: two may replace one row"
    assert report.read_back is not None
    assert report.read_back.written > 0
    assert report.read_back.kept == 0
