"""RDS instances: a real server on an emulated volume, its password in Secrets Manager."""

import json
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from moto.secretsmanager.models import FakeSecret, secretsmanager_backends

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.local.databases.database_server import DatabaseServer
from plimsoll.local.resources.rds_servers import Asked
from plimsoll.local.resources.rds_settings import MIB, check_engine
from plimsoll.local.resources.registry import Database, Databases, find_instance_memory_mib
from plimsoll.local.resources.restarting import Restarting
from plimsoll.local.resources.sampler import Sampler, name_rds_metrics
from plimsoll.local.resources.snapshots import Snapshots
from plimsoll.local.resources.template_volumes import (
    drop_volume_parameters,
    read_volume,
    switch_read_cache,
)
from plimsoll.model.aws.instances import instance_limits
from plimsoll.model.databases import find_rds_facts
from plimsoll.volumes import EmulatedVolume


def create_rds_instance(
    databases: Databases,
    properties: Mapping[str, Any],
    parameters: Mapping[str, str],
    snapshots: Snapshots,
) -> Database:
    """Start an instance from the properties of an `AWS::RDS::DBInstance`.

    Args:
        databases: The registry of running databases.
        properties: The resource's properties.
        parameters: The values in its parameter group.
        snapshots: The snapshots from which it may be restored.

    Raises:
        UsageError: RDS, or this machine, has no such instance.
        PlimsollError: The server did not start.
    """
    identifier = str(properties["DBInstanceIdentifier"])
    version = str(properties["EngineVersion"])
    engine = check_engine(str(properties["Engine"]), version)
    instance_class = str(properties["DBInstanceClass"])
    class_memory_bytes = find_instance_memory_mib(instance_class) * MIB
    snapshot = properties.get("DBSnapshotIdentifier")
    if snapshot is None:
        user = str(properties.get("MasterUsername", "admin"))
        database = str(properties.get("DBName", user))
    else:
        user, database = snapshots.find_whole(str(snapshot)).account
    password = secrets.token_urlsafe(24)
    asked = Asked(
        engine=engine,
        version=version,
        parameters=drop_volume_parameters(parameters),
        class_memory_bytes=class_memory_bytes,
        memory_bytes=round(class_memory_bytes * databases.memory_scale),
        account=(user, password, database),
    )

    def start(directory: Path, undo: ExitStack) -> Database:
        requested = read_volume(
            properties.get("StorageType", "gp2"),
            properties["AllocatedStorage"],
            properties.get("Iops"),
            properties.get("StorageThroughput"),
        )
        volume = EmulatedVolume.create(
            directory,
            requested,
            service=find_rds_facts(engine).service,
            # the class is AWS's, whose I/O limits do not apply to another cloud's volume
            instance_limits=instance_limits(instance_class) if requested.cloud == "aws" else None,
            settings=asked.volume_settings,
        )
        undo.callback(volume.close)
        switch_read_cache(volume, parameters)
        if snapshot is not None:
            snapshots.restore(str(snapshot), directory)
        certificate = databases.authority.sign(directory / "tls", "127.0.0.1")
        server = asked.start(directory / "server", volume, certificate)
        port = server.port

        def start_again(parameters: Mapping[str, str]) -> tuple[DatabaseServer, Sampler]:
            switch_read_cache(volume, parameters)
            with_them = replace(asked, parameters=drop_volume_parameters(parameters))
            again = with_them.start(directory / "server", volume, certificate, port=port)
            return again, databases.sample(volume, again.pid, name_rds_metrics(identifier))

        undo.callback(server.remove)
        secret = _make_secret(user, password)
        sampler = databases.sample(volume, server.pid, name_rds_metrics(identifier))
        attributes = {
            "Endpoint.Address": server.host,
            "Endpoint.Port": str(server.port),
            "MasterUserSecret.SecretArn": secret.arn,
        }
        forget = lambda: _delete_secret(secret)  # noqa: E731 - it remembers the secret, no more
        made = Database(identifier, directory, volume, server, sampler, attributes, forget)
        made.account = user, database
        if (group := properties.get("DBParameterGroupName")) is not None:
            made.restarting = Restarting(start_again, str(group))
        return made

    return databases.create(identifier, start)


def _make_secret(user: str, password: str) -> FakeSecret:
    return secretsmanager_backends[ACCOUNT][REGION].create_managed_secret(
        service_name="rds",
        secret_id=f"rds!db-{secrets.token_hex(16)}",
        secret_string=json.dumps({"username": user, "password": password}),
        description="The password of a target's account",
        kms_key_id=None,
        tags=[],
    )


def _delete_secret(secret: FakeSecret) -> None:
    secretsmanager_backends[ACCOUNT][REGION].delete_secret(
        secret.arn, recovery_window_in_days=None, force_delete_without_recovery=True
    )
