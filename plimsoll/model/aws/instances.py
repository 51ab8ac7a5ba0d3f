"""Instance classes of AWS: their I/O limits for all volumes together, their size, CPU credits.

Source: EC2 `DescribeInstanceTypes`, `EbsInfo.EbsOptimizedInfo`, as recorded in moto 5.2.5's data
(a test compares them). 2026-11-21. An RDS class `db.m5.large` runs on `m5.large`.

Instances whose maximum is above their baseline "can support maximum performance for 30 minutes at
least once every 24 hours" (docs.aws.amazon.com/ec2/latest/instancetypes, EBS-optimized instances,
2026-11-21).
"""

import re

from pydantic import Field

from plimsoll.complaints import Complaint, FieldPath
from plimsoll.errors import UsageError
from plimsoll.model.base import Model

BURST_S = 1800  # at the maximum, from a full balance
# Sizes that EC2 names. RDS has no metal sizes.
# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html (2026-11-21)
_SIZE_NAMES = ("nano", "micro", "small", "medium", "large", "xlarge", "2xlarge and so on")
_SIZE = re.compile(r"nano|micro|small|medium|large|([1-9]\d*)?xlarge")
_METAL = re.compile(r"metal(-\d+xl)?")


class InstanceLimits(Model):
    """I/O limits of an instance for all its volumes; it can burst until its balance is empty."""

    baseline_iops: float = Field(gt=0)
    burst_iops: float = Field(gt=0)
    baseline_throughput_mib_s: float = Field(gt=0)
    burst_throughput_mib_s: float = Field(gt=0)


def instance_limits(instance_class: str) -> InstanceLimits:
    """Return the I/O limits of an instance class, written `m5.large` or `db.m5.large`.

    Raises:
        UsageError: The class is not in the table.
    """
    name = instance_class.removeprefix("db.")
    if name not in _TABLE:
        families = ", ".join(list_known_families())
        problem = f"{instance_class} is not known; known families: {families}"
        raise UsageError(Complaint(("instance_class",), problem, instance_class))
    baseline, burst, baseline_mb_s, burst_mb_s = _TABLE[name]
    return InstanceLimits(
        baseline_iops=baseline,
        burst_iops=burst,
        baseline_throughput_mib_s=baseline_mb_s * 1e6 / 2**20,
        burst_throughput_mib_s=burst_mb_s * 1e6 / 2**20,
    )


def find_instance_limits(instance_class: str) -> InstanceLimits | None:
    """Return the I/O limits of an instance class; None if it is not in the table."""
    return instance_limits(instance_class) if instance_class.removeprefix("db.") in _TABLE else None


def list_known_families() -> tuple[str, ...]:
    """List the instance families of the table, as EC2 names them: `m5`."""
    return tuple(dict.fromkeys(known.split(".")[0] for known in _TABLE))


def require_plausible(instance_class: str, path: FieldPath) -> None:
    """Refuse a class that cannot exist. A class of a family that the table does not have may exist.

    Args:
        instance_class: an instance class, or an instance type.
        path: path of the field that names it.

    Raises:
        UsageError: The family has no such size, or no family has; lists the sizes that exist.
    """
    prefix = "db." if instance_class.startswith("db.") else ""
    family, _, size = instance_class.removeprefix(prefix).partition(".")
    known = [name for name in _TABLE if name.startswith(f"{family}.")]
    if f"{family}.{size}" in known or (not prefix and _METAL.fullmatch(size)):
        return
    if known:
        problem = f"the family {family} has no size {size!r}"
        allowed = tuple(f"{prefix}{name}" for name in known)
        raise UsageError(Complaint(path, problem, instance_class, allowed))
    if not _SIZE.fullmatch(size):
        problem = f"no instance has the size {size!r}"
        raise UsageError(Complaint(path, problem, instance_class, _SIZE_NAMES))


