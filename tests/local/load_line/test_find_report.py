"""The report of `find` names what was measured, and its command does it again in that folder."""

import re
import shlex
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plimsoll.databases.mysql.session import connect, execute
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.run.results import RunResult
from tests.support.command import BRIEF, Output

ORDERS = """\
about: Reads orders.
tables:
  orders:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
operations:
  read:
    weight: 1
    statements:
      - {sql: "SELECT id FROM {orders} WHERE id = ?", binds: [{key: orders}]}
"""


@pytest.mark.parametrize(
    # test_find.py makes rows, searches and has a report
    "own",
    [pytest.param(False, marks=pytest.mark.whole), True],
    ids=["made", "own tables"],
)
def test_the_report_speaks_of_the_database_and_its_command_works(
    plimsoll: Callable[..., Output],
    fresh_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    own: bool,
) -> None:
    target = parse_dsn(fresh_database)
    workload = tmp_path / "orders.yaml"
    workload.write_text(ORDERS)
    rows = ["--prepare", "--records", "200"]
    if own:
        rows = ["--records", "200"]
        with closing(connect(target)) as connection:
            execute(connection, "CREATE TABLE orders (id BIGINT PRIMARY KEY)")
            execute(connection, "INSERT INTO orders SELECT seq FROM mysql.seq_0_to_199")
    found = tmp_path / "found"
    dsn = re.sub("^[a-z]+:", "mysql:", fresh_database)
    find = ["find", dsn, "--workload", str(workload), *rows, *BRIEF, "--limit", "10s"]
    code, _, err = plimsoll(*find, "--out", str(found))
    assert code in {0, 3}, err
    report = (found / "report.html").read_text()
    assert "emulated volume" not in report
    assert "CloudWatch" not in report
    assert f"MariaDB at {target.host}:{target.port}" in report
    assert "MySQL at" not in report
    assert "an existing database, loaded from one machine" in report
    (command,) = re.findall("^plimsoll (run .*)$", report, re.MULTILINE)
    monkeypatch.chdir(found)
    monkeypatch.setenv("PLIMSOLL_USER", target.user)
    monkeypatch.setenv("PLIMSOLL_PASSWORD", target.password)
    code, _, err = plimsoll(*shlex.split(command))
    assert code in {0, 3}, err
    again = RunResult.model_validate_json((found / "again/result.json").read_text())
    assert again.request.workload.records == 200
    code, out, err = plimsoll("compare", ".", "again")
    assert code == 0, out + err
