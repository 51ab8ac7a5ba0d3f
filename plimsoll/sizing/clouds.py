"""The ranking of machines and databases of four clouds for a load, by price a month. Pure.

A target of another cloud is predicted like one of AWS: from the run's demands, the published limits
of the volume and the machine, and assumptions about what is not published. What is assumed is in
the interval: the speed of a vCPU (`OTHER_CLOUD`), and the latency of a volume between the ends that
`plimsoll/model/clouds/volume_rules.py` states.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import find_cpu_credits, find_instance_size, instance_limits
from plimsoll.model.aws.prices import Item
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.clouds.instances import INSTANCES, CloudInstance
from plimsoll.model.clouds.volume_limits import find_rule, iops_range, throughput_range
from plimsoll.model.clouds.volume_rules import RULES, Cloud, VolumeRule
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.quoting.cloud_prices import CloudPrice, CloudPrices, convert_to_usd
from plimsoll.sizing.answer import CloudKind, CloudOption, CloudRanking, PricedItem
from plimsoll.sizing.caps import Caps
from plimsoll.sizing.offers import IOPS_STEP, change_volume, list_ladders, price_monthly
from plimsoll.sizing.predict import Prediction, predict
from plimsoll.sizing.queueing import Guess
from plimsoll.sizing.rank import Sizer

OTHER_CLOUD = 2.0  # assumed ratio of the speeds of a vCPU of another cloud and one of the run's
# Volumes that the machines of the table take. Hyperdisk Balanced is left out: no machine of the
# table is known to take it; Hyperdisk Extreme needs 60 vCPUs and more.
OFFERED: Mapping[Cloud, tuple[str, ...]] = {
    "alibaba": ("essd", "essd-autopl"),
    "azure": ("premium-ssd", "premium-ssd-v2", "ultra"),
    "google": ("pd-balanced", "pd-ssd"),
}
_MANAGED_MEMORY_GIB = (8, 16, 32)  # Cloud SQL with 2, 4 and 8 vCPUs


@dataclass(frozen=True)
class _Offer:
    cloud: Cloud
    kind: CloudKind
    instance: str
    size: CloudInstance


@dataclass(frozen=True)
class CloudSizer:
    """Predicts and prices targets of other clouds, and machines with EBS on AWS.

    Attributes:
        sizer: The sizer of the run.
        prices: The prices of other clouds.
        rates: How many units of a currency a dollar costs.
    """

    sizer: Sizer
    prices: CloudPrices
    rates: Mapping[str, float] = field(default_factory=dict)
    _found: dict[Caps, Prediction] = field(default_factory=dict)

    def rank(self, clouds: Sequence[Cloud]) -> CloudRanking:
        """Rank all targets of some clouds that carry the load."""
        options = [
            self._describe(offer, volume)
            for cloud in clouds
            for offer in self._list_offers(cloud)
            if self._knows_memory_of(offer)
            for volume in self._list_volumes(offer)
        ]
        ranked = sorted(
            options,
            key=lambda o: (o.usd_per_month is None, o.usd_per_month or 0.0, -o.ops_per_second),
        )
        return CloudRanking(
            clouds=tuple(clouds),
            managed=tuple(o for o in ranked if o.kind == "managed"),
            machines=tuple(o for o in ranked if o.kind == "machine"),
            assumptions=tuple(_list_assumptions()),
        )

    def _list_offers(self, cloud: Cloud) -> Iterator[_Offer]:
        if cloud == "aws":  # RDS is in the ranking of `plimsoll size` itself
            yield from self._list_ec2()
            return
        for name, size in INSTANCES[cloud].items():
            yield _Offer(cloud, "machine", name, size)
        if next(self.prices.names(cloud, "managed-vcpu"), None) is not None:
            for memory_gib in _MANAGED_MEMORY_GIB:
                vcpus = memory_gib // 4
                name = f"db-custom-{vcpus}-{memory_gib * 1024}"
                yield _Offer(cloud, "managed", name, CloudInstance(vcpus, memory_gib))

    def _list_ec2(self) -> Iterator[_Offer]:
        for price in self.sizer.prices.prices((Item.EC2_INSTANCE,)):
            size = find_instance_size(price.name)
            if price.usd is None or size is None or find_cpu_credits(price.name) is not None:
                continue
            try:
                most = instance_limits(price.name)
            except UsageError:
                continue
            yield _Offer(
                "aws",
                "machine",
                price.name,
                CloudInstance(
                    size.vcpus, size.memory_gib, most.baseline_iops, most.baseline_throughput_mib_s
                ),
            )

    def _knows_memory_of(self, offer: _Offer) -> bool:
        """Whether page reads with this memory can be predicted, as in `Sizer.knows_memory_of`."""
        profile = self.sizer.known.profile
        own = profile.own
        if profile.pool is not None or own.memory_gib is None:
            return True
        return offer.size.memory_gib >= own.memory_gib

    def _list_volumes(self, offer: _Offer) -> Iterator[Volume]:
        """Yield the smallest volume of each type that carries the load."""

        def carries(volume: Volume) -> bool:
            return self._predict(offer, volume).ops_per_second >= self.sizer.wish.required

        least_gib = self.sizer.wish.least_gib
        if offer.cloud == "aws":
            for kind in ("gp3", "io2"):
                for ladder in list_ladders("ebs", kind, least_gib):
                    found = ladder.find_smallest(carries)
                    if found is not None:
                        yield found
            return
        kinds = ("pd-ssd",) if offer.kind == "managed" else OFFERED[offer.cloud]
        for (kind, level), rule in RULES.items():
            if kind in kinds:
                plain = Volume(
                    cloud=offer.cloud, type=kind, level=level, size_gib=max(least_gib, rule.min_gib)
                )
                found = find_smallest(plain, rule, carries)
                if found is not None:
                    yield found

    def _caps(self, offer: _Offer, volume: Volume, latency_us: float) -> Caps:
        promised, size, own = limits(volume), offer.size, self.sizer.known.profile.own
        iops, mib_s = promised.baseline_iops, promised.throughput_mib_s
        of_instance = size.iops is not None and iops is not None and size.iops < iops
        through = size.mib_s is not None and mib_s is not None and size.mib_s < mib_s
        return Caps(
            volume=volume.type,
            iops=size.iops if of_instance else iops,
            iops_of="instance" if of_instance else "volume",
            mib_s=size.mib_s if through else mib_s,
            mib_s_of="instance" if through else "volume",
            base_latency_us=latency_us,
            processors=float(size.vcpus),
            speed=Guess.within(1.0, OTHER_CLOUD),
            memory_gib=size.memory_gib,
            pool_bytes=own.pool_bytes,
            family="",
        )

    def _predict(self, offer: _Offer, volume: Volume) -> Prediction:
        """Predict at the ends of the volume's latency too, and widen the interval by them."""
        low_us, mid_us, high_us = _latencies_us(volume)
        likely, fast, slow = (
            self._predict_once(self._caps(offer, volume, us)) for us in (mid_us, low_us, high_us)
        )
        low, high = min(slow.low, likely.low), max(fast.high, likely.high)
        mid = likely.ops_per_second**2 / likely.low if likely.low else 0.0
        return likely.model_copy(
            update={"low": low, "high": high, "ops_per_second": math.sqrt(mid * low)}
        )

    def _predict_once(self, caps: Caps) -> Prediction:
        if caps not in self._found:
            self._found[caps] = predict(self.sizer.known, caps, self.sizer.wish.limits_us)
        return self._found[caps]

    def _describe(self, offer: _Offer, volume: Volume) -> CloudOption:
        found, required = self._predict(offer, volume), self.sizer.wish.required
        region, items = self._price(offer, volume)
        in_usd = [
            None if i.per_month is None else convert_to_usd(i.per_month, i.currency, self.rates)
            for i in items
        ]
        known = [usd for usd in in_usd if usd is not None]
        return CloudOption(
            cloud=offer.cloud,
            kind=offer.kind,
            region=region,
            instance=offer.instance,
            volume=volume,
            usd_per_month=sum(known) if len(known) == len(in_usd) else None,
            items=items,
            as_of=_find_oldest([i.as_of for i in items if i.per_month is not None]),
            ops_per_second=found.ops_per_second,
            low=found.low,
            high=found.high,
            binds=found.binds,
            next=found.next,
            instance_limits_known=offer.size.iops is not None,
            sure=found.low >= required,
        )

    def _price(self, offer: _Offer, volume: Volume) -> tuple[str, tuple[PricedItem, ...]]:
        if offer.cloud == "aws":
            return self._price_ec2(offer, volume)
        charges = list(list_cloud_charges(self.prices, volume, managed=offer.kind == "managed"))
        if offer.kind == "managed":
            cpu = self.prices.find(offer.cloud, "managed-vcpu", "mysql")
            memory = self.prices.find(offer.cloud, "managed-memory", "mysql")
            charges.insert(0, (f"{offer.size.vcpus} vCPUs", float(offer.size.vcpus), cpu))
            gib = offer.size.memory_gib
            charges.insert(1, (f"{gib:g} GiB of memory", gib, memory))
        else:
            machine = self.prices.find(offer.cloud, "machine", offer.instance)
            charges.insert(0, (offer.instance, 1.0, machine))
        items = tuple(_make_item(*charge) for charge in charges)
        return next((price.region for _, _, price in charges if price.region), ""), items

    def _price_ec2(self, offer: _Offer, volume: Volume) -> tuple[str, tuple[PricedItem, ...]]:
        """Price EC2 with EBS as a node of Cassandra, without the disk of its system."""
        node = CassandraTarget(kind="cassandra", instance_type=offer.instance, volume=volume)
        monthly = price_monthly(change_volume(node, volume), self.sizer.prices)
        items = tuple(
            PricedItem(
                what=line.what,
                quantity=line.quantity,
                unit=line.unit,
                per_month=line.usd,
                currency="USD",
                as_of=monthly.as_of,
            )
            for line in monthly.items
            if "of the system" not in line.what
        )
        return self.sizer.prices.region, items


