"""The templates that runs give to CloudFormation."""

from itertools import product
from typing import Any

import pytest

from tests.infrastructure.template import TEMPLATES, Resolved, Template, walk

RUN = {
    "RunId": "r1-1000-iops",
    "Team": "dba",
    "ExpiresAt": "2026-12-01T10:00:00Z",
    "AvailabilityZone": "eu-west-1a",
    "SecurityGroupId": "sg-0a",
}
ENGINES = {
    "mysql": {"EngineVersion": "8.4.6", "ParameterGroupFamily": "mysql8.4"},
    "mariadb": {"EngineVersion": "11.4.5", "ParameterGroupFamily": "mariadb11.4"},
    "postgres": {"EngineVersion": "17.5", "ParameterGroupFamily": "postgres17"},
}
VOLUMES: dict[str, dict[str, str]] = {
    "gp2": {},
    "gp3": {"Iops": "16000", "StorageThroughputMibS": "1000"},
    "io1": {"Iops": "2000"},
    "io2": {"Iops": "2000"},
}


def rds(template: Template, engine: str, volume: str) -> Resolved:
    parameters = {
        **RUN,
        "Engine": engine,
        **ENGINES[engine],
        "InstanceClass": "db.m6i.large",
        "SubnetGroupName": "plimsoll-targets",
        "StorageType": volume,
        "AllocatedStorageGib": "400",
        **VOLUMES[volume],
    }
    return Resolved(template.body, parameters)


AURORA = {
    "aurora-mysql": {"EngineVersion": "8.0.mysql_aurora.3.10.3"},
    "aurora-postgresql": {"EngineVersion": "17.7"},
}


def aurora(template: Template, engine: str, storage: str = "aurora") -> Resolved:
    parameters = {
        **RUN,
        "Engine": engine,
        **AURORA[engine],
        "ParameterGroupFamily": f"{engine}17",
        "InstanceClass": "db.r7g.large",
        "SubnetGroupName": "plimsoll-targets",
        "StorageType": storage,
    }
    return Resolved(template.body, parameters)


@pytest.mark.parametrize(("engine", "storage"), [*product(AURORA, ("aurora", "aurora-iopt1"))])
def test_aurora_gets_a_cluster_of_the_storage_asked_for_and_one_writer(
    target_templates: dict[str, Template], engine: str, storage: str
) -> None:
    resources = aurora(target_templates["aurora"], engine, storage).resources
    cluster, writer = resources["Cluster"], resources["Writer"]
    assert (cluster["Engine"], cluster["StorageType"]) == (engine, storage)
    assert cluster["EngineVersion"] == AURORA[engine]["EngineVersion"]
    assert cluster["DBClusterIdentifier"] == f"plimsoll-{RUN['RunId']}"
    assert (writer["Engine"], writer["DBInstanceClass"]) == (engine, "db.r7g.large")
    assert writer["DBClusterIdentifier"] == "<Cluster>"
    assert writer["AvailabilityZone"] == RUN["AvailabilityZone"]
    assert not {"AllocatedStorage", "Iops", "StorageType"} & set(writer)
    body = target_templates["aurora"]
    assert len(body.of_type("AWS::RDS::DBInstance")) == len(body.of_type("AWS::RDS::DBCluster"))


def test_nothing_of_an_aurora_target_outlives_its_stack(
    target_templates: dict[str, Template],
) -> None:
    cluster = aurora(target_templates["aurora"], "aurora-mysql").resources["Cluster"]
    assert cluster["DeletionProtection"] is False
    assert cluster["DeleteAutomatedBackups"] is True
    assert cluster["BackupRetentionPeriod"] == 1  # the least that Aurora has


def test_an_aurora_target_is_private_encrypted_and_knows_no_password(
    target_templates: dict[str, Template],
) -> None:
    resources = aurora(target_templates["aurora"], "aurora-postgresql").resources
    cluster, writer = resources["Cluster"], resources["Writer"]
    assert writer["PubliclyAccessible"] is False
    assert writer["AutoMinorVersionUpgrade"] is False
    assert cluster["StorageEncrypted"] is True
    assert cluster["ManageMasterUserPassword"] is True
    assert "MasterUserPassword" not in cluster
    assert cluster["VpcSecurityGroupIds"] == [RUN["SecurityGroupId"]]


def test_an_aurora_targets_outputs_are_what_a_run_reads(
    target_templates: dict[str, Template],
) -> None:
    assert aurora(target_templates["aurora"], "aurora-mysql").outputs == {
        "Endpoint": "Cluster.Endpoint.Address",
        "Port": "Cluster.Endpoint.Port",
        "SecretArn": "Cluster.MasterUserSecret.SecretArn",
        "InstanceIdentifier": "<Writer>",
    }


def test_what_is_committed_is_what_the_sources_say(target_templates: dict[str, Template]) -> None:
    from stacks.targets import synthesis

    assert synthesis.TEMPLATES == TEMPLATES
    committed = {path.name: path.read_text() for path in TEMPLATES.iterdir()}
    sources = {
        f"{name}.template.json": synthesis.write_template(template.body)
        for name, template in target_templates.items()
    }
    assert committed == sources, "run `make synth` and commit what it writes"


@pytest.mark.parametrize(("engine", "volume"), [*product(ENGINES, VOLUMES)])
def test_rds_gets_the_engine_and_the_volume_asked_for(
    target_templates: dict[str, Template], engine: str, volume: str
) -> None:
    instance = rds(target_templates["rds"], engine, volume).resources["Instance"]
    assert instance["Engine"] == engine
    assert instance["EngineVersion"] == ENGINES[engine]["EngineVersion"]
    assert (instance["StorageType"], instance["AllocatedStorage"]) == (volume, "400")
    assert instance.get("Iops") == VOLUMES[volume].get("Iops")
    assert instance.get("StorageThroughput") == VOLUMES[volume].get("StorageThroughputMibS")


