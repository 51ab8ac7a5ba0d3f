"""Tables of DynamoDB, as a deployment makes them."""

from typing import Literal

import boto3

_KINDS: tuple[Literal["HASH", "RANGE"], ...] = ("HASH", "RANGE")


def create_table(name: str, *keys: str) -> None:
    """Make a table whose keys are text: a partition key, and maybe a sort key."""
    boto3.client("dynamodb").create_table(
        TableName=name,
        KeySchema=[
            {"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, _KINDS, strict=False)
        ],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        BillingMode="PAY_PER_REQUEST",
    )
