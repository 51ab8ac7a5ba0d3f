"""The resource types of an RDS target's template."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from plimsoll.errors import UsageError
from plimsoll.local.resources.rds_instances import create_rds_instance
from plimsoll.local.resources.registry import Database, Databases
from plimsoll.local.resources.resource import Resource
from plimsoll.local.resources.snapshots import Snapshots


class ParameterGroup(Resource):
    """`AWS::RDS::DBParameterGroup`."""

    TYPE = "AWS::RDS::DBParameterGroup"
    NAME_PROPERTY = "DBParameterGroupName"
    PROPERTIES = frozenset({"DBParameterGroupName", "Description", "Family", "Parameters", "Tags"})

    groups: ClassVar[dict[str, dict[str, str]]] = {}

    @classmethod
    def make(cls, name: str, properties: Mapping[str, Any]) -> Self:
        """Create the group."""
        values = properties.get("Parameters", {})
        cls.groups[name] = {parameter: str(value) for parameter, value in values.items()}
        return cls(name)

    def remove(self) -> None:
        """Remove the group."""
        self.groups.pop(self.physical_resource_id, None)


# Properties that come from a snapshot:
# docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/ aws-resource-rds-dbinstance.html,
# DBSnapshotIdentifier
_OF_SNAPSHOT = {"DBName", "DeleteAutomatedBackups", "MasterUsername", "StorageEncrypted"}


class DatabaseInstance(Resource):
    """`AWS::RDS::DBInstance`."""

    TYPE = "AWS::RDS::DBInstance"
    NAME_PROPERTY = "DBInstanceIdentifier"
    PROPERTIES = frozenset(
        {
            "AllocatedStorage",
            "AutoMinorVersionUpgrade",
            "AvailabilityZone",
            "BackupRetentionPeriod",
            "DBInstanceClass",
            "DBInstanceIdentifier",
            "DBName",
            "DBParameterGroupName",
            "DBSnapshotIdentifier",
            "DBSubnetGroupName",
            "DeleteAutomatedBackups",
            "DeletionProtection",
            "Engine",
            "EngineLifecycleSupport",
            "EngineVersion",
            "Iops",
            "ManageMasterUserPassword",
            "MasterUsername",
            "MultiAZ",
            "PubliclyAccessible",
            "StorageEncrypted",
            "StorageThroughput",
            "StorageType",
            "Tags",
            "VPCSecurityGroups",
        }
    )
    ATTRIBUTES = frozenset({"Endpoint.Address", "Endpoint.Port", "MasterUserSecret.SecretArn"})

    databases: ClassVar[Databases]
    snapshots: ClassVar[Snapshots]

    def __init__(self, database: Database) -> None:
        super().__init__(database.identifier, database.attributes)
        self._database = database

    @classmethod
    def make(cls, name: str, properties: Mapping[str, Any]) -> Self:
        """Start the server."""
        if not properties.get("ManageMasterUserPassword"):
            raise UsageError("ManageMasterUserPassword must be true: no password in a template")
        told = sorted(_OF_SNAPSHOT & set(properties))
        if "DBSnapshotIdentifier" in properties and told:
            raise UsageError(f"{told[0]} cannot be given with DBSnapshotIdentifier")
        group = properties.get("DBParameterGroupName")
        if group is not None and group not in ParameterGroup.groups:
            raise UsageError(f"DBParameterGroup not found: {group}")
        parameters = ParameterGroup.groups.get(str(group), {})
        database = create_rds_instance(
            cls.databases,
            {**properties, "DBInstanceIdentifier": name},
            parameters,
            cls.snapshots,
        )
        protection = properties.get("DeletionProtection", False)
        database.protected = str(protection).lower() == "true"
        return cls(database)

    def remove(self) -> None:
        """Stop the server, and remove it.

        Raises:
            UsageError: Deletion protection is on.
        """
        if self._database.protected:
            raise UsageError("Cannot delete protected DB Instance")
        self.databases.delete(self.physical_resource_id)


RDS_RESOURCES = (ParameterGroup, DatabaseInstance)
