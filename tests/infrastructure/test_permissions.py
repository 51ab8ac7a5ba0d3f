"""What functions may do is what their code calls: neither less nor more."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT
from stacks.imports import handler_path
from tests.infrastructure.calls import actions, functions
from tests.infrastructure.conftest import BOUNDARY, KEY
from tests.infrastructure.template import TEMPLATES, Template, as_list, read_schemas

# what AWS checks besides the call itself
IMPLIED = {
    "cloudformation:CreateStack": {"cloudformation:TagResource", "iam:PassRole"},
    "scheduler:CreateSchedule": {"iam:PassRole"},
    "rds:CreateDBSnapshot": {"rds:AddTagsToResource"},
    "ec2:CreateSnapshot": {"ec2:CreateTags"},
}
OWN_LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
# actions that know no resource, for which "*" is the only way (IAM's service authorization
# reference); wildcards.py relies on this list
WITHOUT_RESOURCE = {
    "cloudwatch:GetMetricData",
    "timestream:DescribeEndpoints",
    "rds:DescribeDBEngineVersions",
    "rds:DescribeDBClusters",
    "rds:DescribeDBInstances",
    "rds:DescribeEngineDefaultClusterParameters",
    "rds:DescribeDBSnapshots",  # of all snapshots
    "ec2:DescribeSnapshots",
    "rds:DescribeEngineDefaultParameters",
    "rds:DescribeEvents",
    "rds:DescribeGlobalClusters",
    "rds:DescribeOrderableDBInstanceOptions",
    "cloudformation:DescribeStacks",  # of all stacks
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
    "xray:PutTraceSegments",
    "xray:PutTelemetryRecords",
    "xray:GetSamplingRules",
    "xray:GetSamplingTargets",
}


def interface_actions() -> set[str]:
    """The actions on network interfaces, which know no resource either."""
    from stacks.fleet import INTERFACE_ACTIONS

    return set(INTERFACE_ACTIONS)


def uses_of_a_key() -> set[str]:
    """What every function may do with a customer's key."""
    from stacks.encryption import USES

    return set(USES)


RESTORED_AND_DELETED = {"rds:RestoreDBInstanceFromDBSnapshot", "rds:DeleteDBSnapshot"}


