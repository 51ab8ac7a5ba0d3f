"""Databases: a real server on an emulated volume each, and RDS's instances among them."""

import json
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.secretsmanager.models import FakeSecret, secretsmanager_backends

from plimsoll.errors import UsageError
from plimsoll.local.aws.names import ACCOUNT, REGION
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.resources.sampler import Sampler, as_rds
from plimsoll.local.resources.server_settings import MIB, check_engine, server_settings
from plimsoll.model.instances import instance_limits
from plimsoll.model.volumes import Service, Volume
from plimsoll.volumes import EmulatedVolume

_SERVICE: dict[str, Service] = {"mysql": "rds-mysql", "mariadb": "rds-mariadb"}


@dataclass
class Database:
    """One running instance."""

    identifier: str
    directory: Path
    volume: EmulatedVolume
    server: MariaDbServer | CassandraServer
    sampler: Sampler
    attributes: Mapping[str, str]  # that a template may ask for
    forget: Callable[[], None]  # removes what AWS knew of it besides


Start = Callable[[Path, ExitStack], Database]


class Databases:
    """All instances of a twin. Thread-safe."""

    def __init__(self, directory: Path, *, memory_scale: float) -> None:
        """Take over a folder.

        Args:
            directory: Where each instance gets a folder.
            memory_scale: This machine's memory for one unit of the instance class's.
        """
        self._directory = directory
        self.memory_scale = memory_scale
        self._lock = threading.Lock()
        self._running: dict[str, Database] = {}

    def create(self, identifier: str, start: Start) -> Database:
        """Start an instance in a folder of its own; what fails half-way is undone.

        Args:
            identifier: Its name.
            start: Starts it, given its folder and where to put what undoes it.

        Raises:
            UsageError: There is one of this name already, or AWS has no such instance.
            PlimsollError: The server did not start.
        """
        with ExitStack() as undo:
            directory = self._take(identifier)
            undo.callback(shutil.rmtree, directory, ignore_errors=True)
            database = start(directory, undo)
            undo.pop_all()
        with self._lock:
            self._running[identifier] = database
        return database

    def _take(self, identifier: str) -> Path:
        directory = self._directory / identifier
        with self._lock:
            if directory.exists():
                raise UsageError(f"DB instance already exists: {identifier}")
            directory.mkdir(parents=True)
        return directory

    def delete(self, identifier: str) -> None:
        """End an instance and remove all that it was; safe to repeat."""
        with self._lock:
            database = self._running.pop(identifier, None)
        if database is None:
            return
        database.sampler.close()
        database.server.remove()
        database.volume.close()
        shutil.rmtree(database.directory, ignore_errors=True)
        database.forget()

    def list(self) -> list[Database]:
        """Give the running instances."""
        with self._lock:
            return list(self._running.values())

    def close(self) -> None:
        """End all instances."""
        for database in self.list():
            self.delete(database.identifier)


def create_rds(
    databases: Databases, properties: Mapping[str, Any], parameters: Mapping[str, str]
) -> Database:
    """Start an instance as `AWS::RDS::DBInstance` describes it.

    Raises:
        UsageError: RDS, or this machine, has no such instance.
        PlimsollError: The server did not start.
    """
    identifier = str(properties["DBInstanceIdentifier"])
    engine = str(properties["Engine"])
    check_engine(engine, str(properties["EngineVersion"]))
    instance_class = str(properties["DBInstanceClass"])
    memory_mib = instance_memory_mib(instance_class)
    user = str(properties.get("MasterUsername", "admin"))
    password = secrets.token_urlsafe(24)

    def start(directory: Path, undo: ExitStack) -> Database:
        volume = EmulatedVolume.create(
            directory,
            _volume(properties),
            service=_SERVICE[engine],
            instance_limits=instance_limits(instance_class),
        )
        undo.callback(volume.close)
        settings = server_settings(
            parameters,
            memory_bytes=round(memory_mib * MIB * databases.memory_scale),
            limits=volume.limits,
        )
        server = MariaDbServer.start(
            directory=directory / "server",
            settings=settings,
            environment=volume.environment(),
            user=user,
            password=password,
            database=str(properties.get("DBName", user)),
        )
        undo.callback(server.remove)
        secret = _make_secret(user, password)
        sampler = Sampler(volume, server.pid, as_rds(identifier))
        attributes = {
            "Endpoint.Address": server.host,
            "Endpoint.Port": str(server.port),
            "MasterUserSecret.SecretArn": secret.arn,
        }
        forget = lambda: _delete_secret(secret)  # noqa: E731 - it remembers the secret, no more
        return Database(identifier, directory, volume, server, sampler, attributes, forget)

    return databases.create(identifier, start)


def instance_memory_mib(instance_class: str) -> int:
    """Give an instance class's memory, as EC2 describes it.

    Raises:
        UsageError: There is no such class.
    """
    name = instance_class.removeprefix("db.")
    if name not in INSTANCE_TYPES:
        raise UsageError(f"Invalid DB Instance class: {instance_class}")
    return int(INSTANCE_TYPES[name]["MemoryInfo"]["SizeInMiB"])


def _volume(properties: Mapping[str, Any]) -> Volume:
    return Volume(
        type=properties.get("StorageType", "gp2"),
        size_gib=int(properties["AllocatedStorage"]),
        iops=_optional_int(properties.get("Iops")),
        throughput_mib_s=_optional_int(properties.get("StorageThroughput")),
    )


def _optional_int(value: object) -> int | None:
    return None if value is None else int(str(value))


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