def _latencies_us(volume: Volume) -> tuple[float, float, float]:
    if volume.cloud == "aws":
        own = limits(volume).base_latency_us
        return own, own, own
    return find_rule(volume).latency_us


def find_smallest(
    plain: Volume, rule: VolumeRule, carries: Callable[[Volume], bool]
) -> Volume | None:
    """Return the smallest volume of a type that carries a load; None if not even the top one does.

    Args:
        plain: The smallest volume that holds the data, with nothing provisioned.
        rule: The rule of its type.
        carries: Whether a volume carries the load.
    """
    if plain.size_gib > rule.max_gib:
        return None
    if rule.iops_provisioned is not None:
        return _find_provisioned(plain, rule, carries)
    sizes: Sequence[int] = range(plain.size_gib, rule.max_gib + 1)
    if rule.tiers:
        sizes = [gib for gib, _, _ in rule.tiers if gib >= plain.size_gib]

    def make(gib: int) -> Volume:
        return plain.model_copy(update={"size_gib": gib})

    if not carries(make(sizes[-1])):
        return None
    return make(sizes[bisect_left(sizes, True, key=lambda gib: carries(make(gib)))])


def _find_provisioned(
    plain: Volume, rule: VolumeRule, carries: Callable[[Volume], bool]
) -> Volume | None:
    offer = rule.iops_provisioned
    assert offer is not None  # noqa: S101 - the caller has looked
    included = math.floor(offer.included)
    if offer.adds and carries(plain):
        return plain
    least, _ = iops_range(plain, rule)
    most = math.floor(offer.most.most)
    rungs = [*range(max(least, included), most, IOPS_STEP), most]

    def make(iops: int, throughput: int | None = None) -> Volume:
        gib = plain.size_gib
        if offer.most.per_gib and not offer.adds:
            gib = max(gib, math.ceil(iops / offer.most.per_gib))
        elif offer.adds and rule.iops is not None:
            room = offer.most.per_gib - rule.iops.per_gib
            gib = max(gib, math.ceil((iops + rule.iops.base) / room))
        named = {"size_gib": gib, "iops": None if iops == included else iops}
        own = "throughput_mb_s" if rule.unit == "MB/s" else "throughput_mib_s"
        return plain.model_copy(update={**named, own: throughput})

    def list_throughputs(iops: int) -> range:
        if rule.throughput_provisioned is None:
            return range(0)
        low, high = throughput_range(make(iops), rule)
        return range(low, high + 1)

    def top(iops: int) -> Volume:
        return make(iops, list_throughputs(iops)[-1] if list_throughputs(iops) else None)

    if not carries(top(most)):
        return None
    iops = rungs[bisect_left(rungs, True, key=lambda rung: carries(top(rung)))]
    range_of = list_throughputs(iops)
    if not range_of:
        return make(iops)
    at = bisect_left(range_of, True, key=lambda mib_s: carries(make(iops, mib_s)))
    least_offer = rule.throughput_provisioned
    assert least_offer is not None  # noqa: S101 - something is offered
    plain_enough = at == 0 and least_offer.included
    return make(iops, None if plain_enough else range_of[at])


