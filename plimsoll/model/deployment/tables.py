"""The tables of DynamoDB: their keys, indexes and time to live, wherever Plimsoll is deployed.

`stacks/` makes them on AWS and `plimsoll/local/` on one machine, both from `TABLES`.
"""

from collections.abc import Iterator
from typing import Any, Literal

from plimsoll.model.base import Model
from plimsoll.model.settings import Setting


class Attribute(Model):
    """One attribute of a key."""

    name: str
    type: Literal["S", "N", "B"] = "S"  # text, a number or bytes, as DynamoDB names them


class Key(Model):
    """What an item is found by; items of one partition are ordered by `sort`."""

    partition: Attribute
    sort: Attribute | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The partition's attribute, and that of the order."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)


class Index(Model):
    """A global secondary index with all attributes; an item without its key is not in it."""

    name: str
    key: Key


class Table(Model):
    """A table that is paid by the request."""

    name: str
    setting: Setting  # tells the functions what the deployment has called it
    key: Key
    indexes: tuple[Index, ...] = ()
    time_to_live: str  # the attribute with the time of its end, in seconds since 1970

    def creation(self, table_name: str) -> dict[str, Any]:
        """Give the members of DynamoDB's CreateTable."""
        members: dict[str, Any] = {
            "TableName": table_name,
            "KeySchema": _schema(self.key),
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
                    "KeySchema": _schema(index.key),
                    "Projection": {"ProjectionType": "ALL"},
                }
                for index in self.indexes
            ]
        return members

    def _attributes(self) -> Iterator[Attribute]:
        yield from self.key.attributes
        for index in self.indexes:
            yield from index.key.attributes


def _schema(key: Key) -> list[dict[str, str]]:
    kinds = ("HASH", "RANGE")
    return [
        {"AttributeName": attribute.name, "KeyType": kind}
        for attribute, kind in zip(key.attributes, kinds, strict=False)
    ]


RUNS_BY_TEAM = Index(  # a team's runs in the order of their submission
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
