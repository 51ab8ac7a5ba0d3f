"""A real Cassandra: prepared, loaded, counted; killed and back; and what it refuses."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import plimsoll_engine
from plimsoll.cli.main import main
from plimsoll.databases.cassandra import open_datasets
from plimsoll.databases.cassandra.datasets import CassandraDatasets
from plimsoll.databases.cassandra.session import CassandraSession
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.databases.reading_back import add_read_back
from plimsoll.load_line.durability import note_tables
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import ClosedLoop, EngineTarget, LoadSpec, OpenLoop
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workflow.client import send_load
from plimsoll.workload import Compiled, load_workload
from tests.local.load.driving import drive
from tests.support import guarded_cassandra
from tests.support.command import BRIEF
from tests.support.fake_cql_server import FakeCqlServer
from tests.support.patient_cassandra import PATIENT_SETTINGS

RECORDS = 500
ADMIN = ":".join(guarded_cassandra.ADMIN)


@pytest.fixture
def keyspace(cassandra: CassandraServer, request: pytest.FixtureRequest) -> Iterator[EngineTarget]:
    """A keyspace of the test's own on the shared server, which `prepare` makes."""
    name = f"test_{abs(hash(request.node.nodeid)):x}"
    target = parse_dsn(f"cassandra://{ADMIN}@{cassandra.host}:{cassandra.port}/{name}")
    yield target
    with CassandraSession(target) as session:
        session.execute(f"DROP KEYSPACE IF EXISTS {name}")


def test_a_keyspace_outside_the_commit_log_is_told(keyspace: EngineTarget) -> None:
    replicas = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    made = f"CREATE KEYSPACE {keyspace.database} WITH replication = {replicas}"
    with CassandraSession(keyspace) as session:
        session.execute(f"{made} AND durable_writes = false")
    compiled = load_workload("ycsb-a").compile(RECORDS, {}, "cql")
    (told,) = note_tables(keyspace, compiled)
    assert told.startswith(f"keyspace {keyspace.database}: its writes are not in the commit log")
    with CassandraSession(keyspace) as session:
        session.execute(f"ALTER KEYSPACE {keyspace.database} WITH durable_writes = true")
    assert note_tables(keyspace, compiled) == ()


def counters(target: EngineTarget) -> dict[str, int]:
    """What the coordinator has counted of the table, and of all prepared statements."""
    found: dict[str, int] = {}
    with CassandraSession(target) as session:
        for kind in ("read", "write", "scan"):
            rows = session.execute(
                f"SELECT count FROM system_views.coordinator_{kind}_latency"
                " WHERE keyspace_name = %s AND table_name = %s",
                [target.database, "usertable"],
            )
            found[kind] = sum(row[0] for row in rows)
        rows = session.execute("SELECT name, value FROM system_views.cql_metrics")
        metrics = {str(row[0]): row[1] for row in rows}
        found["executed"] = int(metrics["prepared_statements_executed"])
    return found


def counted_load(
    target: EngineTarget, compiled: Compiled, **spec: Any
) -> tuple[LoadReport, dict[str, int]]:
    """Load; also how far the server's counters moved."""
    before = counters(target)
    report = drive(target, compiled.engine, **spec)
    after = counters(target)
    return report, {name: after[name] - before[name] for name in after}


def prepared(target: EngineTarget, name: str) -> Compiled:
    compiled = load_workload(name).compile(RECORDS, protocol="cql")
    done = prepare_dataset(target, compiled, connections=2)
    assert (done.inserted_rows, done.counted_rows) == (RECORDS, {"usertable": RECORDS})
    return compiled


@pytest.mark.parametrize("loop", [ClosedLoop(), OpenLoop(rate_ops_per_second=500.0)])
def test_the_coordinator_counts_what_the_engine_counts(
    keyspace: EngineTarget, loop: ClosedLoop | OpenLoop
) -> None:
    compiled = prepared(keyspace, "ycsb-a")
    report, moved = counted_load(
        keyspace, compiled, connections=24, loop=loop, duration_s=60.0, operations_limit=1000
    )
    read, update = report.operations["read"], report.operations["update"]
    assert (report.ended, read.errors, update.errors) == ("operations", {}, {})
    assert report.connection_report.opened == 1
    assert (moved["read"], moved["write"], moved["scan"]) == (read.succeeded, update.succeeded, 0)
    assert moved["executed"] == report.statements_sent == 1000


def test_scans_and_operations_of_two_statements_are_counted_too(keyspace: EngineTarget) -> None:
    compiled = prepared(keyspace, "ycsb-e")
    settings: dict[str, Any] = {"connections": 8, "duration_s": 60.0, "operations_limit": 200}
    report, moved = counted_load(keyspace, compiled, **settings)
    scan, insert = report.operations["scan"], report.operations["insert"]
    assert (scan.errors, insert.errors) == ({}, {})
    assert (moved["scan"], moved["write"], moved["read"]) == (scan.succeeded, insert.succeeded, 0)
    modify = load_workload("ycsb-f").compile(RECORDS, protocol="cql")
    report, moved = counted_load(keyspace, modify, **settings)
    modified = report.operations["read_modify_write"].succeeded
    assert report.operations_sent == 200
    assert (moved["read"], moved["write"]) == (200, modified)
    assert moved["executed"] == report.statements_sent == 200 + modified


