"""`plimsoll find`, as its user calls it, on a real MariaDB."""

import json
import signal
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from plimsoll.databases.mysql.session import Connection, connect, execute
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.run.results import RunResult
from tests.support.command import BESIDE_OTHERS, BRIEF, COMMAND, Output

PAGE = Path(__file__).parents[3] / "docs/finding.md"
OWN_TABLE = PAGE.read_text().partition("```yaml\n")[2].partition("```")[0]
PAYING = """\
  pay:
    weight: 10
    statements:
      - {sql: "UPDATE {orders} SET paid = paid + 1 WHERE id = ?", binds: [{key: orders}]}
"""


def tables_of(dsn: str) -> set[str]:
    """Name the tables of a database."""
    with closing(connect(parse_dsn(dsn))) as connection:
        return {str(row[0]) for row in execute(connection, "SHOW TABLES")}


def test_it_makes_the_rows_searches_and_leaves_a_result_like_a_runs(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    out = tmp_path / "found"
    find = ["find", fresh_database, "--workload", "ycsb-b", *BRIEF, "--limit", "read=1s"]
    find += ["--limit", "update=2s", "--time-limit", "20"]
    code, _, err = plimsoll(*find, "--out", str(out))
    assert code == 2
    assert "has no dataset of ycsb-b that Plimsoll made: --prepare makes one" in err
    assert "(1,000 rows in usertable)" in err
    code, text, err = plimsoll(*find, "--prepare", "--records", "500", "--json", "--out", str(out))
    assert "step 1: 1 client, 1 connection" in err
    result = RunResult.model_validate_json((out / "result.json").read_text())
    assert RunResult.model_validate_json(text) == result
    assert result.rows == 500
    assert result.capacity is not None
    assert result.request.limits.limits_us == {"read": 1e6, "update": 2e6}
    for step in result.steps:
        assert step.step.statements_sent == step.step.statements_served
        assert step.step.throughput_ops_per_second
        assert step.plan.connections in {1, 2}
    assert "plimsoll:plimsoll" not in text
    assert (out / "report.html").stat().st_size > 10_000
    assert json.loads((out / "seconds.json").read_text())["operations"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--strategy", "rate"],
            "--strategy: rate needs the highest rate to try: --max-rate gives it",
        ),
        (["--warmup", "600", "--duration", "600"], "1200 s is more than a client may run"),
        (["--time-limit", "10", "--warm", "20"], "are too short for a single step"),
    ],
)
def test_what_cannot_be_is_refused_before_rows_are_made(
    plimsoll: Callable[..., Output],
    fresh_database: str,
    tmp_path: Path,
    options: list[str],
    message: str,
) -> None:
    find = ["find", fresh_database, "--workload", "ycsb-b", "--prepare", "--records", "500"]
    code, _, err = plimsoll(*find, *options, "--out", str(tmp_path / "found"))
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert tables_of(fresh_database) == set()


