"""Items of DynamoDB: reads them into models, writes models, and changes attributes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from pydantic import ValidationError

from plimsoll.aws import clients
from plimsoll.aws.function_log import log_line
from plimsoll.errors import UnreadableRecordError
from plimsoll.model.base import Model
from plimsoll.model.run.run_record import RunState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

Read = TypeVar("Read")
ATTEMPTS = 20  # tries of a transaction while others write the same items
CONDITION_FAILED = "ConditionalCheckFailed"  # code of a write whose condition does not hold


def read_item(what: str, read: Callable[[], Read]) -> Read:
    """Read an item of a table.

    Args:
        what: The item's kind and name, for the error.
        read: The function that converts the item.

    Raises:
        UnreadableRecordError: It cannot be converted; the message names the fields, never their
            values.
    """
    try:
        return read()
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False)
        parts = [f"{'.'.join(map(str, fault['loc']))} ({fault['type']})" for fault in faults]
        reason = ", ".join(parts)
    except (KeyError, TypeError, ValueError) as error:
        reason = type(error).__name__
    raise UnreadableRecordError(f"{what} cannot be read by this version: {reason}")


def log_unreadable(error: UnreadableRecordError) -> None:
    """Log an item that is left out, so that the others are not."""
    log_line("ERROR", "an item is left out", unreadable=str(error))


def read_all_readable(readers: Iterable[Callable[[], Read]]) -> tuple[list[Read], int]:
    """Read all items that can be read, and count the others, which are logged.

    Args:
        readers: Functions that each read one item, or raise UnreadableRecordError.
    """
    good, unreadable = [], 0
    for read in readers:
        try:
            good.append(read())
        except UnreadableRecordError as error:
            log_unreadable(error)
            unreadable += 1
    return good, unreadable


def query_items(
    table: str, pk: str, condition: str | None = None, *, latest: int | None = None, **values: str
) -> Iterator[dict[str, Any]]:
    """Yield the items of a partition by sort key, as they are now.

    Args:
        table: The table.
        pk: The partition key.
        condition: The condition on the sort key, such as `begins_with(sk, :sk)`; None for all.
        latest: The number of items, the last one first; None for all, the first one first.
        values: The values in the condition, without the colon.
    """
    pages = clients.dynamodb().get_paginator("query")
    for page in pages.paginate(
        TableName=table,
        KeyConditionExpression="pk = :pk" + (f" AND {condition}" if condition else ""),
        ExpressionAttributeValues={f":{name}": {"S": value} for name, value in values.items()}
        | {":pk": {"S": pk}},
        ConsistentRead=True,
        ScanIndexForward=latest is None,
        PaginationConfig={} if latest is None else {"MaxItems": latest},
    ):
        yield from page["Items"]


def unpack_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item's values as JSON has them; boto3 reads numbers as decimals."""
    read = TypeDeserializer().deserialize
    return {name: _plain_value(read(value)) for name, value in item.items()}


def _plain_value(value: Any) -> Any:
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dict():
            return {name: _plain_value(part) for name, part in value.items()}
        case list():
            return [_plain_value(part) for part in value]
        case _:
            return value


def _to_attribute(value: object) -> Any:
    return TypeSerializer().serialize(_to_storable(value))


def _to_storable(value: object) -> object:
    match value:
        case Model():
            return value.model_dump(mode="json")
        case datetime():
            return value.isoformat()
        case RunState():
            return value.value
        case dict():
            return {name: _to_storable(one) for name, one in value.items()}
        case _:
            return value


def to_item(record: Model) -> dict[str, Any]:
    """Return a record as an item; attributes that are None are left out."""
    values = {name: getattr(record, name) for name in type(record).model_fields}
    return {name: _to_attribute(value) for name, value in values.items() if value is not None}


def set_attributes(
    table: str,
    key: dict[str, Any],
    *,
    states: tuple[RunState, ...] | None,
    changes: Mapping[str, object],
) -> bool:
    """Set attributes of an existing item; None removes one.

    Args:
        table: The table's name.
        key: The item's key.
        states: The states in which the item may be changed; None for any.
        changes: The attributes.

    Returns:
        False if there is no such item, or it is in none of `states`.
    """
    client = clients.dynamodb()
    names = {f"#{name}": name for name in changes}
    values = {f":{name}": _to_attribute(v) for name, v in changes.items() if v is not None}
    settings = [f"#{name} = :{name}" for name, v in changes.items() if v is not None]
    removals = [f"#{name}" for name, v in changes.items() if v is None]
    expression = "SET " + ", ".join(settings) if settings else ""
    expression += " REMOVE " + ", ".join(removals) if removals else ""
    condition = f"attribute_exists({next(iter(key))})"
    if states is not None:
        names["#current"] = "state"
        allowed = {f":allowed{i}": _to_attribute(state) for i, state in enumerate(states)}
        values |= allowed
        condition += f" AND #current IN ({', '.join(allowed)})"
    arguments: dict[str, Any] = {"ExpressionAttributeValues": values} if values else {}
    try:
        client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression=expression.strip(),
            ConditionExpression=condition,
            ExpressionAttributeNames=names,
            **arguments,
        )
    except client.exceptions.ConditionalCheckFailedException:
        return False
    return True


def write_transaction(*writes: "TransactWriteItemTypeDef") -> list[str | None]:
    """Write all items in one transaction.

    Returns one failure code per write, None if that write did not fail; empty if all were written.
    A concurrent write to one of the items is a failure too.
    """
    client = clients.dynamodb()
    try:
        client.transact_write_items(TransactItems=writes)
    except client.exceptions.TransactionCanceledException as error:
        reasons = error.response["CancellationReasons"]
        return [None if each["Code"] == "None" else each["Code"] for each in reasons]
    return []
