"""Who reaches what: security groups and their rules, of the fleet and of targets."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.infrastructure.conftest import CONFIGURATIONS
from tests.infrastructure.template import Template, walk

EVERYWHERE = {"0.0.0.0/0", "::/0"}
RDS_PORTS = {3306, 5432}
CQL_PORTS = {9042}
STORAGE_PORT = 7000  # between the nodes of a cluster
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
    ingress = [
        rule
        for rule in rules(templates[name], "ingress")
        if rule["GroupId"] == target and rule["SourceSecurityGroupId"] != target
    ]
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


@pytest.mark.parametrize("name", ["Existing", "LiveAnalytics"])
def test_cassandra_targets_reach_one_another_where_nodes_do_and_nowhere_else(
    templates: dict[str, Template], name: str
) -> None:
    template = templates[name]
    group = group_id(template, "Cassandra targets")
    into = [r for r in rules(template, "ingress") if r.get("SourceSecurityGroupId") == group]
    out = [r for r in egress_of(template, group) if "DestinationSecurityGroupId" in r]
    assert [rule["GroupId"] for rule in into] == [group]
    assert [rule["DestinationSecurityGroupId"] for rule in out] == [group]
    for rule in (*into, *out):
        assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == (
            "tcp", STORAGE_PORT, STORAGE_PORT,
        )  # fmt: skip


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
def test_besides_its_own_nodes_a_cassandra_target_reaches_s3_alone(
    templates: dict[str, Template], name: str, to: dict[str, str]
) -> None:
    template = templates[name]
    group = group_id(template, "Cassandra targets")
    (rule,) = (r for r in egress_of(template, group) if "DestinationSecurityGroupId" not in r)
    assert {
        key: rule.get(key) for key in ("CidrIp", "DestinationPrefixListId") if key in rule
    } == to
    assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)
    place = template.function("create-target")["Environment"]["Variables"]["CASSANDRA"]
    assert group in [value for _, value in walk(place)]


def test_without_cassandra_there_is_no_group_that_lets_a_target_out(
    app_template: Template,
) -> None:
    groups = app_template.of_type("AWS::EC2::SecurityGroup").values()
    assert not [g for g in groups if "Cassandra" in g["Properties"]["GroupDescription"]]


def test_zones_are_those_that_are_named(templates: dict[str, Template]) -> None:
    template = templates["Second"]
    subnets = template.of_type("AWS::EC2::Subnet").values()
    zones = {subnet["Properties"]["AvailabilityZone"] for subnet in subnets}
    assert zones == {"eu-west-1b", "eu-west-1c"}
    assert template.body["Outputs"]["TargetZones"]["Value"] == "eu-west-1b,eu-west-1c"


def test_an_allowed_endpoint_opens_its_own_addresses_and_port(
    templates: dict[str, Template],
) -> None:
    opened = [
        r for r in rules(templates["Existing"], "egress") if r.get("CidrIp") == "10.20.0.0/16"
    ]
    assert [(r["FromPort"], r["ToPort"]) for r in opened] == [(3307, 3307)]
    told = templates["Existing"].only("Custom::Configuration")["Values"]["ALLOWED_ENDPOINTS"]
    assert json.loads(told) == {
        "db.example.internal:3307": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"
    }
