"""Lists of drawn lines on real servers: what is drawn once, and sent in one statement."""

import pytest

from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.workflow.client import send_load
from plimsoll.workload import parse_workload

# Of the numbers that a line may have, those above 20 are no row's
ORDERS = """
about: draws lines, looks for their rows, and writes down what it saw
default_records: 20
tables:
  item:
    rows: $records
    first: 1
    primary_key: [id]
    columns:
      id: {type: int, value: row}
      n: {type: bigint, value: {expr: row * 7 - 100}}
      s: {type: varchar(9), value: {format: "s{}", of: [row]}}
  seen:
    rows: 0
    primary_key: []
    columns:
      batch: {type: int, value: row}
      count_of: {type: int, value: 0}
      number: {type: int, value: 0}
      seen_id: {type: int, value: 0}
      seen_n: {type: bigint, nullable: true, value: 0}
      seen_s: {type: varchar(9), nullable: true, value: {literal: x}}
      again: {type: bigint, nullable: true, value: 0}
operations:
  order:
    weight: 1
    transaction: true
    let:
      batch: {integer: [1, 1000000000]}
      many: {integer: [2, 6]}
    lists:
      line:
        count: many
        key: id
        let: {id: {integer: [1, 30]}}
    statements:
      - each: line
        sql: SELECT id, n, s FROM {item} WHERE id > ? AND id IN ({?, ...})
        binds: [0, id]
        rows: 0..1
        returns: {id: int, n: int, s: text}
      - each: line
        statements:
          - sql: SELECT n FROM {item} WHERE id = ?
            binds: [id]
            rows: 0..1
            returns: {again: int}
          - if: line = 6 and n is null
            statements: [{rollback: true}]
      - each: line
        sql: >-
          INSERT INTO {seen} (batch, count_of, number, seen_id, seen_n, seen_s, again)
          VALUES {(?, ?, ?, ?, ?, ?, ?), ...}
        binds: [batch, many, line, id, n, s, again]
"""


def test_what_is_drawn_for_lines_is_sent_and_returned_together(target: EngineTarget) -> None:
    compiled = parse_workload(ORDERS).compile(None, {}, target.protocol)
    prepare_dataset(target, compiled, connections=2)
    report = send_load(
        LoadSpec(
            target=target,
            workload=compiled.engine,
            connections=4,
            duration_s=120,
            operations_limit=400,
        )
    )
    order = report.operations["order"]
    assert (order.succeeded, order.errors, order.rows_missing) == (400, {}, 0)
    assert 0 < order.rolled_back < 200

    def read(query: str) -> int:
        with find_family(target.protocol).open_datasets(target) as datasets:
            return datasets.read_number(query)  # type: ignore[attr-defined, no-any-return]

    batches = (
        "SELECT batch, COUNT(*) AS found, MAX(number) AS last, MAX(count_of) AS meant FROM seen"
        " GROUP BY batch"
    )
    assert read(f"SELECT COUNT(*) FROM ({batches}) AS b") == 400 - order.rolled_back
    assert read(f"SELECT COUNT(*) FROM ({batches}) AS b WHERE found <> last OR found <> meant") == 0
    for count in range(2, 7):
        assert read(f"SELECT COUNT(*) FROM ({batches}) AS b WHERE found = {count}") > 0
    wrong = (
        "SELECT COUNT(*) FROM seen WHERE (seen_id > 20) <> (seen_n IS NULL)"
        " OR (seen_id > 20) <> (seen_s IS NULL) OR (seen_id > 20) <> (again IS NULL)"
        " OR seen_n <> seen_id * 7 - 100 OR seen_s <> CONCAT('s', seen_id) OR again <> seen_n"
    )
    assert read(wrong) == 0
    assert read("SELECT COUNT(*) FROM seen WHERE seen_id > 20") > 0
    disordered = (
        "SELECT COUNT(*) FROM seen AS a JOIN seen AS b ON b.batch = a.batch"
        " AND b.number = a.number + 1 WHERE b.seen_id <= a.seen_id"
    )
    assert read(disordered) == 0


@pytest.mark.parametrize("target", ["postgres"], indirect=True)
def test_lines_are_sent_together_without_prepared_statements(target: EngineTarget) -> None:
    simple = target.model_copy(update={"statement_mode": "simple"})
    test_what_is_drawn_for_lines_is_sent_and_returned_together(simple)
