"""The described tables hold what is written into them, and index all of it."""

from collections.abc import Iterator

import pytest

from plimsoll.model.base import Model
from plimsoll.model.deployment.tables import RUNS, SERVICE, TABLES, Attribute, Table
from plimsoll.model.run.experiment_record import ExperimentRecord
from plimsoll.model.run.run_record import RunRecord

RECORDS: dict[str, tuple[type[Model], ...]] = {
    RUNS.name: (RunRecord,),
    SERVICE.name: (ExperimentRecord,),  # `pk` and `sk` are made of its fields
}


def key_attributes(table: Table) -> Iterator[Attribute]:
    yield from table.key.attributes
    for index in table.indexes:
        yield from index.key.attributes


def test_no_run_is_missing_from_an_index() -> None:
    """An item without an attribute of an index's key is not in the index, and is never listed."""
    for attribute in key_attributes(RUNS):
        field = RunRecord.model_fields[attribute.name]
        assert field.is_required(), f"a run may have no {attribute.name}, and would not be listed"
        assert attribute.type == "S", attribute.name  # what `as_item` writes of text and times


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.name))
def test_the_time_to_live_is_a_number_that_its_records_have(table: Table) -> None:
    for record in RECORDS[table.name]:
        assert record.model_fields[table.time_to_live].annotation == int | None


def test_dynamodb_is_asked_for_each_attribute_once() -> None:
    asked = RUNS.creation("any")
    names = [attribute["AttributeName"] for attribute in asked["AttributeDefinitions"]]
    assert names == ["run_id", "team", "submitted_at"]
    assert asked["TableName"] == "any"
    assert "GlobalSecondaryIndexes" not in SERVICE.creation("any")
