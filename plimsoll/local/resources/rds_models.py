"""The resource types that a target's template may have."""

from typing import Any, ClassVar

from moto.cloudformation.exceptions import UnformattedGetAttTemplateException
from moto.core.common_models import CloudFormationModel

from plimsoll.errors import UsageError
from plimsoll.local.resources.ec2_models import EC2_MODELS
from plimsoll.local.resources.properties import check_properties as _check
from plimsoll.local.resources.registry import Database, Databases, create_rds

# Properties that are carried out, or that change nothing on one machine.
_INSTANCE_PROPERTIES = {
    "AllocatedStorage",
    "AutoMinorVersionUpgrade",
    "AvailabilityZone",
    "BackupRetentionPeriod",
    "DBInstanceClass",
    "DBInstanceIdentifier",
    "DBName",
    "DBParameterGroupName",
    "DBSubnetGroupName",
    "DeleteAutomatedBackups",
    "DeletionProtection",
    "Engine",
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
_GROUP_PROPERTIES = {"DBParameterGroupName", "Description", "Family", "Parameters", "Tags"}


class ParameterGroup(CloudFormationModel):
    """`AWS::RDS::DBParameterGroup`."""

    groups: ClassVar[dict[str, dict[str, str]]] = {}

    def __init__(self, name: str) -> None:
        self.physical_resource_id = name

    @staticmethod
    def cloudformation_name_type() -> str:
        """Name the property that carries its name."""
        return "DBParameterGroupName"

    @staticmethod
    def cloudformation_type() -> str:
        """Name the type."""
        return "AWS::RDS::DBParameterGroup"

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,  # noqa: ARG003 - moto's signature
        region_name: str,  # noqa: ARG003 - moto's signature
        **_: Any,
    ) -> "ParameterGroup":
        """Make the group."""
        properties = cloudformation_json["Properties"]
        _check(properties, _GROUP_PROPERTIES, cls.cloudformation_type())
        values = {name: str(value) for name, value in properties.get("Parameters", {}).items()}
        cls.groups[resource_name] = values
        return cls(resource_name)

    def delete(self, account_id: str, region_name: str) -> None:
        """Forget the group."""
        del account_id, region_name
        self.groups.pop(self.physical_resource_id, None)


class DatabaseInstance(CloudFormationModel):
    """`AWS::RDS::DBInstance`."""

    databases: ClassVar[Databases]

    def __init__(self, database: Database, *, protected: bool) -> None:
        self.physical_resource_id = database.identifier
        self._protected = protected
        self._attributes = database.attributes

    @staticmethod
    def cloudformation_name_type() -> str:
        """Name the property that carries its name."""
        return "DBInstanceIdentifier"

    @staticmethod
    def cloudformation_type() -> str:
        """Name the type."""
        return "AWS::RDS::DBInstance"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Say whether a template may ask for an attribute."""
        return attr in {"Endpoint.Address", "Endpoint.Port", "MasterUserSecret.SecretArn"}

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Give an attribute."""
        if attribute_name not in self._attributes:
            raise UnformattedGetAttTemplateException
        return self._attributes[attribute_name]

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,  # noqa: ARG003 - moto's signature
        region_name: str,  # noqa: ARG003 - moto's signature
        **_: Any,
    ) -> "DatabaseInstance":
        """Start the server."""
        properties = {**cloudformation_json["Properties"], "DBInstanceIdentifier": resource_name}
        _check(properties, _INSTANCE_PROPERTIES, cls.cloudformation_type())
        if not properties.get("ManageMasterUserPassword"):
            raise UsageError("ManageMasterUserPassword must be true: no password in a template")
        group = properties.get("DBParameterGroupName")
        if group is not None and group not in ParameterGroup.groups:
            raise UsageError(f"DBParameterGroup not found: {group}")
        parameters = ParameterGroup.groups.get(str(group), {})
        database = create_rds(cls.databases, properties, parameters)
        protected = str(properties.get("DeletionProtection", False)).lower() == "true"
        return cls(database, protected=protected)

    def delete(self, account_id: str, region_name: str) -> None:
        """End the server.

        Raises:
            UsageError: Deletion protection is on.
        """
        del account_id, region_name
        if self._protected:
            raise UsageError("Cannot delete protected DB Instance")
        self.databases.delete(self.physical_resource_id)


_MODELS: tuple[Any, ...] = (ParameterGroup, DatabaseInstance, *EC2_MODELS)
RESOURCES: dict[str, type[CloudFormationModel]] = {
    model.cloudformation_type(): model for model in _MODELS
}
