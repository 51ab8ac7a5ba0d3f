"""A Cassandra target's user data, executed: an instance alone, and one of several."""

from pathlib import Path

import pytest

from plimsoll.model.engine.networks import ClusterPlace
from tests.infrastructure.installing import Instance
from tests.infrastructure.template import Template
from tests.infrastructure.test_cassandra_target import user_data


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path)


def test_alone_its_storage_port_is_on_the_loopback_interface(
    instance: Instance, target_templates: dict[str, Template]
) -> None:
    settings = instance.install(user_data(target_templates["cassandra"])).settings
    assert (settings["listen_address"], settings["rpc_address"]) == ("127.0.0.1", "10.73.0.5")
    assert settings["endpoint_snitch"] == "SimpleSnitch"
    assert (settings["cluster_name"], settings["num_tokens"]) == ("plimsoll", 16)
    assert "initial_token" not in settings


@pytest.mark.parametrize(
    ("node", "seed", "rack"),
    [(1, "10.73.0.5", "eu-west-1a"), (2, "Instance.PrivateIp", "eu-west-1b")],
)
def test_of_a_cluster_each_node_has_its_range_its_seed_and_its_zone_as_its_rack(
    instance: Instance, target_templates: dict[str, Template], node: int, seed: str, rack: str
) -> None:
    script = user_data(target_templates["cassandra"], node=node, nodes=4)
    done = instance.install(script)
    assert (done.status, done.errors) == (0, "")
    settings = done.settings
    assert settings["cluster_name"] == "plimsoll-r2"
    assert (settings["listen_address"], settings["rpc_address"]) == ("10.73.0.5", "10.73.0.5")
    assert settings["num_tokens"] == 1
    assert settings["initial_token"] == str(ClusterPlace(node, 4).token)
    assert settings["auto_bootstrap"] is False
    (provider,) = settings["seed_provider"]
    assert provider["parameters"] == [{"seeds": f"{seed}:7000"}]
    assert settings["endpoint_snitch"] == "GossipingPropertyFileSnitch"
    conf = done.root / "opt/cassandra/conf"
    assert (conf / "cassandra-rackdc.properties").read_text() == f"dc=datacenter1\nrack={rack}\n"
    assert not (conf / "cassandra-topology.properties").exists()


def test_a_node_is_there_once_it_sees_itself_and_all_before_it_up(
    instance: Instance, target_templates: dict[str, Template]
) -> None:
    done = instance.install(user_data(target_templates["cassandra"], node=3, nodes=4))
    assert [answer["Status"] for answer in done.answers] == ["SUCCESS"]
    assert done.calls.count("sleep 2") == 4  # two without an answer, two with too few


def test_a_node_that_does_not_join_says_how_many_it_sees(
    instance: Instance, target_templates: dict[str, Template]
) -> None:
    ends_later = (
        'if [ "$1" = is-active ] && [ "$(wc -l <"$ANSWERS.asked")" -ge 3 ]; then exit 3; fi'
    )
    instance.replace("systemctl", ends_later)
    done = instance.install(user_data(target_templates["cassandra"], node=3, nodes=4))
    assert [answer["Reason"] for answer in done.answers] == [
        "Cassandra ended while it started: 1 of 3 nodes are up"
    ]
