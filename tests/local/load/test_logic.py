"""Operations with logic on real servers: results, branches, loops, rollbacks, tries, pauses."""

from typing import Any

import pytest

from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.workflow.client import send_load
from plimsoll.workload import Compiled, parse_workload

LOOKS = """
about: looks at rows, and writes down what it saw
default_records: 60
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      n: {type: bigint, value: {expr: row * 7 - 100}}
      s: {type: varchar(9), value: {format: "s{}", of: [{expr: row % 3}]}}
      maybe:
        type: smallint
        nullable: true
        value: {if: row % 2 = 0, then: {expr: row}, else: null}
      d: {type: "decimal(6,2)", value: {decimal: {expr: row * 101}, scale: 2}}
      wide: {type: varchar(2000), value: {text: 2000}}
  seen:
    rows: 0
    primary_key: []
    columns:
      seen_id: {type: int, value: row}
      seen_n: {type: bigint, value: 0}
      seen_s: {type: varchar(9), value: {literal: x}}
      seen_maybe: {type: smallint, nullable: true, value: null}
      seen_d: {type: "decimal(6,2)", value: {literal: "0.00"}}
      turn_number: {type: int, value: 0}
      turns: {type: int, value: 0}
operations:
  look:
    weight: 1
    transaction: true
    let:
      id: {key: item}
      turns: {integer: [2, 4]}
      rest: {expr: turns - 1}
    statements:
      - sql: SELECT n, s, maybe, d, wide FROM {item} WHERE id = ?
        binds: [id]
        returns: {n: int, s: text, maybe: int, d: text}
      - repeat: rest
        turn: number
        let: {next: {expr: number + 1}}
        statements:
          - sql: &write >-
              INSERT INTO {seen}
              (seen_id, seen_n, seen_s, seen_maybe, seen_d, turn_number, turns)
              VALUES (?, ?, ?, ?, ?, ?, ?)
            binds: [id, n, s, maybe, d, next, turns]
      - if: s = 's1'
        statements: [{rollback: true}]
      - sql: SELECT n FROM {item} WHERE id = ?
        binds: [-1]
        rows: 0
        returns: {gone: int}
      - if: gone is null
        statements:
          - sql: *write
            binds: [id, n, s, maybe, d, 1, turns]
        else:
          - sql: *write
            binds: [id, n, s, maybe, d, 1000, turns]
"""

TRIES = """
about: a write that the server refuses at first
default_records: 1
tables:
  written:
    rows: 0
    primary_key: []
    columns:
      a: {type: int, value: 0}
      b: {type: varchar(20), value: {text: 20, alphabet: alphanumeric}}
operations:
  write:
    weight: 1
    transaction: true
    max_tries: TRIES
    let: {a: {integer: [1, 1000000]}}
    statements:
      - sql: INSERT INTO {written} (a, b) VALUES (?, ?)
        binds: [a, {text: 20, alphabet: alphanumeric}]
"""
REFUSING = {
    "mysql": """
CREATE SEQUENCE tries;
CREATE TRIGGER refuse BEFORE INSERT ON written FOR EACH ROW
IF NEXTVAL(tries) <= 2 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213@ END IF
""",
    "postgres": """
CREATE SEQUENCE tries;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF nextval('tries') <= 2 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'@ END IF@
RETURN NEW@ END $$;
CREATE TRIGGER refuse BEFORE INSERT ON written FOR EACH ROW EXECUTE FUNCTION refuse()
""",
}


def prepared(target: EngineTarget, text: str) -> Compiled:
    compiled = parse_workload(text).compile(None, {}, target.protocol)
    prepare_dataset(target, compiled, connections=2)
    return compiled


def send(target: EngineTarget, compiled: Compiled, operations: int, **spec: Any) -> LoadReport:
    """Send a workload's operations, as a client of a step does."""
    return send_load(
        LoadSpec(
            target=target,
            workload=compiled.engine,
            duration_s=120,
            operations_limit=operations,
            **{"connections": 4, **spec},
        )
    )


def read(target: EngineTarget, query: str) -> int:
    with find_family(target.protocol).open_datasets(target) as datasets:
        return datasets.read_number(query)  # type: ignore[attr-defined, no-any-return]


