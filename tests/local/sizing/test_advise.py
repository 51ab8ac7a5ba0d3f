"""`plimsoll advise` on a real server: its own counters, second by second."""

import json

import pytest

import plimsoll
from plimsoll.cli.main import main
from plimsoll.local.databases.mariadb_server import MariaDbServer
from tests.local.sizing.conftest import under_load
from tests.local.sizing.test_derive import a_database


def test_a_server_tells_seconds_in_which_nothing_is_hidden(
    counting_mariadb: MariaDbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    dsn = a_database(counting_mariadb, "advised")
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
