"""The limits of a target: of its volume, its instance, its processors and its memory.

The rules of volumes, the limits of instances and their prices come from the tables of
`plimsoll.model`, which name their sources.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.aws.instances import find_cpu_credits, find_instance_size, instance_limits
from plimsoll.model.aws.volumes import VolumeType, limits
from plimsoll.model.base import Model
from plimsoll.model.judging.steps import CreditBucket
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.sizing.queueing import Guess

# targets that Plimsoll creates for a run
Made = Annotated[RdsTarget | AuroraTarget | CassandraTarget, Field(discriminator="kind")]
Owner = Literal["volume", "instance"]
SAME_FAMILY = 1.05  # assumed ratio of the speeds of two processors of one family
OTHER_FAMILY = 1.4  # ... of different families or generations
OTHER_MACHINE = 1.5  # ... of one on AWS and one of the machine that stands in for it
INSTANCE_IO: frozenset[CreditBucket] = frozenset({"instance_io", "instance_throughput"})
POOL_SIZE = "innodb_buffer_pool_size"


class Caps(Model):
    """The limits of a target; a field is None if there is no limit or it is not known."""

    volume: VolumeType | Literal["aurora"]
    iops: float | None = None
    iops_of: Owner = "volume"
    mib_s: float | None = None
    mib_s_of: Owner = "volume"
    base_latency_us: float | None = None  # latency of an I/O on an idle volume
    processors: float | None
    speed: Guess = Guess.sure(1.0)  # relative to the processors that were measured
    memory_gib: float | None  # memory of the instance class
    pool_bytes: int | None  # set by a parameter; None if it follows from the class's memory
    family: str


def find_caps(target: Made, *, lasting: bool = True) -> Caps:
    """Return the limits of a target.

    Args:
        target: The target; for a cluster, the limits are those of one node.
        lasting: Whether to return the limits that last; otherwise those while the instance's
            own I/O credits last (half an hour a day). A volume with burst credits always gets
            its lasting limits.

    Raises:
        UsageError: The volume or the class does not exist.
    """
    name = target.instance_class.removeprefix("db.")
    size, earning = find_instance_size(name), find_cpu_credits(name)
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
    return _apply_storage_limits(plain, target, held)


def apply_credits(caps: Caps, target: Made, held: Collection[CreditBucket]) -> Caps:
    """Return a target's limits while the credits in some buckets last; see `find_caps`."""
    return caps if isinstance(target, AuroraTarget) else _apply_storage_limits(caps, target, held)


def _apply_storage_limits(
    caps: Caps, target: RdsTarget | CassandraTarget, held: Collection[CreditBucket]
) -> Caps:
    promised = limits(target.volume, service=target.service)
    caps = caps.model_copy(update={"base_latency_us": promised.base_latency_us})
    if target.volume.type == "nvme":
        return caps
    # The instance class is AWS's: its I/O limits say nothing of another cloud's volume
    if target.volume.cloud != "aws":
        return caps.model_copy(
            update={"iops": promised.baseline_iops, "mib_s": promised.throughput_mib_s}
        )
    through = instance_limits(target.instance_class.removeprefix("db."))
    of_volume = promised.burst_iops if "volume" in held else promised.baseline_iops
    iops = through.burst_iops if "instance_io" in held else through.baseline_iops
    mib_s = through.baseline_throughput_mib_s
    if "instance_throughput" in held:
        mib_s = through.burst_throughput_mib_s
    return caps.model_copy(
        update={
            "iops": _lower_limit(of_volume, iops),
            "iops_of": _limit_owner(of_volume, iops),
            "mib_s": _lower_limit(promised.throughput_mib_s, mib_s),
            "mib_s_of": _limit_owner(promised.throughput_mib_s, mib_s),
        }
    )


def assume_speed(caps: Caps, measured: Caps, *, local: bool) -> Caps:
    """Set how fast a target's processors are assumed to be relative to the measured ones.

    Args:
        caps: The limits of a target on AWS.
        measured: The limits of the run's target.
        local: Whether the run used one machine as a stand-in for AWS.
    """
    factor = SAME_FAMILY if caps.family == measured.family else OTHER_FAMILY
    return caps.model_copy(update={"speed": Guess.within(1.0, OTHER_MACHINE if local else factor)})


def replace_processors(caps: Caps, processors: int) -> Caps:
    """Replace the class's processors by this machine's, as a local run has them."""
    return caps.model_copy(update={"processors": float(processors), "speed": Guess.sure(1.0)})


def _lower_limit(by_volume: float | None, by_instance: float) -> float:
    return by_instance if by_volume is None else min(by_volume, by_instance)


def _limit_owner(by_volume: float | None, by_instance: float) -> Owner:
    return "volume" if by_volume is not None and by_volume <= by_instance else "instance"


# How page reads change with the size of the buffer pool.


MORE_PAGES = 1.1  # pages needed per page of the dataset: undo and the dictionary need some too
# position in the interval: page popularity is seldom skewed enough for the lower end
TOWARDS_MOST = 0.75


@dataclass(frozen=True)
class Pool:
    """A buffer pool under a load.

    Attributes:
        pages: Number of pages that it holds.
        dataset_pages: Number of pages of the dataset.
        miss_share: Share of page requests that read from storage.
    """

    pages: float
    dataset_pages: float
    miss_share: float

    def reads_at(self, pages: float) -> Guess:
        """Return the page reads with a pool of another size, as a multiple of today's."""
        if pages == self.pages or not self.miss_share:
            return Guess.sure(1.0 if self.miss_share else 0.0)
        grown = pages / self.pages - 1
        # linear extrapolation through a pool without pages, which misses every request
        from_none = max(0.0, 1 - (1 / self.miss_share - 1) * grown)
        if grown > 0:
            most = self._to_all(pages, MORE_PAGES * self.dataset_pages)
            least = min(from_none, most)
        else:
            least = max(1.0, self._to_all(pages, self.dataset_pages))
            most = max(least, from_none)
        return Guess(low=least, mid=least + TOWARDS_MOST * (most - least), high=most)

    def _to_all(self, pages: float, needed: float) -> float:
        """Interpolate linearly to the pool that holds every page and never misses."""
        if needed <= self.pages:
            return 1.0
        return max(0.0, (needed - pages) / (needed - self.pages))
