"""In which availability zone a target stands: asked before it is made, tried again after a refusal.

Not every zone of a region has every class (db.m5, i3 and r4 lack in some), and one that has it may
have no room just now. Load clients stand in the target's zone, whichever it is: between zones a
call takes about a millisecond more. A cluster stands in several, and clients in that of its first
node.
"""

import re
from collections.abc import Container, Iterable, Sequence
from typing import TypeVar, assert_never

from plimsoll.aws import clients
from plimsoll.errors import TargetCreationError
from plimsoll.model.deployment.function_settings import Zone
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget

# What RDS and EC2 say where a zone has no room, or none of a class:
# docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Troubleshooting.html (insufficient capacity),
# docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html
_NO_ROOM = re.compile(
    r"Insufficient(DB)?InstanceCapacity|insufficient[- ]capacity|sufficient .*capacity"
    r"|not (supported|available|offered) in (your requested|the requested|this) availability zone",
    re.IGNORECASE,
)

Made = RdsTarget | AuroraTarget | CassandraTarget
Place = TypeVar("Place")


def storage_type(target: RdsTarget | AuroraTarget) -> str:
    """Name a target's storage as RDS does."""
    return target.storage_type if isinstance(target, AuroraTarget) else target.volume.type


def lacks_room(reason: str) -> bool:
    """Say whether a target could not be made in its zone, though another zone may have room."""
    return _NO_ROOM.search(reason) is not None


def full_zone(reason: str, zones: Iterable[Zone]) -> str | None:
    """Name the zone that had no room, where EC2 says which: `... you requested (us-east-1a)`."""
    return next((zone.name for zone in zones if f"({zone.name})" in reason), None)


def spread(nodes: int, places: Sequence[Place]) -> Sequence[Place]:
    """Take so many of the places, the first ones first, that each gets as many nodes."""
    return places[: max(n for n in range(1, nodes + 1) if nodes % n == 0 and n <= len(places))]


def choose_zones(
    zones: Sequence[Zone],
    target: Made,
    version: str | None,
    *,
    refused: Container[str],
) -> Sequence[Zone]:
    """Choose the first zone of a deployment that offers a target and has not refused it.

    Of a cluster it is followed by as many others as give each of them as many nodes: racks of
    different sizes would give nodes different shares of the rows.

    Args:
        zones: Of the deployment.
        target: As it was asked for.
        version: Of its engine, as RDS resolved it; None: as it was asked for.
        refused: Zones that had no room for it.

    Raises:
        TargetCreationError: There is none.
    """
    offering = set(_offering(target, version))
    open_ones = [one for one in zones if one.name in offering and one.name not in refused]
    if open_ones:
        return spread(target.nodes if isinstance(target, CassandraTarget) else 1, open_ones)
    own = ", ".join(
        f"{zone.name} (no room)" if zone.name in refused else zone.name for zone in zones
    )
    there = ", ".join(sorted(offering)) or "no zone"
    raise TargetCreationError(
        f"the target could not be created: {_class_of(target)} is offered in {there};"
        f" the deployment has {own}"
    )


def _class_of(target: Made) -> str:
    return target.instance_class


def _offering(target: Made, version: str | None) -> Iterable[str]:
    match target:
        case RdsTarget() | AuroraTarget():
            pages = clients.rds().get_paginator("describe_orderable_db_instance_options")
            for page in pages.paginate(
                Engine=target.engine,
                EngineVersion=version or target.engine_version,
                DBInstanceClass=target.instance_class,
                Vpc=True,
            ):
                for option in page["OrderableDBInstanceOptions"]:
                    if option.get("StorageType") == storage_type(target):
                        yield from (zone["Name"] for zone in option["AvailabilityZones"])
        case CassandraTarget():
            offers = clients.ec2().get_paginator("describe_instance_type_offerings")
            for offered in offers.paginate(
                LocationType="availability-zone",
                Filters=[{"Name": "instance-type", "Values": [target.instance_type]}],
            ):
                yield from (offer["Location"] for offer in offered["InstanceTypeOfferings"])
        case _:
            assert_never(target)
