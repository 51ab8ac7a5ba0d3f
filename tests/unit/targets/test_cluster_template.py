"""A cluster's template: as many instances as nodes, each made when the one before it listens."""

import json

import pytest

from plimsoll.model.deployment.function_settings import Zone
from plimsoll.model.engine.networks import ClusterPlace, read_place
from plimsoll.targets.cluster_template import add_nodes
from plimsoll.targets.template import CASSANDRA_TEMPLATE, read_template

ONE = read_template(CASSANDRA_TEMPLATE)
ZONES = [Zone(name=f"eu-west-1{z}", subnet_id=f"subnet-0{z}", clients="") for z in "ab"]
BODY = json.loads(add_nodes(ONE, 4, ZONES))


def tags(name: str) -> dict[str, object]:
    return {tag["Key"]: tag["Value"] for tag in BODY["Resources"][name]["Properties"]["Tags"]}


def told(name: str) -> dict[str, object]:
    """The variables of an instance's user data."""
    user_data = BODY["Resources"][name]["Properties"]["UserData"]
    variables: dict[str, object] = user_data["Fn::Base64"]["Fn::Join"][1][0]["Fn::Sub"][1]
    return variables


def test_one_node_is_the_template_itself() -> None:
    assert add_nodes(ONE, 1, ZONES) == ONE


def test_each_further_node_waits_until_the_one_before_it_listens() -> None:
    resources = BODY["Resources"]
    instances = [name for name, one in resources.items() if one["Type"] == "AWS::EC2::Instance"]
    assert instances == ["Instance", "Instance2", "Instance3", "Instance4"]
    assert resources["Instance2"]["DependsOn"] == ["Listens"]
    assert resources["Instance3"]["DependsOn"] == ["Listens2"]
    assert resources["Listens3"]["DependsOn"] == ["Instance3"]
    assert resources["Listens3"]["Properties"]["Handle"] == {"Ref": "Answer3"}
    assert told("Instance3")["Answer"] == {"Ref": "Answer3"}
    assert resources["Answer3"]["Type"] == "AWS::CloudFormation::WaitConditionHandle"


def test_each_is_told_its_number_its_range_and_the_first_ones_address() -> None:
    assert {name: told("Instance")[name] for name in ("Node", "Seed")} == {"Node": "1", "Seed": ""}
    third = told("Instance3")
    assert (third["Node"], third["Seed"]) == ("3", {"Fn::GetAtt": ["Instance", "PrivateIp"]})
    tokens = [told(name)["Token"] for name in ("Instance", "Instance2", "Instance3", "Instance4")]
    assert tokens == [str(quarter * 2**62 - 1) for quarter in (-1, 0, 1, 2)]


def test_they_stand_in_the_zones_in_turn_and_each_zone_is_a_rack() -> None:
    properties = {name: one.get("Properties", {}) for name, one in BODY["Resources"].items()}
    assert properties["Instance"]["AvailabilityZone"] == {"Ref": "AvailabilityZone"}
    assert told("Instance")["Rack"] == {"Ref": "AvailabilityZone"}
    for name, zone in (("Instance2", "b"), ("Instance3", "a"), ("Instance4", "b")):
        assert properties[name]["AvailabilityZone"] == told(name)["Rack"] == f"eu-west-1{zone}"
        assert properties[name]["SubnetId"] == f"subnet-0{zone}"


def test_all_are_deleted_with_the_stack() -> None:
    policies = {name: one["DeletionPolicy"] for name, one in BODY["Resources"].items()}
    assert set(policies.values()) == {"Delete"}


def test_each_is_tagged_with_its_place_its_seed_and_its_run() -> None:
    seed = {"Fn::GetAtt": ["Instance", "PrivateIp"]}
    assert tags("Instance")["plimsoll:node"] == "1/4"
    assert "plimsoll:seed" not in tags("Instance")
    assert (tags("Instance3")["plimsoll:node"], tags("Instance3")["plimsoll:seed"]) == ("3/4", seed)
    assert tags("Instance3")["plimsoll:run-id"] == {"Ref": "RunId"}


def test_each_has_outputs_of_its_own() -> None:
    outputs = BODY["Outputs"]
    assert outputs["Endpoint"]["Value"] == {"Fn::GetAtt": ["Instance", "PrivateIp"]}
    assert outputs["Endpoint3"]["Value"] == {"Fn::GetAtt": ["Instance3", "PrivateIp"]}
    assert outputs["InstanceIdentifier2"]["Value"] == {"Ref": "Instance2"}


@pytest.mark.parametrize("nodes", [1, 2, 3, 7, 12])
def test_the_nodes_ranges_are_of_one_length_and_end_with_the_greatest_token(nodes: int) -> None:
    ends = [ClusterPlace(number, nodes).token for number in range(1, nodes + 1)]
    assert ends[-1] == 2**63 - 1
    starts = [-(2**63) - 1, *ends]
    lengths = [end - start for start, end in zip(starts, ends, strict=False)]
    assert max(lengths) - min(lengths) <= 1


def test_a_place_is_read_from_its_tags() -> None:
    assert read_place({}) == ClusterPlace()
    tagged = {"plimsoll:node": "2/3", "plimsoll:seed": "127.80.1.1"}
    assert read_place(tagged) == ClusterPlace(2, 3, "127.80.1.1")
