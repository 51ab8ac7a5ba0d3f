"""`plimsoll prepare` and `plimsoll load`, as a user calls them."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.families.mysql.session import Connection, connect, execute
from plimsoll.model.dsn import parse_dsn

Output = tuple[int, str, str]
COMMAND = [sys.executable, "-c", "from plimsoll.cli.main import main; main()"]


@pytest.fixture
def plimsoll(capsys: pytest.CaptureFixture[str]) -> Callable[..., Output]:
    def call(*arguments: str) -> Output:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return call


def query(connection: Connection, dsn: str, sql: str) -> tuple[object, ...]:
    with connection.cursor() as cursor:
        cursor.execute(f"USE {dsn.rpartition('/')[2]}")
        cursor.execute(sql)
        row = cursor.fetchone()
    assert row is not None
    return tuple(row)


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
    assert "sbtest2 has 1201 rows, not 1500: prepare again completes it" in err
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
        (["--records", "500"], "is there with 1000 records, more than 500"),
        (["--records", "1000", "--tables", "3"], "is there with tables=1"),
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
    assert "a table usertable is there that Plimsoll did not make" in err
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
    assert "--records 60,000 needs 60,000 rows of sbtest1, and 1,000 are surely there" in err
    code, out, _ = plimsoll(*prepare, "60000", "--json")
    assert code == 0
    assert json.loads(out)["rows_counted"] == {"sbtest1": 60_000}
    assert json.loads(out)["rows_inserted"] <= 60_000 - interrupted


def count_rows(connection: Connection) -> int:
    ((rows,),) = execute(connection, "SELECT COUNT(*) FROM sbtest1")
    return int(rows)


def test_load_prints_each_operation_its_errors_and_the_client(
    plimsoll: Callable[..., Output], fresh_database: str
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-a", "--records", "500")
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-f", "--connections", "4"]
    code, out, err = plimsoll(*load, "--warmup", "0", "--operations", "3000", "--duration", "120")
    assert code == 0
    header, *_ = (line for line in out.splitlines() if line.startswith("operation"))
    assert re.split(r"  +", header.strip()) == [
        "operation", "count", "errors", "ops/s", "mean", "p50", "p95", "p99", "p99.9", "max",
    ]  # fmt: skip
    assert re.search(r"^read +[\d,]+ +0 ", out, re.MULTILINE)
    assert re.search(r"^read_modify_write +[\d,]+ +0 ", out, re.MULTILINE)
    assert re.search(r"client: [\d.]+ µs CPU per operation .* busy [\d.]+ %", out)
    assert "500 records; closed loop, 4 connections" in out
    latency = r"[\d.,]+ (µs|ms|s)"
    second = rf"^ +\d+ s +[\d,]+ ops  read p99 {latency} max {latency}"
    assert re.search(second, err, re.MULTILINE)


def test_load_as_json_in_an_open_loop(plimsoll: Callable[..., Output], fresh_database: str) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-a", "--records", "500")
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-a", "--json", "--warmup", "0"]
    code, out, _ = plimsoll(
        *load, "--operations", "500", "--rate", "500", "--arrivals", "poisson", "--duration", "120"
    )
    result = json.loads(out)
    assert code == 0
    assert result["records"] == 500
    assert result["load"]["loop"] == {
        "kind": "open",
        "arrivals": "poisson",
        "rate_ops_per_second": 500.0,
    }
    assert set(result["report"]["operations"]) == {"read", "update"}
    assert result["report"]["client"]["send_lateness_us"]["p50"] is not None
    assert "plimsoll:plimsoll" not in out


def test_what_load_prints_as_json_can_be_judged(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-a", "--records", "500")
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-a", "--json", "--warmup", "0"]
    files = []
    for connections in (1, 2):
        code, out, _ = plimsoll(*load, "--duration", "2", "--connections", str(connections))
        assert code == 0
        files.append(tmp_path / f"{connections}.json")
        files[-1].write_text(out)
    code, out, _ = plimsoll("capacity", *map(str, files), "--limit-us", "read=60000000", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["axis"], found["statistic"]) == ("connections", "p99")
    step = found["steps"][0]["steps"][0]
    report = json.loads(files[0].read_text())["report"]
    assert (step["clients"], step["connections"]) == (1, 1)
    assert step["operations"] == sum(o["succeeded"] for o in report["operations"].values())
    assert step["latency_us"]["read"]["p99"] == report["operations"]["read"]["latency_us"]["p99"]
    audits = {audit["name"]: audit["passed"] for audit in found["steps"][0]["audits"]}
    assert audits["littles_law"] is True
    assert audits["steady_state"] is not None


def test_each_load_draws_anew_and_can_be_repeated(
    plimsoll: Callable[..., Output], fresh_database: str
) -> None:
    """The keys that a load reads follow from its seed alone: `test_sequence.py`."""
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-c", "--records", "500")
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-c", "--warmup", "0"]
    load += ["--operations", "50"]
    first, second = (json.loads(plimsoll(*load, "--json")[1])["load"]["seed"] for _ in range(2))
    assert first != second
    _, out, _ = plimsoll(*load)
    (told,) = re.findall(r", ended by operations; seed (\d+)$", out, re.MULTILINE)
    assert int(told) not in (first, second)
    _, out, _ = plimsoll(*load, "--json", "--seed", str(first))
    assert json.loads(out)["load"]["seed"] == first


def test_load_knows_the_tables_that_prepare_has_made(
    plimsoll: Callable[..., Output], fresh_database: str
) -> None:
    prepare = ["prepare", "--dsn", fresh_database, "--workload", "sysbench-oltp-insert"]
    plimsoll(*prepare, "--records", "200", "--tables", "3")
    load = ["load", "--dsn", fresh_database, "--json", "--warmup", "0", "--duration", "120"]
    code, out, _ = plimsoll(
        *load, "--workload", "sysbench-oltp-point-select", "--operations", "300"
    )
    assert code == 0
    assert json.loads(out)["parameters"]["tables"] == 3
    assert json.loads(out)["report"]["operations"]["point_select"]["succeeded"] == 300


def test_loads_that_insert_follow_one_another_without_a_key_met_twice(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str
) -> None:
    prepare = ["prepare", "--dsn", fresh_database, "--workload", "ycsb-d", "--records", "500"]
    plimsoll(*prepare)
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-d", "--json", "--warmup", "0"]
    inserted = 0
    for _ in range(3):
        _, out, _ = plimsoll(*load, "--operations", "300")
        insert = json.loads(out)["report"]["operations"]["insert"]
        assert insert["errors"] == {}
        inserted += insert["succeeded"]
    assert inserted > 20
    assert query(connection, fresh_database, "SELECT COUNT(*) FROM usertable") == (500 + inserted,)
    _, out, _ = plimsoll(
        "prepare", "--dsn", fresh_database, "--workload", "ycsb-d", "--records", "500"
    )
    assert f"{500 + inserted:,} rows, {inserted:,} of them inserted by loads" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_load_with_its_report(
    plimsoll: Callable[..., Output], fresh_database: str, number: signal.Signals
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-c", "--records", "500")
    arguments = ["load", "--dsn", fresh_database, "--workload", "ycsb-c", "--warmup", "0", "--json"]
    arguments += ["--duration", "120"]
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as load:
        assert load.stderr is not None
        while not re.search(r" s +[1-9][\d,]* ops", load.stderr.readline()):
            assert load.poll() is None
        load.send_signal(number)
        out, err = load.communicate(timeout=120)
    assert load.returncode == 130
    assert json.loads(out)["report"]["ended"] == "cancelled"
    assert json.loads(out)["report"]["operations"]["read"]["succeeded"] > 0
    assert "Traceback" not in err


def test_a_load_in_which_nothing_succeeds_exits_with_1(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-c", "--records", "500")
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {fresh_database.rpartition('/')[2]}.usertable")
    code, out, err = plimsoll(
        "load", "--dsn", fresh_database, "--workload", "ycsb-c", "--duration", "1", "--warmup", "0"
    )
    assert code == 1
    assert "usertable' doesn't exist" in out + err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("records", "code", "message"),
    [
        ("501", 1, "--records 501 needs 501 rows of usertable, and 500 are surely there"),
        ("0", 2, "records: must be from 1 to"),
    ],
)
def test_rows_that_are_not_there_are_not_read(
    plimsoll: Callable[..., Output], fresh_database: str, records: str, code: int, message: str
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-c", "--records", "500")
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-c", "--operations", "9"]
    assert plimsoll(*load, "--records", "400", "--warmup", "0")[0] == 0
    refused, out, err = plimsoll(*load, "--records", records)
    assert (refused, out) == (code, "")
    assert message in err


def test_operations_that_end_in_the_warm_up_are_no_result(
    plimsoll: Callable[..., Output], fresh_database: str
) -> None:
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-c", "--records", "500")
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-c", "--operations", "9"]
    for json_or_not in ([], ["--json"]):
        code, _, err = plimsoll(*load, "--warmup", "30", *json_or_not)
        assert code == 1
        assert "nothing was measured: all 9 operations were done in the warm-up of 30 s" in err


def test_each_second_is_told_of_the_last_one_its_part(
    plimsoll: Callable[..., Output], fresh_database: str
) -> None:
    """Also one in which nothing was answered, since the machine stood still."""
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-c", "--records", "500")
    load = ["load", "--dsn", fresh_database, "--workload", "ycsb-c", "--json", "--warmup", "1"]
    _, out, err = plimsoll(*load, "--duration", "1.5", "--rate", "100")
    lines = [line.split() for line in err.splitlines() if "ops" in line]
    assert [line[:2] for line in lines] == [["1", "s"], ["2", "s"], ["2.5", "s"]]
    assert [line[2] == "warm-up" for line in lines] == [True, False, False]
    counted = json.loads(out)["report"]["operations"]["read"]["succeeded"]
    assert sum(int(line[2]) for line in lines[1:]) == counted


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arrivals", "poisson"], "--arrivals: goes with --rate"),
        (["--rate", "0"], "--rate"),
        (["--rate", "nan"], "'--rate': 'nan' is not a valid number"),
        (["--duration", "inf"], "--duration"),
        (["--connections", "0"], "--connections"),
        (["--set", "x=1"], "ycsb-c has no parameter 'x'"),
        (["--set", "x"], "--set: must be NAME=VALUE"),
        (["--tables", "2"], "ycsb-c has no parameter 'tables'"),
        (["--workload", "ycsb-z"], "unknown workload 'ycsb-z'"),
    ],
)
def test_bad_usage(plimsoll: Callable[..., Output], arguments: list[str], message: str) -> None:
    code, out, err = plimsoll(
        "load", "--dsn", "mysql://u:p@h/d", "--workload", "ycsb-c", *arguments
    )
    assert (code, out) == (2, "")
    assert message in err
