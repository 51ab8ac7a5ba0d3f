"""A Cassandra of several nodes: where they are made, what is noted of each, and full zones."""

import json
from typing import Any

import pytest

from plimsoll.aws.run_files import REQUEST, TEMPLATE
from plimsoll.errors import TargetCreationError
from plimsoll.model.deployment.function_settings import CassandraPlace
from plimsoll.model.request.request import Request
from plimsoll.targets import zones
from plimsoll.targets.connection import connect_as_master
from plimsoll.targets.target_stacks import Deletion
from plimsoll.workflow import target
from tests.aws.workflow.conftest import REQUESTED, RUN, ZONES, started
from tests.support.every_setting import EverySetting

FOUR: dict[str, Any] = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "gp3", "size_gib": 100},
    "nodes": 4,
}
PLACE = CassandraPlace(archive_url="s3://a/c", instance_profile="p", security_group_id="sg-c")


@pytest.fixture
def asked(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A deployment whose run asks for four nodes; both of its zones have the instance type."""
    monkeypatch.setattr(zones, "_list_offering_zones", lambda *_: [zone["name"] for zone in ZONES])
    monkeypatch.setattr(target, "create_stack", lambda **_: "stack-id")
    monkeypatch.setattr(target, "delete_stack", lambda **_: Deletion.SEEN)
    monkeypatch.setattr(target, "find_data_volume_id", lambda instance: f"vol-of-{instance}")
    started(deployment)
    request = Request.model_validate(REQUESTED | {"target": FOUR})
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    return deployment.model_copy(update={"cassandra": PLACE, "target_kinds": ("cassandra",)})


def racks(deployment: EverySetting) -> list[object]:
    """The zones of the instances in the template of the run."""
    body = json.loads(deployment.files(RUN).find(TEMPLATE) or b"")
    instances = [one for one in body["Resources"].values() if one["Type"] == "AWS::EC2::Instance"]
    return [one["Properties"]["AvailabilityZone"] for one in instances]


def test_the_nodes_stand_in_both_zones_and_the_clients_in_the_first(asked: EverySetting) -> None:
    assert target.create_target(asked, RUN) == {"clients_in": ZONES[0]["clients"]}
    first, second = {"Ref": "AvailabilityZone"}, ZONES[1]["name"]
    assert racks(asked) == [first, second, ZONES[0]["name"], second]
    assert asked.records.get(RUN).zone == ZONES[0]["name"]


def test_every_node_is_noted_with_its_instance_and_its_volume(
    asked: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    target.create_target(asked, RUN)
    ends = ["", "2", "3", "4"]
    outputs = {"Port": "9042"}
    outputs |= {f"Endpoint{end}": f"10.0.0.{end or 1}" for end in ends}
    outputs |= {f"InstanceIdentifier{end}": f"i-{end or 1}" for end in ends}
    monkeypatch.setattr(target, "read_outputs_when_created", lambda _: outputs)
    assert target.await_target(asked, RUN)["ready"] is True
    address = asked.records.get(RUN).target
    assert address is not None
    assert (address.host, address.identifier, address.volume_id) == (
        "10.0.0.1",
        "i-1",
        "vol-of-i-1",
    )
    assert [(node.host, node.volume_id) for node in address.nodes] == [
        (f"10.0.0.{number}", f"vol-of-i-{number}") for number in (2, 3, 4)
    ]
    towards = connect_as_master(asked, address)
    assert towards.nodes == ("10.0.0.2", "10.0.0.3", "10.0.0.4")
    assert towards.replication == 3


def test_the_zone_that_had_no_room_is_left_out_whichever_it_was(
    asked: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    target.create_target(asked, RUN)
    second = ZONES[1]["name"]

    def refuse(_: str) -> None:
        raise TargetCreationError(
            "the target could not be created: Instance2: We currently do not have sufficient"
            f" r5.large capacity in the Availability Zone you requested ({second})."
        )

    monkeypatch.setattr(target, "read_outputs_when_created", refuse)
    assert target.await_target(asked, RUN)["again"] is True
    assert asked.records.get(RUN).zones_refused == (second,)
    target.create_target(asked, RUN)
    first = ZONES[0]["name"]
    assert racks(asked) == [{"Ref": "AvailabilityZone"}, first, first, first]
