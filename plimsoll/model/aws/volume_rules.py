"""AWS's rules for volumes (sizes, IOPS, throughput, credits) and the faults to inject into one.

Sources of the rules, with the day on which they were read:

- EC2_API: botocore 1.44.5, EC2 `CreateVolume` and `EbsBlockDevice` (sizes, IOPS and throughput of
  gp2, gp3, io1, io2). 2026-11-21; a test compares the numbers below with the installed botocore.
- EBS_GENERAL_PURPOSE: docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html (gp2's 3 IOPS
  per GiB, 3,000 IOPS bursts, 5.4 million credits, 128 and 250 MiB/s; gp3's 500 IOPS per GiB and
  0.25 MiB/s per IOPS). 2026-11-21.
- EBS_PROVISIONED: docs.aws.amazon.com/ebs/latest/userguide/provisioned-iops.html (ratios and
  throughput of io1 and io2 Block Express; io2 averages under 500 us). 2026-11-21.
- EBS_IO: docs.aws.amazon.com/ebs/latest/userguide/ebs-io-characteristics.html (an I/O counts once
  per 256 KiB on SSD volumes; contiguous ones are merged up to that size). 2026-11-21.
- RDS_STORAGE: docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Storage.html (every RDS row;
  four stripes from 400 GiB for MariaDB, MySQL and PostgreSQL). 2026-11-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.model.base import Model

GP2_IOPS_PER_GIB = 3  # EBS_GENERAL_PURPOSE
GP2_MIN_IOPS = 100  # EBS_GENERAL_PURPOSE
GP2_MAX_IOPS = 16_000  # EBS_GENERAL_PURPOSE
GP2_BURST_IOPS = 3_000  # EBS_GENERAL_PURPOSE
BURST_CREDITS = 5_400_000  # EBS_GENERAL_PURPOSE: 3,000 IOPS for 30 minutes

STRIPING_FROM_GIB = 400  # RDS_STORAGE, for MariaDB, MySQL and PostgreSQL
STRIPES = 4  # RDS_STORAGE

IO_SIZE_BYTES = 256 * 1024  # EBS_IO: largest I/O that an SSD volume counts as one

# Mean latency of one small I/O on an idle volume. AWS promises "single-digit millisecond" for gp2,
# gp3 and io1 (EBS_GENERAL_PURPOSE, EBS_PROVISIONED) and "under 500 microseconds" for 16 KiB on io2
# Block Express (EBS_PROVISIONED), no more. These values are our choice within those promises; a
# deployment may set others (`base_latency_us`).
BASE_LATENCY_US: Mapping[str, float] = {
    "gp2": 1_000,
    "gp3": 800,
    "io1": 700,
    "io2": 350,
    "nvme": 100,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Limits of a volume type over a range of sizes; None if a value cannot be provisioned."""

    min_gib: int
    max_gib: int
    min_iops: int | None = None
    max_iops: int | None = None
    min_iops_per_gib: float = 0
    max_iops_per_gib: float = 0
    iops_required: bool = False
    baseline_iops: int | None = None  # included with the volume
    min_throughput_mib_s: int | None = None
    max_throughput_mib_s: int | None = None
    throughput_limit_mib_s: float | None = None  # if throughput follows from the IOPS


_NVME = (Band(min_gib=1, max_gib=120_000),)  # instance store: each instance type has its own size

_EBS: Mapping[str, tuple[Band, ...]] = {
    "gp2": (Band(min_gib=1, max_gib=16_384),),  # EC2_API
    "gp3": (
        Band(  # EC2_API; ratios: EBS_GENERAL_PURPOSE
            min_gib=1,
            max_gib=65_536,
            min_iops=3_000,
            max_iops=80_000,
            max_iops_per_gib=500,
            baseline_iops=3_000,
            min_throughput_mib_s=125,
            max_throughput_mib_s=2_000,
        ),
    ),
    "io1": (
        Band(  # EC2_API; ratio and throughput: EBS_PROVISIONED
            min_gib=4,
            max_gib=16_384,
            min_iops=100,
            max_iops=64_000,
            max_iops_per_gib=50,
            iops_required=True,
            throughput_limit_mib_s=1_000,
        ),
    ),
    "io2": (
        Band(  # EC2_API; ratio and throughput: EBS_PROVISIONED
            min_gib=4,
            max_gib=65_536,
            min_iops=100,
            max_iops=256_000,
            max_iops_per_gib=1_000,
            iops_required=True,
            throughput_limit_mib_s=4_000,
        ),
    ),
    "nvme": _NVME,
}

