"""The targets that could be bought in place of the measured one, and their prices. Pure."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, assert_never, get_args

from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import find_instance_size, instance_limits
from plimsoll.model.aws.prices import HOURS_PER_MONTH, Item, PriceTable
from plimsoll.model.aws.volume_rules import Band, size_bands
from plimsoll.model.aws.volumes import AwsVolumeType, Service, Volume, find_throughput_range
from plimsoll.model.base import Model
from plimsoll.model.databases import find_rds_facts
from plimsoll.model.request.cassandra_target import CassandraTarget, has_instance_store
from plimsoll.model.request.rds_target import STORAGE_TYPES, AuroraTarget, RdsTarget
from plimsoll.model.request.request import Target
from plimsoll.model.run.quote import CostLine
from plimsoll.quoting.charges import INSTANCE_PRICES, list_target_charges
from plimsoll.quoting.costs import add_usd
from plimsoll.quoting.quotes import find_oldest_price_date, price_charge
from plimsoll.sizing.caps import Made

# The volumes on offer: each type is a ladder from the smallest to the largest.


IOPS_STEP = 100  # granularity of the proposed IOPS
TYPES: tuple[AwsVolumeType, ...] = get_args(AwsVolumeType)
Carries = Callable[[Volume], bool]


@dataclass(frozen=True)
class Ladder:
    """The volumes of one type under one row of its rules.

    Attributes:
        service: The service whose rules apply.
        type: The volume type.
        row: The row of the rules.
        least_gib: The smallest size.
    """

    service: Service
    type: AwsVolumeType
    row: Band
    least_gib: int

    @property
    def rungs(self) -> Sequence[int]:
        """The values to choose from: IOPS where they are provisioned, else sizes in GiB."""
        row = self.row
        if row.min_iops is None:
            return range(
                self.least_gib, (row.max_gib if self.type == "gp2" else self.least_gib) + 1
            )
        assert row.max_iops is not None  # noqa: S101 - a row has both or neither
        least = max(row.min_iops, math.ceil(row.min_iops_per_gib * self.least_gib))
        most = min(row.max_iops, math.floor(row.max_iops_per_gib * row.max_gib))
        return [*range(least, most, IOPS_STEP), most] if least <= most else []

    def make_volume(self, rung: int, throughput_mib_s: int | None = None) -> Volume:
        """Return the smallest volume of a rung."""
        row = self.row
        if row.min_iops is None:
            return Volume(type=self.type, size_gib=rung)
        size_gib = max(self.least_gib, math.ceil(rung / row.max_iops_per_gib))
        return Volume(
            type=self.type,
            size_gib=size_gib,
            iops=None if rung == row.baseline_iops else rung,
            throughput_mib_s=throughput_mib_s,
        )

    def _throughputs(self, rung: int) -> range:
        """Return the range of MiB/s that can be provisioned at a rung; empty if none can."""
        if self.row.min_throughput_mib_s is None:
            return range(0)
        low, high = find_throughput_range(self.make_volume(rung), self.row, service=self.service)
        return range(low, high + 1)

    @property
    def top(self) -> Volume | None:
        """The volume with the highest limits; None if no volume of the row is large enough."""
        if not self.rungs:
            return None
        rung = self.rungs[-1]
        offered = self._throughputs(rung)
        return self.make_volume(rung, offered[-1] if offered else None)

    def find_smallest(self, carries: Carries) -> Volume | None:
        """Return the smallest volume that carries a load; None if not even the top one does."""
        if self.top is None or not carries(self.top):
            return None

        def does(rung: int) -> bool:
            offered = self._throughputs(rung)
            return carries(self.make_volume(rung, offered[-1] if offered else None))

        rung = self.rungs[bisect_left(self.rungs, True, key=does)]
        offered = self._throughputs(rung)
        if not offered or carries(self.make_volume(rung)):
            return self.make_volume(rung)
        at = bisect_left(offered, True, key=lambda mib_s: carries(self.make_volume(rung, mib_s)))
        return self.make_volume(rung, offered[at])


def list_ladders(service: Service, kind: AwsVolumeType, least_gib: int) -> Iterator[Ladder]:
    """Yield a volume type's ladders whose volumes can have at least this size."""
    family: Literal["ebs", "rds"] = "ebs" if service == "ebs" else "rds"
    for row in size_bands(family, kind):
        size_gib = max(least_gib, row.min_gib)
        if size_gib <= row.max_gib:
            yield Ladder(service, kind, row, size_gib)


def list_classes(target: Made, prices: PriceTable) -> list[str]:
    """List the instance classes whose price, limits and size are known, cheapest first."""
    items = tuple(_list_instance_items(target))
    found = {
        price.name: price.usd
        for price in prices.prices(items)
        if price.usd is not None and _has_known_limits(price.name)
    }
    return sorted(found, key=lambda name: (found[name], name))


def _list_instance_items(target: Made) -> Iterator[Item]:
    match target:
        case RdsTarget():
            yield find_rds_facts(target.engine).instance_price
        case AuroraTarget():
            yield from INSTANCE_PRICES.values()
        case CassandraTarget():
            yield Item.EC2_INSTANCE
        case _:
            assert_never(target)


def _has_known_limits(name: str) -> bool:
    try:
        instance_limits(name)
    except UsageError:
        return False
    return find_instance_size(name) is not None


def change_class(target: Made, name: str) -> Made:
    """Return a copy of the target with another instance class."""
    field = "instance_type" if isinstance(target, CassandraTarget) else "instance_class"
    return target.model_copy(update={field: name})


def change_volume(
    target: RdsTarget | CassandraTarget, volume: Volume
) -> RdsTarget | CassandraTarget:
    """Return a copy of the target with another volume."""
    return target.model_copy(update={"volume": volume})


def list_storages(target: AuroraTarget) -> Iterator[AuroraTarget]:
    """Yield the Aurora cluster with each storage type."""
    for storage in STORAGE_TYPES:
        yield target.model_copy(update={"storage": storage})


def list_volume_ladders(target: RdsTarget | CassandraTarget, least_gib: int) -> Iterator[Ladder]:
    """Yield the ladders of every volume type that a target may have."""
    for kind in TYPES:
        if kind != "nvme" or _has_instance_disks(target):
            yield from list_ladders(target.service, kind, least_gib)


def _has_instance_disks(target: RdsTarget | CassandraTarget) -> bool:
    return isinstance(target, CassandraTarget) and has_instance_store(target.instance_type)


# The list price of a target per month, item by item.


MONTH_S = HOURS_PER_MONTH * 3600


class Monthly(Model):
    """The list price of a target for 730 hours, without the I/Os that AWS charges."""

    usd: float | None  # None if a price is missing
    items: tuple[CostLine, ...]
    as_of: date | None  # date of the oldest price


def price_monthly(target: Target, prices: PriceTable) -> Monthly:
    """Compute a target's monthly list price."""
    charges = list_target_charges(target, MONTH_S)
    found = [prices.price(charge.item, charge.name) for charge in charges]
    items = tuple(
        CostLine(
            what=charge.what,
            quantity=charge.quantity,
            unit=price.unit,
            usd=price_charge(charge, price),
        )
        for charge, price in zip(charges, found, strict=True)
    )
    return Monthly(usd=add_usd(items), items=items, as_of=find_oldest_price_date(found))
