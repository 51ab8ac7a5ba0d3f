"""What `cdk deploy` deploys. That cdk-nag's AwsSolutions pack is content is part of synthesis."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from plimsoll.model.functions import FUNCTIONS
from stacks.imports import distributions, handler_path
from tests.infrastructure.conftest import CONFIGURATIONS
from tests.infrastructure.template import Template, as_list, walk

EVERYWHERE = {"0.0.0.0/0", "::/0"}
RDS_PORTS = {3306, 5432}
CQL_PORTS = {9042}
FLEETS_HTTPS = "AWS's services"
CASSANDRAS_HTTPS = "S3: packages, the archive, the answer"


def rules(template: Template, direction: str) -> list[Mapping[str, Any]]:
    """The rules of every security group, those written inside a group too."""
    apart = template.of_type(f"AWS::EC2::SecurityGroup{direction.capitalize()}").values()
    within = [
        rule
        for group in template.of_type("AWS::EC2::SecurityGroup").values()
        for rule in group["Properties"].get(f"SecurityGroup{direction.capitalize()}", [])
    ]
    return [*(rule["Properties"] for rule in apart), *within]


def group_id(template: Template, described: str) -> Mapping[str, Any]:
    """What names a security group in rules, found by the first words of its description."""
    (name,) = (
        name
        for name, group in template.of_type("AWS::EC2::SecurityGroup").items()
        if group["Properties"]["GroupDescription"].startswith(described)
    )
    return {"Fn::GetAtt": [name, "GroupId"]}


def egress_of(template: Template, group: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a security group lets out, without the rule that stands for nothing at all."""
    within = template.of_type("AWS::EC2::SecurityGroup")[group["Fn::GetAtt"][0]]["Properties"]
    apart = template.of_type("AWS::EC2::SecurityGroupEgress").values()
    every = [
        *within.get("SecurityGroupEgress", []),
        *(rule["Properties"] for rule in apart if rule["Properties"]["GroupId"] == group),
    ]
    return [rule for rule in every if rule.get("CidrIp") != "255.255.255.255/32"]


def function(template: Template, name: str) -> Mapping[str, Any]:
    for resource in template.of_type("AWS::Lambda::Function").values():
        properties: Mapping[str, Any] = resource["Properties"]
        if properties.get("FunctionName") == f"plimsoll-{name}":
            return properties
    raise KeyError(name)


def test_the_targets_are_not_among_what_cdk_deploys(templates: dict[str, Template]) -> None:
    assert set(templates) == set(CONFIGURATIONS)  # each is one stack, and nothing besides


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_nobody_outside_gets_in(templates: dict[str, Template], name: str) -> None:
    template = templates[name]
    for rule in rules(template, "ingress"):
        assert "SourceSecurityGroupId" in rule, rule
        assert not EVERYWHERE & {rule.get("CidrIp"), rule.get("CidrIpv6")}
    public = [
        "AWS::EC2::InternetGateway",
        "AWS::EC2::NatGateway",
        "AWS::EC2::EIP",
        "AWS::EC2::EgressOnlyInternetGateway",
    ]
    assert not [kind for kind in public if template.of_type(kind)]
    for path, value in walk(template.body):
        if path.endswith(("PubliclyAccessible", "MapPublicIpOnLaunch")):
            assert value is False, path


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("Plimsoll", {FLEETS_HTTPS}),
        ("Existing", {FLEETS_HTTPS}),  # its Cassandra targets reach a prefix list
        ("LiveAnalytics", {FLEETS_HTTPS, CASSANDRAS_HTTPS}),
    ],
)
def test_the_only_rules_towards_any_address_are_https_to_aws(
    templates: dict[str, Template], name: str, allowed: set[str]
) -> None:
    # S3 and DynamoDB are reached through gateways whose addresses are not known before deployment
    wide = [r for r in rules(templates[name], "egress") if EVERYWHERE & set(map(str, r.values()))]
    assert sorted(
        (r["FromPort"], r["ToPort"], r["Description"]) for r in wide if "FromPort" in r
    ) == sorted((443, 443, description) for description in allowed)


