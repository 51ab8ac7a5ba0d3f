"""The columns that a workload's conditions compare with numbers."""

import pytest

from plimsoll.databases.compared_types import list_compared_with_numbers
from plimsoll.workload import parse_workload

DOCUMENT = """\
about: a test
default_records: 100
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      name: {type: varchar(50), value: {text: 20}}
operations:
  one:
    weight: 1
    let:
      item: {key: item}
      code: {format: "i{}", of: [item]}
    statements:
      - {sql: "SELECT id FROM {item} WHERE name = ? LIMIT 1", binds: [code]}
      - STATEMENT
"""


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ('{sql: "SELECT name FROM {item} WHERE id = ?", binds: [item]}', ["id"]),
        ('{sql: "SELECT name FROM {item} i WHERE i.`id`=?", binds: [{key: item}]}', ["id"]),
        (
            '{sql: "SELECT 1 FROM {item} WHERE id >= ? AND name < ?", binds: [item, 5]}',
            ["id", "name"],
        ),
        ('{sql: "SELECT 1 FROM {item} WHERE id IN (?, ?)", binds: [item, item]}', ["id"]),
        ('{sql: "SELECT 1 FROM {item} WHERE id between ? AND ?", binds: [item, item]}', ["id"]),
        ('{sql: "UPDATE {item} SET name = ? WHERE id = ?", binds: [7, item]}', ["id"]),
        # texts, what is no column, and what is written
        ('{sql: "SELECT id FROM {item} WHERE name = ?", binds: [code]}', []),
        ('{sql: "SELECT id FROM {item} WHERE name = ?", binds: [{text: 9}]}', []),
        ('{sql: "SELECT id FROM {item} WHERE 1 = ? LIMIT ?", binds: [item, item]}', []),
        ('{sql: "INSERT INTO {item} (id, name) VALUES (?, ?)", binds: [item, 7]}', []),
    ],
)
def test_a_column_beside_a_number_is_found(statement: str, columns: list[str]) -> None:
    workload = parse_workload(DOCUMENT.replace("STATEMENT", statement))
    (operation,) = workload.compile(None, {}, "mysql").engine.operations
    found = list(list_compared_with_numbers(operation))
    assert [column for column, _ in found] == columns
    assert all("`item`" in sql for _, sql in found)
