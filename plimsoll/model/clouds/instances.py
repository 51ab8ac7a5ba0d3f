"""Machines of other clouds: their size, and the I/O limits that their documents state.

- Azure: MicrosoftDocs/azure-compute-docs, sizes/general-purpose/dsv5-series, 2026-02-27 (uncached
  Premium SSD; bursts of 30 minutes are left out).
- Google's limits depend on the vCPUs and the type of disk; no copy of the table could be read.
  Those of Alibaba's c8y and g8y were not found either. There the volume's limits stand alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.model.clouds.volume_rules import MB, Cloud


@dataclass(frozen=True, slots=True)
class CloudInstance:
    """A machine.

    Attributes:
        vcpus: Number of vCPUs.
        memory_gib: Memory in GiB.
        iops: IOPS of all its volumes; None if not known.
        mib_s: Throughput of all its volumes; None if not known.
    """

    vcpus: int
    memory_gib: float
    iops: float | None = None
    mib_s: float | None = None


INSTANCES: Mapping[Cloud, Mapping[str, CloudInstance]] = {
    "azure": {
        "Standard_D2s_v5": CloudInstance(2, 8, 3_750, 85 * MB),
        "Standard_D4s_v5": CloudInstance(4, 16, 6_400, 145 * MB),
        "Standard_D8s_v5": CloudInstance(8, 32, 12_800, 290 * MB),
    },
    "google": {
        "n2-standard-2": CloudInstance(2, 8),
        "n2-standard-4": CloudInstance(4, 16),
        "n2-standard-8": CloudInstance(8, 32),
    },
    "alibaba": {
        "ecs.c8y.small": CloudInstance(1, 2),
        "ecs.g8y.small": CloudInstance(1, 4),
        "ecs.c8y.large": CloudInstance(2, 4),
        "ecs.g8y.large": CloudInstance(2, 8),
        "ecs.g8y.xlarge": CloudInstance(4, 16),
    },
}
