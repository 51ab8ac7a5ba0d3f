"""Reaching a target: its secret, fetched where it is needed, never handed on."""

import json

from plimsoll.aws import clients
from plimsoll.families.load_user import as_load_user
from plimsoll.model.engine import EngineTarget
from plimsoll.model.run_record import TargetAddress


def engine_target(address: TargetAddress) -> EngineTarget:
    """Fetch a target's secret; gives what clients need to connect."""
    secret = {"username": "", "password": ""}  # of a target that asks for none
    if address.secret_arn is not None:
        answer = clients.secretsmanager().get_secret_value(SecretId=address.secret_arn)
        secret = json.loads(answer["SecretString"])
    return EngineTarget(
        protocol=address.protocol,
        host=address.host,
        port=address.port,
        user=secret["username"],
        password=secret["password"],
        database=address.database,
    )


def load_target(address: TargetAddress, run_id: str) -> EngineTarget:
    """Give what the workload's statements connect with: no more rights than they need."""
    master = engine_target(address)
    return master if address.load_user is None else as_load_user(master, run_id)