_RDS: Mapping[str, tuple[Band, ...]] = {  # RDS_STORAGE, MariaDB, MySQL and PostgreSQL
    "gp2": (Band(min_gib=20, max_gib=65_536),),
    "gp3": (
        Band(
            min_gib=20,
            max_gib=399,
            baseline_iops=3_000,
            throughput_limit_mib_s=125,
        ),
        Band(
            min_gib=400,
            max_gib=65_536,
            min_iops=12_000,
            max_iops=64_000,
            max_iops_per_gib=500,
            baseline_iops=12_000,
            min_throughput_mib_s=500,
            max_throughput_mib_s=4_000,
        ),
    ),
    "io1": (
        Band(
            min_gib=100,
            max_gib=399,
            min_iops=1_000,
            max_iops=19_950,
            min_iops_per_gib=0.5,
            max_iops_per_gib=50,
            iops_required=True,
            throughput_limit_mib_s=500,
        ),
        Band(
            min_gib=400,
            max_gib=65_536,
            min_iops=1_000,
            max_iops=256_000,
            min_iops_per_gib=0.5,
            max_iops_per_gib=50,
            iops_required=True,
            throughput_limit_mib_s=4_000,
        ),
    ),
    "io2": (
        Band(
            min_gib=100,
            max_gib=65_536,
            min_iops=1_000,
            max_iops=256_000,
            min_iops_per_gib=0.5,
            max_iops_per_gib=1_000,
            iops_required=True,
            throughput_limit_mib_s=16_000,
        ),
    ),
}


def size_bands(service_family: Literal["ebs", "rds"], volume_type: str) -> tuple[Band, ...]:
    """Return the rules for a volume type, by size; empty if the service does not offer it."""
    return (_EBS if service_family == "ebs" else _RDS).get(volume_type, ())


# Faults to inject into an emulated volume.


_START = Field(ge=0, default=0, description="Seconds from the injection to the start of the fault.")


class Stall(Model):
    """No I/O completes for a while; then all waiting I/Os proceed."""

    kind: Literal["stall"] = Field(default="stall", description="No I/O completes.")
    start_after_s: float = _START
    duration_s: Annotated[float, Field(gt=0, le=3600)] = Field(description="Duration in seconds.")


class Slow(Model):
    """Every I/O uses up `factor` times as much of the limits and takes `factor` times as long."""

    kind: Literal["slow"] = Field(
        default="slow", description="Every I/O takes longer and uses up more of the limits."
    )
    factor: Annotated[float, Field(ge=1, le=10_000)] = Field(
        description="Factor by which an I/O takes longer, and by which it counts more against the"
        " limits."
    )
    start_after_s: float = _START
    duration_s: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Duration in seconds. If not set, until the volume is healed."
    )


class Fail(Model):
    """Operations fail with an error: EIO fails any operation, ENOSPC only writes."""

    kind: Literal["fail"] = Field(default="fail", description="Operations fail.")
    error: Literal["EIO", "ENOSPC"] = Field(
        description="Error code. EIO fails any operation, flushes included; ENOSPC fails writes"
        " only."
    )
    after_operations: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Number of operations that still succeed before the first failure."
    )
    operations: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Number of operations that fail. If not set, all of them until the volume is"
        " healed.",
    )


class Drain(Model):
    """The burst credits are used up, as after hours of load. New credits are earned as usual."""

    kind: Literal["drain"] = Field(default="drain", description="The burst credits are used up.")
    left_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0, description="Share of a full bucket of burst credits that is left."
    )


class Heal(Model):
    """Ends all faults."""

    kind: Literal["heal"] = Field(default="heal", description="All faults end.")


FaultPlan = Annotated[Stall | Slow | Fail | Drain | Heal, Field(discriminator="kind")]
