"""The foreign keys of a workload's tables."""

import pytest

from plimsoll.errors import WorkloadError
from plimsoll.model.engine.asked import Protocol
from plimsoll.workload import parse_workload

WORKLOAD = """
about: a test
default_records: 9
parameters: {{keys: {{about: whether keys are made, default: 1, range: [0, 1]}}}}
tables:
  shop:
    rows: $records
    copies: 2
    primary_key: [country, id]
    columns:
      country: {{type: int, value: 1}}
      id: {{type: bigint, value: row}}
  Rate:
    rows: 3
    primary_key: [id]
    columns:
      id: {{type: int, value: row}}
  sale:
    rows: $records
    copies: 2
    primary_key: [id]
    references: {references}
    columns:
      id: {{type: bigint, value: row}}
      country: {{type: int, value: 1}}
      shop: {{type: bigint, value: row}}
operations:
  do: {{weight: 1, statements: [{{sql: "SELECT id FROM {{sale}} WHERE id = 1"}}]}}
"""
BOTH = (
    "{at: {table: shop, columns: [country, shop]},"
    " rate: {table: Rate, columns: [country], made: $keys}}"
)


def added(
    references: str, protocol: Protocol = "mysql", **parameters: int
) -> dict[str, dict[str, str]]:
    compiled = parse_workload(WORKLOAD.format(references=references)).compile(
        9, parameters, protocol
    )
    return {table.name: table.reference_sql for table in compiled.tables if table.reference_sql}


def test_each_copy_refers_to_the_copy_of_its_number_and_to_the_only_one() -> None:
    assert added(BOTH) == {
        f"sale{n}": {
            f"sale{n}_at": f"ADD CONSTRAINT `sale{n}_at` FOREIGN KEY (`country`, `shop`)"
            f" REFERENCES `shop{n}` (`country`, `id`)",
            f"sale{n}_rate": f"ADD CONSTRAINT `sale{n}_rate` FOREIGN KEY (`country`)"
            " REFERENCES `Rate` (`id`)",
        }
        for n in (1, 2)
    }


def test_names_are_those_that_the_server_keeps() -> None:
    assert added(BOTH, "postgres")["sale2"]["sale2_rate"] == (
        'ADD CONSTRAINT "sale2_rate" FOREIGN KEY ("country") REFERENCES "rate" ("id")'
    )


def test_a_parameter_leaves_one_out() -> None:
    assert [*added(BOTH, keys=0)["sale1"]] == ["sale1_at"]


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("{table: shops, columns: [country, shop]}", "a.table: unknown table 'shops'"),
        ("{table: shop, columns: [country, town]}", "a.columns[1]: unknown column 'town'"),
        ("{table: shop, columns: []}", "a.columns: names no column"),
        (
            "{table: shop, columns: [shop]}",
            "a.columns: has to be as the key of shop: int, bigint, not bigint",
        ),
        (
            "{table: shop, columns: [shop, country]}",
            "a.columns: has to be as the key of shop: int, bigint, not bigint, int",
        ),
        ("{table: Rate, columns: [country], made: 2}", "a.made: "),
    ],
)
def test_what_is_no_key_of_a_table_is_refused(reference: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as error:
        added(f"{{a: {reference}}}")
    assert problem in str(error.value)


def test_a_table_without_copies_refers_to_none_of_several() -> None:
    text = WORKLOAD.format(references=BOTH).replace(
        "rows: $records\n    copies: 2\n    primary_key: [id]",
        "rows: $records\n    primary_key: [id]",
    )
    with pytest.raises(WorkloadError, match=r"references.at.table: shop has other copies"):
        parse_workload(text)


def test_cassandra_has_none() -> None:
    text = WORKLOAD.format(references=BOTH).replace("sql:", "cql:")
    with pytest.raises(WorkloadError, match="foreign keys are made in SQL databases alone"):
        parse_workload(text).compile(9, {}, "cql")