def test_rds_may_charge_extended_support_only_where_it_is_asked_for(
    target_templates: dict[str, Template],
) -> None:
    """RDS itself enrolls every new database. MariaDB has none, and RDS no such setting for it."""
    lifecycle = "EngineLifecycleSupport"
    for resource in (
        rds(target_templates["rds"], "mysql", "gp3").resources["Instance"],
        rds(target_templates["rds"], "postgres", "gp3").resources["Instance"],
        aurora(target_templates["aurora"], "aurora-mysql").resources["Cluster"],
    ):
        assert resource[lifecycle] == "open-source-rds-extended-support-disabled"
    assert lifecycle not in rds(target_templates["rds"], "mariadb", "gp3").resources["Instance"]
    assert lifecycle not in aurora(target_templates["aurora"], "aurora-mysql").resources["Writer"]


def test_nothing_of_an_rds_target_outlives_its_stack(target_templates: dict[str, Template]) -> None:
    instance = rds(target_templates["rds"], "mysql", "gp3").resources["Instance"]
    assert instance["BackupRetentionPeriod"] == 0
    assert instance["DeleteAutomatedBackups"] is True
    assert instance["DeletionProtection"] is False
    assert "MaxAllocatedStorage" not in instance


def test_an_rds_target_is_private_encrypted_and_knows_no_password(
    target_templates: dict[str, Template],
) -> None:
    instance = rds(target_templates["rds"], "mysql", "gp3").resources["Instance"]
    assert instance["PubliclyAccessible"] is False
    assert instance["StorageEncrypted"] is True
    assert instance["ManageMasterUserPassword"] is True
    assert "MasterUserPassword" not in instance
    assert instance["VPCSecurityGroups"] == [RUN["SecurityGroupId"]]


def test_an_rds_target_stands_in_its_clients_zone_and_changes_nothing_by_itself(
    target_templates: dict[str, Template],
) -> None:
    instance = rds(target_templates["rds"], "mysql", "gp3").resources["Instance"]
    assert instance["AvailabilityZone"] == RUN["AvailabilityZone"]
    assert instance["MultiAZ"] is False
    assert instance["AutoMinorVersionUpgrade"] is False


def test_an_rds_targets_outputs_are_what_a_run_reads(target_templates: dict[str, Template]) -> None:
    outputs = rds(target_templates["rds"], "mysql", "gp3").outputs
    assert outputs == {
        "Endpoint": "Instance.Endpoint.Address",
        "Port": "Instance.Endpoint.Port",
        "SecretArn": "Instance.MasterUserSecret.SecretArn",
        "InstanceIdentifier": "<Instance>",
    }


def test_names_stay_within_what_rds_and_the_permissions_allow(
    target_templates: dict[str, Template],
) -> None:
    longest = "a" * target_templates["rds"].body["Parameters"]["RunId"]["MaxLength"]
    name = rds(target_templates["rds"], "mysql", "gp3").resources["Instance"][
        "DBInstanceIdentifier"
    ]
    assert name == f"plimsoll-{RUN['RunId']}"
    assert len(f"plimsoll-{longest}") <= 63
    # a stack's name is plimsoll-run-<id>, a schedule's too, and Scheduler allows 64
    assert len(f"plimsoll-run-{longest}") <= 64


def test_every_resource_is_deleted_with_its_stack(target_templates: dict[str, Template]) -> None:
    for name, template in target_templates.items():
        for logical_id, resource in template.body["Resources"].items():
            kept = resource.get("DeletionPolicy", "Delete"), resource.get("UpdateReplacePolicy")
            assert kept[0] == "Delete", (name, logical_id)
            assert kept[1] in {None, "Delete"}, (name, logical_id)
        # these two would keep a snapshot by default
        for kind in ("AWS::RDS::DBInstance", "AWS::RDS::DBCluster"):
            for resource in template.of_type(kind).values():
                assert resource["DeletionPolicy"] == "Delete"


def test_a_targets_stack_holds_no_function_and_makes_no_security_group(
    target_templates: dict[str, Template],
) -> None:
    # functions in a VPC hold up a stack's deletion for 20 to 40 minutes
    for template in target_templates.values():
        types = {resource["Type"] for resource in template.body["Resources"].values()}
        assert not {t for t in types if t.startswith("AWS::Lambda::")}
        assert "AWS::EC2::SecurityGroup" not in types


def test_every_tagged_resource_says_whose_it_is_and_until_when(
    target_templates: dict[str, Template],
) -> None:
    for name, template in target_templates.items():
        tags = [value for path, value in walk(template.body) if path.endswith("/Tags")]
        assert tags, name
        for given in tags:
            assert {tag["Key"]: tag["Value"] for tag in given} == {
                "plimsoll:run-id": {"Ref": "RunId"},
                "plimsoll:team": {"Ref": "Team"},
                "plimsoll:expires-at": {"Ref": "ExpiresAt"},
            }


def test_every_parameter_is_used_and_says_what_it_is(target_templates: dict[str, Template]) -> None:
    from stacks.targets.synthesis import write_template

    for template in target_templates.values():
        used: set[Any] = {v["Ref"] for _, v in walk(template.body) if _is_ref(v)}
        text = write_template(template.body)
        for name, rules in template.body["Parameters"].items():
            assert name in used or f"${{{name}}}" in text, name
            assert rules["Description"].endswith("."), name


def _is_ref(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"Ref"}
