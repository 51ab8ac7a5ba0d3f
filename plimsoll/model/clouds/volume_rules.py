"""The rules for volumes of Alibaba Cloud, Azure and Google Cloud, as their documents state them.

Sources, with the day on which the document was last changed or read:

- ESSD: alibabacloud.com/help/doc-detail/122389.html, "ESSDs", 2024-01-18 (sizes, IOPS, MB/s).
- AUTOPL: alibabacloud.com/help/en/ecs/user-guide/essd-autopl-disks, 2026-01-08 (baseline,
  provisioned and burst performance, 0.2 ms for a write of 4 KB). An earlier text (2024-01-18) has
  the same baseline without its lower limits of 3,000 IOPS and 125 MB/s, and 40 to 32,768 GiB; the
  newer one is taken.
- PREMIUM_ESSD: alibabacloud.com/help/en/rds/apsaradb-rds-for-mysql/i-o-performance-burst,
  2026-03-28 (IOPS and MB/s with and without burst). Its sizes are those of PL1 disks of ApsaraDB:
  help.aliyun.com, "upgrade from SSD to ESSD", 20 to 64,000 GB.
- AZURE_DISKS: learn.microsoft.com/azure/virtual-machines/disks-types (MicrosoftDocs/
  azure-compute-docs), 2026-08-11: Premium SSD v2 and Ultra Disk; MB/s are 10^6 bytes; an I/O of
  Premium SSD counts once per 256 KiB. Older texts have 1,200 MB/s for Premium SSD v2; the newer
  2,000 are taken. Below 6 GiB the text leaves its 3,000 IOPS as the maximum.
- AZURE_SIZES: MicrosoftDocs/azure-docs, includes/disk-storage-premium-ssd-sizes.md, 2023-03-16
  (Premium SSD by size, and its bursts).
- AZURE_BURST: disk-bursting in MicrosoftDocs/azure-compute-docs, 2023-05-02: disks of 512 GiB and
  less burst by credits, free of charge; a new disk's bucket is full and lasts 30 minutes at the
  highest rate. Larger disks burst on demand, for a charge: not here.
- PD: cloud.google.com/compute/docs/disks/performance, read 2026-11-27: IOPS and MiB/s per GiB and
  per instance. "Balanced and SSD Persistent Disk also offer baseline performance", whose figures
  were in no copy that could be read: they are left out, so small disks are faster than here.
- HYPERDISK_BALANCED: cloud.google.com/compute/docs/disks/hd-types/hyperdisk-balanced, read
  2026-11-27: up to 160,000 IOPS and 2,400 MiB/s; 3,000 IOPS and 140 MiB/s come at no charge. How
  many IOPS a size may have was in no copy that could be read; 500 per GiB and 0.25 MiB/s per IOPS
  are assumed, which the published maxima fit.
- HYPERDISK_EXTREME: cloud.google.com/compute/docs/disks/hd-types/hyperdisk-extreme, read
  2026-11-27: 64 GiB to 64 TiB, 2 to 1,200 IOPS per GiB up to 350,000, 250 MiB/s per 1,000 IOPS up
  to 5,000; on machines of 60 vCPUs (C3D) to 112 (M4) and more only.
- HYPERDISK_QUEUE: docs.cloud.google.com/compute/docs/disks/optimize-hyperdisk, read 2026-11-27:
  500 IOPS at a queue of 1, 1,000 at 2, from "a slight overestimate of typical latency".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

Cloud = Literal["aws", "alibaba", "azure", "google"]
CloudVolumeType = Literal[
    "essd",
    "essd-autopl",
    "premium-essd",
    "premium-ssd",
    "premium-ssd-v2",
    "ultra",
    "pd-balanced",
    "pd-ssd",
    "hyperdisk-balanced",
    "hyperdisk-extreme",
]
Level = Literal["PL0", "PL1", "PL2", "PL3"]

CLOUD_NAMES: Mapping[Cloud, str] = {
    "aws": "AWS",
    "alibaba": "Alibaba Cloud",
    "azure": "Azure",
    "google": "Google Cloud",
}
# Parameter that switches the emulated buffer-pool extension (ON, OFF); ApsaraDB itself has a switch
# in its console
BUFFER_POOL_EXTENSION = "apsaradb.buffer_pool_extension"
MB = 1e6 / 2**20  # a megabyte per second in MiB/s
BURST_S = 1800.0  # AZURE_BURST: how long a full bucket lasts at the highest rate


@dataclass(frozen=True, slots=True)
class Line:
    """A value that grows with the size: `base + per_gib x GiB`, between two limits."""

    base: float
    per_gib: float
    most: float
    least: float = 0.0

    def at(self, size_gib: float) -> float:
        """Return the value for a size.

        >>> Line(1_800, 50, 50_000).at(400)  # ESSD PL1
        21800
        """
        return max(self.least, min(self.base + self.per_gib * size_gib, self.most))


@dataclass(frozen=True, slots=True)
class Provisioning:
    """What can be bought beyond the size.

    Attributes:
        most: The most that can be provisioned, by size.
        least: The least, by size.
        included: What comes with the volume at no charge; it has so much if nothing is set.
        adds: Whether the provisioned value is in addition to the size's own.
    """

    most: Line
    least: Line
    included: float = 0.0
    adds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRule:
    """The rule for a type (and level) of volume.

    Attributes:
        cloud: The cloud.
        source: The address of the document.
        as_of: The day of the document.
        min_gib: The smallest size.
        max_gib: The largest size.
        iops: IOPS by size; None if they are provisioned alone.
        throughput: Throughput by size, in `unit`; None if it follows from the IOPS.
        unit: The unit of throughput that the document uses.
        iops_provisioned: How IOPS are provisioned; None if they are not.
        throughput_provisioned: How throughput is provisioned; None if it is not.
        throughput_per_iops: The most throughput per IOPS, or that of provisioned IOPS; 0 for none.
        throughput_most: The most throughput of one volume.
        tiers: (GiB, IOPS, throughput) of each size, where sizes are fixed; a volume between two
            sizes is the larger one.
        burst: IOPS and throughput while it bursts; None if it does not.
        burst_up_to_gib: Largest size that bursts by credits; 0 if it bursts without credits.
        latency_us: Mean latency of a small I/O on an idle volume: low, assumed, and high.
    """

    cloud: Cloud
    source: str
    as_of: date
    min_gib: int
    max_gib: int
    iops: Line | None = None
    throughput: Line | None = None
    unit: Literal["MB/s", "MiB/s"]
    iops_provisioned: Provisioning | None = None
    throughput_provisioned: Provisioning | None = None
    throughput_per_iops: float = 0.0
    throughput_most: float = 0.0
    tiers: tuple[tuple[int, int, int], ...] = ()
    burst: tuple[Line, Line] | None = None
    burst_up_to_gib: int = 0
    latency_us: tuple[float, float, float]

    @property
    def mib_per_unit(self) -> float:
        """The factor from the document's unit of throughput to MiB/s."""
        return MB if self.unit == "MB/s" else 1.0

    def tier(self, size_gib: int) -> tuple[int, int, int]:
        """Return the fixed size that a volume of so many GiB has."""
        return next(tier for tier in self.tiers if size_gib <= tier[0])


