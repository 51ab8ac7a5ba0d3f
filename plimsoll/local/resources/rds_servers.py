"""Starts the server that stands in for an RDS instance, for each engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from plimsoll.local.databases.certificates import CertificateFiles
from plimsoll.local.databases.database_server import DatabaseServer
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.local.databases.postgres_first_data import renew_password
from plimsoll.local.databases.postgres_program import find_or_fetch
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.local.resources.rds_settings import (
    PostgresPlan,
    list_tls_settings,
    plan_mariadb_settings,
    plan_postgres,
)
from plimsoll.model.databases import RdsEngine
from plimsoll.model.rds_versions import major_of
from plimsoll.volumes import EmulatedVolume, VolumeSettings


@dataclass(frozen=True)
class Asked:
    """The instance that a template asks for.

    Attributes:
        engine: The RDS engine.
        version: The engine's version.
        parameters: The values in its parameter group.
        class_memory_bytes: The instance class's memory on AWS.
        memory_bytes: The memory as scaled for this machine.
        account: The master user, his password, and the database to create.
    """

    engine: RdsEngine
    version: str
    parameters: Mapping[str, str]
    class_memory_bytes: int
    memory_bytes: int
    account: tuple[str, str, str]

    @property
    def volume_settings(self) -> VolumeSettings | None:
        """Settings of the volume that depend on the server; None if there are none."""
        match self.engine:
            case "mysql" | "mariadb":
                return None  # these servers use direct I/O
            case "postgres":
                return VolumeSettings(page_cache_mib=self._postgres_plan.page_cache_mib)
            case _:
                assert_never(self.engine)

    def start(
        self,
        directory: Path,
        volume: EmulatedVolume,
        certificate: CertificateFiles,
        port: int | None = None,
    ) -> DatabaseServer:
        """Start the server.

        Args:
            directory: The server's folder; existing data is used again.
            volume: The volume of that folder.
            certificate: The server's certificate.
            port: The TCP port; None to use a free one.

        Raises:
            MissingToolError: There is no server program.
            PlimsollError: It did not start.
        """
        match self.engine:
            case "mysql" | "mariadb":
                return self._start_mariadb(directory, volume, certificate, port)
            case "postgres":
                return self._start_postgres(directory, volume, certificate, port)
            case _:
                assert_never(self.engine)

    def _start_mariadb(
        self,
        directory: Path,
        volume: EmulatedVolume,
        certificate: CertificateFiles,
        port: int | None,
    ) -> MariaDbServer:
        user, password, database = self.account
        settings = plan_mariadb_settings(
            self.parameters, memory_bytes=self.memory_bytes, limits=volume.limits
        )
        return MariaDbServer.start(
            directory=directory,
            settings={**settings, **certificate.settings},
            environment=volume.environment(),
            port=port,
            user=user,
            password=password,
            database=database,
        )

    @property
    def _postgres_plan(self) -> PostgresPlan:
        return plan_postgres(
            self.parameters,
            memory_bytes=self.memory_bytes,
            class_memory_bytes=self.class_memory_bytes,
        )

    def _start_postgres(
        self,
        directory: Path,
        volume: EmulatedVolume,
        certificate: CertificateFiles,
        port: int | None,
    ) -> PostgresServer:
        user, password, database = self.account
        major, data = int(major_of(self.engine, self.version)), directory / "data"
        if data.exists():  # restored data have another password
            renew_password(find_or_fetch(major), data, user, password)
        return PostgresServer.start(
            directory=directory,
            major=major,
            settings={**self._postgres_plan.settings, **list_tls_settings(certificate)},
            environment=volume.environment(),
            port=port,
            user=user,
            password=password,
            database=database,
            as_on_rds=True,
            demands_tls=self._postgres_plan.demands_tls,
        )
