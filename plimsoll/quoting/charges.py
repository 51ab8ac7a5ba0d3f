"""What AWS charges for, given how long and how much: quantities by price. Pure.

RDS bills an instance by the second, ten minutes at least
(docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_OnDemandDBInstances.html, 2026-11-21); EC2 a
minute at least. Free tiers are not deducted: they are the account's, not the run's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from plimsoll import words
from plimsoll.model.aurora_target import LEAST_GIB, AuroraStorage, AuroraTarget
from plimsoll.model.cassandra_target import ROOT_GIB, CassandraTarget
from plimsoll.model.databases import rds_facts
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.functions import FUNCTIONS
from plimsoll.model.prices import HOURS_PER_MONTH, Item
from plimsoll.model.rds_target import RdsTarget
from plimsoll.model.request import Target
from plimsoll.model.volumes import band

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
    """How long and how much of everything a run takes.

    Attributes:
        target_s: Seconds for which the target exists.
        client_gib_s: Memory of load clients and loaders times their seconds.
        function_gib_s: Memory of all other functions times their seconds.
        invocations: Calls of functions.
        transitions: Of state machines.
        writes: DynamoDB's write request units.
        reads: DynamoDB's read request units.
        puts: Objects written to S3.
        gets: Objects read from S3.
        metrics: Metrics asked of CloudWatch.
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
        """Charge for so many alike."""
        what = self.what if times == 1 else f"{times} x {self.what}"
        return replace(self, what=what, quantity=times * self.quantity)


def charges(target: Target, extent: Extent) -> list[Charge]:
    """List what a run is charged for."""
    return [*target_charges(target, extent.target_s), *fleet_charges(extent)]


def target_charges(target: Target, seconds: float) -> list[Charge]:
    """List what a target costs while it exists; nothing for an existing endpoint."""
    match target:
        case RdsTarget():
            return list(_rds(target, seconds))
        case AuroraTarget():
            return list(_aurora(target, seconds))
        case CassandraTarget():
            return [target.nodes * charge for charge in _ec2(target, seconds)]
        case EndpointTarget():
            return []
        case _:
            assert_never(target)


def _rds(target: RdsTarget, seconds: float) -> Iterator[Charge]:
    volume = target.volume
    row = band(volume, service=target.service)
    hours = max(seconds, RDS_LEAST_S) / 3600 if seconds else 0.0
    months = hours / HOURS_PER_MONTH
    instance = f"{target.instance_class} ({words.ENGINES[target.engine]}), single-AZ"
    price = rds_facts(target.engine).instance_price
    yield Charge(instance, price, target.instance_class, hours)
    storage = f"{volume.type} storage, {volume.size_gib:,} GiB"
    yield Charge(storage, Item.RDS_STORAGE, volume.type, volume.size_gib * months)
    included = row.baseline_iops or 0
    if volume.iops is not None and (more := volume.iops - included) > 0:
        beyond = f" above {included:,}" if included else ""
        yield Charge(f"{more:,} IOPS{beyond}", Item.RDS_IOPS, volume.type, more * months)
    given = row.min_throughput_mib_s or 0
    if volume.throughput_mib_s is not None and (more := volume.throughput_mib_s - given) > 0:
        what = f"{more:,} MiB/s above {given:,}"
        yield Charge(what, Item.RDS_THROUGHPUT, volume.type, more * months)
    yield Charge("its password", Item.SECRETS_MANAGER, "secret", months)


def _aurora(target: AuroraTarget, seconds: float) -> Iterator[Charge]:
    """All but its I/Os, whose number is known only when they are over (`aurora_io`)."""
    hours = max(seconds, RDS_LEAST_S) / 3600 if seconds else 0.0
    months = hours / HOURS_PER_MONTH
    writer = f"{target.instance_class} ({words.ENGINES[target.engine]}), one writer"
    yield Charge(writer, INSTANCE_PRICES[target.storage], target.instance_class, hours)
    storage = f"{words.AURORA_STORAGE[target.storage]} storage, reckoned with {LEAST_GIB} GiB"
    yield Charge(storage, Item.AURORA_STORAGE, target.storage, LEAST_GIB * months)
    yield Charge("its password", Item.SECRETS_MANAGER, "secret", months)


def _ec2(target: CassandraTarget, seconds: float) -> Iterator[Charge]:
    volume = target.volume
    hours = max(seconds, EC2_LEAST_S) / 3600 if seconds else 0.0
    months = hours / HOURS_PER_MONTH
    what = f"{target.instance_type} (Linux)"
    yield Charge(what, Item.EC2_INSTANCE, target.instance_type, hours)
    root = f"gp3 storage of the system, {ROOT_GIB} GiB"
    yield Charge(root, Item.EBS_STORAGE, "gp3", ROOT_GIB * months)
    if volume.type == "nvme":
        return  # it comes with the instance
    row = band(volume, service=target.service)
    storage = f"{volume.type} storage, {volume.size_gib:,} GiB"
    yield Charge(storage, Item.EBS_STORAGE, volume.type, volume.size_gib * months)
    included = row.baseline_iops or 0
    if volume.iops is not None and (more := volume.iops - included) > 0:
        yield from _ebs_iops(volume.type, included, more, months)
    given = row.min_throughput_mib_s or 0
    if volume.throughput_mib_s is not None and (more := volume.throughput_mib_s - given) > 0:
        what = f"{more:,} MiB/s above {given:,}"
        yield Charge(what, Item.EBS_THROUGHPUT, volume.type, more * months)


def _ebs_iops(volume_type: str, included: int, more: int, months: float) -> Iterator[Charge]:
    """Charge for IOPS; those of io2 in tiers, cheaper above 32,000 and 64,000."""
    beyond = f" above {included:,}" if included else ""
    above = [max(0, more - tier) for tier in IO2_TIERS] if volume_type == "io2" else [0, 0]
    parts = {
        volume_type: more - above[0],
        "io2-over-32000": above[0] - above[1],
        "io2-over-64000": above[1],
    }
    for name, iops in parts.items():
        if iops:
            yield Charge(f"{iops:,} IOPS{beyond}", Item.EBS_IOPS, name, iops * months)


def fleet_charges(extent: Extent) -> Iterator[Charge]:
    """List what the load and the workflow cost, the target aside."""
    clients = f"load clients, {CLIENT_GIB:.3g} GiB each"
    yield Charge(clients, Item.LAMBDA, "arm64-duration", extent.client_gib_s)
    yield Charge("other functions", Item.LAMBDA, "arm64-duration", extent.function_gib_s)
    yield Charge("calls of functions", Item.LAMBDA, "request", extent.invocations)
    yield Charge("state transitions", Item.STEP_FUNCTIONS, "transition", extent.transitions)
    yield Charge("records written", Item.DYNAMODB, "write", extent.writes)
    yield Charge("records read", Item.DYNAMODB, "read", extent.reads)
    yield Charge("objects written", Item.S3, "put", extent.puts)
    yield Charge("objects read", Item.S3, "get", extent.gets)
    yield Charge("metrics read", Item.CLOUDWATCH, "metric", extent.metrics)
