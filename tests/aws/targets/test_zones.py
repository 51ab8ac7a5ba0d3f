"""A target stands in the first zone of the deployment that offers it and has not refused it."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from moto.core.responses import ActionResult
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS
from moto.rds.responses import RDSResponse

from plimsoll.errors import TargetCreationError
from plimsoll.model.deployment.function_settings import Zone
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraStorage, AuroraTarget, RdsTarget
from plimsoll.targets.zones import choose_zones, find_full_zone, is_zone_full, spread_nodes
from tests.support.aws_resources import REGION
from tests.support.requested import REQUESTED

ZONES = [
    Zone(name=f"{REGION}{letter}", subnet_id=f"subnet-0{letter}", clients=end)
    for letter, end in (("a", ""), ("b", "-2"), ("c", "-3"))
]
RDS = RdsTarget.model_validate(REQUESTED["target"])  # io1


@pytest.fixture
def asked(account: None) -> Iterator[list[dict[str, Any]]]:
    """What RDS is asked; it offers io1 in zones b and c, gp2 in a as well, and io1 of 11.5 in a."""
    del account
    questions: list[dict[str, Any]] = []

    def answer(self: RDSResponse) -> ActionResult:
        questions.append({name: self.params.get(name) for name in ("Engine", "DBInstanceClass")})
        options = [
            {"StorageType": kind, "AvailabilityZones": [{"Name": f"{REGION}{z}"} for z in zones]}
            for kind, zones in (
                ("gp2", "abc"),
                ("io1", "bc"),
                ("aurora", "c"),
                ("aurora-iopt1", "b"),
            )
        ]
        return ActionResult({"OrderableDBInstanceOptions": options})

    with patch.object(RDSResponse, "describe_orderable_db_instance_options", answer):
        yield questions


@pytest.mark.parametrize(
    ("volume", "refused", "chosen"),
    [
        ({"type": "io1", "size_gib": 100, "iops": 1000}, (), "b"),
        ({"type": "io1", "size_gib": 100, "iops": 1000}, (f"{REGION}b",), "c"),
        ({"type": "gp2", "size_gib": 100}, (), "a"),
        ({"type": "gp2", "size_gib": 100}, (f"{REGION}a",), "b"),
    ],
)
def test_the_first_zone_that_offers_class_and_storage_is_chosen(
    asked: list[dict[str, Any]], volume: dict[str, Any], refused: tuple[str, ...], chosen: str
) -> None:
    target = RdsTarget.model_validate({**REQUESTED["target"], "volume": volume})
    (zone,) = choose_zones(ZONES, target, None, refused=refused)
    assert zone.name == f"{REGION}{chosen}"
    (question,) = asked
    wanted = {"Engine": target.engine, "DBInstanceClass": target.instance_class}
    assert {name: question[name] for name in wanted} == wanted


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(("storage", "chosen"), [("standard", "c"), ("io-optimized", "b")])
def test_aurora_is_offered_by_its_storage(storage: AuroraStorage, chosen: str) -> None:
    target = AuroraTarget(
        kind="aurora",
        engine="aurora-mysql",
        engine_version="8.0",
        instance_class="db.r7g.large",
        storage=storage,
    )
    (zone,) = choose_zones(ZONES, target, None, refused=())
    assert zone.name == f"{REGION}{chosen}"


@pytest.mark.usefixtures("asked")
def test_where_no_zone_is_left_it_is_said_which_offer_it_and_which_are_there() -> None:
    with pytest.raises(TargetCreationError) as refusal:
        choose_zones(ZONES[:2], RDS, None, refused=(f"{REGION}b",))
    assert str(refusal.value) == (
        "the target could not be created: db.m5.large is offered in"
        f" {REGION}b, {REGION}c; the deployment has {REGION}a, {REGION}b (no room)"
    )


@pytest.mark.usefixtures("account")
def test_an_instance_of_ec2_is_asked_for_too() -> None:
    volume = {"type": "gp3", "size_gib": 100}
    asked = {"kind": "cassandra", "instance_type": "r5.large", "volume": volume}
    target = CassandraTarget.model_validate(asked)
    offered = INSTANCE_TYPE_OFFERINGS["availability-zone"][REGION]
    there = {offer["Location"] for offer in offered if offer["InstanceType"] == "r5.large"}
    first = next(zone for zone in ZONES if zone.name in there)
    assert choose_zones(ZONES, target, None, refused=()) == [first]
    others = {zone.name for zone in ZONES}
    with pytest.raises(TargetCreationError, match=r"r5\.large is offered in .*no room"):
        choose_zones(ZONES, target, None, refused=others)


@pytest.mark.parametrize(
    ("nodes", "there", "used"),
    [(1, 3, 1), (2, 3, 2), (3, 3, 3), (3, 2, 1), (4, 3, 2), (6, 3, 3), (7, 3, 1), (12, 1, 1)],
)
def test_a_cluster_stands_in_as_many_zones_as_divide_it_evenly(
    nodes: int, there: int, used: int
) -> None:
    assert spread_nodes(nodes, ZONES[:there]) == ZONES[:used]


@pytest.mark.usefixtures("account")
def test_a_clusters_zones_all_offer_it_and_none_has_refused_it() -> None:
    asked = {"kind": "cassandra", "instance_type": "r5.large", "nodes": 2,
             "volume": {"type": "gp3", "size_gib": 100}}  # fmt: skip
    target = CassandraTarget.model_validate(asked)
    offered = INSTANCE_TYPE_OFFERINGS["availability-zone"][REGION]
    there = {offer["Location"] for offer in offered if offer["InstanceType"] == "r5.large"}
    offering = [zone for zone in ZONES if zone.name in there]
    assert list(choose_zones(ZONES, target, None, refused=())) == offering[:2]
    left = [zone for zone in offering if zone != offering[0]]
    chosen = choose_zones(ZONES, target, None, refused=(offering[0].name,))
    assert list(chosen) == left[: 2 if len(left) > 1 else 1]


def test_ec2_says_which_of_a_clusters_zones_has_no_room() -> None:
    told = (
        f"Instance2: We currently do not have sufficient r5.large capacity in the Availability Zone"
        f" you requested ({REGION}b). You can get it by choosing {REGION}a, {REGION}c."
    )
    assert is_zone_full(told)
    assert find_full_zone(told, ZONES) == f"{REGION}b"
    assert find_full_zone("Instance: InsufficientDBInstanceCapacity", ZONES) is None


@pytest.mark.parametrize(
    ("reason", "room"),
    [
        (
            "Instance: We currently do not have sufficient r4.large capacity in the zone requested",
            False,
        ),
        ("Instance: InsufficientDBInstanceCapacity", False),
        ("Instance: DB instance is in state: insufficient-capacity", False),
        (
            "Instance: Your type i3.large is not supported in your requested Availability Zone",
            False,
        ),
        (
            "Instance: DB Instance class db.m5.large is not available in this Availability Zone",
            False,
        ),
        ("Instance: Cannot find version 11.4.99 for mariadb", True),
        ("Instance: You have exceeded the quota of DB instances", True),
    ],
)
def test_a_zone_without_room_is_told_from_other_refusals(reason: str, room: bool) -> None:
    assert is_zone_full(f"the target could not be created: {reason}") is not room
