"""What is asked for reaches CloudFormation as the template wants it."""

import json
from typing import Any

import pytest

from plimsoll.model.databases import RdsEngine
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.targets.template import (
    AURORA_TEMPLATE,
    CASSANDRA_TEMPLATE,
    RDS_TEMPLATE,
    add_tags,
    encrypt_with,
    fill_aurora_parameters,
    fill_cassandra_parameters,
    fill_rds_parameters,
    merge_engine_parameters,
    name_parameter_group_family,
    read_template,
    restore_from_snapshot,
    write_engine_parameters,
)
from tests.support.requested import REQUESTED


def target(**volume: object) -> RdsTarget:
    return RdsTarget.model_validate({**REQUESTED["target"], "volume": volume})


@pytest.mark.parametrize(
    ("engine", "version", "family"),
    [("mysql", "8.4.6", "mysql8.4"), ("mysql", "8.0.42", "mysql8.0"),
     ("mariadb", "11.4.5", "mariadb11.4"), ("mariadb", "10.11.13", "mariadb10.11"),
     ("mysql", "5.7.44-rds.20260521", "mysql5.7"),
     ("postgres", "18.4", "postgres18"), ("postgres", "16.14", "postgres16")],
)  # fmt: skip
def test_parameter_group_family(engine: RdsEngine, version: str, family: str) -> None:
    assert name_parameter_group_family(engine, version) == family


def test_every_parameter_is_one_of_the_template() -> None:
    given = fill_rds_parameters(target(type="io1", size_gib=100, iops=1000), "11.4.10")
    declared = json.loads(read_template(RDS_TEMPLATE))["Parameters"]
    assert set(given) <= set(declared)
    without_default = {name for name, p in declared.items() if "Default" not in p}
    of_the_run = {"RunId", "Team", "ExpiresAt", "AvailabilityZone", "SecurityGroupId",
                  "SubnetGroupName"}  # fmt: skip
    assert without_default - set(given) == of_the_run
    assert (given["Iops"], given["StorageThroughputMibS"]) == ("1000", "0")
    assert (given["EngineVersion"], given["ParameterGroupFamily"]) == ("11.4.10", "mariadb11.4")


def test_postgresql_counts_its_statements_and_lets_nobody_in_without_tls() -> None:
    asked = {**REQUESTED["target"], "engine": "postgres", "engine_version": "18"}
    own = {"shared_preload_libraries": "pg_stat_statements,auto_explain", "work_mem": 4096}
    assert merge_engine_parameters(RdsTarget.model_validate(asked)) == {
        "shared_preload_libraries": "pg_stat_statements",
        "rds.force_ssl": 1,
    }
    given = merge_engine_parameters(RdsTarget.model_validate({**asked, "parameters": own}))
    assert given == {**own, "rds.force_ssl": 1}
    assert merge_engine_parameters(RdsTarget.model_validate(REQUESTED["target"])) == {}


@pytest.mark.parametrize(
    ("engine", "version", "family", "parameters"),
    [
        ("aurora-postgresql", "17.7", "aurora-postgresql17",
         {"shared_preload_libraries": "pg_stat_statements", "rds.force_ssl": 1}),
        ("aurora-mysql", "8.0.mysql_aurora.3.10.3", "aurora-mysql8.0",
         {"require_secure_transport": "ON"}),
    ],
)  # fmt: skip
def test_every_parameter_of_aurora_is_one_of_its_template(
    engine: str, version: str, family: str, parameters: dict[str, str | int]
) -> None:
    asked = {"kind": "aurora", "engine": engine, "engine_version": version,
             "instance_class": "db.r7g.large", "storage": "io-optimized"}  # fmt: skip
    target = AuroraTarget.model_validate(asked)
    given = fill_aurora_parameters(target, version)
    declared = json.loads(read_template(AURORA_TEMPLATE))["Parameters"]
    assert set(given) <= set(declared)
    without_default = {name for name, p in declared.items() if "Default" not in p}
    of_the_run = {"RunId", "Team", "ExpiresAt", "AvailabilityZone", "SecurityGroupId",
                  "SubnetGroupName"}  # fmt: skip
    assert without_default - set(given) == of_the_run
    assert (given["StorageType"], given["ParameterGroupFamily"]) == ("aurora-iopt1", family)
    assert merge_engine_parameters(target) == parameters
    filled = json.loads(write_engine_parameters(read_template(AURORA_TEMPLATE), parameters))
    group = filled["Resources"]["ParameterGroup"]
    assert group["Type"] == "AWS::RDS::DBClusterParameterGroup"
    assert group["Properties"]["Parameters"] == {n: str(v) for n, v in parameters.items()}


