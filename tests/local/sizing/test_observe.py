"""`plimsoll observe` on real servers that are under load."""

import json
from contextlib import closing
from pathlib import Path

import pytest
import yaml

import plimsoll
from plimsoll.cli.main import main
from plimsoll.cli.observing import observe
from plimsoll.databases.postgres import session
from plimsoll.errors import UsageError
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.sizing.production import Observation
from tests.local.sizing.conftest import under_load
from tests.local.sizing.test_derive import a_database
from tests.support.synthetic_run import synthetic_run


def test_a_mariadb_under_load_tells_its_rates_and_what_an_operation_takes(
    counting_mariadb: MariaDbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn = a_database(counting_mariadb, "watched")
    plimsoll.prepare(dsn, workload="ycsb-a", records=2000)
    with under_load(dsn, "ycsb-a"):
        assert observe(dsn, "2s", None, json=True) == 0
    seen = Observation.model_validate_json(capsys.readouterr().out)
    rates = seen.rates
    assert rates.operations
    assert rates.iops
    assert rates.log_flushes
    assert rates.operations.mean > 50
    assert sum(one.share for one in seen.operations) == pytest.approx(1)
    assert {one.name for one in seen.operations} == {
        "select_usertable_by_ycsb_key",
        "update_usertable_by_ycsb_key",
    }
    assert seen.demand
    assert seen.demand.ios is not None
    assert 0 < seen.demand.ios < 5
    assert seen.demand.log_flushes is not None
    assert seen.demand.log_flushes <= 0.75  # at most one for each update, which are half


def test_production_is_held_against_a_run_of_its_derived_workload(
    counting_mariadb: MariaDbServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn, path = a_database(counting_mariadb, "production"), tmp_path / "mine.yaml"
    plimsoll.prepare(dsn, workload="ycsb-b", records=2000)
    with under_load(dsn, "ycsb-b", connections=1):
        with pytest.raises(SystemExit) as ended:
            main(["workload", "derive", dsn, "--for", "2s", "--writes", "--out", str(path)])
        assert not ended.value.code
        result, _ = synthetic_run()
        choice = WorkloadChoice(definition=yaml.safe_load(path.read_text()), records=2000)
        request = result.request.model_copy(update={"workload": choice})
        finished = result.model_copy(update={"request": request})
        (tmp_path / "result.json").write_text(finished.model_dump_json())
        capsys.readouterr()
        observe(dsn, "2s", tmp_path, json=False)
    text = capsys.readouterr().out
    assert "of its load line, at its peak at" in text
    assert f"in the run {result.run_id})" in text
    assert "guesses which rows are asked for" in text
    assert "measured, not predicted" in text


def test_a_postgresql_tells_what_surely_reached_its_storage(
    postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn = postgres.dsn
    with closing(session.connect(parse_dsn(dsn))) as connection:
        session.execute(connection, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        session.execute(connection, "CREATE DATABASE watched")
    dsn = f"{dsn.rpartition('/')[0]}/watched"
    with closing(session.connect(parse_dsn(dsn))) as connection:
        session.execute(connection, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
    plimsoll.prepare(dsn, workload="ycsb-a", records=1000)
    with under_load(dsn, "ycsb-a"):
        observe(dsn, "2s", None, json=True)
    seen = json.loads(capsys.readouterr().out)
    assert seen["rates"]["operations"]["mean"] > 20
    assert seen["rates"]["log_flushes"]["mean"] > 1
    assert seen["rates"]["read_iops"] is None
    assert any("the operating system's cache may have served reads" in n for n in seen["notes"])


def test_a_database_without_load_has_rates_and_no_operations(
    counting_mariadb: MariaDbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    observe(a_database(counting_mariadb, "idle"), "6s", None, json=True)
    seen = json.loads(capsys.readouterr().out)
    assert seen["rates"]["iops"] is not None
    assert seen["rates"]["operations"] is None
    assert seen["demand"] is None
    assert seen["rates"]["statements"]["mean"] == 0  # what is asked to observe it is no load
    assert any("no statement of which a workload can be made" in note for note in seen["notes"])


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(UsageError, match=r"rds://INSTANCE"):
        observe("somewhere", "1s", None, json=True)
    with pytest.raises(UsageError, match="--for: 'soon' is not a length of time"):
        observe("mysql://u@127.0.0.1:1/d", "soon", None, json=True)
