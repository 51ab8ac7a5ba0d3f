"""A deployment that is drained starts no new runs, so that it can be updated once none is left.

| pk | sk | what |
|---|---|---|
| `deployment` | `drain` | `until`: the time at which it ends by itself |

Runs and experiments that have begun go on to their end.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from plimsoll.aws import clients
from plimsoll.errors import DrainingError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_KEY: dict[str, Any] = {"pk": {"S": "deployment"}, "sk": {"S": "drain"}}


def begin_drain(table: str, until: datetime) -> None:
    """Start no new runs until a time; replaces an earlier time."""
    clients.dynamodb().put_item(TableName=table, Item={**_KEY, "until": {"S": _write_time(until)}})


def end_drain(table: str) -> bool:
    """Start runs again; returns False if the deployment was not drained."""
    answer = clients.dynamodb().delete_item(TableName=table, Key=_KEY, ReturnValues="ALL_OLD")
    return bool(answer.get("Attributes"))


def find_drain(table: str, at: datetime) -> datetime | None:
    """Return the time until which the deployment is drained; None if it is not."""
    answer = clients.dynamodb().get_item(TableName=table, Key=_KEY, ConsistentRead=True)
    if "Item" not in answer:
        return None
    until = datetime.fromisoformat(answer["Item"]["until"]["S"])
    return until if until > at else None


def require_no_drain(table: str, at: datetime) -> None:
    """Refuse to start something while the deployment is drained.

    Raises:
        DrainingError: It is.
    """
    until = find_drain(table, at)
    if until is not None:
        raise DrainingError(until, after_s=max(1, round((until - at).total_seconds())))


def build_drain_condition(table: str, at: datetime) -> "TransactWriteItemTypeDef":
    """Return a condition for a transaction: it fails while the deployment is drained.

    Runs and experiments are recorded in such transactions. So whoever lists them after
    `begin_drain` misses none that may still begin.
    """
    return {
        "ConditionCheck": {
            "TableName": table,
            "Key": _KEY,
            "ConditionExpression": "attribute_not_exists(#until) OR #until <= :at",
            "ExpressionAttributeNames": {"#until": "until"},
            "ExpressionAttributeValues": {":at": {"S": _write_time(at)}},
        }
    }


def _write_time(time: datetime) -> str:
    """Return a time in UTC as text: a later one sorts after an earlier one."""
    return time.astimezone(UTC).isoformat(timespec="seconds")
