"""The template of a target, filled for one run: pure functions of the request."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from plimsoll.model.cassandra_target import CassandraTarget, is_graviton
from plimsoll.model.rds_versions import major_of
from plimsoll.model.request import RdsTarget

RDS_TEMPLATE = "rds.template.json"
CASSANDRA_TEMPLATE = "cassandra.template.json"
# AWS's public parameters of the newest Amazon Linux 2023, by the processor's architecture
_IMAGE = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-"


def read_template(name: str) -> str:
    """Read a template that came with the package (`make synth` writes them)."""
    return (files("plimsoll.targets") / "templates" / name).read_text()


def with_engine_parameters(template: str, parameters: Mapping[str, str | int]) -> str:
    """Write engine parameters into a template: no CloudFormation parameter can carry a map.

    Args:
        template: The RDS template, whose resource `ParameterGroup` has none yet.
        parameters: By name; RDS takes every value as text.
    """
    body: dict[str, Any] = json.loads(template)
    group = body["Resources"]["ParameterGroup"]["Properties"]
    group["Parameters"] = {name: str(value) for name, value in parameters.items()}
    return json.dumps(body, indent=1)


def parameter_group_family(engine: str, version: str) -> str:
    """Name the parameter group family of an engine's version.

    MySQL and MariaDB: engine and major.minor, as `aws rds describe-db-engine-versions` gives them
    (mysql8.4, mariadb11.4).
    """
    return f"{engine}{major_of(version)}"


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
