"""What AWS charges for a run of given length and use: quantities by price. Pure.

RDS bills an instance by the second, ten minutes at least
(docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_OnDemandDBInstances.html, 2026-11-21); EC2 a
minute at least. Free tiers are not deducted: they are the account's, not the run's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import assert_never

from plimsoll import words
from plimsoll.model.aws.instances import find_instance_size
from plimsoll.model.aws.prices import HOURS_PER_MONTH, Item, PriceTable
from plimsoll.model.aws.volumes import find_band
from plimsoll.model.databases import find_rds_facts
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.rds_versions import find_extended_support_price
from plimsoll.model.request.cassandra_target import ROOT_GIB, CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import LEAST_GIB, AuroraStorage, AuroraTarget, RdsTarget
from plimsoll.model.request.request import Target
from plimsoll.model.run.quote import BilledIo, IoCost, IoPrices

RDS_LEAST_S = 600.0
INSTANCE_PRICES: Mapping[AuroraStorage, Item] = {
    "standard": Item.AURORA,
    "io-optimized": Item.AURORA_IO_OPTIMIZED,
}
IO2_TIERS = (32_000, 64_000)  # aws.amazon.com/ebs/pricing, 2026-08-01
EC2_LEAST_S = 60.0
CLIENT_GIB = FUNCTIONS["load-client"].memory_mib / 1024


@dataclass(frozen=True)
class Extent:
    """How long a run exists, and how much it uses.

    Attributes:
        target_s: Seconds for which the target exists.
        client_gib_s: Memory of load clients and loaders times their seconds.
        function_gib_s: Memory of all other functions times their seconds.
        invocations: Function calls.
        transitions: State machine transitions.
        writes: DynamoDB write request units.
        reads: DynamoDB read request units.
        puts: Objects written to S3.
        gets: Objects read from S3.
        metrics: Metrics requested from CloudWatch.
    """

    target_s: float
    client_gib_s: float
    function_gib_s: float
    invocations: float
    transitions: float
    writes: float
    reads: float
    puts: float
    gets: float
    metrics: float


@dataclass(frozen=True)
class Charge:
    """A quantity of something that has a price."""

    what: str
    item: Item
    name: str
    quantity: float  # in the price's unit

    def __rmul__(self, times: int) -> "Charge":
        """Multiply the charge by a number of equal items."""
        what = self.what if times == 1 else f"{times} x {self.what}"
        return replace(self, what=what, quantity=times * self.quantity)


def list_charges(target: Target, extent: Extent) -> list[Charge]:
    """List a run's charges."""
    return [*list_target_charges(target, extent.target_s), *list_fleet_charges(extent)]


def list_target_charges(target: Target, seconds: float) -> list[Charge]:
    """List a target's charges for a time; none for an existing endpoint."""
    match target:
        case RdsTarget():
            return list(_charge_rds(target, seconds))
        case AuroraTarget():
            return list(_charge_aurora(target, seconds))
        case CassandraTarget():
            return [target.nodes * charge for charge in _charge_ec2(target, seconds)]
        case EndpointTarget():
            return []
        case _:
            assert_never(target)


def _charge_rds(target: RdsTarget, seconds: float) -> Iterator[Charge]:
    hours = max(seconds, RDS_LEAST_S) / 3600 if seconds else 0.0
    months = hours / HOURS_PER_MONTH
    instance = f"{target.instance_class} ({words.ENGINES[target.engine]}), single-AZ"
    price = find_rds_facts(target.engine).instance_price
    yield Charge(instance, price, target.instance_class, hours)
    yield from _charge_extended_support(target, hours)
    yield from _charge_volume(target, months)
    yield Charge("its password", Item.SECRETS_MANAGER, "secret", months)


def _charge_aurora(target: AuroraTarget, seconds: float) -> Iterator[Charge]:
    """Yield all charges except I/Os, whose number is known only afterwards (`compute_io_cost`)."""
    hours = max(seconds, RDS_LEAST_S) / 3600 if seconds else 0.0
    months = hours / HOURS_PER_MONTH
    writer = f"{target.instance_class} ({words.ENGINES[target.engine]}), one writer"
    yield Charge(writer, INSTANCE_PRICES[target.storage], target.instance_class, hours)
    yield from _charge_extended_support(target, hours)
    storage = f"{words.AURORA_STORAGE[target.storage]} storage, assumed to be {LEAST_GIB} GiB"
    yield Charge(storage, Item.AURORA_STORAGE, target.storage, LEAST_GIB * months)
    yield Charge("its password", Item.SECRETS_MANAGER, "secret", months)