_ESSD = "https://www.alibabacloud.com/help/doc-detail/122389.html"
_AUTOPL = "https://www.alibabacloud.com/help/en/ecs/user-guide/essd-autopl-disks"
_PREMIUM_ESSD = (
    "https://www.alibabacloud.com/help/en/rds/apsaradb-rds-for-mysql/i-o-performance-burst"
)
_AZURE_DISKS = "https://learn.microsoft.com/en-us/azure/virtual-machines/disks-types"
_AZURE_SIZES = (
    "https://github.com/MicrosoftDocs/azure-docs/blob/main/includes/"
    "disk-storage-premium-ssd-sizes.md"
)
_PD = "https://cloud.google.com/compute/docs/disks/performance"
_HYPERDISK = "https://cloud.google.com/compute/docs/disks/hd-types/hyperdisk-"
_READ = date(2026, 11, 27)

# Low, assumed and high mean latency of a small I/O. Alibaba has 0.2 ms for a write (AUTOPL). The
# others say "sub-millisecond" or, Azure's Premium SSD, "single-digit millisecond", and no more.
# Google's queue table is an upper end: 1 / 500 IOPS is 2 ms.
_ESSD_US = (150.0, 200.0, 400.0)
_SUB_MS_US = (200.0, 500.0, 1_000.0)
_PREMIUM_US = (500.0, 1_000.0, 3_000.0)
_GOOGLE_US = (300.0, 700.0, 2_000.0)


def _essd(min_gib: int, iops: Line, throughput: Line) -> VolumeRule:
    return VolumeRule(
        cloud="alibaba",
        source=_ESSD,
        as_of=date(2024, 1, 18),
        min_gib=min_gib,
        max_gib=65_536,
        iops=iops,
        throughput=throughput,
        unit="MB/s",
        latency_us=_ESSD_US,
    )


