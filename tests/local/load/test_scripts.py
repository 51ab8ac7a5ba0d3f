r"""pgbench's scripts on a real PostgreSQL: what is in the tables afterwards, and what fails."""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plimsoll.databases.postgres import session
from plimsoll.databases.postgres.session import Connection
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.request.dsn import parse_dsn
from tests.support.command import Output

TPCB = r"""
-- pgbench's own transaction
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
  VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""


@pytest.fixture(autouse=True)
def dsn(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database, which the commands find in their environment."""
    name = f"scripts_{uuid.uuid4().hex[:12]}"
    with closing(session.connect(parse_dsn(postgres.dsn))) as root:
        session.execute(root, f"CREATE DATABASE {name}")
    own = f"{postgres.dsn.rpartition('/')[0]}/{name}"
    monkeypatch.setenv("PLIMSOLL_DSN", own)
    return own


@pytest.fixture
def database(dsn: str) -> Iterator[Connection]:
    with closing(session.connect(parse_dsn(dsn))) as connection:
        yield connection


@pytest.fixture
def load(plimsoll: Callable[..., Output], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Send scripts so many times, and return the report."""

    def send(*scripts: str, times: int = 1, code: int = 0, more: str = "") -> dict[str, Any]:
        names = []
        for number, script in enumerate(scripts):
            (tmp_path / f"script{number}.sql").write_text(script)
            names += ["--workload", str(tmp_path / f"script{number}.sql")]
        options = ["--warmup", "0", "--duration", "60", "--operations", str(times), "--json"]
        ended, out, err = plimsoll("load", *names, *options, *more.split())
        assert ended == code, err
        report: dict[str, Any] = json.loads(out)["report"]
        return report

    return send


Load = Callable[..., dict[str, Any]]
ONE = "--connections 1 --threads 1"


def numbers(database: Connection, sql: str) -> list[Any]:
    (row,) = session.execute(database, sql)
    return list(row)


def test_balances_stay_equal_under_pgbenchs_transaction(
    plimsoll: Callable[..., Output], load: Load, dsn: str, database: Connection
) -> None:
    made = plimsoll("prepare", "--dsn", dsn, "--workload", "tpcb-like", "--records", "1")
    assert made[0] == 0, made
    report = load(TPCB, times=300, more="--connections 4 --statements")
    operation = report["operations"]["script0"]
    assert (operation["succeeded"], operation["errors"]) == (300, {})
    assert operation["rows"] == 5 * 300, "BEGIN and END meet none"
    counted = (report["statements_sent"], report["transaction_commands_sent"])
    assert counted == (5 * 300, 2 * 300), "as the server counts them"
    assert operation["rows_missing"] == 0
    texts = [statement["sql"] for statement in operation["statements"]]
    assert [text.split()[0] for text in texts] == [
        *("BEGIN", "UPDATE", "SELECT", "UPDATE", "UPDATE", "INSERT", "END"),
    ]
    assert {statement["executed"] for statement in operation["statements"]} == {300}
    sums = numbers(
        database,
        "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM"
        " pgbench_tellers), (SELECT sum(bbalance) FROM pgbench_branches), (SELECT sum(delta) FROM"
        " pgbench_history)",
    )
    assert len({*sums}) == 1
    count, accounts, low, high = numbers(
        database,
        "SELECT count(*), count(DISTINCT aid), min(delta), max(delta) FROM pgbench_history",
    )
    assert count == 300
    assert accounts > 250, "they are drawn from 100,000"
    assert -5000 <= low < -4000 < 4000 < high <= 5000


def test_results_branches_and_variables_reach_later_statements(
    load: Load, database: Connection
) -> None:
    session.execute(database, "CREATE TABLE seen (who text, what text)")
    load(
        r"""
        SELECT 0 AS i4, 4 AS i4, NULL::int AS nothing \gset
        SELECT 3 AS i3 \gset x_
        SELECT 8 AS a UNION SELECT 9 ORDER BY 1 DESC \aset
        SELECT 5 AS a WHERE false \aset
        \; \; SELECT 1 AS z \; SELECT 2 AS z \; \gset
        \set doubled 2 * :i4 + :x_i3 + :z
        \set half :i4 / 8.0
        \set none null
        \if :a = 8 and :z = 2
          INSERT INTO seen VALUES ('sum', :doubled), ('half', :half), ('yes', :x_i3 = '3');
        \else
          INSERT INTO seen VALUES ('wrong', 1);
        \endif
        \if :half > 1
          INSERT INTO seen VALUES ('wrong', 2);
        \elif :half > 0.25
          INSERT INTO seen VALUES ('elif', :none), ('null of gset', :nothing);
        \endif
        \startpipeline
        INSERT INTO seen VALUES ('pipeline', 1);
        \set turn 1
        INSERT INTO seen VALUES ('pipeline', 1 + :turn::int);
        \endpipeline
        """,
        more=ONE,
    )
    rows = [tuple(row) for row in session.execute(database, "SELECT who, what FROM seen")]
    assert rows == [
        ("sum", "13"),
        ("half", "0.5"),
        ("yes", "true"),
        ("elif", None),
        ("null of gset", ""),
        ("pipeline", "1"),
        ("pipeline", "2"),
    ]


def test_a_connection_keeps_its_variables_from_script_to_script(
    load: Load, database: Connection
) -> None:
    session.execute(database, "CREATE TABLE seen (client int, turn int, foo text)")
    count = "\\set turn :turn + 1\nINSERT INTO seen VALUES (:client_id, :turn, :foo);"
    load(count, count, times=40, more="--connections 2 -D turn=0 -D foo=bar")
    rows = session.execute(database, "SELECT client, turn, foo FROM seen ORDER BY 1, 2")
    expected = [[client, turn, "bar"] for client in (0, 1) for turn in range(1, 21)]
    assert [list(row) for row in rows] == expected


def test_weights_choose_among_scripts(load: Load, tmp_path: Path) -> None:
    (tmp_path / "often.sql").write_text("SELECT 1;")
    report = load("SELECT 2;", times=2000, more=f"--workload {tmp_path}/often.sql@9")
    counts = {name: one["succeeded"] for name, one in report["operations"].items()}
    assert counts["script0"] + counts["often"] == 2000
    # binomial with a deviation of 13.4: six of them
    assert 120 < counts["script0"] < 280


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("SELECT 1 AS a UNION SELECT 2 \\gset\n", "script", "expected one row, got 2"),
        ("SELECT 1 AS a WHERE false \\gset\n", "script", "expected one row, got 0"),
        ("\\set a 0\n\\set b 1 / :a\nSELECT 1;", "script", "script0.sql:2: division by zero"),
        (
            "BEGIN;\n\\set a 0\n\\if 1 / :a = 1\n\\endif\nEND;",
            "script",
            "script0.sql:3: division by zero",
        ),
        ("SELECT 'b' AS a \\gset\n\\sleep :a\nSELECT 1;", "script", "script0.sql:2: "),
        ("BEGIN;\nSELECT 1;", "script", "script0: it ends within a transaction"),
        ("BEGIN;\nSELECT 1 / (SELECT 0);\nEND;", "22012", "division by zero"),
        (
            "\\startpipeline\nSELECT 1;\nSELECT 1 / (SELECT 0);\n\\endpipeline",
            "22012",
            "division by zero",
        ),
        (
            "\\set a 0\n\\startpipeline\nSELECT 1;\n\\set b 1 / :a\n\\endpipeline",
            "script",
            "script0.sql:4: division by zero",
        ),
    ],
)
def test_what_pgbench_would_abort_is_an_operation_that_failed(
    load: Load, script: str, code: str, message: str
) -> None:
    report = load(script, times=3, code=1, more=ONE)
    assert report["operations"]["script0"]["errors"] == {code: 3}
    assert message in report["error_examples"][code]
    assert report["connection_report"]["replaced"] == 0, "its transaction is rolled back"


def test_what_can_never_be_computed_is_refused_before_anything_is_sent(
    plimsoll: Callable[..., Output], tmp_path: Path
) -> None:
    (tmp_path / "bad.sql").write_text("CREATE TABLE made (a int);\n\\set i 2 * (1<<62)\n")
    code, _, err = plimsoll("load", "--workload", str(tmp_path / "bad.sql"))
    assert code == 1
    assert f"{tmp_path}/bad.sql:2: bigint mul out of range" in err


def test_an_operation_pauses_where_its_script_sleeps(load: Load) -> None:
    script = "\\sleep 20 ms\nSELECT 1;\n\\set t 30.9\n\\sleep :t ms\nSELECT 2;\n\\sleep 1ms"
    report = load(script, times=8, more="--connections 2 --statements")
    operation = report["operations"]["script0"]
    assert operation["succeeded"] == 8
    latency = operation["latency_us"]
    assert latency["p50"] > 51_000, "a script's latency has its pauses"
    assert operation["statements"][0]["executed"] == 8


def test_a_pause_may_be_longer_than_the_time_out_of_a_statement(load: Load) -> None:
    report = load("SELECT 1;\n\\sleep 2500 ms\nSELECT 2;", more=f"{ONE} --timeout-ms 2000")
    operation = report["operations"]["script0"]
    assert (operation["succeeded"], operation["errors"]) == (1, {})


def test_the_scale_is_that_of_pgbenchs_tables_or_one_or_what_is_asked_for(
    load: Load, database: Connection
) -> None:
    session.execute(database, "CREATE TABLE seen (scale int)")
    script = "INSERT INTO seen VALUES (:scale);"
    load(script)
    session.execute(database, "CREATE TABLE pgbench_branches AS SELECT generate_series(1, 7)")
    load(script)
    load(script, more="--scale 30")
    load(script, more="-D scale=40")
    seen = session.execute(database, "SELECT scale FROM seen ORDER BY 1")
    assert [list(row) for row in seen] == [[1], [7], [30], [40]]


TRIED = """
\\set turn :turn + 1
BEGIN;
INSERT INTO seen VALUES (:turn, random() * :turn::int);
SELECT fail_twice();
END;
"""


def test_conflicts_are_tried_again_as_often_as_pgbench_would_and_told_apart(
    load: Load, database: Connection
) -> None:
    """Another try begins with the variables that the script had at first."""
    session.execute(database, "CREATE TABLE seen (turn int, drawn float)")
    session.execute(database, "CREATE SEQUENCE tries")
    session.execute(
        database,
        "CREATE FUNCTION fail_twice() RETURNS int LANGUAGE plpgsql AS $$ BEGIN"
        " IF nextval('tries') % 3 <> 0 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;"
        " RETURN 1; END $$",
    )
    more = f"{ONE} -D turn=0"
    operation = load(TRIED, times=4, more=f"{more} --max-tries 3")["operations"]["script0"]
    assert (operation["succeeded"], operation["errors"]) == (4, {})
    assert operation["retries"] == {"40001": 8}
    turns = session.execute(database, "SELECT turn FROM seen ORDER BY 1")
    assert [list(row) for row in turns] == [[1], [2], [3], [4]]
    operation = load(TRIED, times=3, more=f"{more} --max-tries 2")["operations"]["script0"]
    assert (operation["succeeded"], operation["errors"]) == (1, {"40001": 2})
    assert operation["retries"] == {"40001": 2}


def test_tries_are_a_number_and_of_scripts_alone(
    plimsoll: Callable[..., Output], tmp_path: Path
) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;")
    code, _, err = plimsoll("load", "--workload", str(tmp_path / "one.sql"), "--max-tries", "0")
    assert code == 2
    assert "max-tries: must be a whole number from 1 to 1000, not '0'" in err
    code, _, err = plimsoll("load", "--workload", "tpcb-like", "--max-tries", "3")
    assert code == 2
    assert "--max-tries: tpcb-like has no parameter 'max-tries'" in err


def test_a_script_brings_no_tables_to_prepare(
    plimsoll: Callable[..., Output], tmp_path: Path
) -> None:
    (tmp_path / "tpcb.sql").write_text("SELECT 1;")
    code, _, err = plimsoll("prepare", "--workload", str(tmp_path / "tpcb.sql"))
    assert code == 2
    assert "brings no tables to make" in err


def test_several_workloads_are_scripts(plimsoll: Callable[..., Output]) -> None:
    code, _, err = plimsoll("load", "--workload", "ycsb-a", "--workload", "ycsb-b")
    assert code == 2
    assert "only pgbench scripts can be several" in err