def _charge_extended_support(target: RdsTarget | AuroraTarget, hours: float) -> Iterator[Charge]:
    """Yield the charge of a version past its standard support, by its price of tomorrow.

    A run ends within a day, and no day costs less than the one before.
    """
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    name = find_extended_support_price(target.engine, target.engine_version, on=tomorrow)
    if not target.extended_support or name is None:
        return
    size = find_instance_size(target.instance_class)
    if size is None:  # without vCPUs there is no price for the class
        what = f"Extended Support of {target.instance_class}"
        yield Charge(what, Item.RDS_EXTENDED_SUPPORT, target.instance_class, hours)
        return
    what = f"Extended Support, {words.format_count(size.vcpus, 'vCPU')}"
    yield Charge(what, Item.RDS_EXTENDED_SUPPORT, name, size.vcpus * hours)


def _charge_ec2(target: CassandraTarget, seconds: float) -> Iterator[Charge]:
    hours = max(seconds, EC2_LEAST_S) / 3600 if seconds else 0.0
    months = hours / HOURS_PER_MONTH
    what = f"{target.instance_type} (Linux)"
    yield Charge(what, Item.EC2_INSTANCE, target.instance_type, hours)
    root = f"gp3 storage of the system, {ROOT_GIB} GiB"
    yield Charge(root, Item.EBS_STORAGE, "gp3", ROOT_GIB * months)
    if target.volume.type != "nvme":  # included in the instance's price
        yield from _charge_volume(target, months)


_OF_RDS = (Item.RDS_STORAGE, Item.RDS_IOPS, Item.RDS_THROUGHPUT)
_OF_EBS = (Item.EBS_STORAGE, Item.EBS_IOPS, Item.EBS_THROUGHPUT)


def _charge_volume(target: RdsTarget | CassandraTarget, months: float) -> Iterator[Charge]:
    """Yield the charges of a volume: its size, and what it has beyond what is included."""
    volume, on_ebs = target.volume, target.service == "ebs"
    if volume.cloud != "aws":  # `plimsoll size --clouds` prices it; a run creates none
        name = volume.type if volume.level is None else f"{volume.type} {volume.level}"
        what = f"{name} storage, {volume.size_gib:,} GiB"
        yield Charge(what, Item.OTHER_CLOUD, name, volume.size_gib * months)
        return
    storage, provisioned, throughput = _OF_EBS if on_ebs else _OF_RDS
    row = find_band(volume, service=target.service)
    what = f"{volume.type} storage, {volume.size_gib:,} GiB"
    yield Charge(what, storage, volume.type, volume.size_gib * months)
    included = row.baseline_iops or 0
    if volume.iops is not None and (more := volume.iops - included) > 0:
        beyond = f" above {included:,}" if included else ""
        parts = _divide_into_tiers(more) if on_ebs and volume.type == "io2" else {volume.type: more}
        for name, iops in parts.items():
            yield Charge(f"{iops:,} IOPS{beyond}", provisioned, name, iops * months)
    given = row.min_throughput_mib_s or 0
    if volume.throughput_mib_s is not None and (more := volume.throughput_mib_s - given) > 0:
        yield Charge(f"{more:,} MiB/s above {given:,}", throughput, volume.type, more * months)


def _divide_into_tiers(iops: int) -> dict[str, int]:
    """Divide the IOPS of io2 on EBS among its prices, cheaper above 32,000 and 64,000."""
    first, second = (max(0, iops - tier) for tier in IO2_TIERS)
    parts = {"io2": iops - first, "io2-over-32000": first - second, "io2-over-64000": second}
    return {name: part for name, part in parts.items() if part}


def list_fleet_charges(extent: Extent) -> Iterator[Charge]:
    """Yield the charges of the load and the workflow, without the target."""
    clients = f"load clients, {CLIENT_GIB:.3g} GiB each"
    yield Charge(clients, Item.LAMBDA, "arm64-duration", extent.client_gib_s)
    yield Charge("other functions", Item.LAMBDA, "arm64-duration", extent.function_gib_s)
    yield Charge("function calls", Item.LAMBDA, "request", extent.invocations)
    yield Charge("state transitions", Item.STEP_FUNCTIONS, "transition", extent.transitions)
    yield Charge("records written", Item.DYNAMODB, "write", extent.writes)
    yield Charge("records read", Item.DYNAMODB, "read", extent.reads)
    yield Charge("objects written", Item.S3, "put", extent.puts)
    yield Charge("objects read", Item.S3, "get", extent.gets)
    yield Charge("metrics read", Item.CLOUDWATCH, "metric", extent.metrics)


