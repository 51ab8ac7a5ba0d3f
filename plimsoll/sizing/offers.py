"""Every target that could be bought in place of the one that was measured. Pure."""

from collections.abc import Callable, Iterator
from typing import assert_never

from plimsoll.errors import UsageError
from plimsoll.model.aurora_target import STORAGE_TYPES, AuroraTarget
from plimsoll.model.cassandra_target import CassandraTarget, has_instance_store
from plimsoll.model.databases import rds_facts
from plimsoll.model.instance_sizes import instance_size
from plimsoll.model.instances import instance_limits
from plimsoll.model.prices import Item, PriceTable
from plimsoll.model.rds_target import RdsTarget
from plimsoll.model.volumes import Volume
from plimsoll.quoting.charges import INSTANCE_PRICES
from plimsoll.sizing.caps import Made
from plimsoll.sizing.ladders import TYPES, Ladder, ladders

TargetOf = Callable[[Volume], Made]


def classes(target: Made, prices: PriceTable) -> list[str]:
    """List the instance classes with a price whose limits and size are known, cheapest first."""
    items = tuple(_instance_items(target))
    found = {
        price.name: price.usd
        for price in prices.prices(items)
        if price.usd is not None and _is_known(price.name)
    }
    return sorted(found, key=lambda name: (found[name], name))


def _instance_items(target: Made) -> Iterator[Item]:
    match target:
        case RdsTarget():
            yield rds_facts(target.engine).instance_price
        case AuroraTarget():
            yield from INSTANCE_PRICES.values()
        case CassandraTarget():
            yield Item.EC2_INSTANCE
        case _:
            assert_never(target)


def _is_known(name: str) -> bool:
    try:
        instance_limits(name)
    except UsageError:
        return False
    return instance_size(name) is not None


def of_class(target: Made, name: str) -> Made:
    """Put a target on another instance class."""
    field = "instance_type" if isinstance(target, CassandraTarget) else "instance_class"
    return target.model_copy(update={field: name})


def with_volume(target: RdsTarget | CassandraTarget, volume: Volume) -> RdsTarget | CassandraTarget:
    """Put a target on another volume."""
    return target.model_copy(update={"volume": volume})


def storages(target: AuroraTarget) -> Iterator[AuroraTarget]:
    """List an Aurora cluster on each of its storages."""
    for storage in STORAGE_TYPES:
        yield target.model_copy(update={"storage": storage})


def volume_ladders(target: RdsTarget | CassandraTarget, least_gib: int) -> Iterator[Ladder]:
    """List the volumes that a target may have, each type by itself."""
    for kind in TYPES:
        if kind != "nvme" or _has_store(target):
            yield from ladders(target.service, kind, least_gib)


def _has_store(target: RdsTarget | CassandraTarget) -> bool:
    return isinstance(target, CassandraTarget) and has_instance_store(target.instance_type)
