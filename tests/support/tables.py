"""The tables of a deployment, under the names that they have in the description of it."""

import boto3

from plimsoll.model.tables import TABLES


def create_tables() -> None:
    """Make them, empty."""
    for table in TABLES:
        boto3.client("dynamodb").create_table(**table.creation(table.name))
