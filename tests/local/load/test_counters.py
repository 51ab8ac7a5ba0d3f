"""What the engine counts is what a real server counts, exactly."""

from typing import Any

import pytest

from plimsoll.databases.mysql.session import Connection
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import ClosedLoop, OpenLoop
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload
from tests.local.load.driving import drive

COUNTERS = (
    "Com_select",
    "Com_update",
    "Com_insert",
    "Com_delete",
    "Com_begin",
    "Com_commit",
    "Com_stmt_execute",
    "Questions",
)


def counters(connection: Connection) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS")
        found = {str(name): value for name, value in cursor.fetchall()}
    return {name: int(found[name]) for name in COUNTERS}


def counted_load(
    connection: Connection, dsn: str, name: str, *, connections: int = 4, **spec: Any
) -> tuple[LoadReport, dict[str, int]]:
    """Prepare, then load; also how far the server's counters moved over the load alone."""
    compiled = load_workload(name).compile(500)
    prepare_dataset(parse_dsn(dsn), compiled, connections=2)
    before = counters(connection)
    report = drive(parse_dsn(dsn), compiled.engine, connections=connections, **spec)
    after = counters(connection)
    moved = {counter: after[counter] - before[counter] for counter in COUNTERS}
    moved["Questions"] -= 1  # the first of the two looks at the counters
    return report, moved


@pytest.mark.parametrize("loop", [ClosedLoop(), OpenLoop(rate_ops_per_second=1500.0)])
def test_single_statements(
    connection: Connection, fresh_database: str, loop: ClosedLoop | OpenLoop
) -> None:
    report, moved = counted_load(
        connection, fresh_database, "ycsb-a", loop=loop, duration_s=120.0, operations_limit=2000
    )
    read, update = report.operations["read"], report.operations["update"]
    assert (read.errors, update.errors) == ({}, {})
    assert read.succeeded + update.succeeded == 2000
    assert moved["Com_select"] == read.succeeded == read.rows
    assert moved["Com_update"] == update.succeeded == update.rows
    assert moved["Com_stmt_execute"] == report.statements_sent == report.operations_sent == 2000
    assert moved["Com_commit"] == moved["Com_begin"] == 0


def test_transactions_count_as_operations_and_as_statements(
    connection: Connection, fresh_database: str
) -> None:
    report, moved = counted_load(
        connection,
        fresh_database,
        "sysbench-oltp-read-write",
        connections=1,  # alone, no transaction meets another's rows
        duration_s=120.0,
        operations_limit=100,
    )
    operation = report.operations["transaction"]
    assert (operation.succeeded, operation.errors) == (100, {})
    assert report.operations_sent == 100
    assert moved["Com_select"] == 14 * 100
    assert moved["Com_update"] == 2 * 100
    assert moved["Com_delete"] == moved["Com_insert"] == 100
    assert moved["Com_stmt_execute"] == report.statements_sent == 18 * 100
    assert moved["Com_begin"] == moved["Com_commit"] == 100
    assert report.transaction_commands_sent == 2 * 100


def test_a_transaction_that_deadlocks_is_a_failed_operation_and_no_commit(
    connection: Connection, fresh_database: str
) -> None:
    report, moved = counted_load(
        connection,
        fresh_database,
        "sysbench-oltp-read-write",
        duration_s=120.0,
        operations_limit=100,
    )
    operation = report.operations["transaction"]
    failed = sum(operation.errors.values())  # some of four may meet on a row
    assert operation.succeeded + failed == report.operations_sent == 100
    assert moved["Com_begin"] == 100
    assert moved["Com_commit"] == operation.succeeded
    assert moved["Com_stmt_execute"] == report.statements_sent


@pytest.mark.parametrize("loop", [ClosedLoop(), OpenLoop(rate_ops_per_second=800.0)])
def test_warm_up_and_window_together_are_all_that_was_sent(
    connection: Connection, fresh_database: str, loop: ClosedLoop | OpenLoop
) -> None:
    report, moved = counted_load(
        connection, fresh_database, "ycsb-c", loop=loop, warmup_s=1.0, duration_s=1.0
    )
    assert report.ended == "duration"
    assert moved["Com_select"] == moved["Com_stmt_execute"] == report.statements_sent
    in_window = [second.succeeded for second in report.seconds if second.second >= 1]
    assert report.operations["read"].succeeded == sum(in_window)
    assert sum(second.succeeded for second in report.seconds) <= report.operations_sent


def test_an_operation_that_meets_no_row_succeeds_and_shows_it(
    connection: Connection, fresh_database: str
) -> None:
    compiled = load_workload("ycsb-a").compile(500)
    prepare_dataset(parse_dsn(fresh_database), compiled, connections=2)
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {fresh_database.rpartition('/')[2]}.usertable")
    few: dict[str, Any] = {"connections": 2, "duration_s": 120.0, "operations_limit": 200}
    report = drive(parse_dsn(fresh_database), compiled.engine, **few)
    for operation in report.operations.values():
        assert operation.succeeded > 0
        assert (operation.rows, operation.errors) == (0, {})


def test_rows_inserted_are_rows_counted(connection: Connection, fresh_database: str) -> None:
    report, moved = counted_load(
        connection, fresh_database, "batch-1-bulk-insert", duration_s=120.0, operations_limit=20
    )
    bulk = report.operations["bulk_insert"]
    assert (bulk.succeeded, bulk.records, bulk.rows, bulk.errors) == (20, 2000, 2000, {})
    assert moved["Com_insert"] == moved["Com_commit"] == 20
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {fresh_database.rpartition('/')[2]}.usage_record")
        assert cursor.fetchone() == (500 + 2000,)


def test_an_operation_that_failed_is_no_throughput(
    connection: Connection, fresh_database: str
) -> None:
    compiled = load_workload("ycsb-d").compile(500)
    prepare_dataset(parse_dsn(fresh_database), compiled, connections=2)
    few: dict[str, Any] = {"connections": 2, "duration_s": 120.0, "operations_limit": 400}
    first = drive(parse_dsn(fresh_database), compiled.engine, **few)
    again = drive(parse_dsn(fresh_database), compiled.engine, **few)  # the same new rows once more
    inserted = first.operations["insert"].succeeded
    assert inserted > 0
    assert first.operations["insert"].errors == {}
    assert again.operations["insert"].succeeded == 0
    assert again.operations["insert"].errors == {"1062": inserted}
    assert again.operations["insert"].latency_us.p99 is None
    fresh = drive(parse_dsn(fresh_database), compiled.engine_workload(load_number=1), **few)
    assert fresh.operations["insert"].errors == {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {fresh_database.rpartition('/')[2]}.usertable")
        assert cursor.fetchone() == (500 + 2 * inserted,)