# Aurora's I/Os, and the rate above which I/O-Optimized storage is cheaper.


MILLION = 1e6
METERED: str = "standard"  # name of the price, and of the storage type whose I/Os are charged


def find_io_prices(target: Target, prices: PriceTable) -> IoPrices | None:
    """Return the prices of a target's I/Os; None if they are never charged by number.

    I/O-Optimized storage is cheaper from this rate on: its additional hourly cost, for the class
    and the assumed amount of storage, divided by the price of an I/O.
    """
    if not isinstance(target, AuroraTarget):
        return None
    usd_per_million = prices.price(Item.AURORA_IO, METERED).usd
    hourly = [
        _compute_usd_per_hour(prices, item, target.instance_class, storage)
        for item, storage in ((Item.AURORA, "standard"), (Item.AURORA_IO_OPTIMIZED, "io-optimized"))
    ]
    standard, optimized = hourly
    even = None
    if standard is not None and optimized is not None and usd_per_million:
        even = (optimized - standard) / 3600 / (usd_per_million / MILLION)
    return IoPrices(
        charged=target.storage == METERED,
        usd_per_million=usd_per_million,
        io_optimized_from_iops=even,
    )


def _compute_usd_per_hour(prices: PriceTable, item: Item, name: str, storage: str) -> float | None:
    writer, gib = prices.price(item, name).usd, prices.price(Item.AURORA_STORAGE, storage).usd
    return None if writer is None or gib is None else writer + LEAST_GIB * gib / HOURS_PER_MONTH


def write_io_notes(io: IoPrices | None) -> Iterator[str]:
    """Yield notes on the I/Os that a quote does not contain."""
    if io is None:
        return
    if io.charged:
        price = (
            "at a price that is not known"
            if io.usd_per_million is None
            else f"at {words.format_usd(io.usd_per_million)} a million (1,000 a second cost"
            f" {words.format_usd(io.usd_per_million * 3.6)} an hour)"
        )
        yield (
            f"Aurora Standard charges I/Os {price}; how many a run makes is known only afterwards,"
            " so no sum here includes them."
        )
    if io.io_optimized_from_iops is not None:
        yield _describe_break_even(io.io_optimized_from_iops) + "."
    yield f"Aurora's storage is assumed to be {LEAST_GIB} GiB: its size is known only afterwards."


def _describe_break_even(iops: float) -> str:
    return (
        f"I/O-Optimized is cheaper from a mean of {words.format_rate(iops)} I/Os a second on,"
        " Standard"
        " below it"
    )


def compute_io_cost(
    io: IoPrices | None, billed: BilledIo | None, capacity: Capacity | None
) -> IoCost:
    """Return what a finished run's I/Os cost, or would have cost.

    Args:
        io: The I/O prices of the run's quote.
        billed: The I/Os that CloudWatch counted; None if it had no data.
        capacity: The run's answer, at whose load the rate of I/Os is given.
    """
    each = None if billed is None else billed.per_operation
    usd_per_million = None if io is None else io.usd_per_million
    usd = price_billed_io(io, billed)
    return IoCost(
        ios=None if billed is None else billed.ios,
        ios_per_operation=each,
        usd=usd,
        usd_per_million_operations=None
        if each is None or usd_per_million is None
        else each * usd_per_million,
        sentence="; ".join(_describe_io(io, billed, each, capacity)),
    )


def price_billed_io(io: IoPrices | None, billed: BilledIo | None) -> float | None:
    """Price a run's I/Os; 0 if they are not charged, None if their number is not known."""
    if io is not None and not io.charged:
        return 0.0
    if io is None or billed is None or io.usd_per_million is None:
        return None
    return billed.ios / MILLION * io.usd_per_million


def _describe_io(
    io: IoPrices | None, billed: BilledIo | None, each: float | None, capacity: Capacity | None
) -> Iterator[str]:
    if billed is None:
        yield "CloudWatch has not counted its I/Os yet: it does so every five minutes"
    elif each is None:
        yield f"{words.format_number(round(billed.ios))} I/Os in all, not known per operation"
    else:
        yield f"{each:.3g} I/Os per operation"
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    if each is not None and figure:
        yield f"{words.format_rate(each * figure)} a second at {words.format_throughput(figure)}"
    even = None if io is None else io.io_optimized_from_iops
    if even is not None:
        at = f" ({words.format_throughput(even / each)})" if each else ""
        yield _describe_break_even(even) + at
