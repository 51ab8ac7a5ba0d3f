"""The limits of a volume of another cloud than AWS, and the refusal of one that cannot exist."""

import math
from dataclasses import dataclass
from typing import Protocol

from plimsoll.complaints import Complaint, Range, Scalar
from plimsoll.errors import UsageError
from plimsoll.model.clouds.volume_rules import (
    BURST_S,
    CLOUD_NAMES,
    RULES,
    Cloud,
    Provisioning,
    VolumeRule,
    find_cloud,
    list_levels,
)


class Asked(Protocol):
    """A requested volume."""

    @property
    def cloud(self) -> Cloud:
        """Cloud that offers the volume."""

    @property
    def type(self) -> str:
        """Type of volume."""

    @property
    def level(self) -> str | None:
        """Performance level; None if not set."""

    @property
    def size_gib(self) -> int:
        """Size in GiB."""

    @property
    def iops(self) -> int | None:
        """Provisioned IOPS; None if not set."""

    @property
    def throughput_mib_s(self) -> int | None:
        """Provisioned throughput in MiB/s; None if not set."""

    @property
    def throughput_mb_s(self) -> int | None:
        """Provisioned throughput in MB/s; None if not set."""

    @property
    def burst(self) -> bool:
        """Whether it bursts at will."""


@dataclass(frozen=True, slots=True)
class CloudLimits:
    """The limits of a volume.

    Attributes:
        baseline_iops: IOPS that it sustains.
        burst_iops: Highest IOPS at any moment.
        burst_credits: I/Os above the baseline that a full bucket holds; None if it has no bucket.
        mib_s: Throughput that it sustains.
        burst_mib_s: Highest throughput at any moment; as long as a full bucket of `burst_bytes`.
        latency_us: Mean latency of a small I/O on an idle volume.
    """

    baseline_iops: float
    burst_iops: float
    burst_credits: float | None
    mib_s: float
    burst_mib_s: float
    latency_us: float


def find_rule(volume: Asked) -> VolumeRule:
    """Return the rule for a volume's type and level.

    Raises:
        UsageError: The cloud does not offer the type, or the type not the level.
    """
    offering = find_cloud(volume.type)
    if offering != volume.cloud:
        offered = tuple(dict.fromkeys(k for (k, _), r in RULES.items() if r.cloud == volume.cloud))
        problem = f"{CLOUD_NAMES[volume.cloud]} has no {volume.type}"
        raise _refuse("type", problem, volume.type, offered or None)
    for (kind, level), rule in RULES.items():
        if (kind, level) == (volume.type, volume.level):
            return rule
    levels = list_levels(volume.type)
    if not levels:
        raise _refuse("level", f"a volume of type {volume.type} has no levels", volume.level)
    raise _refuse("level", f"{volume.type} needs a level", volume.level, levels)


def _refuse(
    field: str, problem: str, value: Scalar, allowed: tuple[str, ...] | Range | None = None
) -> UsageError:
    return UsageError(Complaint(("volume", field), problem, value, allowed))


def require_possible(volume: Asked) -> None:
    """Refuse a volume that its cloud would refuse.

    Raises:
        UsageError: Names the field, its value and the nearest allowed value.
    """
    rule = find_rule(volume)
    subject = volume.type if volume.level is None else f"{volume.type} {volume.level}"
    _require_within("size_gib", volume.size_gib, subject, rule.min_gib, rule.max_gib)
    subject = f"{subject} of {volume.size_gib:,} GiB"
    _check_iops(volume, rule, subject)
    _check_throughput(volume, rule, subject)
    if volume.burst and (rule.burst is None or rule.burst_up_to_gib):
        problem = f"is not an option of {volume.type}" + (
            f": sizes up to {rule.burst_up_to_gib:,} GiB burst by credits" if rule.burst else ""
        )
        raise _refuse("burst", problem, volume.burst)


def _require_within(field: str, value: int, subject: str, low: int, high: int) -> None:
    if not low <= value <= high:
        nearest = min(max(value, low), high)
        problem = (
            f"{value:,} is not allowed for {subject}; the nearest allowed value is {nearest:,}"
        )
        raise _refuse(field, problem, value, Range(low, high))


def _check_iops(volume: Asked, rule: VolumeRule, subject: str) -> None:
    offer = rule.iops_provisioned
    if offer is None:
        if volume.iops is not None:
            got = find_limits(volume).baseline_iops
            problem = (
                f"{volume.iops:,} is not allowed for {subject}: its IOPS cannot be provisioned"
                f" (this size has {got:,g}); leave it out"
            )
            raise _refuse("iops", problem, volume.iops)
        return
    low, high = iops_range(volume, rule)
    if volume.iops is not None:
        _require_within("iops", volume.iops, subject, low, high)
    elif not offer.included and not offer.adds:
        problem = f"{subject} needs a value from {low:,} to {high:,}"
        path = ("volume", "iops")
        raise UsageError(Complaint(path, problem, None, Range(low, high), listed=False))


