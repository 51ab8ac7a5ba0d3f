"""Volumes: which ones a cloud would create, and the rates, credits and latency that each then has.

`Volume` is the storage that a request names. `require_valid_volume` refuses a volume that its cloud
would refuse, before anything is created. `limits` returns the rates, credits and latency of a
volume on EBS, as RDS builds its storage, or of another cloud. `plimsoll/model/aws/volume_rules.py`
and `plimsoll/model/clouds/volume_rules.py` hold the numbers and their sources.
"""

import math
from typing import Annotated, Literal, get_args

from pydantic import Field

from plimsoll.complaints import Complaint, Range, Scalar
from plimsoll.errors import UsageError
from plimsoll.model.aws.volume_rules import (
    BASE_LATENCY_US,
    BURST_CREDITS,
    GP2_BURST_IOPS,
    GP2_IOPS_PER_GIB,
    GP2_MAX_IOPS,
    GP2_MIN_IOPS,
    STRIPES,
    STRIPING_FROM_GIB,
    Band,
    FaultPlan,
    size_bands,
)
from plimsoll.model.aws.volumes_seen import (
    HostBound,
    VolumeRates,
    VolumeSample,
    host_bound,
    rates,
)
from plimsoll.model.base import Model
from plimsoll.model.clouds.volume_limits import find_limits, require_possible
from plimsoll.model.clouds.volume_rules import (
    CLOUD_NAMES,
    Cloud,
    CloudVolumeType,
    Level,
    find_cloud,
)

__all__ = [
    "AwsVolumeType",
    "FaultPlan",
    "HostBound",
    "Service",
    "Volume",
    "VolumeLimits",
    "VolumeRates",
    "VolumeSample",
    "VolumeType",
    "host_bound",
    "limits",
    "rates",
    "require_valid_volume",
]

AwsVolumeType = Literal["gp2", "gp3", "io1", "io2", "nvme"]
VolumeType = Literal[AwsVolumeType, CloudVolumeType]  # one, so that a wrong one is told once
VOLUME_TYPES: tuple[VolumeType, ...] = get_args(VolumeType)
Service = Literal["ebs", "rds-mysql", "rds-mariadb", "rds-postgres"]


def _is_unset(value: object) -> bool:
    """Whether a field of other clouds is at its default; it is then left out of JSON."""
    return value in {None, False, "aws"}


class Volume(Model):
    """Requested storage. An `nvme` is an instance store, limited only by the device itself."""

    cloud: Cloud = Field(
        default="aws",
        exclude_if=_is_unset,
        description="Cloud whose volume it is. Volumes of other clouds than AWS are emulated on one"
        " machine only (docs/volumes.md#other-clouds).",
    )
    type: VolumeType = Field(
        description="Volume type. AWS: gp2, gp3, io1, io2, or nvme (an instance store). Alibaba"
        " Cloud: essd, essd-autopl, premium-essd. Azure: premium-ssd, premium-ssd-v2, ultra. Google"
        " Cloud: pd-balanced, pd-ssd, hyperdisk-balanced, hyperdisk-extreme."
    )
    level: Level | None = Field(
        default=None, exclude_if=_is_unset, description="Performance level of an `essd`."
    )
    size_gib: Annotated[int, Field(ge=1)] = Field(description="Size in GiB.")
    iops: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Provisioned IOPS. If not set, the volume type's own."
    )
    throughput_mib_s: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Provisioned throughput in MiB/s. If not set, the volume type's own.",
    )
    throughput_mb_s: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        exclude_if=_is_unset,
        description="Azure only: provisioned throughput in MB/s (10^6 bytes), the unit that Azure"
        " counts in.",
    )
    burst: bool = Field(
        default=False,
        exclude_if=_is_unset,
        description="`essd-autopl` and `premium-essd` only: whether it bursts. No credits are"
        " described, so it may burst for as long as the load lasts; it is charged by use.",
    )
    read_cache_mib: Annotated[int, Field(ge=1, le=1_048_576)] | None = Field(
        default=None,
        exclude_if=_is_unset,
        description="One machine only: size of a read cache in front of the volume, as ApsaraDB's"
        " buffer-pool extension, under direct reads too (docs/volumes.md#a-read-cache).",
    )
    read_cache_latency_us: Annotated[float, Field(ge=0, le=100_000)] = Field(
        default=100,
        exclude_if=lambda value: value == 100,
        description="Mean latency of a read that the read cache answers, in microseconds.",
    )
    credits_start: Annotated[float, Field(ge=0, le=1)] | Literal["empty"] | None = Field(
        default=None,
        description="Burst credits at the start of the first measured step, as a share of a full"
        " bucket, or `empty`. On one machine only: AWS creates every volume with full credits, and"
        " nobody can set them. If not set, what loading and warming leave of a full bucket.",
    )

    @property
    def emulated_only(self) -> bool:
        """Whether only an emulated volume can have what is requested, since AWS cannot."""
        return self.cloud != "aws" or self.read_cache_mib is not None

    @property
    def credits_start_share(self) -> float | None:
        """The share of a full bucket that the first measured step starts with; None if not set."""
        return 0.0 if self.credits_start == "empty" else self.credits_start


