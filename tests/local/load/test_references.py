"""Foreign keys on real servers: made after the rows, and dropped with the tables."""

import pytest

from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload import Compiled, parse_workload
from tests.local.load.test_logic import read

# the table with the keys is loaded first
WORKLOAD = """
about: a test
tables:
  sale:
    rows: $records
    primary_key: [id]
    references:
      of_shop: {table: shop, columns: [shop]}
      of_other: {table: sale, columns: [other]}
    columns:
      id: {type: int, value: row}
      shop: {type: int, value: row}
      other: {type: int, value: {expr: $records - 1 - row}}
  shop:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: int, value: row}
operations:
  do: {weight: 1, statements: [{sql: "SELECT id FROM {sale} WHERE id = 1"}]}
"""


def compiled(target: EngineTarget, records: int) -> Compiled:
    return parse_workload(WORKLOAD).compile(records, {}, target.protocol)


def test_rows_are_loaded_in_any_order_and_the_server_keeps_the_keys(target: EngineTarget) -> None:
    prepare_dataset(target, compiled(target, 100), connections=2)
    with find_family(target.protocol).open_datasets(target) as datasets:
        sale = compiled(target, 100).tables[0]
        keys = {"sale_of_shop", "sale_of_other"}
        assert datasets._references_of(sale) == keys  # type: ignore[attr-defined]
        for change in ("DELETE FROM shop WHERE id = 7", "UPDATE sale SET shop = 100 WHERE id = 7"):
            with pytest.raises(PlimsollError, match="foreign key"):
                datasets._execute(change)  # type: ignore[attr-defined]
        more = compiled(target, 300)
        assert prepare_dataset(target, more, connections=2).inserted_rows == 400
        assert datasets._references_of(sale) == keys  # type: ignore[attr-defined]
        assert prepare_dataset(target, more, connections=2).sent_rows == 0
        datasets.drop(more)
        assert not datasets._table_exists("shop")  # type: ignore[attr-defined]


def test_rows_that_break_a_key_are_named(target: EngineTarget) -> None:
    text = WORKLOAD.replace("value: row}\n      other", "value: 999}\n      other")
    workload = parse_workload(text)
    with pytest.raises(PlimsollError, match="foreign key"):
        prepare_dataset(target, workload.compile(100, {}, target.protocol), connections=2)
    assert read(target, "SELECT COUNT(*) FROM sale") == 100