@pytest.mark.parametrize(
    ("asked", "lifecycle"),
    [
        ({}, "open-source-rds-extended-support-disabled"),
        ({"extended_support": True}, "open-source-rds-extended-support"),
    ],
)
def test_extended_support_is_allowed_where_it_is_asked_for(
    asked: dict[str, Any], lifecycle: str
) -> None:
    mysql = {**REQUESTED["target"], "engine": "mysql", "engine_version": "8.0"}
    given = fill_rds_parameters(RdsTarget.model_validate(mysql | asked), "8.0.46")
    aurora = {"kind": "aurora", "engine": "aurora-mysql", "engine_version": "8.0",
              "instance_class": "db.r7g.large"}  # fmt: skip
    of_cluster = fill_aurora_parameters(AuroraTarget.model_validate(aurora | asked), "8.0")
    for one, template in ((given, RDS_TEMPLATE), (of_cluster, AURORA_TEMPLATE)):
        declared = json.loads(read_template(template))["Parameters"]["EngineLifecycleSupport"]
        assert one["EngineLifecycleSupport"] == lifecycle
        assert lifecycle in declared["AllowedValues"]


@pytest.mark.parametrize("name", [RDS_TEMPLATE, AURORA_TEMPLATE, CASSANDRA_TEMPLATE])
def test_everything_with_a_tag_gets_the_organizations_tags(name: str) -> None:
    template = read_template(name)
    tagged = add_tags(template, {"cost-center": "42"})
    assert template.count('"Key": "plimsoll:run-id"') == tagged.count('"Key": "cost-center"') > 1
    assert add_tags(template, {}) == template


KEY = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    ("name", "volumes", "passwords"),
    [(RDS_TEMPLATE, 1, 1), (AURORA_TEMPLATE, 1, 1), (CASSANDRA_TEMPLATE, 3, 0)],
)
def test_every_volume_and_password_is_under_the_customers_key(
    name: str, volumes: int, passwords: int
) -> None:
    template = read_template(name)
    encrypted = encrypt_with(template, KEY)
    assert encrypted.count(f'"KmsKeyId": "{KEY}"') == volumes + passwords
    assert encrypted.count('"MasterUserSecret"') == passwords
    assert encrypt_with(template, "") == template


@pytest.mark.parametrize(("name", "of_new"), [(RDS_TEMPLATE, 1), (CASSANDRA_TEMPLATE, 2)])
def test_a_restored_volume_keeps_the_key_of_its_snapshot(name: str, of_new: int) -> None:
    restored = encrypt_with(restore_from_snapshot(read_template(name), "snap-1"), KEY)
    assert restored.count(f'"KmsKeyId": "{KEY}"') == of_new  # a password, or the roots


def test_nothing_to_provision_is_zero() -> None:
    assert fill_rds_parameters(target(type="gp2", size_gib=100), "11.4.10")["Iops"] == "0"


def test_engine_parameters_are_written_as_text_and_nothing_else_changes() -> None:
    template = read_template(RDS_TEMPLATE)
    written = json.loads(write_engine_parameters(template, {"innodb_buffer_pool_size": 2**24}))
    group = written["Resources"]["ParameterGroup"]["Properties"]
    assert group.pop("Parameters") == {"innodb_buffer_pool_size": "16777216"}
    before = json.loads(template)
    before["Resources"]["ParameterGroup"]["Properties"].pop("Parameters", None)
    assert written == before


@pytest.mark.parametrize(
    ("instance_type", "image"), [("r5.large", "x86_64"), ("r7g.large", "arm64")]
)
def test_every_parameter_of_cassandra_is_one_of_its_template(
    instance_type: str, image: str
) -> None:
    asked = {
        "kind": "cassandra",
        "instance_type": instance_type,
        "volume": {"type": "gp3", "size_gib": 100, "throughput_mib_s": 250},
    }
    given = fill_cassandra_parameters(CassandraTarget.model_validate(asked))
    declared = json.loads(read_template(CASSANDRA_TEMPLATE))["Parameters"]
    assert set(given) <= set(declared)
    without_default = {name for name, p in declared.items() if "Default" not in p}
    of_the_deployment = {"RunId", "Team", "ExpiresAt", "AvailabilityZone", "SecurityGroupId",
                         "SubnetId", "ArchiveUrl", "InstanceProfileName"}  # fmt: skip
    assert without_default - set(given) == of_the_deployment
    assert (given["Iops"], given["ThroughputMibS"]) == ("0", "250")
    assert given["ImageId"].endswith(f"-{image}")
