"""A dataset is found again under another name of its workload's file, and told from others."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.databases.family import find_family
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.errors import PlimsollError
from plimsoll.load_line.dataset import look, require_harmless
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload import Workload, parse_workload
from tests.support.command import Output

SHOP = """\
about: Pays orders.
tables:
  orders:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      paid: {type: int, value: 0}
operations:
  pay:
    weight: 1
    statements:
      - {sql: "UPDATE {orders} SET paid = paid + 1 WHERE id = ?", binds: [{key: orders}]}
"""
CUSTOMERS = SHOP.replace("orders", "customers")
OTHER_ORDERS = SHOP.replace("paid", "total")


def read_as(name: str, text: str = SHOP) -> Workload:
    return parse_workload(text, source=f"{name}.yaml")


def prepare(target: EngineTarget, workload: Workload, records: int) -> dict[str, int]:
    compiled = workload.compile(records, {}, target.protocol)
    return prepare_dataset(target, compiled, connections=2).counted_rows


def test_a_renamed_file_means_the_same_dataset(target: EngineTarget) -> None:
    prepare(target, read_as("shop"), 100)
    found = look(target, read_as("webshop"), None, {})
    assert found.note is not None
    assert found.compiled.records == 100
    require_harmless(found, allow_writes=False)
    assert prepare(target, read_as("webshop"), 150) == {"orders": 150}
    with find_family(target.protocol).open_datasets(target) as datasets:
        assert [*datasets.read_notes()] == ["shop"]
        datasets.drop(found.compiled)
        assert datasets.read_notes() == {}


def test_a_file_renamed_before_its_rows_were_complete_means_the_same(target: EngineTarget) -> None:
    with find_family(target.protocol).open_datasets(target) as datasets:
        datasets.create_tables(read_as("shop").compile(100, {}, target.protocol))
    assert prepare(target, read_as("webshop"), 100) == {"orders": 100}


def test_a_second_dataset_lies_beside_the_first(target: EngineTarget) -> None:
    prepare(target, read_as("shop"), 100)
    assert look(target, read_as("customers", CUSTOMERS), 10, {}).note is None
    assert prepare(target, read_as("customers", CUSTOMERS), 50) == {"customers": 50}
    for name, text, records in (("shop", SHOP, 100), ("customers", CUSTOMERS, 50)):
        note = look(target, read_as(name, text), None, {}).note
        assert note is not None
        assert note.records == records
    with find_family(target.protocol).open_datasets(target) as datasets:
        datasets.drop(read_as("customers", CUSTOMERS).compile(50, {}, target.protocol))
        assert [*datasets.read_notes()] == ["shop"]


def test_a_table_of_another_dataset_is_named_as_that(target: EngineTarget) -> None:
    prepare(target, read_as("shop"), 100)
    with pytest.raises(PlimsollError, match="the table orders belongs to the dataset shop, which"):
        prepare(target, read_as("other", OTHER_ORDERS), 100)


def test_the_commands_go_on_after_a_file_is_renamed(
    plimsoll: Callable[..., Output], fresh_database: str, tmp_path: Path
) -> None:
    old, new = tmp_path / "shop.yaml", tmp_path / "webshop.yaml"
    old.write_text(SHOP)
    prepare_it = ["prepare", "--dsn", fresh_database, "--records", "100"]
    code, _, err = plimsoll(*prepare_it, "--workload", str(old))
    assert code == 0, err
    old.rename(new)
    code, out, err = plimsoll(
        *["load", "--dsn", fresh_database, "--workload", str(new), "--connections", "1"],
        *["--warmup", "0", "--duration", "1", "--json"],
    )
    assert code == 0, err
    assert json.loads(out)["records"] == 100
    code, out, err = plimsoll(*prepare_it, "--workload", str(new))
    assert code == 0, err
    assert "complete already" in out
