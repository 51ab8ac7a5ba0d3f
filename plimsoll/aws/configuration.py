"""The part of a deployment's configuration that is in the service table: `STORED`.

| pk | sk | what |
|---|---|---|
| `configuration` | a hash of the values | the values by variable, as functions read them |

An item never changes. `cdk deploy` writes one for a changed configuration before it updates the
functions, and deletes the former one after that.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.aws import clients
from plimsoll.errors import PlimsollError
from plimsoll.model.settings import Setting

_NAME = Setting.CONFIGURATION.name
_TABLE = Setting.SERVICE_TABLE.name
_PARTITION = "configuration"


def name_configuration(values: Mapping[str, str]) -> str:
    """Return the name of the item that holds the values: equal values have one name."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]


def store_configuration(table: str, name: str, values: Mapping[str, str]) -> None:
    """Write the item; one that is there has the same values."""
    stored = {variable: {"S": value} for variable, value in values.items()}
    clients.dynamodb().put_item(TableName=table, Item={**_key(name), "values": {"M": stored}})


def delete_configuration(table: str, name: str) -> None:
    """Delete the item if it exists."""
    clients.dynamodb().delete_item(TableName=table, Key=_key(name))


def list_configurations(table: str) -> Iterator[dict[str, str]]:
    """Yield the values of every item: one, or two while a deployment is being updated."""
    pages = clients.dynamodb().get_paginator("query")
    for page in pages.paginate(
        TableName=table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": _PARTITION}},
    ):
        yield from map(_read_values, page["Items"])


def read_environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return a function's variables, with those that are in the service table.

    Raises:
        PlimsollError: The table does not have the item that the environment names.
    """
    name = environment.get(_NAME)
    if not name:
        return environment
    item = (
        clients.dynamodb()
        .get_item(TableName=environment[_TABLE], Key=_key(name), ConsistentRead=True)
        .get("Item")
    )
    if item is None:
        raise PlimsollError(f"the service table has no configuration {name}: deploy again")
    return {**environment, **_read_values(item)}


def _read_values(item: Mapping[str, Any]) -> dict[str, str]:
    return {variable: value["S"] for variable, value in item["values"]["M"].items()}


def _key(name: str) -> dict[str, Any]:
    return {"pk": {"S": _PARTITION}, "sk": {"S": name}}