@pytest.mark.parametrize(
    ("name", "described", "ports"),
    [
        *((name, "Targets of Plimsoll", RDS_PORTS) for name in CONFIGURATIONS),
        ("Existing", "Cassandra targets", CQL_PORTS),
        ("LiveAnalytics", "Cassandra targets", CQL_PORTS),
    ],
)
def test_only_the_fleet_reaches_a_target_and_only_a_targets_ports(
    templates: dict[str, Template], name: str, described: str, ports: set[int]
) -> None:
    target = group_id(templates[name], described)
    fleet = group_id(templates[name], "Load")
    ingress = [rule for rule in rules(templates[name], "ingress") if rule["GroupId"] == target]
    assert {rule["FromPort"] for rule in ingress} == ports
    for rule in ingress:
        assert rule["FromPort"] == rule["ToPort"]
        assert rule["SourceSecurityGroupId"] == fleet
    towards = [
        rule["FromPort"]
        for rule in egress_of(templates[name], fleet)
        if rule.get("DestinationSecurityGroupId") == target
    ]
    assert set(towards) == ports


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_an_rds_target_reaches_nothing(templates: dict[str, Template], name: str) -> None:
    assert egress_of(templates[name], group_id(templates[name], "Targets of Plimsoll")) == []


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("LiveAnalytics", {"CidrIp": "0.0.0.0/0"}),  # a VPC with no way out but its gateways
        ("Existing", {"DestinationPrefixListId": "pl-0a1b2c3d"}),  # one that may have a NAT
    ],
)
def test_a_cassandra_target_reaches_s3_by_https_and_nothing_else(
    templates: dict[str, Template], name: str, to: dict[str, str]
) -> None:
    template = templates[name]
    group = group_id(template, "Cassandra targets")
    (rule,) = egress_of(template, group)
    assert {
        key: rule.get(key) for key in ("CidrIp", "DestinationPrefixListId") if key in rule
    } == to
    assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)
    place = function(template, "create-target")["Environment"]["Variables"]["CASSANDRA"]
    assert group in [value for _, value in walk(place)]


def test_without_cassandra_there_is_no_group_that_lets_a_target_out(
    app_template: Template,
) -> None:
    groups = app_template.of_type("AWS::EC2::SecurityGroup").values()
    assert not [g for g in groups if "Cassandra" in g["Properties"]["GroupDescription"]]


def test_an_allowed_endpoint_opens_its_own_addresses_and_port(
    templates: dict[str, Template],
) -> None:
    opened = [
        r for r in rules(templates["Existing"], "egress") if r.get("CidrIp") == "10.20.0.0/16"
    ]
    assert [(r["FromPort"], r["ToPort"]) for r in opened] == [(3307, 3307)]
    told = [
        resource["Properties"]["Environment"]["Variables"]["ALLOWED_ENDPOINTS"]
        for resource in templates["Existing"].of_type("AWS::Lambda::Function").values()
        if "ALLOWED_ENDPOINTS" in json.dumps(resource)
    ]
    assert [json.loads(value) for value in set(told)] == [
        {
            "db.example.internal:3307": "arn:aws:secretsmanager:eu-west-1:123456789012"
            ":secret:db-AbCdEf"
        }
    ]


def test_the_load_client_is_what_the_design_says(app_template: Template) -> None:
    client = function(app_template, "load-client")
    assert client["Architectures"] == ["arm64"]
    assert (client["MemorySize"], client["Timeout"]) == (1769, 900)
    assert "ReservedConcurrentExecutions" not in client
    for resource in app_template.of_type("AWS::Lambda::EventInvokeConfig").values():
        assert resource["Properties"]["MaximumRetryAttempts"] in {0, 2}


def test_the_fleet_can_be_bounded(templates: dict[str, Template]) -> None:
    assert function(templates["Existing"], "load-client")["ReservedConcurrentExecutions"] == 200