def test_warm_up_and_window_together_are_all_that_was_sent(keyspace: EngineTarget) -> None:
    compiled = prepared(keyspace, "ycsb-c")
    report, moved = counted_load(
        keyspace,
        compiled,
        connections=16,
        streams_per_connection=4,
        warmup_s=1.0,
        duration_s=1.0,
    )
    assert report.connection_report.opened == 4
    assert moved["read"] == moved["executed"] == report.statements_sent
    in_window = [second.succeeded for second in report.seconds if second.second >= 1]
    assert report.operations["read"].succeeded == sum(in_window)
    assert sum(second.succeeded for second in report.seconds) <= report.operations_sent


def test_a_dataset_is_completed_never_doubled(keyspace: EngineTarget) -> None:
    compiled = prepared(keyspace, "ycsb-a")
    again = prepare_dataset(keyspace, compiled, connections=2)
    assert (again.sent_rows, again.counted_rows) == (0, {"usertable": RECORDS})
    more = load_workload("ycsb-a").compile(2 * RECORDS, protocol="cql")
    assert prepare_dataset(keyspace, more, connections=2).counted_rows == {"usertable": 2 * RECORDS}
    with CassandraSession(keyspace) as session:
        session.use(keyspace.database)
        datasets = CassandraDatasets(session)
        ((key,),) = session.execute("SELECT y_id FROM usertable LIMIT 1")
        session.execute("DELETE FROM usertable WHERE y_id = %s", [key])
        with pytest.raises(Exception, match="999 rows, not 1000: run prepare again to complete it"):
            datasets.finish(more)
    assert prepare_dataset(keyspace, more, connections=2).counted_rows == {"usertable": 2 * RECORDS}
    with open_datasets(keyspace) as database, pytest.raises(Exception, match="1000 records, more"):
        database.create_tables(compiled)


def test_loads_that_insert_never_meet(keyspace: EngineTarget) -> None:
    compiled = prepared(keyspace, "ycsb-d")
    inserted = 0
    for number in range(2):
        with open_datasets(keyspace) as database:
            assert database.begin_load(compiled) == number
        sent = compiled.engine_workload(number)
        report = drive(keyspace, sent, connections=4, duration_s=60.0, operations_limit=300)
        inserted += report.operations["insert"].succeeded
    assert inserted > 0
    with open_datasets(keyspace) as database:
        assert database.finish(compiled) == {"usertable": RECORDS + inserted}


def test_prepare_and_load_as_a_user_calls_them(
    keyspace: EngineTarget, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn = f"cassandra://{ADMIN}@{keyspace.host}:{keyspace.port}/{keyspace.database}"
    workload = ["--dsn", dsn, "--workload", "ycsb-read-80-update-20", "--json"]

    def call(*arguments: str) -> dict[str, Any]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        assert ended.value.code == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    assert call("prepare", *workload, "--records", "300")["rows_counted"] == {"usertable": 300}
    load = ["--warmup", "0", "--duration", "60", "--operations", "200", "--set"]
    answer = call("load", *workload, *load, "consistency=LOCAL_QUORUM")
    assert answer["server"].startswith("Cassandra 5.")
    assert (answer["records"], answer["parameters"]) == (300, {"consistency": "LOCAL_QUORUM"})
    assert answer["report"]["operations_sent"] == 200


def refused(dsn: str, capsys: pytest.CaptureFixture[str], verb: str = "load") -> str:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--dsn", dsn, "--workload", "ycsb-a", "--records", "100"])
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out) == (1, "")
    assert len(captured.err.strip().splitlines()) == 1
    assert "hunter2" not in captured.err
    return captured.err


