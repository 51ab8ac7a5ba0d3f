"""What docs/workloads.md and docs/workload-files.md show is so."""

import re
from pathlib import Path

from plimsoll.model.engine.asked import Protocol
from plimsoll.workload import list_builtin_names, parse_workload
from plimsoll.workload.distributions import KINDS

DOCS = Path(__file__).parents[3] / "docs"
BUILT_IN = (DOCS / "workloads.md").read_text()
FORMAT = (DOCS / "workload-files.md").read_text()


def test_the_example_is_a_sound_workload() -> None:
    example, *_ = re.findall(r"```yaml\n(.*?)```", FORMAT, re.DOTALL)
    compiled = parse_workload(example).compile(10, {"width": 30})
    assert [operation.name for operation in compiled.engine.operations] == ["read", "rename"]


def test_the_example_with_logic_is_sound_with_its_tables() -> None:
    tables = """
about: orders of items
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      stock: {type: int, value: 9}
      name: {type: varchar(20), value: {text: 20}}
  line:
    rows: 0
    primary_key: []
    columns:
      item: {type: bigint, value: row}
      number: {type: int, value: 1}
      amount: {type: int, value: 1}
"""
    *_, example, _, _ = re.findall(r"```yaml\n(.*?)```", FORMAT, re.DOTALL)
    (order,) = parse_workload(tables + example).compile(10).engine.operations
    assert [step.kind for step in order.steps] == ["send", "if", "repeat"]


def test_the_example_with_a_list_is_sound_with_its_tables() -> None:
    tables = """
about: sales of items
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      stock: {type: int, value: 9}
      price: {type: "decimal(5,2)", value: {literal: "1.00"}}
  sale:
    rows: 0
    primary_key: []
    columns:
      number: {type: int, value: 1}
      item: {type: bigint, value: row}
      price: {type: "decimal(5,2)", value: {literal: "1.00"}}
"""
    *_, example, _ = re.findall(r"```yaml\n(.*?)```", FORMAT, re.DOTALL)
    (order,) = parse_workload(tables + example).compile(10).engine.operations
    assert [step.kind for step in order.steps] == ["send", "each", "send"]
    assert [len(statement.sql) for statement in order.statements] == [11, 1, 11]


def test_the_example_of_a_changed_workload_changes_it() -> None:
    _, _, example, *_ = re.findall(r"```yaml\n(.*?)```", FORMAT, re.DOTALL)
    operations = parse_workload(example).compile(1).engine.operations
    assert {one.name: one.weight for one in operations} == {
        "new_order": 10,
        "payment": 30,
        "order_status": 1,
        "stock_level": 1,
    }


def test_the_example_with_procedures_is_sound_with_its_table() -> None:
    table = """
about: accounts
tables:
  account:
    rows: $records
    primary_key: [id]
    columns: {id: {type: int, value: row}, balance: {type: int, value: 9}}
"""
    *_, example = re.findall(r"```yaml\n(.*?)```", FORMAT, re.DOTALL)
    protocols: tuple[Protocol, ...] = ("mysql", "postgres")
    for protocol in protocols:
        compiled = parse_workload(table + example).compile(10, {}, protocol)
        assert compiled.procedures["archive"] is None
        assert (compiled.procedures["pay"] or "").startswith("CREATE PROCEDURE pay(")


def test_every_workload_and_distribution_is_named() -> None:
    families = {name.split("-oltp-")[0].split("-read-")[0] for name in list_builtin_names()}
    assert all(f"`{name}" in BUILT_IN for name in families)
    table = FORMAT.partition("## Distributions")[2]
    listed = re.findall(r"^\| `([a-z_]+)`", table, re.MULTILINE)
    assert listed == ["uniform", *[kind for kind in KINDS if kind != "uniform"]]