def list_cloud_charges(
    prices: CloudPrices, volume: Volume, *, managed: bool = False
) -> Iterator[tuple[str, float, CloudPrice]]:
    """Yield what a volume costs a month: what it is for, how many units, and the price of one."""
    rule = find_rule(volume)
    name = volume.type if volume.level is None else f"{volume.type} {volume.level}"
    if rule.tiers:
        gib = rule.tier(volume.size_gib)[0]
        price = prices.find(volume.cloud, "disk", f"{name} {gib}")
        yield f"{name} of {gib:,} GiB", 1.0, price
        return
    item: Literal["managed-storage", "storage"] = "managed-storage" if managed else "storage"
    gib_price = prices.find(volume.cloud, item, name)
    yield f"{name} storage, {volume.size_gib:,} GiB", float(volume.size_gib), gib_price
    included = rule.iops_provisioned.included if rule.iops_provisioned else 0.0
    if volume.iops is not None and volume.iops > included:
        beyond = f" above {included:,g}" if included else ""
        price = prices.find(volume.cloud, "iops", name)
        yield f"{volume.iops - included:,g} IOPS{beyond}", volume.iops - included, price
    given = volume.throughput_mb_s or volume.throughput_mib_s
    free = rule.throughput_provisioned.included if rule.throughput_provisioned else 0.0
    if given is not None and given > free:
        beyond = f" above {free:,g}" if free else ""
        price = prices.find(volume.cloud, "throughput", name)
        yield f"{given - free:,g} {rule.unit}{beyond}", given - free, price


def _find_oldest(days: Sequence[date | None]) -> date | None:
    """Return the first day; None if one is not known."""
    known = [day for day in days if day is not None]
    return min(known) if known and len(known) == len(days) else None


def _make_item(what: str, quantity: float, price: CloudPrice) -> PricedItem:
    each = price.per_month
    return PricedItem(
        what=what,
        quantity=quantity,
        unit=price.unit,
        per_month=None if each is None else quantity * each,
        currency=price.currency,
        as_of=price.as_of,
    )


def _list_assumptions() -> Iterator[str]:
    yield (
        "a vCPU of any machine here does as much as one of the run's within a factor of"
        f" {OTHER_CLOUD:g}, and a volume's latency lies between the ends of docs/volumes.md:"
        " not measured"
    )
    yield (
        "you install and run the database of a machine yourself; its price is that of the machine"
        " and the data's disk: a disk for the system, backups and replicas are left out"
    )
