"""The availability zone of a target: checked before creation, and changed after a refusal.

Not every zone of a region offers every class (some lack db.m5, i3 or r4), and one that does may
have no capacity at the moment. Load clients run in the target's zone, because a call between zones
takes about a millisecond more. A cluster spans several zones, and its clients run in that of its
first node.
"""

import re
from collections.abc import Container, Iterable, Sequence
from typing import TypeVar, assert_never

from plimsoll.aws import clients
from plimsoll.errors import TargetCreationError
from plimsoll.model.deployment.function_settings import Zone
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget

# the messages of RDS and EC2 if a zone has no capacity, or does not offer a class:
# docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Troubleshooting.html (insufficient capacity),
# docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html
_NO_ROOM = re.compile(
    r"Insufficient(DB)?InstanceCapacity|insufficient[- ]capacity|sufficient .*capacity"
    r"|not (supported|available|offered) in (your requested|the requested|this) availability zone",
    re.IGNORECASE,
)

Made = RdsTarget | AuroraTarget | CassandraTarget
Place = TypeVar("Place")


def name_rds_storage_type(target: RdsTarget | AuroraTarget) -> str:
    """Return RDS's name of a target's storage type."""
    return target.storage_type if isinstance(target, AuroraTarget) else target.volume.type


def is_zone_full(reason: str) -> bool:
    """Whether a creation failed for lack of capacity in the zone, so that another may work."""
    return _NO_ROOM.search(reason) is not None


def find_full_zone(reason: str, zones: Iterable[Zone]) -> str | None:
    """Return the full zone if EC2's message names it: `... you requested (us-east-1a)`."""
    return next((zone.name for zone in zones if f"({zone.name})" in reason), None)


def spread_nodes(nodes: int, places: Sequence[Place]) -> Sequence[Place]:
    """Return the largest number of places, from the first on, that share the nodes equally."""
    return places[: max(n for n in range(1, nodes + 1) if nodes % n == 0 and n <= len(places))]


def choose_zones(
    zones: Sequence[Zone],
    target: Made,
    version: str | None,
    *,
    refused: Container[str],
) -> Sequence[Zone]:
    """Choose the deployment's first zone that offers a target and has not refused it.

    A cluster gets further zones such that each has equally many nodes: racks of different sizes
    would give nodes different shares of the rows.

    Args:
        zones: The zones of the deployment.
        target: The requested target.
        version: The engine version that RDS resolved; None to use the requested one.
        refused: The zones that had no capacity for it.

    Raises:
        TargetCreationError: No zone is left.
    """
    offering = set(_list_offering_zones(target, version))
    open_ones = [one for one in zones if one.name in offering and one.name not in refused]
    if open_ones:
        return spread_nodes(target.nodes if isinstance(target, CassandraTarget) else 1, open_ones)
    own = ", ".join(
        f"{zone.name} (no room)" if zone.name in refused else zone.name for zone in zones
    )
    there = ", ".join(sorted(offering)) or "no zone"
    raise TargetCreationError(
        f"the target could not be created: {target.instance_class} is offered in {there};"
        f" the deployment has {own}"
    )


def _list_offering_zones(target: Made, version: str | None) -> Iterable[str]:
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
                    if option.get("StorageType") == name_rds_storage_type(target):
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
