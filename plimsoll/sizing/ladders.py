"""The volumes that may be bought, each type a ladder from the least to the most. Pure.

Sizes, IOPS and throughput follow the rules of `plimsoll.model.volume_rules`; a ladder never falls,
neither in what its volumes let through nor in their price.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.model.volume_rules import Band, bands
from plimsoll.model.volumes import Service, Volume, VolumeType, throughput_range

IOPS_STEP = 100  # of what is proposed
TYPES: tuple[VolumeType, ...] = ("gp2", "gp3", "io1", "io2", "nvme")
Carries = Callable[[Volume], bool]


@dataclass(frozen=True)
class Ladder:
    """Volumes of one type and one row of its rules.

    Attributes:
        service: Whose rules.
        type: Of the volumes.
        row: Of the rules.
        least_gib: The smallest size.
    """

    service: Service
    type: VolumeType
    row: Band
    least_gib: int

    @property
    def rungs(self) -> Sequence[int]:
        """What is chosen: the IOPS where they are provisioned, else the size in GiB."""
        row = self.row
        if row.min_iops is None:
            return range(
                self.least_gib, (row.max_gib if self.type == "gp2" else self.least_gib) + 1
            )
        assert row.max_iops is not None  # noqa: S101 - a row has both or neither
        least = max(row.min_iops, math.ceil(row.min_iops_per_gib * self.least_gib))
        most = min(row.max_iops, math.floor(row.max_iops_per_gib * row.max_gib))
        return [*range(least, most, IOPS_STEP), most] if least <= most else []

    def volume(self, rung: int, throughput_mib_s: int | None = None) -> Volume:
        """Give the smallest volume of a rung."""
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
        """List the MiB/s that may be provisioned at a rung; empty where none may."""
        if self.row.min_throughput_mib_s is None:
            return range(0)
        low, high = throughput_range(self.volume(rung), self.row, service=self.service)
        return range(low, high + 1)

    @property
    def top(self) -> Volume | None:
        """The volume that lets through most; None: none of the row is as large as it has to be."""
        if not self.rungs:
            return None
        rung = self.rungs[-1]
        offered = self._throughputs(rung)
        return self.volume(rung, offered[-1] if offered else None)

    def first(self, carries: Carries) -> Volume | None:
        """Give the least volume that carries a load; None: not even the top does."""
        if self.top is None or not carries(self.top):
            return None

        def does(rung: int) -> bool:
            offered = self._throughputs(rung)
            return carries(self.volume(rung, offered[-1] if offered else None))

        rung = self.rungs[bisect_left(self.rungs, True, key=does)]
        offered = self._throughputs(rung)
        if not offered or carries(self.volume(rung)):
            return self.volume(rung)
        at = bisect_left(offered, True, key=lambda mib_s: carries(self.volume(rung, mib_s)))
        return self.volume(rung, offered[at])


def ladders(service: Service, kind: VolumeType, least_gib: int) -> Iterator[Ladder]:
    """List the ladders of a type on which volumes are at least so large."""
    family: Literal["ebs", "rds"] = "ebs" if service == "ebs" else "rds"
    for row in bands(family, kind):
        size_gib = max(least_gib, row.min_gib)
        if size_gib <= row.max_gib:
            yield Ladder(service, kind, row, size_gib)