def statements(template: Template) -> dict[str, list[Mapping[str, Any]]]:
    """What the policies of each role say, by the role's logical id."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for policy in template.of_type("AWS::IAM::Policy").values():
        for role in policy["Properties"]["Roles"]:
            found.setdefault(role["Ref"], []).extend(
                policy["Properties"]["PolicyDocument"]["Statement"]
            )
    return found


def allowed(given: Iterable[Mapping[str, Any]]) -> set[str]:
    return {a for s in given if s["Effect"] == "Allow" for a in as_list(s["Action"])}


def of_function(template: Template, name: str) -> list[Mapping[str, Any]]:
    for resource in template.of_type("AWS::Lambda::Function").values():
        if resource["Properties"].get("FunctionName") == f"plimsoll-{name}":
            role = resource["Properties"]["Role"]["Fn::GetAtt"][0]
            return statements(template)[role]
    raise KeyError(name)


# what a function calls on one machine alone, where the metrics of a target are there at once
ON_ONE_MACHINE = {"judge-step": {"cloudwatch:GetMetricData"}}


def called_on_aws(row: Any) -> frozenset[str]:
    return actions(handler_path(row)) - ON_ONE_MACHINE.get(row.name, set())


@pytest.mark.parametrize(
    "row", [*FUNCTIONS.values(), *OF_DEPLOYMENT], ids=lambda row: str(row.name)
)
def test_a_function_may_do_what_its_code_calls_and_nothing_else(
    app_template: Template, row: Any
) -> None:
    called = called_on_aws(row)
    implied = {action for call in called for action in IMPLIED.get(call, set())}
    attaching = interface_actions() if row.in_vpc else set()
    may = allowed(of_function(app_template, row.name))
    assert may == called | implied | attaching | OWN_LOG


# what each kind of store asks of those who write to it; none: nobody writes
METRICS = {
    "Plimsoll": ("none", set()),
    "Existing": ("influxdb", {"secretsmanager:GetSecretValue"}),
    "LiveAnalytics": (
        "liveanalytics",
        {"timestream:WriteRecords", "timestream:DescribeEndpoints"},
    ),
}
POINTS = {"make_second_points", "make_step_points", "make_target_points"}


@pytest.mark.parametrize("configuration", METRICS)
def test_every_kind_of_point_has_a_writer_that_can_reach_the_store(
    templates: dict[str, Template], configuration: str
) -> None:
    from stacks.metrics import WRITERS

    kind, needed = METRICS[configuration]
    template = templates[configuration]
    written: set[str] = set()
    for row in FUNCTIONS.values():
        called = called_on_aws(row)
        implied = {action for call in called for action in IMPLIED.get(call, set())}
        attaching = interface_actions() if row.in_vpc else set()
        given = allowed(of_function(template, row.name))
        writes = row.name in WRITERS.get(kind, ())
        wanted = called | implied | attaching | OWN_LOG | (needed if writes else set())
        with_key = configuration != "Plimsoll"
        assert given == wanted | (uses_of_a_key() if with_key else set()), row.name
        told = json.dumps(template.of_type("AWS::Lambda::Function")[_id(template, row.name)])
        assert ("METRICS_SINK" in told) == writes, row.name
        if writes:
            assert row.in_vpc == (kind == "influxdb"), row.name  # where the store stands
            written |= functions(handler_path(row)) & POINTS
    assert written == (set() if kind == "none" else POINTS)


def _id(template: Template, name: str) -> str:
    made = template.of_type("AWS::Lambda::Function").items()
    return next(i for i, r in made if r["Properties"].get("FunctionName") == f"plimsoll-{name}")


def test_code_in_the_vpc_cannot_touch_its_own_network_interfaces(app_template: Template) -> None:
    for row in FUNCTIONS.values():
        denied = {
            action
            for s in of_function(app_template, row.name)
            if s["Effect"] == "Deny"
            and f":function:plimsoll-{row.name}"
            in json.dumps(s["Condition"]["ArnEquals"]["lambda:SourceFunctionArn"])
            for action in as_list(s["Action"])
        }
        assert denied == (interface_actions() if row.in_vpc else set()), row.name


def test_a_wildcard_stands_only_where_an_action_knows_no_resource(
    templates: dict[str, Template],
) -> None:
    without = WITHOUT_RESOURCE | interface_actions()
    for template in templates.values():
        for role, given in statements(template).items():
            for statement in given:
                if "*" in as_list(statement.get("Resource", [])):
                    for action in as_list(statement["Action"]):
                        known = action in without or action.startswith("ec2:Describe")
                        assert known, (role, action)
                assert not any("*" in action for action in as_list(statement["Action"])), role


def test_only_targets_can_be_created_with_their_role_from_a_runs_template(
    app_template: Template,
) -> None:
    (creates,) = [
        s
        for s in of_function(app_template, "create-target")
        if "cloudformation:CreateStack" in as_list(s["Action"])
    ]
    assert as_list(creates["Action"]) == ["cloudformation:CreateStack"]
    assert "stack/plimsoll-run-*/*" in json.dumps(creates["Resource"])
    conditions = creates["Condition"]
    role = conditions["StringEquals"]["cloudformation:RoleArn"]["Fn::GetAtt"][0]
    assert role.startswith("TargetsServiceRole")
    url = json.dumps(conditions["StringLike"]["cloudformation:TemplateUrl"])
    assert "/runs/*/target.template.json" in url


def test_a_secret_can_be_read_only_of_a_target_or_an_allowed_endpoint(
    templates: dict[str, Template],
) -> None:
    reads = [
        s
        for s in of_function(templates["Existing"], "load-client")
        if as_list(s["Action"]) == ["secretsmanager:GetSecretValue"]
    ]
    own = []
    for kind, named in (("db", "DBInstance"), ("cluster", "DBCluster")):
        (statement,) = [s for s in reads if f"rds!{kind}-" in json.dumps(s["Resource"])]
        tag = f"aws:ResourceTag/aws:rds:primary{named}Arn"
        assert f":{kind}:plimsoll-*" in json.dumps(statement["Condition"]["StringLike"][tag])
        own.append(statement)
    others = [as_list(s["Resource"]) for s in reads if s not in own]
    endpoint = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"
    assert any(endpoint in resources for resources in others)


@pytest.mark.parametrize("configuration", ["Existing", "LiveAnalytics"])
def test_a_customers_key_encrypts_all_that_is_kept(
    templates: dict[str, Template], configuration: str
) -> None:
    template = templates[configuration]
    key: Any = KEY
    if configuration == "LiveAnalytics":
        ((logical_id, made),) = template.of_type("AWS::KMS::Key").items()
        key = {"Fn::GetAtt": [logical_id, "Arn"]}
        assert made["Properties"]["EnableKeyRotation"] is True
        (of_logs,) = [
            json.dumps(statement["Principal"])
            for statement in made["Properties"]["KeyPolicy"]["Statement"]
            if "logs." in json.dumps(statement["Principal"])
        ]
        assert "AWS::URLSuffix" in of_logs  # amazonaws.com.cn in China
    named = {
        "AWS::Logs::LogGroup": "KmsKeyId",
        "AWS::SecretsManager::Secret": "KmsKeyId",
        "AWS::SNS::Topic": "KmsMasterKeyId",
        "AWS::SQS::Queue": "KmsMasterKeyId",
        "AWS::Timestream::Database": "KmsKeyId",
    }
    for kind, name in named.items():
        for made in template.of_type(kind).values():
            assert made["Properties"][name] == key, kind
    for made in template.of_type("AWS::Lambda::Function").values():
        if "FunctionName" in made["Properties"]:
            assert made["Properties"]["KmsKeyArn"] == key
    for made in template.of_type("AWS::DynamoDB::Table").values():
        assert made["Properties"]["SSESpecification"]["KMSMasterKeyId"] == key
    (rule,) = template.only("AWS::S3::Bucket")["BucketEncryption"][
        "ServerSideEncryptionConfiguration"
    ]
    assert rule["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] == key
    told = template.function("create-target")["Environment"]["Variables"]["KMS_KEY_ARN"]
    assert told == key
    for role, given in statements(template).items():
        reads = ("Fleet", "Workflow", "Configuration", "Guard", "TargetsServiceRole")
        if role.startswith(reads) and "EventsRole" not in role:  # a rule's, which starts a machine
            assert uses_of_a_key() <= allowed(given), role


def test_every_role_has_the_boundary_that_is_asked_for(templates: dict[str, Template]) -> None:
    for name, boundary in (("Existing", BOUNDARY), ("Plimsoll", None)):
        roles = templates[name].of_type("AWS::IAM::Role").values()
        assert {role["Properties"].get("PermissionsBoundary") for role in roles} == {boundary}


def test_no_role_restores_or_deletes_snapshots_of_others(templates: dict[str, Template]) -> None:
    """Those of RDS are Plimsoll's by their name, those of EBS by their tag."""
    for template in templates.values():
        given = [one for role in statements(template).values() for one in role]
        of_rds = [s for s in given if allowed([s]) & RESTORED_AND_DELETED]
        assert {a for s in of_rds for a in allowed([s])} >= RESTORED_AND_DELETED
        named = [json.dumps(one) for s in of_rds for one in as_list(s["Resource"])]
        snapshots = [name for name in named if ":db:" not in name and ":pg:" not in name]
        snapshots = [name for name in snapshots if ":og:" not in name and ":subgrp:" not in name]
        assert all(name.endswith(':snapshot:plimsoll-dataset-*"]]}') for name in snapshots)
        of_ebs = [s for s in given if "ec2:DeleteSnapshot" in allowed([s])]
        tagged = {"Null": {"aws:ResourceTag/plimsoll:run-id": "false"}}
        assert [s["Condition"] for s in of_ebs] == [tagged] * len(of_ebs)


