"""The resource types of a Cassandra target's template."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from plimsoll.errors import UsageError
from plimsoll.local.resources.cassandra_instances import create_instance
from plimsoll.local.resources.registry import Database, Databases
from plimsoll.local.resources.resource import Resource, check_properties
from plimsoll.local.resources.snapshots import Snapshots
from plimsoll.model.engine.networks import read_place
from plimsoll.model.request.cassandra_target import DATA_DEVICE

_TEMPLATE_DATA = {"BlockDeviceMappings", "MetadataOptions"}
_RUN_ID = "plimsoll:run-id"


class WaitHandle(Resource):
    """`AWS::CloudFormation::WaitConditionHandle`: only a name."""

    TYPE = "AWS::CloudFormation::WaitConditionHandle"


class WaitCondition(Resource):
    """`AWS::CloudFormation::WaitCondition`: fulfilled at once, since a new instance listens."""

    TYPE = "AWS::CloudFormation::WaitCondition"
    PROPERTIES = frozenset({"Count", "Handle", "Timeout"})


class LaunchTemplate(Resource):
    """`AWS::EC2::LaunchTemplate`: the volumes of the instance."""

    TYPE = "AWS::EC2::LaunchTemplate"
    NAME_PROPERTY = "LaunchTemplateName"
    PROPERTIES = frozenset({"LaunchTemplateData", "LaunchTemplateName", "TagSpecifications"})
    ATTRIBUTES = frozenset({"LatestVersionNumber"})

    templates: ClassVar[dict[str, Mapping[str, Any]]] = {}

    @classmethod
    def make(cls, name: str, properties: Mapping[str, Any]) -> Self:
        """Store it."""
        data = properties["LaunchTemplateData"]
        check_properties(data, _TEMPLATE_DATA, cls.TYPE)
        cls.templates[name] = data
        return cls(name, {"LatestVersionNumber": "1"})

    def remove(self) -> None:
        """Remove it."""
        self.templates.pop(self.physical_resource_id, None)


class Instance(Resource):
    """`AWS::EC2::Instance`: Cassandra, as the template's user data installs it."""

    TYPE = "AWS::EC2::Instance"
    PROPERTIES = frozenset(
        {
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
            "UserData",  # the software that it installs is on this machine
        }
    )
    ATTRIBUTES = frozenset({"PrivateIp"})

    databases: ClassVar[Databases]
    snapshots: ClassVar[Snapshots]

    def __init__(self, database: Database) -> None:
        super().__init__(database.attributes["InstanceId"], database.attributes)
        self._identifier = database.identifier

    @classmethod
    def make(cls, name: str, properties: Mapping[str, Any]) -> Self:
        """Start the server."""
        del name
        tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
        if _RUN_ID not in tags:
            raise UsageError(f"an instance without the tag {_RUN_ID} is none of Plimsoll's")
        template = properties["LaunchTemplate"]["LaunchTemplateId"]
        if template not in LaunchTemplate.templates:
            raise UsageError(f"The specified launch template, {template}, does not exist")
        database = create_instance(
            cls.databases,
            cls.snapshots,
            run_id=str(tags[_RUN_ID]),
            instance_type=str(properties["InstanceType"]),
            data=_data_volume(LaunchTemplate.templates[template].get("BlockDeviceMappings", [])),
            place=read_place(tags),
        )
        return cls(database)

    def remove(self) -> None:
        """End the server."""
        self.databases.delete(self._identifier)


def _data_volume(mappings: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    volumes = (mapping["Ebs"] for mapping in mappings if mapping["DeviceName"] == DATA_DEVICE)
    return next(volumes, None)


EC2_RESOURCES = (WaitHandle, WaitCondition, LaunchTemplate, Instance)
