"""The CloudFormation template of a target, filled in for one run. Pure."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from plimsoll.model.aws.volumes import Volume
from plimsoll.model.databases import ManagedEngine
from plimsoll.model.rds_versions import major_of
from plimsoll.model.request.cassandra_target import DATA_DEVICE, CassandraTarget, is_graviton
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget

RDS_TEMPLATE = "rds.template.json"
AURORA_TEMPLATE = "aurora.template.json"
CASSANDRA_TEMPLATE = "cassandra.template.json"
# docs.aws.amazon.com/AmazonRDS/latest/UserGuide/, 2026-11-23: force_ssl in
# PostgreSQL.Concepts.General.SSL, the library in the page on Performance Insights' SQL statistics;
# AuroraUserGuide/AuroraMySQL.Security.html: require_secure_transport
_POSTGRES_NEEDED: Mapping[str, str | int] = {
    "shared_preload_libraries": "pg_stat_statements",
    "rds.force_ssl": 1,
}
_NEEDED: Mapping[ManagedEngine, Mapping[str, str | int]] = {
    "mysql": {},
    "mariadb": {},
    "postgres": _POSTGRES_NEEDED,
    "aurora-mysql": {"require_secure_transport": "ON"},
    "aurora-postgresql": _POSTGRES_NEEDED,
}
# RDS's name of the lifecycle with and without Extended Support. By default RDS enrolls every new
# database, and then charges for a version past its standard support; without it, RDS refuses to
# create such a version
# (docs.aws.amazon.com/AmazonRDS/latest/UserGuide/extended-support-charges.html, 2026-11-27).
_LIFECYCLES: Mapping[bool, str] = {
    False: "open-source-rds-extended-support-disabled",
    True: "open-source-rds-extended-support",
}
# docs.aws.amazon.com/AWSEC2/latest/APIReference/API_EbsBlockDevice.html: from 100 to 300
INITIALIZATION_MIB_S = 300
_FROM_SNAPSHOT = ("DBName", "MasterUsername", "StorageEncrypted", "DeleteAutomatedBackups")
# AWS's public parameters that name the newest Amazon Linux 2023, by processor architecture
_IMAGE = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-"


def read_template(name: str) -> str:
    """Read a template of the package (`make synth` writes them)."""
    return (files("plimsoll.targets") / "templates" / name).read_text()


def write_engine_parameters(template: str, parameters: Mapping[str, str | int]) -> str:
    """Write engine parameters into a template, since no CloudFormation parameter holds a map.

    Args:
        template: The template of RDS or Aurora, whose `ParameterGroup` is still empty.
        parameters: The values by name; RDS takes every value as text.
    """
    body: dict[str, Any] = json.loads(template)
    group = body["Resources"]["ParameterGroup"]["Properties"]
    group["Parameters"] = {name: str(value) for name, value in parameters.items()}
    return json.dumps(body, indent=1)


def restore_from_snapshot(template: str, snapshot: str) -> str:
    """Change a template so that it creates its target from a snapshot.

    An RDS snapshot contains the database, its owner and the encryption, so CloudFormation refuses
    these properties, and also the deletion of backups that do not exist
    (docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbinstance.html,
    DBSnapshotIdentifier). The password becomes managed again once the instance exists. For EBS the
    data volume is created from the snapshot, and its blocks are fetched at the highest rate
    allowed.

    Args:
        template: The template of RDS or Cassandra.
        snapshot: The snapshot's AWS identifier.
    """
    body: dict[str, Any] = json.loads(template)
    properties = {name: made.get("Properties") for name, made in body["Resources"].items()}
    if "LaunchTemplate" in properties:
        mappings = properties["LaunchTemplate"]["LaunchTemplateData"]["BlockDeviceMappings"]
        _, with_data, _ = mappings["Fn::If"]
        (volume,) = (one["Ebs"] for one in with_data if one["DeviceName"] == DATA_DEVICE)
        del volume["Encrypted"]  # inherited from the snapshot; EC2 refuses the property
        volume |= {"SnapshotId": snapshot, "VolumeInitializationRate": INITIALIZATION_MIB_S}
    else:
        instance = properties["Instance"]
        for name in _FROM_SNAPSHOT:
            del instance[name]
        instance["DBSnapshotIdentifier"] = snapshot
    return json.dumps(body, indent=1)


def name_emulated_volume(template: str, volume: Volume) -> str:
    """Write a volume that AWS does not offer into a template, for the stand-in on one machine.

    No CloudFormation parameter has room for it, so the whole volume is the storage type, as JSON.

    Args:
        template: The template of RDS or Cassandra.
        volume: The volume.
    """
    if not volume.emulated_only:
        return template
    body: dict[str, Any] = json.loads(template)
    name = volume.model_dump_json(exclude={"credits_start"}, exclude_none=True)
    instance = body["Resources"].get("LaunchTemplate")
    if instance is None:
        body["Resources"]["Instance"]["Properties"]["StorageType"] = name
    else:
        mappings = instance["Properties"]["LaunchTemplateData"]["BlockDeviceMappings"]
        _, with_data, _ = mappings["Fn::If"]
        (data,) = (one["Ebs"] for one in with_data if one["DeviceName"] == DATA_DEVICE)
        data["VolumeType"] = name
    return json.dumps(body, indent=1)


def _choose_template_storage(volume: Volume) -> dict[str, str]:
    """Return the storage type and what is provisioned; plain gp3 in place of an emulated volume."""
    if volume.emulated_only:
        return {"StorageType": "gp3", "Iops": "0", "Throughput": "0"}
    return {
        "StorageType": volume.type,
        "Iops": str(volume.iops or 0),
        "Throughput": str(volume.throughput_mib_s or 0),
    }


def add_tags(template: str, tags: Mapping[str, str]) -> str:
    """Add tags to every resource of a template that has Plimsoll's own.

    Stack tags do not reach all of them: a launch template has its own list.
    """
    if not tags:
        return template
    body: dict[str, Any] = json.loads(template)
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    for properties in _walk_maps(body["Resources"]):
        of_resource = properties.get("Tags")
        if isinstance(of_resource, list):
            of_resource += listed
    return json.dumps(body, indent=1)


def encrypt_with(template: str, key_arn: str) -> str:
    """Encrypt a template's volumes and password with a customer's key.

    A volume that is made from a snapshot keeps the snapshot's key.

    Args:
        template: The template, restored from a snapshot already if it is to be.
        key_arn: The key; "" for AWS's own, then the template is unchanged.
    """
    if not key_arn:
        return template
    body: dict[str, Any] = json.loads(template)
    for properties in _walk_maps(body["Resources"]):
        if "StorageEncrypted" in properties or "Encrypted" in properties:
            properties["KmsKeyId"] = key_arn
        if "ManageMasterUserPassword" in properties:
            properties["MasterUserSecret"] = {"KmsKeyId": key_arn}
    return json.dumps(body, indent=1)


def _walk_maps(value: object) -> Iterator[dict[str, Any]]:
    """Yield every JSON object within a value."""
    match value:
        case dict():
            yield value
            for part in value.values():
                yield from _walk_maps(part)
        case list():
            for part in value:
                yield from _walk_maps(part)


def merge_engine_parameters(target: RdsTarget | AuroraTarget) -> dict[str, str | int]:
    """Return a target's engine parameters: those that a run needs, then the requested ones.

    TLS is required, and PostgreSQL counts its statements (`pg_stat_statements`). For PostgreSQL
    these are RDS's defaults, written here so that every run's template shows them.
    """
    return {**_NEEDED[target.engine], **target.parameters}


def name_parameter_group_family(engine: ManagedEngine, version: str) -> str:
    """Return the parameter group family of an engine version.

    It is the engine with its major version, as `aws rds describe-db-engine-versions` gives it
    (mysql8.4, mariadb11.4, postgres18, aurora-mysql8.0).
    """
    return f"{engine}{major_of(engine, version)}"


def fill_rds_parameters(target: RdsTarget, version: str) -> dict[str, str]:
    """Return the parameters of RDS's template for a target.

    Args:
        target: The requested target.
        version: The engine version, as RDS names it.
    """
    volume, storage = target.volume, _choose_template_storage(target.volume)
    return {
        **_fill_common_parameters(target, version),
        "StorageType": storage["StorageType"],
        "AllocatedStorageGib": str(volume.size_gib),
        "Iops": storage["Iops"],
        "StorageThroughputMibS": storage["Throughput"],
    }


def fill_aurora_parameters(target: AuroraTarget, version: str) -> dict[str, str]:
    """Return the parameters of Aurora's template for a target.

    Args:
        target: The requested target.
        version: The engine version, as RDS names it.
    """
    return {**_fill_common_parameters(target, version), "StorageType": target.storage_type}


def _fill_common_parameters(target: RdsTarget | AuroraTarget, version: str) -> dict[str, str]:
    return {
        "Engine": target.engine,
        "EngineVersion": version,
        "EngineLifecycleSupport": _LIFECYCLES[target.extended_support],
        "ParameterGroupFamily": name_parameter_group_family(target.engine, version),
        "InstanceClass": target.instance_class,
        "DatabaseName": target.database,
    }


def fill_cassandra_parameters(target: CassandraTarget) -> dict[str, str]:
    """Return the parameters of Cassandra's template for a target."""
    volume, storage = target.volume, _choose_template_storage(target.volume)
    architecture = "arm64" if is_graviton(target.instance_type) else "x86_64"
    return {
        "InstanceType": target.instance_type,
        "ImageId": f"{_IMAGE}{architecture}",
        "StorageType": storage["StorageType"],
        "SizeGib": str(volume.size_gib),
        "Iops": storage["Iops"],
        "ThroughputMibS": storage["Throughput"],
    }
