"""Reaching a target: its secret, fetched where it is needed, never handed on."""

import json

from plimsoll.model.engine import EngineTarget
from plimsoll.model.runs import TargetAddress
from plimsoll.runs import services


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