class VolumeLimits(Model):
    """The limits of a volume; None if it has no such limit.

    `burst_iops` is the highest rate at any moment, `baseline_iops` the rate that it sustains. They
    differ on a volume with burst credits: each I/O above the baseline costs one credit, and an idle
    volume earns credits at the baseline rate, up to `burst_credits`.
    """

    baseline_iops: float | None
    burst_iops: float | None
    burst_credits: float | None  # None if it cannot burst
    throughput_mib_s: float | None
    # highest throughput at any moment; None if it is `throughput_mib_s`. As the IOPS, it lasts half
    # an hour from a full bucket (Azure's small Premium SSDs)
    burst_throughput_mib_s: float | None = Field(default=None, exclude_if=_is_unset)
    base_latency_us: float  # mean of one I/O on an idle volume
    stripes: int  # EBS volumes that RDS stripes it over


def _service_family(service: Service) -> Literal["ebs", "rds"]:
    return "ebs" if service == "ebs" else "rds"


def find_band(volume: Volume, *, service: Service = "ebs") -> Band:
    """Return the rules for the type and size of a volume.

    Raises:
        UsageError: The service does not offer the type, or the size is outside its range.
    """
    rows = size_bands(_service_family(service), volume.type)
    if not rows:
        problem = f"{service} has no {volume.type}"
        raise _volume_error("type", problem, volume.type, ("gp2", "gp3", "io1", "io2"))
    smallest, largest = rows[0].min_gib, rows[-1].max_gib
    if not smallest <= volume.size_gib <= largest:
        subject = f"{volume.type} on {service}"
        raise _range_error("size_gib", volume.size_gib, subject, smallest, largest)
    return next(row for row in rows if volume.size_gib <= row.max_gib)


def _volume_error(
    field: str, problem: str, value: Scalar, allowed: tuple[str, ...] | Range | None = None
) -> UsageError:
    return UsageError(Complaint(("volume", field), problem, value, allowed))


def _range_error(field: str, value: int, subject: str, low: int, high: int) -> UsageError:
    nearest = min(max(value, low), high)
    problem = f"{value:,} is not allowed for {subject}; the nearest allowed value is {nearest:,}"
    return _volume_error(field, problem, value, Range(low, high))


def find_iops_range(volume: Volume, row: Band) -> tuple[int, int]:
    """Return the lowest and highest IOPS that can be provisioned for a volume of this size."""
    assert row.min_iops is not None  # noqa: S101 - callers check that IOPS can be provisioned
    assert row.max_iops is not None  # noqa: S101 - callers check
    low = max(row.min_iops, math.ceil(row.min_iops_per_gib * volume.size_gib))
    high = min(row.max_iops, math.floor(row.max_iops_per_gib * volume.size_gib))
    return low, max(low, high)


