"""Connection settings of a target, with its secret fetched where it is needed."""

import json
from pathlib import Path

from plimsoll.aws import clients
from plimsoll.databases.load_user import switch_to_load_user
from plimsoll.model.deployment.function_settings import ReachSettings
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import authorities_of_host, make_tls, rds_authorities
from plimsoll.model.run.run_record import TargetAddress


def connect_as_master(settings: ReachSettings, address: TargetAddress) -> EngineTarget:
    """Fetch a target's secret, and return the settings with which clients connect."""
    secret = {"username": "", "password": ""}  # used if the target needs no password
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
        tls=make_tls(address.tls, _read_authorities(settings, address)),
        statement_mode=address.statement_mode,
        allow_md5=address.allow_md5,
        nodes=tuple(node.host for node in address.nodes),
        replication=address.replication,
    )


def _read_authorities(settings: ReachSettings, address: TargetAddress) -> str | None:
    """Return the certificate authorities to trust; None for those of the system."""
    if address.identifier is None:  # an existing endpoint
        return authorities_of_host(address.host)
    ca_file = settings.rds_ca_file
    return Path(ca_file).read_text() if ca_file else rds_authorities()


def connect_as_load_user(
    settings: ReachSettings, address: TargetAddress, run_id: str
) -> EngineTarget:
    """Return the settings for the workload: a user with no more rights than its statements need."""
    master = connect_as_master(settings, address)
    return master if address.load_user is None else switch_to_load_user(master, run_id)
