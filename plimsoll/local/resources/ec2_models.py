"""The resource types of a Cassandra target's template."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from moto.cloudformation.exceptions import UnformattedGetAttTemplateException
from moto.core.common_models import CloudFormationModel

from plimsoll.errors import UsageError
from plimsoll.local.resources.cassandra_instances import create_instance
from plimsoll.local.resources.properties import check_properties
from plimsoll.local.resources.registry import Database, Databases
from plimsoll.model.cassandra_target import DATA_DEVICE

# Properties that are carried out, or that change nothing on one machine.
_INSTANCE_PROPERTIES = {
    "AvailabilityZone",
    "DisableApiTermination",
    "EbsOptimized",
    "IamInstanceProfile",
    "ImageId",
    "InstanceInitiatedShutdownBehavior",
    "InstanceType",
    "LaunchTemplate",
    "Monitoring",
    "PropagateTagsToVolumeOnCreation",
    "SecurityGroupIds",
    "SubnetId",
    "Tags",
    "UserData",  # what it installs is here already
}
_TEMPLATE_PROPERTIES = {"LaunchTemplateData", "LaunchTemplateName", "TagSpecifications"}
_TEMPLATE_DATA = {"BlockDeviceMappings", "MetadataOptions"}
_RUN_ID = "plimsoll:run-id"


class WaitHandle(CloudFormationModel):
    """`AWS::CloudFormation::WaitConditionHandle`: nothing but its name."""

    def __init__(self, name: str) -> None:
        self.physical_resource_id = name

    @staticmethod
    def cloudformation_name_type() -> str:
        """Name the property that carries its name: none."""
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        """Name the type."""
        return "AWS::CloudFormation::WaitConditionHandle"

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],  # noqa: ARG003 - moto's signature
        account_id: str,  # noqa: ARG003 - moto's signature
        region_name: str,  # noqa: ARG003 - moto's signature
        **_: Any,
    ) -> "WaitHandle":
        """Make it."""
        return cls(resource_name)

    def delete(self, account_id: str, region_name: str) -> None:
        """Nothing is left of it."""


class WaitCondition(WaitHandle):
    """`AWS::CloudFormation::WaitCondition`: the instance is only there once its server listens."""

    @staticmethod
    def cloudformation_type() -> str:
        """Name the type."""
        return "AWS::CloudFormation::WaitCondition"


class LaunchTemplate(CloudFormationModel):
    """`AWS::EC2::LaunchTemplate`: the volumes of the instance."""

    templates: ClassVar[dict[str, Mapping[str, Any]]] = {}

    def __init__(self, name: str) -> None:
        self.physical_resource_id = name

    @staticmethod
    def cloudformation_name_type() -> str:
        """Name the property that carries its name."""
        return "LaunchTemplateName"

    @staticmethod
    def cloudformation_type() -> str:
        """Name the type."""
        return "AWS::EC2::LaunchTemplate"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Say whether a template may ask for an attribute."""
        return attr == "LatestVersionNumber"

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Give an attribute."""
        if attribute_name != "LatestVersionNumber":
            raise UnformattedGetAttTemplateException
        return "1"

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,  # noqa: ARG003 - moto's signature
        region_name: str,  # noqa: ARG003 - moto's signature
        **_: Any,
    ) -> "LaunchTemplate":
        """Keep it."""
        properties = cloudformation_json["Properties"]
        check_properties(properties, _TEMPLATE_PROPERTIES, cls.cloudformation_type())
        data = properties["LaunchTemplateData"]
        check_properties(data, _TEMPLATE_DATA, cls.cloudformation_type())
        cls.templates[resource_name] = data
        return cls(resource_name)

    def delete(self, account_id: str, region_name: str) -> None:
        """Forget it."""
        del account_id, region_name
        self.templates.pop(self.physical_resource_id, None)


class Instance(CloudFormationModel):
    """`AWS::EC2::Instance`: Cassandra, as the template's user data installs it."""

    databases: ClassVar[Databases]

    def __init__(self, database: Database) -> None:
        self._identifier = database.identifier
        self._attributes = database.attributes
        self.physical_resource_id = database.attributes["InstanceId"]

    @staticmethod
    def cloudformation_name_type() -> str:
        """Name the property that carries its name: none."""
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        """Name the type."""
        return "AWS::EC2::Instance"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Say whether a template may ask for an attribute."""
        return attr == "PrivateIp"

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Give an attribute."""
        if attribute_name != "PrivateIp":
            raise UnformattedGetAttTemplateException
        return self._attributes[attribute_name]

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,  # noqa: ARG003 - moto's signature
        cloudformation_json: dict[str, Any],
        account_id: str,  # noqa: ARG003 - moto's signature
        region_name: str,  # noqa: ARG003 - moto's signature
        **_: Any,
    ) -> "Instance":
        """Start the server."""
        properties = cloudformation_json["Properties"]
        check_properties(properties, _INSTANCE_PROPERTIES, cls.cloudformation_type())
        tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
        if _RUN_ID not in tags:
            raise UsageError(f"an instance without the tag {_RUN_ID} is none of Plimsoll's")
        name = properties["LaunchTemplate"]["LaunchTemplateId"]
        if name not in LaunchTemplate.templates:
            raise UsageError(f"The specified launch template, {name}, does not exist")
        data = _data_volume(LaunchTemplate.templates[name].get("BlockDeviceMappings", []))
        instance_type = str(properties["InstanceType"])
        run_id = str(tags[_RUN_ID])
        return cls(
            create_instance(cls.databases, run_id=run_id, instance_type=instance_type, data=data)
        )

    def delete(self, account_id: str, region_name: str) -> None:
        """End the server."""
        del account_id, region_name
        self.databases.delete(self._identifier)


def _data_volume(mappings: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    found = [one["Ebs"] for one in mappings if one["DeviceName"] == DATA_DEVICE]
    return found[0] if found else None


EC2_MODELS = (
    WaitHandle,
    WaitCondition,
    LaunchTemplate,
    Instance,
)