def test_every_row_of_the_table_is_a_function_as_the_row_says(app_template: Template) -> None:
    invoked = {
        json.dumps(r["Properties"]["FunctionName"]): r["Properties"]["MaximumRetryAttempts"]
        for r in app_template.of_type("AWS::Lambda::EventInvokeConfig").values()
    }
    ids = {
        r["Properties"]["FunctionName"]: logical_id
        for logical_id, r in app_template.of_type("AWS::Lambda::Function").items()
        if "FunctionName" in r["Properties"]
    }
    for row in FUNCTIONS.values():
        made = function(app_template, row.name)
        assert (made["MemorySize"], made["Timeout"]) == (row.memory_mib, row.timeout_s)
        assert made["Handler"] == f"functions/{row.folder}/handler.handler"
        assert ("VpcConfig" in made) == row.in_vpc
        given = made.get("Environment", {}).get("Variables", {})
        assert set(given) == set(row.environment)
        assert invoked[json.dumps({"Ref": ids[f"plimsoll-{row.name}"]})] == row.retries


def test_each_function_has_a_role_of_its_own(app_template: Template) -> None:
    roles = [
        json.dumps(r["Properties"]["Role"])
        for r in app_template.of_type("AWS::Lambda::Function").values()
    ]
    assert len(set(roles)) == len(roles)


def test_each_zone_in_which_targets_may_stand_has_load_clients(app_template: Template) -> None:
    """What the workflow appends to the function's ARN leads to the clients of the target's zone."""
    resources = app_template.body["Resources"]
    placed = {
        made["Properties"]["FunctionName"]: made["Properties"]["VpcConfig"]["SubnetIds"]
        for made in app_template.of_type("AWS::Lambda::Function").values()
        if "VpcConfig" in made["Properties"]
    }
    zones = _zones(function(app_template, "create-target")["Environment"]["Variables"]["ZONES"])
    assert [zone["clients"] for zone in zones] == ["", "-2"]
    for zone in zones:
        (subnet,) = placed.pop(f"plimsoll-load-client{zone['clients']}")
        assert subnet == {"Ref": zone["subnet_id"]}
        of_subnet = resources[subnet["Ref"]]["Properties"]["AvailabilityZone"]
        assert json.dumps(of_subnet["Fn::Select"]) == zone["name"]
    first = [{"Ref": zones[0]["subnet_id"]}]
    assert all(subnets == first for subnets in placed.values()), "all others are in the first zone"


def _zones(setting: dict[str, Any]) -> list[dict[str, str]]:
    """Read the setting as deployed: of a subnet its logical id, of a zone its selection."""
    parts = setting["Fn::Join"][1]
    words = [
        part
        if isinstance(part, str)
        else part.get("Ref") or json.dumps(part["Fn::Select"]).replace('"', '\\"')
        for part in parts
    ]
    zones: list[dict[str, str]] = json.loads("".join(words))
    return zones