def find_throughput_range(
    volume: Volume, row: Band, *, service: Service = "ebs"
) -> tuple[int, int]:
    """Return the lowest and highest MiB/s that can be provisioned at the volume's IOPS."""
    assert row.min_throughput_mib_s is not None  # noqa: S101 - callers check
    assert row.max_throughput_mib_s is not None  # noqa: S101 - callers check
    iops = volume.iops if volume.iops is not None else row.min_iops
    assert iops is not None  # noqa: S101 - a type with throughput has IOPS
    low = row.min_throughput_mib_s
    if service in ("rds-mysql", "rds-mariadb"):
        # "When you raise the IOPS above 32,000 for MariaDB and MySQL, the storage throughput value
        # automatically increases": 40,000 -> 625 MiB/s, that is IOPS / 64 (source: RDS_STORAGE)
        low = max(low, math.ceil(iops / 64))
    high = min(row.max_throughput_mib_s, math.floor(0.25 * iops))
    return low, max(low, high)


def require_valid_volume(volume: Volume, *, service: Service = "ebs") -> None:
    """Refuse a volume that its cloud would refuse.

    Raises:
        UsageError: Names the field, its value and the nearest allowed value.
    """
    if volume.cloud != "aws":
        require_possible(volume)
    else:
        _require_no_other_clouds_fields(volume)
        _check_iops(volume, find_band(volume, service=service), service)
    if volume.credits_start is not None and limits(volume, service=service).burst_credits is None:
        problem = f"a {volume.type} volume of {volume.size_gib:,} GiB has no burst credits to spend"
        raise _volume_error("credits_start", problem, volume.credits_start)
    if volume.throughput_mib_s is None or volume.cloud != "aws":
        return
    row = find_band(volume, service=service)
    subject = f"{volume.type} of {volume.size_gib:,} GiB on {service}"
    if row.min_throughput_mib_s is None:
        problem = (
            f"{volume.throughput_mib_s:,} is not allowed for {subject}: its throughput cannot be"
            " provisioned; leave it out"
        )
        raise _volume_error("throughput_mib_s", problem, volume.throughput_mib_s)
    low, high = find_throughput_range(volume, row, service=service)
    if not low <= volume.throughput_mib_s <= high:
        iops = f" at {volume.iops:,} IOPS" if volume.iops is not None else ""
        raise _range_error("throughput_mib_s", volume.throughput_mib_s, subject + iops, low, high)


def _require_no_other_clouds_fields(volume: Volume) -> None:
    if (own := find_cloud(volume.type)) != "aws":
        problem = f"{volume.type} is a volume of {CLOUD_NAMES[own]}: write `cloud: {own}`"
        raise _volume_error("cloud", problem, volume.cloud)
    for field in ("level", "throughput_mb_s", "burst"):
        if value := getattr(volume, field):
            problem = f"{CLOUD_NAMES['aws']} has no such option"
            raise _volume_error(field, problem, value)


def _check_iops(volume: Volume, row: Band, service: Service) -> None:
    subject = f"{volume.type} of {volume.size_gib:,} GiB on {service}"
    if row.min_iops is None:
        if volume.iops is not None:
            given = _describe_given_iops(volume, service)
            problem = (
                f"{volume.iops:,} is not allowed for {subject}: its IOPS cannot be"
                f" provisioned{given}; leave it out"
            )
            raise _volume_error("iops", problem, volume.iops)
        return
    low, high = find_iops_range(volume, row)
    if volume.iops is None:
        if row.iops_required:
            path, problem = ("volume", "iops"), f"{subject} needs a value from {low:,} to {high:,}"
            raise UsageError(Complaint(path, problem, None, Range(low, high), listed=False))
        return
    if not low <= volume.iops <= high:
        raise _range_error("iops", volume.iops, subject, low, high)