def execute(target: EngineTarget, statements: str) -> None:
    """Send statements with ; between them, and @ for one inside."""
    with find_family(target.protocol).open_datasets(target) as datasets:
        for statement in statements.split(";"):
            datasets._execute(statement.replace("@", ";").strip())  # type: ignore[attr-defined]


@pytest.mark.parametrize("target", ["postgres"], indirect=True)
def test_what_a_statement_returns_is_sent_without_prepared_statements(target: EngineTarget) -> None:
    simple = target.model_copy(update={"statement_mode": "simple"})
    test_what_a_statement_returns_is_what_later_ones_send(simple)


def test_what_a_statement_returns_is_what_later_ones_send(target: EngineTarget) -> None:
    compiled = prepared(target, LOOKS)
    look = send(target, compiled, 400).operations["look"]
    assert (look.succeeded, look.errors, look.rows_missing) == (400, {}, 0)
    kept = look.succeeded - look.rolled_back
    assert 0 < look.rolled_back < 400
    wrong = (
        "SELECT COUNT(*) FROM seen WHERE seen_n <> seen_id * 7 - 100"
        " OR seen_s <> CONCAT('s', MOD(seen_id, 3)) OR seen_s = 's1'"
        " OR (MOD(seen_id, 2) = 0 AND (seen_maybe IS NULL OR seen_maybe <> seen_id))"
        " OR (MOD(seen_id, 2) = 1 AND seen_maybe IS NOT NULL) OR seen_d <> seen_id * 1.01"
        " OR turn_number > turns"
    )
    assert read(target, wrong) == 0
    assert read(target, "SELECT COUNT(*) FROM seen WHERE turn_number = 1") == kept
    rows = read(target, "SELECT COUNT(*) FROM seen")
    assert rows == read(target, "SELECT SUM(turns) FROM seen WHERE turn_number = 1")
    assert read(target, "SELECT COUNT(DISTINCT turns) FROM seen") == 3


def test_a_deadlock_is_tried_again_with_the_same_draws_and_counted_apart(
    target: EngineTarget,
) -> None:
    code = {"mysql": "1213", "postgres": "40001", "cql": ""}[target.protocol]
    compiled = prepared(target, TRIES.replace("TRIES", "3"))
    drawn = "SELECT COUNT(DISTINCT CONCAT(a, b)) FROM written"
    plain = send(target, compiled, 1, connections=1, seed=7)
    assert plain.operations["write"].retries == {}
    execute(target, REFUSING[target.protocol])
    again = send(target, compiled, 1, connections=1, seed=7).operations["write"]
    assert (again.succeeded, again.errors, again.retries) == (1, {}, {code: 2})
    assert (read(target, drawn), read(target, "SELECT COUNT(*) FROM written")) == (1, 2)


def test_what_fails_too_often_has_failed(target: EngineTarget) -> None:
    code = {"mysql": "1213", "postgres": "40001", "cql": ""}[target.protocol]
    compiled = prepared(target, TRIES.replace("TRIES", "2"))
    execute(target, REFUSING[target.protocol])
    failed = send(target, compiled, 1, connections=1).operations["write"]
    assert (failed.succeeded, failed.errors, failed.retries) == (0, {code: 1}, {code: 1})


def test_each_statement_has_its_latency_if_it_is_asked_for(target: EngineTarget) -> None:
    compiled = prepared(target, LOOKS)
    assert send(target, compiled, 10).operations["look"].statements == ()
    look = send(target, compiled, 100, statement_latencies=True).operations["look"]
    executed = [one.executed for one in look.statements]
    first, writes, gone, written, never, begin, commit = executed
    assert (first, begin, never) == (100, 100, 0)
    assert gone == written == commit == 100 - look.rolled_back
    assert 100 <= writes <= 300
    assert [one.sql for one in look.statements[-2:]] == ["BEGIN", "COMMIT"]
    assert all(one.latency_us.p50 for one in look.statements if one.executed)


def test_keying_times_pass_before_operations_in_a_closed_loop_alone(target: EngineTarget) -> None:
    compiled = prepared(target, TRIES.replace("TRIES", "1\n    keying_s: 0.2"))
    report = send(target, compiled, 4, connections=2)
    assert report.operations["write"].succeeded == 4
    assert report.window_s >= 0.4
    latency = report.operations["write"].latency_us
    assert latency.max is not None
