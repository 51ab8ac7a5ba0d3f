"""A cluster's template: as many instances as nodes, each made when the one before it listens."""

import json

import pytest

from plimsoll.model.cluster_place import ClusterPlace, place_of
from plimsoll.targets.cluster_template import with_nodes
from plimsoll.targets.template import CASSANDRA_TEMPLATE, read_template

ONE = read_template(CASSANDRA_TEMPLATE)
BODY = json.loads(with_nodes(ONE, 3))


def tags(name: str) -> dict[str, object]:
    return {tag["Key"]: tag["Value"] for tag in BODY["Resources"][name]["Properties"]["Tags"]}


def test_one_node_is_the_template_itself() -> None:
    assert with_nodes(ONE, 1) == ONE


def test_each_further_node_waits_until_the_one_before_it_listens() -> None:
    resources = BODY["Resources"]
    instances = [name for name, one in resources.items() if one["Type"] == "AWS::EC2::Instance"]
    assert instances == ["Instance", "Instance2", "Instance3"]
    assert resources["Instance2"]["DependsOn"] == ["Listens"]
    assert resources["Instance3"]["DependsOn"] == ["Listens2"]
    assert resources["Listens3"]["DependsOn"] == ["Instance3"]
    assert resources["Listens3"]["Properties"]["Handle"] == {"Ref": "Answer3"}
    assert "${Answer3}" in json.dumps(resources["Instance3"]["Properties"]["UserData"])
    assert "${Answer}" not in json.dumps(resources["Instance3"])
    assert resources["Answer3"]["Type"] == "AWS::CloudFormation::WaitConditionHandle"


def test_all_are_deleted_with_the_stack() -> None:
    policies = {name: one["DeletionPolicy"] for name, one in BODY["Resources"].items()}
    assert set(policies.values()) == {"Delete"}


def test_each_is_tagged_with_its_place_its_seed_and_its_run() -> None:
    seed = {"Fn::GetAtt": ["Instance", "PrivateIp"]}
    assert tags("Instance")["plimsoll:node"] == "1/3"
    assert "plimsoll:seed" not in tags("Instance")
    assert (tags("Instance3")["plimsoll:node"], tags("Instance3")["plimsoll:seed"]) == ("3/3", seed)
    assert tags("Instance3")["plimsoll:run-id"] == {"Ref": "RunId"}


def test_each_has_outputs_of_its_own() -> None:
    outputs = BODY["Outputs"]
    assert outputs["Endpoint"]["Value"] == {"Fn::GetAtt": ["Instance", "PrivateIp"]}
    assert outputs["Endpoint3"]["Value"] == {"Fn::GetAtt": ["Instance3", "PrivateIp"]}
    assert outputs["InstanceIdentifier2"]["Value"] == {"Ref": "Instance2"}


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_the_nodes_ranges_are_of_one_length_and_end_with_the_greatest_token(nodes: int) -> None:
    ends = [ClusterPlace(number, nodes).token for number in range(1, nodes + 1)]
    assert ends[-1] == 2**63 - 1
    starts = [-(2**63) - 1, *ends]
    lengths = [end - start for start, end in zip(starts, ends, strict=False)]
    assert max(lengths) - min(lengths) <= 1


def test_a_place_is_read_from_its_tags() -> None:
    assert place_of({}) == ClusterPlace()
    tagged = {"plimsoll:node": "2/3", "plimsoll:seed": "127.80.1.1"}
    assert place_of(tagged) == ClusterPlace(2, 3, "127.80.1.1")