def iops_range(volume: Asked, rule: VolumeRule) -> tuple[int, int]:
    """Return the lowest and highest IOPS that can be provisioned for a volume of this size."""
    offer = rule.iops_provisioned
    assert offer is not None  # noqa: S101 - callers check that IOPS can be provisioned
    low = math.ceil(offer.least.at(volume.size_gib))
    high = math.floor(offer.most.at(volume.size_gib))
    if offer.adds:  # 1,000 IOPS per GiB with the baseline
        assert rule.iops is not None  # noqa: S101 - only to a baseline can be added
        room = 1_000 * volume.size_gib - rule.iops.at(volume.size_gib)
        high = math.floor(min(high, room))
    return low, max(low, high)


def throughput_range(volume: Asked, rule: VolumeRule) -> tuple[int, int]:
    """Return the lowest and highest throughput that can be provisioned, in the rule's unit."""
    offer = rule.throughput_provisioned
    assert offer is not None  # noqa: S101 - callers check that throughput can be provisioned
    low = math.ceil(offer.least.at(volume.size_gib))
    high = min(
        offer.most.at(volume.size_gib), rule.throughput_per_iops * _compute_own_iops(volume, rule)
    )
    return low, max(low, math.floor(high))


def _check_throughput(volume: Asked, rule: VolumeRule, subject: str) -> None:
    own, other = "throughput_mib_s", "throughput_mb_s"
    if rule.unit == "MB/s":
        own, other = other, own
    if (value := getattr(volume, other)) is not None:
        problem = f"{CLOUD_NAMES[rule.cloud]} counts {rule.unit}: use `{own}`"
        raise _refuse(other, problem, value)
    given: int | None = getattr(volume, own)
    offer = rule.throughput_provisioned
    if offer is None:
        if given is not None:
            problem = (
                f"{given:,} is not allowed for {subject}: its throughput cannot be provisioned;"
                " leave it out"
            )
            raise _refuse(own, problem, given)
        return
    low, high = throughput_range(volume, rule)
    if given is not None:
        at = f"{subject} at {_compute_own_iops(volume, rule):,g} IOPS"
        _require_within(own, given, at, low, high)
    elif not offer.included:
        problem = f"{subject} needs a value from {low:,} to {high:,}"
        path = ("volume", own)
        raise UsageError(Complaint(path, problem, None, Range(low, high), listed=False))


def _compute_own_iops(volume: Asked, rule: VolumeRule) -> float:
    """Return the IOPS that a volume has without bursts."""
    if rule.tiers:
        return rule.tier(volume.size_gib)[1]
    by_size = rule.iops.at(volume.size_gib) if rule.iops else 0.0
    offer = rule.iops_provisioned
    if offer is None or (offer.adds and volume.iops is None):
        return by_size
    if volume.iops is None:
        return offer.included
    return by_size + volume.iops if offer.adds else volume.iops


def _compute_own_throughput(volume: Asked, rule: VolumeRule) -> float:
    """Return the throughput that a volume has without bursts, in the rule's unit."""
    if rule.tiers:
        return rule.tier(volume.size_gib)[2]
    given = volume.throughput_mb_s if rule.unit == "MB/s" else volume.throughput_mib_s
    offer: Provisioning | None = rule.throughput_provisioned
    if offer is not None:
        return offer.included if given is None else given
    if rule.throughput is None:
        return min(rule.throughput_per_iops * _compute_own_iops(volume, rule), rule.throughput_most)
    added = rule.throughput_per_iops * (volume.iops or 0)
    return rule.throughput.at(volume.size_gib) + added


def find_limits(volume: Asked) -> CloudLimits:
    """Return the limits of a volume.

    Raises:
        UsageError: The cloud does not offer it.
    """
    rule = find_rule(volume)
    iops, throughput = _compute_own_iops(volume, rule), _compute_own_throughput(volume, rule)
    burst_iops, burst_throughput, bucket = iops, throughput, None
    if rule.burst is not None:
        most_iops, most_throughput = (line.at(volume.size_gib) for line in rule.burst)
        if volume.burst:  # no bucket is described: it may burst for as long as it likes
            iops = burst_iops = max(iops, most_iops)
            throughput = burst_throughput = max(throughput, most_throughput)
        elif 0 < volume.size_gib <= rule.burst_up_to_gib and most_iops > iops:
            burst_iops, burst_throughput = most_iops, max(throughput, most_throughput)
            bucket = (burst_iops - iops) * BURST_S
    return CloudLimits(
        baseline_iops=iops,
        burst_iops=burst_iops,
        burst_credits=bucket,
        mib_s=throughput * rule.mib_per_unit,
        burst_mib_s=burst_throughput * rule.mib_per_unit,
        latency_us=rule.latency_us[1],
    )
