"""Which rows a search may draw from, and what it may do with the user's own."""

from collections.abc import Mapping

import pytest

from plimsoll.complaints import Scalar
from plimsoll.databases.dataset_notes import DatasetNote
from plimsoll.errors import UsageError
from plimsoll.load_line.dataset import Found, is_complete, require_harmless
from plimsoll.workload import parse_workload
from plimsoll.workload.library import load_workload

ORDERS = """
about: "-"
tables:
  orders:
    rows: $records
    primary_key: [id]
    columns:
      id: {{type: int, value: row}}
operations:
  look:
    weight: 1
    statements:
      - {{sql: "{}", binds: [{{key: orders}}]}}
"""


def found(records: int, parameters: Mapping[str, Scalar], loaded: int) -> Found:
    """A dataset of sysbench with a note of it, where a thousand rows are asked for."""
    compiled = load_workload("sysbench-oltp-read-only").compile(1000)
    rows = {table.name: loaded for table in compiled.tables}
    return Found("-", compiled, {}, DatasetNote(records, dict(parameters), 0, rows))


def test_a_dataset_is_complete_with_its_rows_and_its_own_parameters() -> None:
    own = found(1000, {}, 0).compiled.dataset_parameters
    assert own
    other = {**own, next(iter(own)): 77}
    assert is_complete(found(1000, own, 1000))
    assert not is_complete(found(1000, own, 999))
    assert not is_complete(found(1000, other, 1000))


@pytest.mark.parametrize(
    ("sql", "harmless"),
    [
        ("SELECT id FROM {orders} WHERE id = ?", True),
        ("SELECT id FROM {orders} WHERE id = ? FOR UPDATE", False),
        (
            "(SELECT id FROM {orders} WHERE id = ? FOR UPDATE) UNION (SELECT id FROM {orders})",
            False,
        ),
        ("SELECT id FROM {orders} WHERE id = ? LOCK IN SHARE MODE", False),
        ("SELECT id FROM {orders} WHERE id = ? FOR SHARE", False),
        ("UPDATE {orders} SET id = id WHERE id = ?", False),
    ],
)
def test_rows_of_the_users_own_are_read_without_locks(sql: str, harmless: bool) -> None:
    text = ORDERS.replace("{{", "{").replace("}}", "}").replace("{}", sql)
    compiled = parse_workload(text, source="orders.yaml").compile(10)
    theirs = Found("-", compiled, {}, None)
    require_harmless(theirs, allow_writes=True)
    if harmless:
        require_harmless(theirs, allow_writes=False)
        return
    with pytest.raises(UsageError, match="look would change rows that Plimsoll did not make"):
        require_harmless(theirs, allow_writes=False)