@pytest.mark.parametrize("verb", ["prepare", "load"])
def test_nobody_there(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    error = refused("cassandra://u:hunter2@127.0.0.1:1/k", capsys, verb)
    assert "cannot connect to 127.0.0.1:1" in error


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_no_cassandra(says: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeCqlServer(instead=says) as server:
        error = refused(f"cassandra://127.0.0.1:{server.port}/k", capsys)
        assert f"cannot connect to 127.0.0.1:{server.port}" in error
        with pytest.raises(Exception, match=r"not speak version 4|closed the connection"):
            drive(
                parse_dsn(f"cassandra://127.0.0.1:{server.port}/k"), connections=1, duration_s=1.0
            )


@pytest.mark.whole  # it starts two servers; MariaDB is killed in `make test`
def test_a_server_that_asks_for_passwords_is_killed_and_comes_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {
        "authenticator": "PasswordAuthenticator",
        "commitlog_sync_period": "100ms",
        **PATIENT_SETTINGS,
    }
    with CassandraServer.start(directory=tmp_path / "server", settings=settings) as server:
        place = f"127.0.0.1:{server.port}"
        for verb in ("prepare", "load"):
            error = refused(f"cassandra://cassandra:hunter2@{place}/k", capsys, verb)
            assert f"cassandra@{place}: wrong user or password" in error
        error = refused(f"cassandra://{place}/k", capsys)
        assert f"{place}: the server asks for a user and a password" in error
        error = refused(f"cassandra://{ADMIN}@{place}/k", capsys)
        assert f"{place}: there is no keyspace 'k': `plimsoll prepare` makes it" in error
        target = parse_dsn(f"cassandra://{ADMIN}@{place}/k")
        for broken, message in (
            ({"password": "hunter2"}, "incorrect .*bad_credentials"),
            ({"database": "nowhere"}, "'nowhere' does not exist"),
        ):
            with pytest.raises(Exception, match=message):
                drive(target.model_copy(update=broken), connections=1, duration_s=1.0)
        report = killed_in_mid_run(server, target, settings)
    read = report.operations["read"]
    assert report.ended == "cancelled"  # by the test, once it works again
    # what was on the wire is lost; while the server is away nothing is sent, so nothing fails
    assert set(read.errors) == {"connection_lost"}
    assert 1 <= read.errors["connection_lost"] <= 8
    assert (report.connection_report.opened, report.connection_report.replaced) == (2, 1)
    # with back-off, ten seconds away are some attempts, not thousands
    assert 0 < sum(report.connection_report.failed.values()) < 200
    succeeded = {second.second: second.succeeded for second in report.seconds}
    assert any(succeeded[second] == 0 for second in sorted(succeeded)[1:-1]), "it was away"
    assert any(succeeded[second] > 0 for second in sorted(succeeded)[-3:]), "it works again"


def killed_in_mid_run(
    server: CassandraServer, target: EngineTarget, settings: dict[str, object]
) -> LoadReport:
    """Load a server that is killed after a second, until it has been back for a while."""
    compiled = prepared(target, "ycsb-c")
    under_way, back = threading.Event(), threading.Event()
    token = plimsoll_engine.CancelToken()

    def outage() -> None:
        assert under_way.wait(60)
        server.kill()
        with CassandraServer.start(directory=server.directory, settings=settings, port=server.port):
            back.set()
            thread_over.wait(60)

    def hear(text: str) -> None:
        under_way.set()
        if back.is_set() and sum(second["succeeded"] for second in json.loads(text)) > 0:
            token.cancel()

    thread, thread_over = threading.Thread(target=outage), threading.Event()
    thread.start()
    spec = LoadSpec(
        target=target,
        workload=compiled.engine,
        connections=8,
        duration_s=240.0,
        timeout_ms=60_000,
    )
    try:
        text = plimsoll_engine.run(spec.model_dump_json(), hear, token)
    finally:
        thread_over.set()
        thread.join()
    return LoadReport.model_validate_json(text)


def test_find_makes_the_keyspaces_rows_searches_and_drops_them(
    keyspace: EngineTarget, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn = f"cassandra://{ADMIN}@{keyspace.host}:{keyspace.port}/{keyspace.database}"
    find = ["find", dsn, "--workload", "ycsb-b", "--prepare", "--records", "300", "--drop"]
    find += [*BRIEF, "--limit", "100s", "--time-limit", "10", "--json"]
    find += ["--out", str(tmp_path / "found")]
    with pytest.raises(SystemExit):
        main(find)
    result = json.loads(capsys.readouterr().out)
    assert result["rows"] == 300
    assert result["request"]["target"]["engine"] == "cassandra"
    step = result["steps"][0]["step"]
    assert step["throughput_ops_per_second"] > 0
    assert step["statements_sent"] == step["statements_served"]
    with open_datasets(keyspace) as datasets:
        assert datasets.has_place()
        assert datasets.read_notes() == {}


def test_reads_tell_their_rows_writes_do_not_and_another_session_sees_them(
    keyspace: EngineTarget,
) -> None:
    compiled = load_workload("ycsb-f").compile(RECORDS, {}, "cql")
    prepare_dataset(keyspace, compiled, connections=2)
    spec = LoadSpec(
        target=keyspace,
        workload=compiled.engine,
        connections=4,
        duration_s=120,
        operations_limit=400,
    )
    report = add_read_back(spec, send_load(spec), open_datasets)
    read, modified = (report.operations[name] for name in ("read", "read_modify_write"))
    assert (read.rows, read.rows_missing) == (read.succeeded, 0)
    assert (modified.rows, modified.rows_missing) == (None, None), "never 0"
    assert report.read_back is not None
    assert report.read_back.kept > 0
    with CassandraSession(keyspace) as session:
        session.execute(f"TRUNCATE {keyspace.database}.usertable")
    # an update makes the row that a later read finds
    gone = send_load(spec.model_copy(update={"operations_limit": 20})).operations["read"]
    assert gone.rows_missing is not None
    assert gone.rows_missing + (gone.rows or 0) == gone.succeeded
