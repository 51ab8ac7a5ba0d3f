"""Reaching a target: its secret, fetched where it is needed, and connections for its schema."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pymysql

from plimsoll.errors import PlimsollError
from plimsoll.model.engine import EngineTarget
from plimsoll.model.runs import TargetAddress
from plimsoll.runs import services


class TargetUnreachableError(PlimsollError):
    """The target does not answer, or refuses the account."""


def engine_target(address: TargetAddress) -> EngineTarget:
    """Fetch a target's secret; gives what clients need to connect."""
    answer = services.secretsmanager().get_secret_value(SecretId=address.secret_arn)
    secret = json.loads(answer["SecretString"])
    return EngineTarget(
        protocol="mysql",
        host=address.host,
        port=address.port,
        user=secret["username"],
        password=secret["password"],
        database=address.database,
    )


@contextmanager
def connected(target: EngineTarget, *, read_timeout_s: int = 840) -> Iterator[Any]:
    """Hold a PyMySQL connection, auto-committing.

    Raises:
        TargetUnreachableError: It cannot be made.
    """
    try:
        connection = pymysql.connect(
            host=target.host,
            port=target.port,
            user=target.user,
            password=target.password,
            database=target.database,
            autocommit=True,
            connect_timeout=10,
            read_timeout=read_timeout_s,
            write_timeout=read_timeout_s,
        )
    except pymysql.MySQLError as error:
        raise TargetUnreachableError(
            f"no connection to {target.host}:{target.port}: {error.args[-1]}"
        ) from None
    try:
        yield connection
    finally:
        connection.close()