def test_without_cassandra_nobody_may_make_instances(app_template: Template) -> None:
    everything = {a for given in statements(app_template).values() for a in allowed(given)}
    assert not everything & {"ec2:RunInstances", "ec2:CreateLaunchTemplate", "ssm:GetParameters"}
    assert not app_template.of_type("AWS::IAM::InstanceProfile")


def test_only_tagged_instances_can_be_made_and_ended(templates: dict[str, Template]) -> None:
    roles = statements(templates["Existing"])
    (role,) = [name for name in roles if name.startswith("TargetsServiceRole")]
    key = {
        "ec2:TerminateInstances": "aws:ResourceTag",
        "ec2:CreateLaunchTemplate": "aws:RequestTag",
    }
    for action, tag in key.items():
        (statement,) = [s for s in roles[role] if action in as_list(s["Action"])]
        assert statement["Condition"] == {"Null": {f"{tag}/plimsoll:run-id": "false"}}, action


# what CloudFormation's handlers call only for what our templates do not ask for
NOT_ASKED_FOR = {
    "AWS::RDS::DBInstance": {
        "iam:GetRole",  # associated roles, monitoring roles
        "iam:ListRoles",
        "rds:AddRoleToDBInstance",
        "rds:CreateDBInstanceReadReplica",
        "rds:RestoreDBInstanceFromDBSnapshot",
        "rds:RestoreDBInstanceToPointInTime",
        "rds:StartDBInstanceAutomatedBackupsReplication",
        "rds:DescribeDBInstanceAutomatedBackups",
        "rds:DescribeDBSnapshots",
        "rds:DescribeDBClusterSnapshots",
        "rds:CreateDBSnapshot",  # DeletionPolicy is Delete
    },
    "AWS::RDS::DBCluster": {
        "rds:AddRoleToDBCluster",
        "rds:DescribeDBClusterAutomatedBackups",
        "rds:DescribeDBClusterSnapshots",
        "rds:DescribeDBSnapshots",
        "rds:EnableHttpEndpoint",
        "rds:RestoreDBClusterFromSnapshot",
        "rds:RestoreDBClusterToPointInTime",
        "rds:CreateDBClusterSnapshot",  # DeletionPolicy is Delete
        "rds:RemoveFromGlobalCluster",
    },
    "AWS::EC2::Instance": {
        "ec2:ModifyPrivateDnsNameOptions",
        "ec2:AssociateIamInstanceProfile",  # RunInstances takes the profile
        "ec2:DisassociateIamInstanceProfile",
        "ec2:ReplaceIamInstanceProfileAssociation",
        "ec2:AttachVolume",  # volumes come with the instance, by its block devices
        "ec2:DetachVolume",
        "ec2:ModifyInstanceAttribute",
        "ec2:ModifyInstanceCreditSpecification",
        "ec2:ModifyInstancePlacement",
        "ec2:MonitorInstances",
        "ec2:StartInstances",
        "ssm:CreateAssociation",  # SsmAssociations
        "ssm:DescribeAssociation",
        "ssm:ListAssociations",
    },
}


def test_the_service_role_can_make_and_delete_what_the_targets_templates_hold(
    templates: dict[str, Template],
) -> None:
    roles = statements(templates["Existing"])  # with Cassandra
    (role,) = [name for name in roles if name.startswith("TargetsServiceRole")]
    may = allowed(roles[role])
    used = {
        resource["Type"]
        for path in TEMPLATES.iterdir()
        for resource in json.loads(path.read_text())["Resources"].values()
    }
    for kind in used:
        for event in ("create", "read", "delete"):
            handlers = read_schemas().get(kind, {}).get("handlers", {})
            needed = set(handlers.get(event, {}).get("permissions", []))
            missing = needed - may - NOT_ASKED_FOR.get(kind, set())
            assert not missing, (kind, event, missing)