# class: baseline IOPS, maximum IOPS, baseline MB/s, maximum MB/s (decimal megabytes)
_TABLE: dict[str, tuple[int, int, float, float]] = {
    "t3.nano": (250, 11_800, 5.375, 260.625),
    "t3.micro": (500, 11_800, 10.875, 260.625),
    "t3.small": (1_000, 11_800, 21.75, 260.625),
    "t3.medium": (2_000, 11_800, 43.375, 260.625),
    "t3.large": (4_000, 15_700, 86.875, 347.5),
    "t3.xlarge": (4_000, 15_700, 86.875, 347.5),
    "t3.2xlarge": (4_000, 15_700, 86.875, 347.5),
    "t4g.nano": (250, 11_800, 5.375, 260.625),
    "t4g.micro": (500, 11_800, 10.875, 260.625),
    "t4g.small": (1_000, 11_800, 21.75, 260.625),
    "t4g.medium": (2_000, 11_800, 43.375, 260.625),
    "t4g.large": (4_000, 15_700, 86.875, 347.5),
    "t4g.xlarge": (4_000, 15_700, 86.875, 347.5),
    "t4g.2xlarge": (4_000, 15_700, 86.875, 347.5),
    "m5.large": (3_600, 18_750, 81.25, 593.75),
    "m5.xlarge": (6_000, 18_750, 143.75, 593.75),
    "m5.2xlarge": (12_000, 18_750, 287.5, 593.75),
    "m5.4xlarge": (18_750, 18_750, 593.75, 593.75),
    "m5.8xlarge": (30_000, 30_000, 850.0, 850.0),
    "m5.12xlarge": (40_000, 40_000, 1187.5, 1187.5),
    "m5.16xlarge": (60_000, 60_000, 1700.0, 1700.0),
    "m5.24xlarge": (80_000, 80_000, 2375.0, 2375.0),
    "m6g.medium": (2_500, 20_000, 39.375, 593.75),
    "m6g.large": (3_600, 20_000, 78.75, 593.75),
    "m6g.xlarge": (6_000, 20_000, 148.5, 593.75),
    "m6g.2xlarge": (12_000, 20_000, 296.875, 593.75),
    "m6g.4xlarge": (20_000, 20_000, 593.75, 593.75),
    "m6g.8xlarge": (40_000, 40_000, 1187.5, 1187.5),
    "m6g.12xlarge": (50_000, 50_000, 1781.25, 1781.25),
    "m6g.16xlarge": (80_000, 80_000, 2375.0, 2375.0),
    "m6i.large": (3_600, 40_000, 81.25, 1250.0),
    "m6i.xlarge": (6_000, 40_000, 156.25, 1250.0),
    "m6i.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "m6i.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "m6i.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "m6i.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "m6i.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "m6i.24xlarge": (120_000, 120_000, 3750.0, 3750.0),
    "m6i.32xlarge": (160_000, 160_000, 5000.0, 5000.0),
    "m7g.medium": (2_500, 40_000, 39.375, 1250.0),
    "m7g.large": (3_600, 40_000, 78.75, 1250.0),
    "m7g.xlarge": (6_000, 40_000, 156.25039999999998, 1250.0),
    "m7g.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "m7g.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "m7g.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "m7g.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "m7g.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "m7i.large": (3_600, 40_000, 81.25, 1250.0),
    "m7i.xlarge": (6_000, 40_000, 156.25, 1250.0),
    "m7i.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "m7i.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "m7i.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "m7i.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "m7i.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "m7i.24xlarge": (120_000, 120_000, 3750.0, 3750.0),
    "m7i.48xlarge": (240_000, 240_000, 5000.0, 5000.0),
    "m8g.medium": (2_500, 40_000, 39.375, 1250.0),
    "m8g.large": (3_600, 40_000, 78.75, 1250.0),
    "m8g.xlarge": (6_000, 40_000, 156.25, 1250.0),
    "m8g.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "m8g.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "m8g.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "m8g.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "m8g.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "m8g.24xlarge": (120_000, 120_000, 3750.0, 3750.0),
    "m8g.48xlarge": (240_000, 240_000, 5000.0, 5000.0),
    "r3.xlarge": (4_000, 4_000, 62.5, 62.5),
    "r3.2xlarge": (8_000, 8_000, 125.0, 125.0),
    "r3.4xlarge": (16_000, 16_000, 250.0, 250.0),
    "r4.large": (3_000, 3_000, 53.125, 53.125),
    "r4.xlarge": (6_000, 6_000, 106.25, 106.25),
    "r4.2xlarge": (12_000, 12_000, 212.5, 212.5),
    "r4.4xlarge": (18_750, 18_750, 437.5, 437.5),
    "r4.8xlarge": (37_500, 37_500, 875.0, 875.0),
    "r4.16xlarge": (75_000, 75_000, 1750.0, 1750.0),
    "r5.large": (3_600, 18_750, 81.25, 593.75),
    "r5.xlarge": (6_000, 18_750, 143.75, 593.75),
    "r5.2xlarge": (12_000, 18_750, 287.5, 593.75),
    "r5.4xlarge": (18_750, 18_750, 593.75, 593.75),
    "r5.8xlarge": (30_000, 30_000, 850.0, 850.0),
    "r5.12xlarge": (40_000, 40_000, 1187.5, 1187.5),
    "r5.16xlarge": (60_000, 60_000, 1700.0, 1700.0),
    "r5.24xlarge": (80_000, 80_000, 2375.0, 2375.0),
    "r6g.medium": (2_500, 20_000, 39.375, 593.75),
    "r6g.large": (3_600, 20_000, 78.75, 593.75),
    "r6g.xlarge": (6_000, 20_000, 148.5, 593.75),
    "r6g.2xlarge": (12_000, 20_000, 296.875, 593.75),
    "r6g.4xlarge": (20_000, 20_000, 593.75, 593.75),
    "r6g.8xlarge": (40_000, 40_000, 1187.5, 1187.5),
    "r6g.12xlarge": (50_000, 50_000, 1781.25, 1781.25),
    "r6g.16xlarge": (80_000, 80_000, 2375.0, 2375.0),
    "r6i.large": (3_600, 40_000, 81.25, 1250.0),
    "r6i.xlarge": (6_000, 40_000, 156.25, 1250.0),
    "r6i.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "r6i.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "r6i.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "r6i.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "r6i.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "r6i.24xlarge": (120_000, 120_000, 3750.0, 3750.0),
    "r6i.32xlarge": (160_000, 160_000, 5000.0, 5000.0),
    "r7g.medium": (2_500, 40_000, 39.375, 1250.0),
    "r7g.large": (3_600, 40_000, 78.75, 1250.0),
    "r7g.xlarge": (6_000, 40_000, 156.25039999999998, 1250.0),
    "r7g.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "r7g.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "r7g.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "r7g.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "r7g.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "r7i.large": (3_600, 40_000, 81.25, 1250.0),
    "r7i.xlarge": (6_000, 40_000, 156.25, 1250.0),
    "r7i.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "r7i.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "r7i.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "r7i.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "r7i.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "r7i.24xlarge": (120_000, 120_000, 3750.0, 3750.0),
    "r7i.48xlarge": (240_000, 240_000, 5000.0, 5000.0),
    "r8g.medium": (2_500, 40_000, 39.375, 1250.0),
    "r8g.large": (3_600, 40_000, 78.75, 1250.0),
    "r8g.xlarge": (6_000, 40_000, 156.25, 1250.0),
    "r8g.2xlarge": (12_000, 40_000, 312.5, 1250.0),
    "r8g.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "r8g.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "r8g.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "r8g.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "r8g.24xlarge": (120_000, 120_000, 3750.0, 3750.0),
    "r8g.48xlarge": (240_000, 240_000, 5000.0, 5000.0),
    "i3.large": (3_000, 3_000, 53.125, 53.125),
    "i3.xlarge": (6_000, 6_000, 106.25, 106.25),
    "i3.2xlarge": (12_000, 12_000, 212.5, 212.5),
    "i3.4xlarge": (16_000, 16_000, 437.5, 437.5),
    "i3.8xlarge": (32_500, 32_500, 875.0, 875.0),
    "i3.16xlarge": (65_000, 65_000, 1750.0, 1750.0),
    "i4i.large": (2_500, 40_000, 78.125, 1250.0),
    "i4i.xlarge": (5_000, 40_000, 156.25, 1250.0),
    "i4i.2xlarge": (10_000, 40_000, 312.5, 1250.0),
    "i4i.4xlarge": (20_000, 40_000, 625.0, 1250.0),
    "i4i.8xlarge": (40_000, 40_000, 1250.0, 1250.0),
    "i4i.12xlarge": (60_000, 60_000, 1875.0, 1875.0),
    "i4i.16xlarge": (80_000, 80_000, 2500.0, 2500.0),
    "i4i.24xlarge": (120_000, 120_000, 3750.0, 3750.0),
    "i4i.32xlarge": (160_000, 160_000, 5000.0, 5000.0),
}


