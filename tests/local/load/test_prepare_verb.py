"""`plimsoll prepare`, as a user calls it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing

import pytest

from plimsoll.databases.mysql.session import Connection, connect, execute
from plimsoll.model.request.dsn import parse_dsn
from tests.support.command import COMMAND, Output
from tests.support.mariadb_connection import query


def test_prepare_makes_counts_and_never_doubles(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str
) -> None:
    arguments = ["prepare", "--dsn", fresh_database, "--workload", "ycsb-a", "--records", "3000"]
    code, out, _ = plimsoll(*arguments, "--json")
    first = json.loads(out)
    assert code == 0
    assert (first["rows_sent"], first["rows_inserted"]) == (3000, 3000)
    assert first["rows_counted"] == {"usertable": 3000}
    before = query(connection, fresh_database, "CHECKSUM TABLE usertable")
    code, out, _ = plimsoll(*arguments)
    assert code == 0
    assert "usertable: 3,000 rows" in out
    assert "complete already" in out
    assert query(connection, fresh_database, "CHECKSUM TABLE usertable") == before
    (key, length) = query(
        connection,
        fresh_database,
        "SELECT MIN(YCSB_KEY), MIN(LENGTH(FIELD9)) FROM usertable",
    )
    assert str(key).startswith("user")
    assert length == 100


def test_rows_in_ycsbs_own_order_are_the_same_rows_in_a_larger_table(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str
) -> None:
    seen = []
    for order in ("key", "number"):
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS usertable, plimsoll_datasets")
        arguments = ["prepare", "--dsn", fresh_database, "--workload", "ycsb-a", "--json"]
        code, out, _ = plimsoll(*arguments, "--records", "3000", "--load-order", order)
        assert code == 0
        assert json.loads(out)["load_order"] == order
        checksum = query(connection, fresh_database, "CHECKSUM TABLE usertable")
        query(connection, fresh_database, "ANALYZE TABLE usertable")
        (pages,) = query(
            connection,
            fresh_database,
            "SELECT DATA_LENGTH FROM information_schema.TABLES"
            " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'usertable'",
        )
        seen.append((checksum, int(str(pages))))
    (by_key, packed), (by_number, split) = seen
    assert by_key == by_number
    assert split > packed


def test_a_dataset_grows_and_rows_that_went_missing_come_back(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str
) -> None:
    arguments = ["prepare", "--dsn", fresh_database, "--json", "--workload"]
    plimsoll(*arguments, "sysbench-oltp-delete", "--records", "1000", "--tables", "2")
    code, out, _ = plimsoll(
        *arguments, "sysbench-oltp-read-only", "--records", "1500", "--tables", "2"
    )
    assert code == 0
    assert json.loads(out)["rows_inserted"] == 1000
    query(connection, fresh_database, "SELECT 1 FROM sbtest1")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM sbtest2 WHERE id < 300")
    code, out, err = plimsoll(
        *arguments, "sysbench-oltp-delete", "--records", "1500", "--tables", "2"
    )
    assert code == 1
    assert "sbtest2 has 1201 rows, not 1500: run prepare again to complete it" in err
    code, out, _ = plimsoll(
        *arguments, "sysbench-oltp-delete", "--records", "1500", "--tables", "2"
    )
    assert code == 0
    assert json.loads(out)["rows_inserted"] == 299
    assert json.loads(out)["rows_counted"] == {"sbtest1": 1500, "sbtest2": 1500}
    assert query(
        connection,
        fresh_database,
        "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()"
        " AND index_name IN ('k_1', 'k_2')",
    ) == (2,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--records", "500"], "exists with 1000 records, more than 500"),
        (["--records", "1000", "--tables", "3"], "exists with tables=1"),
    ],
)
def test_another_dataset_of_the_same_name_is_refused(
    plimsoll: Callable[..., Output], fresh_database: str, arguments: list[str], message: str
) -> None:
    prepare = ["prepare", "--dsn", fresh_database, "--workload", "sysbench-oltp-insert"]
    plimsoll(*prepare, "--records", "1000")
    code, _, err = plimsoll(*prepare, *arguments)
    assert code == 1
    assert message in err


@pytest.mark.parametrize("columns", ["a INT", "ycsb_key VARCHAR(64) PRIMARY KEY"])
def test_a_table_of_somebody_else_is_left_alone(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str, columns: str
) -> None:
    database = fresh_database.rpartition("/")[2]
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {database}.usertable ({columns})")
    code, _, err = plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-a")
    assert code == 1
    assert "a table usertable exists that Plimsoll did not create" in err
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW TABLES IN {database}")
        assert cursor.fetchall() == (("usertable",),)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_prepare_is_completed_and_comes_to_the_same(
    plimsoll: Callable[..., Output],
    fresh_database: str,
    number: signal.Signals,
) -> None:
    """It cannot be done before it is interrupted: another transaction holds one of its rows.

    It runs as in a shell's background, where Ctrl-C is ignored unless a program asks for it.
    """
    workload = ["--dsn", fresh_database, "--workload", "sysbench-oltp-point-select"]
    prepare = ["prepare", *workload, "--tables", "1", "--records"]
    plimsoll(*prepare, "1000")
    target = parse_dsn(fresh_database)
    with closing(connect(target)) as holder, closing(connect(target)) as other:
        holder.begin()
        execute(holder, "INSERT INTO sbtest1 VALUES (40000, 0, '', '')")
        background = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
        command = [*background, *COMMAND, *prepare, "60000"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as started:
            while count_rows(other) <= 1000:
                assert started.poll() is None
            os.kill(started.pid, number)
        assert started.returncode == (-9 if number == signal.SIGKILL else 130)
        interrupted = count_rows(other)
        holder.rollback()  # the server may now go on with what it was given
    assert 1000 < interrupted < 60_000
    load = ["load", *workload, "--operations", "9", "--warmup", "0"]
    code, out, err = plimsoll(*load)
    assert (code, out) == (1, "")
    assert (
        "60,000 records need 60,000 rows of sbtest1, of which only 1,000 are known to exist" in err
    )
    code, out, _ = plimsoll(*prepare, "60000", "--json")
    assert code == 0
    assert json.loads(out)["rows_counted"] == {"sbtest1": 60_000}
    assert json.loads(out)["rows_inserted"] <= 60_000 - interrupted


def count_rows(connection: Connection) -> int:
    ((rows,),) = execute(connection, "SELECT COUNT(*) FROM sbtest1")
    return int(rows)