def test_rows_of_other_parameters_are_not_those_that_are_asked_for(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    sysbench = ["--workload", "sysbench-oltp-read-only", "--records", "100"]
    plimsoll("prepare", "--dsn", fresh_database, *sysbench, "--tables", "2")
    find = ["find", fresh_database, *BRIEF, *sysbench, "--out", str(tmp_path / "found")]
    code, _, err = plimsoll(*find, "--tables", "3")
    assert code == 1
    assert "the dataset sysbench exists with tables=2" in err


def test_what_it_made_it_drops_where_asked_and_nothing_else(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str, tmp_path: Path
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {fresh_database.rpartition('/')[2]}.theirs (a INT)")
    plimsoll("prepare", "--dsn", fresh_database, "--workload", "ycsb-a", "--records", "100")
    assert tables_of(fresh_database) == {"plimsoll_datasets", "theirs", "usertable"}
    find = ["find", fresh_database, "--workload", "ycsb-a", *BRIEF, "--time-limit", "10"]
    plimsoll(*find, "--drop", "--out", str(tmp_path / "found"))
    assert tables_of(fresh_database) == {"theirs"}


def test_tables_of_the_users_own_are_read_and_not_written_unless_allowed(
    plimsoll: Callable[..., Output], connection: Connection, fresh_database: str, tmp_path: Path
) -> None:
    orders = f"{fresh_database.rpartition('/')[2]}.orders"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {orders} (id INT PRIMARY KEY, paid INT, shipped INT)")
        cursor.execute(f"INSERT INTO {orders} SELECT seq, 0, 0 FROM mysql.seq_0_to_99")
    reading, writing = tmp_path / "reading.yaml", tmp_path / "writing.yaml"
    reading.write_text(OWN_TABLE)
    writing.write_text(OWN_TABLE + PAYING)
    find = ["find", fresh_database, *BRIEF, "--records", "100", "--time-limit", "10", "--workload"]
    code, _, err = plimsoll(*find, str(writing), "--out", str(tmp_path / "refused"))
    assert code == 2
    assert "pay would change rows that Plimsoll did not make: --allow-writes permits that" in err
    plimsoll(*find, str(reading), "--out", str(tmp_path / "read"))
    read = RunResult.model_validate_json((tmp_path / "read/result.json").read_text())
    assert succeeded(read, "read") > 0
    assert query_sum(fresh_database) == 0
    plimsoll(*find, str(writing), "--allow-writes", "--out", str(tmp_path / "written"))
    written = RunResult.model_validate_json((tmp_path / "written/result.json").read_text())
    assert query_sum(fresh_database) >= succeeded(written, "pay") > 0
    assert tables_of(fresh_database) == {"orders"}


@pytest.mark.whole
def test_a_search_that_may_write_is_done_again_by_the_command_of_its_report(
    plimsoll: Callable[..., Output],
    connection: Connection,
    fresh_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    orders = f"{fresh_database.rpartition('/')[2]}.orders"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {orders} (id INT PRIMARY KEY, paid INT, shipped INT)")
        cursor.execute(f"INSERT INTO {orders} SELECT seq, 0, 0 FROM mysql.seq_0_to_99")
    writing = tmp_path / "writing.yaml"
    writing.write_text(OWN_TABLE + PAYING)
    find = ["find", fresh_database, *BRIEF, "--records", "100", "--limit", "1s"]
    plimsoll(*find, "--workload", str(writing), "--allow-writes", "--out", str(tmp_path / "first"))
    page = (tmp_path / "first/report.html").read_text()
    command = next(line for line in page.splitlines() if line.startswith("plimsoll run "))
    target = parse_dsn(fresh_database)
    monkeypatch.setenv("PLIMSOLL_USER", target.user)
    monkeypatch.setenv("PLIMSOLL_PASSWORD", target.password)
    monkeypatch.chdir(tmp_path / "first")
    before = query_sum(fresh_database)
    code, _, err = plimsoll(*command.split()[1:])
    assert code in {0, 3}, err
    assert query_sum(fresh_database) > before
    request = json.loads((tmp_path / "first/request.json").read_text())
    assert request["target"].pop("allow_writes") is True
    (tmp_path / "first/reading.json").write_text(json.dumps(request))
    code, _, err = plimsoll("run", "reading.json", "--local", "--out", "refused")
    assert code == 2
    assert "`allow_writes: true` of the target permits that" in err


def succeeded(result: RunResult, operation: str) -> int:
    """Add up what succeeded in all steps: where this machine stands still, one has nothing."""
    steps = [step.operations for step in result.steps]
    return sum(found[operation].succeeded for found in steps if operation in found)


def query_sum(dsn: str) -> int:
    """Add up what was paid."""
    with closing(connect(parse_dsn(dsn))) as connection:
        ((paid,),) = execute(connection, "SELECT SUM(paid) FROM orders")
    return int(paid)


@pytest.fixture
def prepared(plimsoll: Callable[..., Output], fresh_database: str) -> str:
    """A database with the rows of YCSB; gives its DSN."""
    code, _, err = plimsoll(
        "prepare", "--dsn", fresh_database, "--workload", "ycsb-c", "--records", "500"
    )
    assert code == 0, err
    return fresh_database


def test_a_rule_that_is_broken_ends_the_load_at_once(
    plimsoll: Callable[..., Output], prepared: str, tmp_path: Path
) -> None:
    find = ["find", prepared, "--workload", "ycsb-c", "--warm", "0", "--warmup", "0"]
    find += ["--duration", "600", "--stop-if", "p99 > 1us", *BESIDE_OTHERS]
    find += ["--out", str(tmp_path / "found")]
    code, out, _ = plimsoll(*find)
    assert code == 1
    assert "STOPPED in its step phase: at 1 connection read p99 was" in out
    assert "(stop rule 'p99 > 1us')" in out
    result = RunResult.model_validate_json((tmp_path / "found/result.json").read_text())
    assert result.steps == ()  # half a step says nothing
    assert result.request.target.model_dump()["stop_if"] == ("p99 > 1us",)


def test_a_search_that_may_end_at_once_is_done_again_with_its_conditions(
    plimsoll: Callable[..., Output],
    prepared: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = ["find", prepared, "--workload", "ycsb-c", "--warm", "0", "--warmup", "0"]
    find += ["--duration", "600", "--stop-if", "p99 > 1us", "--max-rate", "2000000"]
    plimsoll(*find, *BESIDE_OTHERS, "--out", str(tmp_path / "first"))
    request = json.loads((tmp_path / "first/request.json").read_text())
    assert request["target"]["stop_if"] == ["p99 > 1us", "rate > 2000000"]
    target = parse_dsn(prepared)
    monkeypatch.setenv("PLIMSOLL_USER", target.user)
    monkeypatch.setenv("PLIMSOLL_PASSWORD", target.password)
    again = ["run", str(tmp_path / "first/request.json"), "--local"]
    code, out, _ = plimsoll(*again, "--out", str(tmp_path / "again"))
    assert code == 1
    assert "(stop rule 'p99 > 1us')" in out
    request["target"]["stop_if"] = ["p99.write > 1us"]
    (tmp_path / "wrong.json").write_text(json.dumps(request))
    code, _, err = plimsoll("run", str(tmp_path / "wrong.json"), "--local")
    assert code == 2
    assert "target.stop_if: " in err
    assert "read" in err


def test_what_is_expected_decides_the_exit_code_and_is_written_down(
    plimsoll: Callable[..., Output], prepared: str, tmp_path: Path
) -> None:
    find = ["find", prepared, "--workload", "ycsb-c", *BRIEF, "--limit", "10s"]
    refused = [("p99.write <= 1s at 1", "unknown operation 'write'"), ("fast", "is not a rule")]
    for rule, said in (*refused, ("not worse than nothing by 5 %", "there is no such file")):
        code, _, err = plimsoll(*find, "--expect", rule, "--out", str(tmp_path / "refused"))
        assert (code, said in err) == (2, True)
    rules = ["capacity >= 1", "capacity >= 999999999", "p99.read <= 1us at 1"]
    options = [word for rule in rules for word in ("--expect", rule)]
    options += ["--junit", str(tmp_path / "junit.xml"), "--markdown", str(tmp_path / "told.md")]
    code, out, _ = plimsoll(*find, *options, "--out", str(tmp_path / "found"))
    result = RunResult.model_validate_json((tmp_path / "found/result.json").read_text())
    assert list(result.request.expect) == [one.rule for one in result.expect] == rules
    assert code == (1 if "not met" in {one.answer for one in result.expect} else 3)
    assert "capacity &gt;= 999999999: " in (tmp_path / "found/report.html").read_text()
    suite = ET.parse(tmp_path / "junit.xml").getroot()[0]
    for one in result.expect:
        assert f"{one.answer}  {one.rule}: {one.because}" in out
        (case,) = [each for each in suite.iter("testcase") if each.attrib["name"] == one.rule]
        tags = {"met": "system-out", "not met": "failure", "no answer": "error"}
        assert [child.tag for child in case] == [tags[one.answer]]
        assert one.answer in (tmp_path / "told.md").read_text()
    assert plimsoll("show", str(tmp_path / "found"))[0] == code


@pytest.mark.parametrize(
    "number",
    # test_face.py interrupts with SIGINT
    [pytest.param(signal.SIGINT, marks=pytest.mark.whole), signal.SIGTERM],
)
def test_an_interrupt_ends_the_load_and_gives_the_answer_so_far(
    prepared: str, number: signal.Signals, tmp_path: Path
) -> None:
    find = ["find", prepared, "--workload", "ycsb-c", "--warm", "0", "--warmup", "0"]
    find += ["--duration", "1", "--limit", "10s", "--out", str(tmp_path / "found"), *BESIDE_OTHERS]
    with subprocess.Popen(
        [*COMMAND, *find], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as finding:
        assert finding.stderr is not None
        for line in finding.stderr:
            if "step 2: 1 client" in line:
                break
        finding.send_signal(number)
        out, _ = finding.communicate(timeout=60)
    assert finding.returncode == 130
    assert "STOPPED in its step phase: interrupted" in out
    result = RunResult.model_validate_json((tmp_path / "found/result.json").read_text())
    assert result.steps[0].step.throughput_ops_per_second
    assert result.capacity is not None
    with closing(connect(parse_dsn(prepared))) as connection:
        ((running,),) = execute(
            connection,
            "SELECT COUNT(*) FROM information_schema.processlist"
            " WHERE db = DATABASE() AND id <> CONNECTION_ID()",
        )
    assert running == 0


def test_others_who_use_the_database_meanwhile_are_named(
    plimsoll: Callable[..., Output], prepared: str, tmp_path: Path
) -> None:
    ended = Event()

    def use() -> None:
        with closing(connect(parse_dsn(prepared))) as connection:
            while not ended.is_set():
                execute(connection, "SELECT COUNT(*) FROM usertable WHERE FIELD0 < 'a'")

    others = [Thread(target=use) for _ in range(3)]
    for other in others:
        other.start()
    try:
        plimsoll(
            *["find", prepared, "--workload", "ycsb-c", "--strategy", "rate", "--max-rate", "200"],
            *["--warm", "0", "--warmup", "0", "--duration", "1", "--limit", "10s"],
            *["--time-limit", "10", "--out", str(tmp_path / "found"), *BESIDE_OTHERS],
        )
    finally:
        ended.set()
        for other in others:
            other.join()
    result = RunResult.model_validate_json((tmp_path / "found/result.json").read_text())
    problems = [text for step in result.steps for text in step.problems]
    assert any("others sent" in text and "statements/s to this server" in text for text in problems)