def test_storage_is_encrypted_private_and_forgets_in_time(app_template: Template) -> None:
    bucket = app_template.only("AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    rules = bucket["LifecycleConfiguration"]["Rules"]
    assert {rule["Prefix"] for rule in rules} == {"runs/", "experiments/"}
    assert {rule["ExpirationInDays"] for rule in rules} == {365}
    denials = [
        s
        for s in app_template.only("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]
        if s["Effect"] == "Deny"
    ]
    assert {"Bool": {"aws:SecureTransport": "false"}} in [s["Condition"] for s in denials]
    tables = [one["Properties"] for one in app_template.of_type("AWS::DynamoDB::Table").values()]
    for table in tables:
        assert table["TimeToLiveSpecification"]["Enabled"] is True
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    keys = [[key["AttributeName"] for key in table["KeySchema"]] for table in tables]
    assert sorted(keys) == [["pk", "sk"], ["run_id"]]


@pytest.mark.parametrize(("name", "kept"), [("Plimsoll", False), ("Existing", True)])
def test_destroying_leaves_nothing_unless_results_are_to_be_kept(
    templates: dict[str, Template], name: str, kept: bool
) -> None:
    retained = {
        resource["Type"]
        for resource in templates[name].body["Resources"].values()
        if resource.get("DeletionPolicy", "Delete") != "Delete"
    }
    assert retained == ({"AWS::S3::Bucket", "AWS::DynamoDB::Table"} if kept else set())
    # a bucket with files in it cannot be deleted without this
    assert bool(templates[name].of_type("Custom::S3AutoDeleteObjects")) != kept
    # a log group that a function makes by itself would stay
    for resource in templates[name].of_type("AWS::Lambda::Function").values():
        if "FunctionName" in resource["Properties"]:
            assert "LoggingConfig" in resource["Properties"]


def test_nothing_is_deleted_before_the_guard_has_agreed(app_template: Template) -> None:
    # CloudFormation deletes in the reverse order of dependencies
    (guard_id,) = app_template.of_type("Custom::NoTargetAlive")
    resources = app_template.body["Resources"]
    before = set(as_list(resources[guard_id]["DependsOn"]))
    pending = set(before)
    while pending:
        name = pending.pop()
        found = set(as_list(resources[name].get("DependsOn", [])))
        found |= {v["Ref"] for _, v in walk(resources[name]) if _is(v, "Ref")}
        found |= {v["Fn::GetAtt"][0] for _, v in walk(resources[name]) if _is(v, "Fn::GetAtt")}
        new = (found & set(resources)) - before
        before |= new
        pending |= new
    own = {guard_id, *(n for n in resources if n.startswith("Guard"))}
    helpers = {n for n in resources if n.startswith("CustomS3AutoDelete")}
    assert set(resources) - before - own - helpers - {"CDKMetadata"} == set()


def _is(value: Any, key: str) -> bool:
    return isinstance(value, Mapping) and set(value) == {key}


def test_idle_it_holds_one_thing_that_costs_by_the_hour(app_template: Template) -> None:
    costly = {
        "AWS::EC2::NatGateway",
        "AWS::EC2::EIP",
        "AWS::EC2::Instance",
        "AWS::RDS::DBInstance",
        "AWS::KMS::Key",
        "AWS::Timestream::InfluxDBInstance",
        "AWS::Lambda::Version",
    }
    types = [resource["Type"] for resource in app_template.body["Resources"].values()]
    assert not costly & set(types)
    endpoints = [
        r["Properties"]
        for r in app_template.of_type("AWS::EC2::VPCEndpoint").values()
        if r["Properties"]["VpcEndpointType"] == "Interface"
    ]
    assert len(endpoints) == 1
    assert len(endpoints[0]["SubnetIds"]) == 1


def test_metrics_go_where_the_configuration_says(templates: dict[str, Template]) -> None:
    assert "METRICS_SINK" not in json.dumps(templates["Plimsoll"].body)
    influx = templates["Existing"].only("AWS::Timestream::InfluxDBInstance")
    assert influx["PubliclyAccessible"] is False
    assert "resolve:secretsmanager" in json.dumps(influx["Password"])
    client = function(templates["Existing"], "load-client")["Environment"]["Variables"]
    assert client["METRICS_SINK"] == "influxdb"
    table = templates["LiveAnalytics"].only("AWS::Timestream::Table")
    assert table["RetentionProperties"]["MagneticStoreRetentionPeriodInDays"] == "365"
    conclude = function(templates["LiveAnalytics"], "conclude")["Environment"]["Variables"]
    assert conclude["METRICS_SINK"] == "liveanalytics"


def test_packages_carry_what_the_logins_of_mysql_8_4_need() -> None:
    """PyMySQL encrypts their password with a library that no import names."""
    for row in FUNCTIONS.values():
        carried = distributions(handler_path(row), "3.13")
        assert ("pymysql" in carried) == ("cryptography" in carried), row.name