def _describe_given_iops(volume: Volume, service: Service) -> str:
    got = limits(volume.model_copy(update={"iops": None}), service=service)
    if got.baseline_iops is None:
        return ""
    return f" (this size has {got.baseline_iops:,g})"


def limits(volume: Volume, *, service: Service = "ebs") -> VolumeLimits:
    """Return the limits of a volume on a service.

    Raises:
        UsageError: The service, or the other cloud, offers no such volume.
    """
    if volume.cloud != "aws":
        return _compute_other_clouds_limits(volume)
    row = find_band(volume, service=service)
    latency = BASE_LATENCY_US[volume.type]
    if volume.type == "nvme":
        return VolumeLimits(
            baseline_iops=None,
            burst_iops=None,
            burst_credits=None,
            throughput_mib_s=None,
            base_latency_us=latency,
            stripes=1,
        )
    striped = service != "ebs" and volume.size_gib >= STRIPING_FROM_GIB
    stripes = STRIPES if striped else 1
    if volume.type == "gp2":
        return _gp2_limits(volume.size_gib, stripes, latency)
    iops = float(volume.iops if volume.iops is not None else row.baseline_iops or 0)
    throughput = volume.throughput_mib_s or _derive_throughput(volume, row, iops, service)
    return VolumeLimits(
        baseline_iops=iops,
        burst_iops=iops,
        burst_credits=None,
        throughput_mib_s=throughput,
        base_latency_us=latency,
        stripes=stripes,
    )


def _compute_other_clouds_limits(volume: Volume) -> VolumeLimits:
    found = find_limits(volume)
    return VolumeLimits(
        baseline_iops=found.baseline_iops,
        burst_iops=found.burst_iops,
        burst_credits=found.burst_credits,
        throughput_mib_s=found.mib_s,
        burst_throughput_mib_s=found.burst_mib_s if found.burst_mib_s > found.mib_s else None,
        base_latency_us=found.latency_us,
        stripes=1,
    )


def _gp2_limits(size_gib: int, stripes: int, latency_us: float) -> VolumeLimits:
    # Each stripe is a gp2 volume with its own credits (source: RDS_STORAGE).
    each_gib = size_gib / stripes
    baseline = min(max(GP2_IOPS_PER_GIB * each_gib, GP2_MIN_IOPS), GP2_MAX_IOPS)
    burst = max(baseline, GP2_BURST_IOPS)
    # 128 MiB/s up to 170 GiB, 250 MiB/s above (source: EBS_GENERAL_PURPOSE). A volume under 334 GiB
    # without credits is slower than that: its baseline IOPS at 256 KiB an I/O are the limit.
    throughput = 128 if each_gib <= 170 else 250
    return VolumeLimits(
        baseline_iops=baseline * stripes,
        burst_iops=burst * stripes,
        burst_credits=BURST_CREDITS * stripes if burst > baseline else None,
        throughput_mib_s=throughput * stripes,
        base_latency_us=latency_us,
        stripes=stripes,
    )


def _derive_throughput(volume: Volume, row: Band, iops: float, service: Service) -> float:
    most = row.throughput_limit_mib_s
    if volume.type == "gp3":
        return most or find_throughput_range(volume, row, service=service)[0]
    assert most is not None  # noqa: S101 - every io1 and io2 rule has it
    if volume.type == "io2":
        # "scales proportionally up to 0.256 MiB/s per provisioned IOPS" (source: EBS_PROVISIONED)
        return min(0.256 * iops, most)
    # io1, per volume: 256 KiB an I/O up to 500 MiB/s, then 16 KiB an I/O up to 1,000 MiB/s
    stripes = STRIPES if service != "ebs" and volume.size_gib >= STRIPING_FROM_GIB else 1
    each = iops / stripes
    return min(stripes * min(0.25 * each, max(500.0, each / 64)), most)
