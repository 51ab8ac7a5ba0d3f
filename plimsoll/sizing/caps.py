"""What a target lets through: its volume, its instance, its processors and its memory.

The rules of volumes, the limits of instances and their prices come from the tables of
`plimsoll.model`; each has its source there.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.aws.instances import cpu_credits, instance_limits, instance_size
from plimsoll.model.aws.volumes import VolumeType, limits
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import CreditBucket
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.sizing.queueing import Guess

# targets that are made for a run
Made = Annotated[RdsTarget | AuroraTarget | CassandraTarget, Field(discriminator="kind")]
Owner = Literal["volume", "instance"]
SAME_FAMILY = 1.05  # by so much processors of one family differ
OTHER_FAMILY = 1.4  # ... and of another, or of another generation: assumed
OTHER_MACHINE = 1.5  # ... and of AWS from those of the machine that stands in for it: assumed
INSTANCE_IO: frozenset[CreditBucket] = frozenset({"instance_io", "instance_throughput"})
POOL_SIZE = "innodb_buffer_pool_size"


class Caps(Model):
    """The limits of a target; None: it has none, or none is known."""

    volume: VolumeType | Literal["aurora"]
    iops: float | None = None
    iops_of: Owner = "volume"
    mib_s: float | None = None
    mib_s_of: Owner = "volume"
    base_latency_us: float | None = None  # of an I/O on an idle volume
    processors: float | None
    speed: Guess = Guess.sure(1.0)  # of one of them, in those that were measured
    memory_gib: float | None  # of the class
    pool_bytes: int | None  # that a parameter gives the buffer pool; None: the class's memory does
    family: str


def caps_of(target: Made, *, lasting: bool = True) -> Caps:
    """Say what a target lets through.

    Args:
        target: Which; of a cluster, one node of it.
        lasting: What it lets through for good; else while the instance's own credits last (half an
            hour of a day). Of a volume with burst credits it is what lasts either way.

    Raises:
        UsageError: There is no such volume or class.
    """
    name = target.instance_class.removeprefix("db.")
    size, earning = instance_size(name), cpu_credits(name)
    processors = None if size is None else float(size.vcpus)
    if earning is not None and lasting:
        processors = earning.earned_per_s * 60
    pool = None if isinstance(target, CassandraTarget) else target.parameters.get(POOL_SIZE)
    plain = Caps(
        volume="aurora" if isinstance(target, AuroraTarget) else target.volume.type,
        processors=processors,
        memory_gib=None if size is None else size.memory_gib,
        pool_bytes=pool if isinstance(pool, int) else None,
        family=name.partition(".")[0],
    )
    if isinstance(target, AuroraTarget):
        return plain
    held: frozenset[CreditBucket] = frozenset() if lasting else INSTANCE_IO
    return _with_storage(plain, target, held)


def with_credits(caps: Caps, target: Made, held: Collection[CreditBucket]) -> Caps:
    """Say what a target lets through while the credits in some buckets last; see `caps_of`."""
    return caps if isinstance(target, AuroraTarget) else _with_storage(caps, target, held)


def _with_storage(
    caps: Caps, target: RdsTarget | CassandraTarget, held: Collection[CreditBucket]
) -> Caps:
    promised = limits(target.volume, service=target.service)
    caps = caps.model_copy(update={"base_latency_us": promised.base_latency_us})
    if target.volume.type == "nvme":
        return caps
    through = instance_limits(target.instance_class.removeprefix("db."))
    of_volume = promised.burst_iops if "volume" in held else promised.baseline_iops
    iops = through.burst_iops if "instance_io" in held else through.baseline_iops
    mib_s = through.baseline_throughput_mib_s
    if "instance_throughput" in held:
        mib_s = through.burst_throughput_mib_s
    return caps.model_copy(
        update={
            "iops": _least(of_volume, iops),
            "iops_of": _owner(of_volume, iops),
            "mib_s": _least(promised.throughput_mib_s, mib_s),
            "mib_s_of": _owner(promised.throughput_mib_s, mib_s),
        }
    )


def with_speed(caps: Caps, measured: Caps, *, local: bool) -> Caps:
    """Say how fast its processors are held to be beside those that were measured.

    Args:
        caps: Of a target on AWS.
        measured: Of the run's.
        local: Whether the run was on one machine.
    """
    factor = SAME_FAMILY if caps.family == measured.family else OTHER_FAMILY
    return caps.model_copy(update={"speed": Guess.within(1.0, OTHER_MACHINE if local else factor)})


def on_machine(caps: Caps, processors: int) -> Caps:
    """Put this machine's processors in place of the class's, as a run on one machine has them."""
    return caps.model_copy(update={"processors": float(processors), "speed": Guess.sure(1.0)})


def _least(by_volume: float | None, by_instance: float) -> float:
    return by_instance if by_volume is None else min(by_volume, by_instance)


def _owner(by_volume: float | None, by_instance: float) -> Owner:
    return "volume" if by_volume is not None and by_volume <= by_instance else "instance"


# How reads of pages change with the memory that keeps pages.


MORE_PAGES = 1.1  # what a dataset may need beyond its own pages: undo, the dictionary
TOWARDS_MOST = 0.75  # of the way from the least to the most: popularity is seldom steep by the page


@dataclass(frozen=True)
class Pool:
    """A buffer pool under a load.

    Attributes:
        pages: That it holds.
        dataset_pages: That there are.
        miss_share: Of the requests for pages, those that read from storage.
    """

    pages: float
    dataset_pages: float
    miss_share: float

    def reads_at(self, pages: float) -> Guess:
        """Say how many times as many pages are read with a pool of another size."""
        if pages == self.pages or not self.miss_share:
            return Guess.sure(1.0 if self.miss_share else 0.0)
        grown = pages / self.pages - 1
        # the line through the pool without a page, which misses all
        from_none = max(0.0, 1 - (1 / self.miss_share - 1) * grown)
        if grown > 0:
            most = self._to_all(pages, MORE_PAGES * self.dataset_pages)
            least = min(from_none, most)
        else:
            least = max(1.0, self._to_all(pages, self.dataset_pages))
            most = max(least, from_none)
        return Guess(low=least, mid=least + TOWARDS_MOST * (most - least), high=most)

    def _to_all(self, pages: float, needed: float) -> float:
        """The line through the pool that holds every page, which misses none."""
        if needed <= self.pages:
            return 1.0
        return max(0.0, (needed - pages) / (needed - self.pages))
