"""A target's template, changed so that the target is made from a snapshot."""

import json
from typing import Any

from plimsoll.targets.template import (
    CASSANDRA_TEMPLATE,
    INITIALIZATION_MIB_S,
    RDS_TEMPLATE,
    read_template,
    restore_from_snapshot,
)

NAME = "plimsoll-dataset-x-d01"


def resources(template: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(template)["Resources"]
    return {name: resource.get("Properties") for name, resource in made.items()}


def test_an_instance_of_rds_is_told_the_snapshot_and_nothing_that_comes_with_it() -> None:
    before = resources(read_template(RDS_TEMPLATE))["Instance"]
    after = resources(restore_from_snapshot(read_template(RDS_TEMPLATE), NAME))["Instance"]
    assert after["DBSnapshotIdentifier"] == NAME
    assert before.keys() - after.keys() == {
        "DBName", "DeleteAutomatedBackups", "MasterUsername", "StorageEncrypted",
    }  # fmt: skip
    assert after["ManageMasterUserPassword"] is True  # a password of its own, not the snapshot's
    assert after["BackupRetentionPeriod"] == 0


def test_a_data_volume_is_made_from_the_snapshot_and_initialized_at_a_rate() -> None:
    after = resources(restore_from_snapshot(read_template(CASSANDRA_TEMPLATE), "snap-1"))
    mappings = after["LaunchTemplate"]["LaunchTemplateData"]["BlockDeviceMappings"]["Fn::If"]
    root, data = mappings[1]
    assert data["Ebs"]["SnapshotId"] == "snap-1"
    assert data["Ebs"]["VolumeInitializationRate"] == INITIALIZATION_MIB_S
    assert "Encrypted" not in data["Ebs"]  # as its snapshot is: EC2 refuses to be told
    assert data["Ebs"]["DeleteOnTermination"] is True
    assert "SnapshotId" not in root["Ebs"]
