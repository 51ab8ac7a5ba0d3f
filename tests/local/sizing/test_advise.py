"""`plimsoll advise` on real servers: their own counters, second by second."""

import json
from contextlib import closing

import pytest

import plimsoll
from plimsoll.cli.main import main
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_server import PostgresServer
from tests.local.sizing.conftest import under_load
from tests.local.sizing.test_derive import a_database
from tests.support.postgres_connection import connected


@pytest.fixture(params=["mariadb", "postgres"])
def dsn(request: pytest.FixtureRequest) -> str:
    if request.param == "mariadb":
        server: MariaDbServer = request.getfixturevalue("counting_mariadb")
        return a_database(server, "advised")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    with closing(connected(postgres)) as connection:
        connection.run("CREATE DATABASE advised")
    return f"{postgres.dsn.rpartition('/')[0]}/advised"


def test_a_server_tells_seconds_in_which_nothing_is_hidden(
    dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plimsoll.prepare(dsn, workload="ycsb-a", records=500)
    asked = ["--for", "2s", "--class", "db.m6i.large", "--size-gib", "200", "--json"]
    with under_load(dsn, "ycsb-a"), pytest.raises(SystemExit) as ended:
        main(["advise", dsn, *asked])
    answer = json.loads(capsys.readouterr().out)
    assert answer["source"] == "server"
    assert answer["period_s"] == 1
    assert answer["today"] is None
    for choice in answer["choices"]:
        assert choice["late_share_least"] == choice["late_share_most"]
    assert ended.value.code == (0 if answer["choices"] else 1)
    assert not any("bursts within" in told for told in answer["unknown"])
