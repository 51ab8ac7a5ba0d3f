"""What sets the limit of a database that is there already: `plimsoll find` on a real MariaDB."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.limiting.processors import NEAR
from plimsoll.limiting.server import WAITED
from plimsoll.load_line import machine
from plimsoll.machine import CpuTimes, cpu_times
from plimsoll.model.run.results import LimitingResource, RunResult
from tests.support.mariadb_connection import Connection

HOT_ROWS = """
about: Sells four articles that everybody wants.
tables:
  article:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      sold: {type: int, value: 0}
operations:
  sell:
    weight: 1
    transaction: true
    let: {id: {key: article}}
    statements:
      - {sql: "UPDATE {article} SET sold = sold + 1 WHERE id = ?", binds: [id]}
      - {sql: "SELECT sold FROM {article} WHERE id = ?", binds: [id]}
"""
ADD_UP = """
about: Adds up what was sold.
tables:
  article:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      sold: {type: int, value: 0}
operations:
  add_up:
    weight: 1
    statements:
      - {sql: "SELECT SUM(sold), MAX(MD5(sold)) FROM {article} WHERE id >= 0"}
"""
Find = Callable[[str, int, str], LimitingResource]


@pytest.fixture(autouse=True)
def on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine as it is with the processors that others leave: they are not what is asked."""

    def without_others(ours: Collection[int], servers: Collection[int]) -> CpuTimes | None:
        seen = cpu_times(ours, servers=servers)
        if seen is None:
            return None
        total = seen.total - seen.others - seen.stolen
        return replace(seen, total=total, stolen=0, others=0)

    monkeypatch.setattr(machine, "cpu_times", without_others)


@pytest.fixture
def find(fresh_database: str, connection: Connection, tmp_path: Path) -> Find:
    """Find the line of articles with a workload of the user's own, after statements of theirs."""

    def call(workload: str, articles: int, statement: str) -> LimitingResource:
        name = fresh_database.rpartition("/")[2]
        with connection.cursor() as cursor:
            cursor.execute(f"USE {name}")
            cursor.execute("CREATE TABLE article (id INT PRIMARY KEY, sold INT)")
            cursor.execute(f"INSERT INTO article SELECT seq, 0 FROM mysql.seq_0_to_{articles - 1}")
            if statement:
                cursor.execute(statement)
        (tmp_path / "mine.yaml").write_text(workload)
        arguments = ["find", fresh_database, "--workload", str(tmp_path / "mine.yaml"), "--quick"]
        arguments += ["--records", f"{articles}", "--allow-writes", "--warm", "1"]
        arguments += ["--out", str(tmp_path / "found")]
        with pytest.raises(SystemExit):
            main(arguments)
        result = RunResult.model_validate_json((tmp_path / "found/result.json").read_text())
        assert result.capacity is not None
        assert result.limiting is not None
        # else (NOISY) it is named as the nearest
        met = result.capacity.verdict in {"KNEE", "PLATEAU"}
        assert result.limiting.reached is met, result.capacity.summary
        return result.limiting

    return call


# beside others the search may find no limit at all; planted row locks are named in `make test`
@pytest.mark.alone
@pytest.mark.whole
def test_four_hot_rows_behind_a_lock_are_found_as_row_locks(
    find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trigger of the user's own takes 5 ms, during which the row is locked; no processor does."""
    monkeypatch.setattr(machine, "servers", lambda *_: set())  # nor is its server seen
    limiting = find(
        HOT_ROWS, 4, "CREATE TRIGGER slow AFTER UPDATE ON article FOR EACH ROW DO SLEEP(0.005)"
    )
    assert limiting.resource == "row_locks", limiting.evidence
    assert limiting.share is not None
    assert limiting.share >= WAITED
    assert limiting.evidence[0].startswith("row locks: ")
    assert "of the time that the load added to them" in limiting.evidence[0]


@pytest.mark.whole  # in `make test`, limiting/test_planted_bottlenecks.py names the CPU
@pytest.mark.alone  # a server can be at the limit of its processors only where it has them
def test_the_processor_of_a_server_on_this_machine_is_seen_and_named(find: Find) -> None:
    limiting = find(ADD_UP, 3_000, "")
    assert limiting.resource == "cpu", limiting.evidence
    assert limiting.share is not None
    assert limiting.share >= NEAR
    assert limiting.evidence[0].startswith("cpu: ")
