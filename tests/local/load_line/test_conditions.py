"""A workload's conditions are checked on real servers after `find` and `load`."""

import json
from collections.abc import Callable
from pathlib import Path

from plimsoll.databases.conditions import audit_conditions, check_conditions
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.results import RunResult
from plimsoll.workload import parse_workload
from tests.support.command import BRIEF, Output

WORKLOAD = """
about: counts down
default_records: 200
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      n: {type: int, value: 0}
operations:
  take:
    weight: 1
    statements:
      - {sql: "UPDATE {item} SET n = n - 1 WHERE id = ?", binds: [{key: item}]}
  look:  # mostly, so that no step waits until the log fills
    weight: 300
    statements: [{sql: "SELECT n FROM {item} WHERE id = ?", binds: [{key: item}]}]
conditions:
  all: {about: all rows are there, sql: "SELECT COUNT(*) - 200 FROM {item}"}
  some: {about: some are left, sql: "SELECT COUNT(*) FROM {item} WHERE n < 0"}
"""
LONG = """
  long: {about: all of 200 to the sixth, sql: "SELECT COUNT(*) FROM {item} AS a JOIN {item} AS b
    ON a.n <= b.n JOIN {item} AS c ON b.n <= c.n JOIN {item} AS d ON c.n <= d.n
    JOIN {item} AS e ON d.n <= e.n JOIN {item} AS f ON e.n <= f.n"}
  last: {about: nothing, sql: "SELECT COUNT(*) FROM {item} WHERE n > 0"}
"""


def test_the_server_ends_a_condition_that_takes_too_long(target: EngineTarget) -> None:
    short = parse_workload(WORKLOAD).compile(None, {}, target.protocol)
    prepare_dataset(target, short, connections=1)
    assert [(one.name, one.breaches) for one in check_conditions(target, short)] == [
        ("all", 0),
        ("some", 0),
    ]
    text = (
        WORKLOAD.partition("conditions:")[0] + "conditions:" + LONG
    )  # alone: nothing else is late
    compiled = parse_workload(text).compile(None, {}, target.protocol)
    found = audit_conditions(target, compiled, longest_s=1.5)
    assert [(one.name, one.breaches) for one in found] == [("long", None), ("last", None)]
    assert {one.unknown for one in found} == {"not done when 1.5 s had passed"}
    assert [one.breaches for one in check_conditions(target, short)] == [0, 0]


def test_a_condition_that_the_load_breaks_disputes_its_answer(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    workload = tmp_path / "taking.yaml"
    workload.write_text(WORKLOAD)
    find = ["find", fresh_database, "--workload", str(workload), "--prepare", *BRIEF]
    find += ["--limit", "2s", "--statistic", "mean"]
    code, text, err = plimsoll(*find, "--json", "--out", str(tmp_path / "found"))
    assert code == 3
    assert "checking 2 conditions of taking on all rows, for 5 min at most" in err
    result = RunResult.model_validate_json(text)
    assert [(one.name, one.breaches == 0) for one in result.conditions] == [
        ("all", True),
        ("some", False),
    ]
    assert result.capacity is not None
    assert result.capacity.verdict == "INCONSISTENT"
    assert "the rows break some (some are left; " in result.capacity.summary
    assert "the rows break some" in (tmp_path / "found" / "report.html").read_text()
    load = ["load", "--dsn", fresh_database, "--workload", str(workload), "--connections", "1"]
    load += ["--warmup", "0", "--duration", "0.5"]
    code, text, _ = plimsoll(*load)
    assert code == 0
    assert text.startswith("this load does not count: the rows break some (some are left; ")
    assert "1 of 2 conditions of the workload hold on all rows after the last step" in text
    code, text, _ = plimsoll(*load, "--no-conditions", "--json")
    assert json.loads(text)["conditions"] == []
    find += ["--without-audit", "conditions"]
    code, text, _ = plimsoll(*find, "--json", "--out", str(tmp_path / "without"))
    result = RunResult.model_validate_json(text)
    assert result.conditions == ()
    assert result.capacity is not None
    assert "rows break" not in result.capacity.summary
    assert result.capacity.cause != "audit:conditions"
