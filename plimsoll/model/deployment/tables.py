"""The DynamoDB tables: keys, indexes and time to live, the same on AWS and on one machine.

`stacks/` creates them on AWS and `plimsoll/local/` on one machine, both from `TABLES`.
"""

from collections.abc import Iterator
from typing import Any, Literal

from plimsoll.model.base import Model
from plimsoll.model.settings import Setting


class Attribute(Model):
    """An attribute of a key."""

    name: str
    type: Literal["S", "N", "B"] = "S"  # DynamoDB's codes for text, number and bytes


class Key(Model):
    """The key of an item. Items of one partition are ordered by `sort`."""

    partition: Attribute
    sort: Attribute | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes of the partition key and of the sort key."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)


class Index(Model):
    """A global secondary index with all attributes; it leaves out items without its key."""

    name: str
    key: Key


class Table(Model):
    """A table with on-demand billing."""

    name: str
    setting: Setting  # setting with the table's name in the deployment
    key: Key
    indexes: tuple[Index, ...] = ()
    time_to_live: str  # attribute with the expiry time, in seconds of the epoch

    def creation(self, table_name: str) -> dict[str, Any]:
        """Return the arguments of DynamoDB's CreateTable."""
        members: dict[str, Any] = {
            "TableName": table_name,
            "KeySchema": _key_schema(self.key),
            "AttributeDefinitions": [
                {"AttributeName": attribute.name, "AttributeType": attribute.type}
                for attribute in dict.fromkeys(self._attributes())
            ],
            "BillingMode": "PAY_PER_REQUEST",
        }
        if self.indexes:
            members["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": index.name,
                    "KeySchema": _key_schema(index.key),
                    "Projection": {"ProjectionType": "ALL"},
                }
                for index in self.indexes
            ]
        return members

    def _attributes(self) -> Iterator[Attribute]:
        yield from self.key.attributes
        for index in self.indexes:
            yield from index.key.attributes


def _key_schema(key: Key) -> list[dict[str, str]]:
    kinds = ("HASH", "RANGE")
    return [
        {"AttributeName": attribute.name, "KeyType": kind}
        for attribute, kind in zip(key.attributes, kinds, strict=False)
    ]


RUNS_BY_TEAM = Index(  # a team's runs in order of submission
    name="by-team",
    key=Key(partition=Attribute(name="team"), sort=Attribute(name="submitted_at")),
)
RUNS = Table(
    name="runs",
    setting=Setting.RUNS_TABLE,
    key=Key(partition=Attribute(name="run_id")),
    indexes=(RUNS_BY_TEAM,),
    time_to_live="forget_at_epoch_s",
)
SERVICE = Table(  # teams' limits, experiments, checks and their histories
    name="service",
    setting=Setting.SERVICE_TABLE,
    key=Key(partition=Attribute(name="pk"), sort=Attribute(name="sk")),
    time_to_live="forget_at_epoch_s",
)
TABLES = (RUNS, SERVICE)
