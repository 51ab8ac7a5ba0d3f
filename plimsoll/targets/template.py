"""The template of a target, filled for one run: pure functions of the request."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

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
# docs.aws.amazon.com/AWSEC2/latest/APIReference/API_EbsBlockDevice.html: from 100 to 300
INITIALIZATION_MIB_S = 300
_FROM_SNAPSHOT = ("DBName", "MasterUsername", "StorageEncrypted", "DeleteAutomatedBackups")
# AWS's public parameters of the newest Amazon Linux 2023, by the processor's architecture
_IMAGE = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-"


def read_template(name: str) -> str:
    """Read a template that came with the package (`make synth` writes them)."""
    return (files("plimsoll.targets") / "templates" / name).read_text()


def with_engine_parameters(template: str, parameters: Mapping[str, str | int]) -> str:
    """Write engine parameters into a template: no CloudFormation parameter can carry a map.

    Args:
        template: RDS's or Aurora's, whose resource `ParameterGroup` has none yet.
        parameters: By name; RDS takes every value as text.
    """
    body: dict[str, Any] = json.loads(template)
    group = body["Resources"]["ParameterGroup"]["Properties"]
    group["Parameters"] = {name: str(value) for name, value in parameters.items()}
    return json.dumps(body, indent=1)


def restored_from(template: str, snapshot: str) -> str:
    """Have a template make its target from a snapshot.

    Of RDS the snapshot brings the database, its owner and the encryption, which CloudFormation then
    refuses to be told, and deletion of the backups that there are none of
    (docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbinstance.html,
    DBSnapshotIdentifier). The password is managed again once the instance is there. Of EBS the data
    volume is made from it, its blocks fetched at the highest rate that can be asked for.

    Args:
        template: RDS's or Cassandra's.
        snapshot: As AWS names it.
    """
    body: dict[str, Any] = json.loads(template)
    properties = {name: made.get("Properties") for name, made in body["Resources"].items()}
    if "LaunchTemplate" in properties:
        mappings = properties["LaunchTemplate"]["LaunchTemplateData"]["BlockDeviceMappings"]
        _, with_data, _ = mappings["Fn::If"]
        (volume,) = (one["Ebs"] for one in with_data if one["DeviceName"] == DATA_DEVICE)
        del volume["Encrypted"]  # as its snapshot is; EC2 refuses to be told
        volume |= {"SnapshotId": snapshot, "VolumeInitializationRate": INITIALIZATION_MIB_S}
    else:
        instance = properties["Instance"]
        for name in _FROM_SNAPSHOT:
            del instance[name]
        instance["DBSnapshotIdentifier"] = snapshot
    return json.dumps(body, indent=1)


def engine_parameters(target: RdsTarget | AuroraTarget) -> dict[str, str | int]:
    """Give the engine parameters of a target: what is asked for, and what a run needs besides.

    Nobody gets in without TLS, and PostgreSQL counts its statements (`pg_stat_statements`): RDS's
    own defaults for PostgreSQL, which are written here so that each run's template has them.
    """
    return {**_NEEDED[target.engine], **target.parameters}


def parameter_group_family(engine: ManagedEngine, version: str) -> str:
    """Name the parameter group family of an engine's version.

    The engine and its major version, as `aws rds describe-db-engine-versions` gives them
    (mysql8.4, mariadb11.4, postgres18, aurora-mysql8.0).
    """
    return f"{engine}{major_of(engine, version)}"


def rds_parameters(target: RdsTarget, version: str) -> dict[str, str]:
    """Give the parameters of RDS's template that follow from the target asked for.

    Args:
        target: What is asked for.
        version: Of the engine, as RDS names it.
    """
    volume = target.volume
    return {
        "Engine": target.engine,
        "EngineVersion": version,
        "ParameterGroupFamily": parameter_group_family(target.engine, version),
        "InstanceClass": target.instance_class,
        "DatabaseName": target.database,
        "StorageType": volume.type,
        "AllocatedStorageGib": str(volume.size_gib),
        "Iops": str(volume.iops or 0),
        "StorageThroughputMibS": str(volume.throughput_mib_s or 0),
    }


def aurora_parameters(target: AuroraTarget, version: str) -> dict[str, str]:
    """Give the parameters of Aurora's template that follow from the target asked for.

    Args:
        target: What is asked for.
        version: Of the engine, as RDS names it.
    """
    return {
        "Engine": target.engine,
        "EngineVersion": version,
        "ParameterGroupFamily": parameter_group_family(target.engine, version),
        "InstanceClass": target.instance_class,
        "DatabaseName": target.database,
        "StorageType": target.storage_type,
    }


def cassandra_parameters(target: CassandraTarget) -> dict[str, str]:
    """Give the parameters of Cassandra's template that follow from the target asked for."""
    volume = target.volume
    architecture = "arm64" if is_graviton(target.instance_type) else "x86_64"
    return {
        "InstanceType": target.instance_type,
        "ImageId": f"{_IMAGE}{architecture}",
        "StorageType": volume.type,
        "SizeGib": str(volume.size_gib),
        "Iops": str(volume.iops or 0),
        "ThroughputMibS": str(volume.throughput_mib_s or 0),
    }