# --- vCPUs and memory, by the rules of AWS's names ---


_VCPUS = {"medium": 1, "large": 2, "xlarge": 4}
_BURSTABLE_GIB = {
    "nano": 0.5,
    "micro": 1,
    "small": 2,
    "medium": 4,
    "large": 8,
    "xlarge": 16,
    "2xlarge": 32,
}
_GIB_PER_VCPU = {"c": 2.0, "m": 4.0, "r": 8.0, "i": 8.0}  # keyed by the first letter of the family
_OLDER_GIB_PER_VCPU = {"r3": 7.625, "r4": 7.625, "i3": 7.625}
_NAME = re.compile(r"(?:db\.)?(?P<family>(?P<kind>[a-z]+)\d[a-z-]*)\.(?P<size>\w+)")


class InstanceSize(Model):
    """The vCPUs and memory of an instance class."""

    vcpus: int
    memory_gib: float


def find_instance_size(instance_class: str) -> InstanceSize | None:
    """Return vCPUs and memory of a class, `m5.large` or `db.m5.large`; None if no rule fits it."""
    named = _NAME.fullmatch(instance_class)
    if named is None:
        return None
    family, kind, size = named["family"], named["kind"], named["size"]
    times = re.fullmatch(r"(\d+)xlarge", size)
    vcpus = 4 * int(times[1]) if times else _VCPUS.get(size)
    if kind == "t":
        memory_gib = _BURSTABLE_GIB.get(size)
        vcpus = vcpus if size in {"xlarge", "2xlarge"} else 2
    else:
        each_gib = _OLDER_GIB_PER_VCPU.get(family) or _GIB_PER_VCPU.get(kind)
        memory_gib = None if vcpus is None or each_gib is None else vcpus * each_gib
    if vcpus is None or memory_gib is None:
        return None
    return InstanceSize(vcpus=vcpus, memory_gib=memory_gib)


# --- CPU credits of burstable instances ---


_FAMILIES = ("t3", "t3a", "t4g")
# {size: (vCPUs, baseline in percent of each vCPU)}
_BURSTABLE_SIZES = {
    "nano": (2, 5),
    "micro": (2, 10),
    "small": (2, 20),
    "medium": (2, 20),
    "large": (2, 30),
    "xlarge": (4, 40),
    "2xlarge": (8, 40),
}


class CpuCredits(Model):
    """The CPU credits of an instance class. One credit is one vCPU for one minute."""

    vcpus: int
    earned_per_s: float  # credits earned per second
    full: float  # credits in a full balance


def find_cpu_credits(instance_class: str) -> CpuCredits | None:
    """Return the CPU credits of a class, `t3.large` or `db.t3.large`; None if it has none."""
    family, _, size = instance_class.removeprefix("db.").partition(".")
    if family not in _FAMILIES or size not in _BURSTABLE_SIZES:
        return None
    vcpus, baseline_percent = _BURSTABLE_SIZES[size]
    earned_per_s = vcpus * baseline_percent / 100 / 60
    return CpuCredits(vcpus=vcpus, earned_per_s=earned_per_s, full=earned_per_s * 24 * 3600)