RULES: Mapping[tuple[CloudVolumeType, Level | None], VolumeRule] = {
    ("essd", "PL0"): _essd(1, Line(1_800, 12, 10_000), Line(100, 0.25, 180)),
    ("essd", "PL1"): _essd(20, Line(1_800, 50, 50_000), Line(120, 0.5, 350)),
    ("essd", "PL2"): _essd(461, Line(1_800, 50, 100_000), Line(120, 0.5, 750)),
    ("essd", "PL3"): _essd(1_261, Line(1_800, 50, 1_000_000), Line(120, 0.5, 4_000)),
    ("essd-autopl", None): VolumeRule(  # from 4 GiB on: smaller ones can neither be provisioned
        cloud="alibaba",  # nor burst
        source=_AUTOPL,
        as_of=date(2026, 1, 8),
        min_gib=4,
        max_gib=65_536,
        iops=Line(1_800, 50, 50_000, least=3_000),
        throughput=Line(120, 0.5, 350, least=125),
        unit="MB/s",
        iops_provisioned=Provisioning(Line(0, 1_000, 50_000), Line(1, 0, 1), adds=True),
        throughput_per_iops=16 / 1_024,
        burst=(Line(0, 1_000, 1_000_000), Line(0, 1_000 * 16 / 1_024, 4_000)),
        latency_us=_ESSD_US,
    ),
    ("premium-essd", None): VolumeRule(
        cloud="alibaba",
        source=_PREMIUM_ESSD,
        as_of=date(2026, 3, 28),
        min_gib=20,
        max_gib=64_000,
        iops=Line(1_800, 50, 50_000),
        throughput=Line(120, 0.5, 350),
        unit="MB/s",
        burst=(Line(1_000_000, 0, 1_000_000), Line(4_000, 0, 4_000)),
        latency_us=_ESSD_US,
    ),
    ("premium-ssd", None): VolumeRule(
        cloud="azure",
        source=_AZURE_SIZES,
        as_of=date(2023, 3, 16),
        min_gib=1,
        max_gib=32_767,
        unit="MB/s",
        tiers=(
            (4, 120, 25),
            (8, 120, 25),
            (16, 120, 25),
            (32, 120, 25),
            (64, 240, 50),
            (128, 500, 100),
            (256, 1_100, 125),
            (512, 2_300, 150),
            (1_024, 5_000, 200),
            (2_048, 7_500, 250),
            (4_096, 7_500, 250),
            (8_192, 16_000, 500),
            (16_384, 18_000, 750),
            (32_767, 20_000, 900),
        ),
        burst=(Line(3_500, 0, 3_500), Line(170, 0, 170)),
        burst_up_to_gib=512,
        latency_us=_PREMIUM_US,
    ),
    ("premium-ssd-v2", None): VolumeRule(
        cloud="azure",
        source=_AZURE_DISKS,
        as_of=date(2026, 8, 11),
        min_gib=1,
        max_gib=65_536,
        unit="MB/s",
        iops_provisioned=Provisioning(
            Line(0, 500, 80_000, least=3_000), Line(3_000, 0, 3_000), included=3_000
        ),
        throughput_provisioned=Provisioning(Line(2_000, 0, 2_000), Line(125, 0, 125), included=125),
        throughput_per_iops=0.25,
        throughput_most=2_000,
        latency_us=_SUB_MS_US,
    ),
    ("ultra", None): VolumeRule(
        cloud="azure",
        source=_AZURE_DISKS,
        as_of=date(2026, 8, 11),
        min_gib=4,
        max_gib=65_536,
        unit="MB/s",
        iops_provisioned=Provisioning(Line(0, 1_000, 400_000), Line(100, 0, 100)),
        throughput_provisioned=Provisioning(Line(10_000, 0, 10_000), Line(1, 0, 1)),
        throughput_per_iops=0.25,
        throughput_most=10_000,
        latency_us=_SUB_MS_US,
    ),
    ("pd-balanced", None): VolumeRule(
        cloud="google",
        source=_PD,
        as_of=_READ,
        min_gib=10,
        max_gib=65_536,
        iops=Line(0, 6, 80_000),
        throughput=Line(0, 0.28, 1_200),
        unit="MiB/s",
        latency_us=_GOOGLE_US,
    ),
    ("pd-ssd", None): VolumeRule(
        cloud="google",
        source=_PD,
        as_of=_READ,
        min_gib=10,
        max_gib=65_536,
        iops=Line(0, 30, 100_000),
        throughput=Line(0, 0.48, 1_200),
        unit="MiB/s",
        latency_us=_GOOGLE_US,
    ),
    ("hyperdisk-balanced", None): VolumeRule(
        cloud="google",
        source=f"{_HYPERDISK}balanced",
        as_of=_READ,
        min_gib=6,
        max_gib=65_536,
        unit="MiB/s",
        iops_provisioned=Provisioning(Line(0, 500, 160_000), Line(3_000, 0, 3_000), included=3_000),
        throughput_provisioned=Provisioning(Line(2_400, 0, 2_400), Line(140, 0, 140), included=140),
        throughput_per_iops=0.25,
        throughput_most=2_400,
        latency_us=_GOOGLE_US,
    ),
    ("hyperdisk-extreme", None): VolumeRule(
        cloud="google",
        source=f"{_HYPERDISK}extreme",
        as_of=_READ,
        min_gib=64,
        max_gib=65_536,
        unit="MiB/s",
        iops_provisioned=Provisioning(Line(0, 1_200, 350_000), Line(0, 2, 350_000)),
        throughput_per_iops=0.25,
        throughput_most=5_000,
        latency_us=_GOOGLE_US,
    ),
}


def list_levels(volume_type: str) -> tuple[Level, ...]:
    """Return the levels of a type of volume; empty if it has none."""
    return tuple(level for kind, level in RULES if kind == volume_type and level is not None)


def find_cloud(volume_type: str) -> Cloud:
    """Return the cloud that offers a type of volume."""
    return next((rule.cloud for (kind, _), rule in RULES.items() if kind == volume_type), "aws")
