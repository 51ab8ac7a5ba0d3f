"""Translates a volume's limits into the configuration of the native part."""

import math
import os
from statistics import NormalDist
from typing import Annotated

from pydantic import Field

from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import BURST_S, InstanceLimits
from plimsoll.model.aws.volume_rules import IO_SIZE_BYTES
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.base import Model
from plimsoll.volumes.native import LATENCY_DRAWS, LIMITS, LimitConfig, VolumeConfig

_CACHE_BLOCK_BYTES = 4096


class VolumeSettings(Model):
    """Properties that clouds do not publish and that are assumed; `docs/volumes.md` says why."""

    base_latency_us: Annotated[float, Field(ge=0, le=4_000_000)] | None = Field(
        default=None,
        description="Mean latency of an I/O on the idle volume in microseconds. If not set, the"
        " volume type's.",
    )
    latency_sigma: Annotated[float, Field(ge=0, le=2)] = Field(
        default=0.2, description="Sigma of the lognormal distribution of the latency."
    )
    flush_ios: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0, description="Number of I/Os that a flush (fsync, fdatasync) costs in addition."
    )
    writeback_backlog_ms: Annotated[int, Field(ge=0, le=3_600_000)] = Field(
        default=1000,
        description="Milliseconds of work that buffered writes may run ahead of the volume before"
        " they wait.",
    )
    catch_up_ms: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=10,
        description="Milliseconds of unused limit that may be used later, after the machine was"
        " held up.",
    )
    page_cache_mib: Annotated[int, Field(ge=0, le=65_536)] = Field(
        default=0,
        description="Page cache of the emulated instance in MiB, which serves buffered reads; 0"
        " means none.",
    )
    read_cache_mib: Annotated[int, Field(ge=0, le=1_048_576)] = Field(
        default=0,
        description="Read cache in front of the volume in MiB, which answers direct reads too; 0"
        " means none.",
    )
    read_cache_latency_us: Annotated[float, Field(ge=0, le=100_000)] = Field(
        default=100, description="Mean latency of a read that the read cache answers."
    )
    read_cache_on: bool = Field(
        default=True, description="Whether the read cache is used; it may change while it exists."
    )
    readahead_kib: Annotated[int, Field(ge=0, le=4096)] = Field(
        default=128, description="Read-ahead of the kernel for sequential buffered reads, in KiB."
    )


def draw_latencies_ns(mean_us: float, sigma: float) -> list[int]:
    """Return equally likely latencies of a lognormal distribution with a mean, in nanoseconds."""
    normal = NormalDist()
    shapes = [
        math.exp(sigma * normal.inv_cdf((i + 0.5) / LATENCY_DRAWS)) for i in range(LATENCY_DRAWS)
    ]
    scale = mean_us * 1000 * LATENCY_DRAWS / sum(shapes)
    return [round(shape * scale) for shape in shapes]


def make_native_config(
    *,
    directory: str,
    limits: VolumeLimits,
    instance_limits: InstanceLimits | None,
    settings: VolumeSettings,
    balance: float | None,
) -> VolumeConfig:
    """Return the native part's configuration of a volume.

    Args:
        directory: The canonical path of the folder.
        limits: The limits of the volume.
        instance_limits: The limits of the instance; None for none.
        settings: The chosen properties.
        balance: The burst credits at the start; None for full.

    Raises:
        UsageError: The volume has no burst credits, or cannot hold so many.
    """
    if balance is not None:
        most = limits.burst_credits
        if most is None:
            raise UsageError("credits: this volume has no burst credits; leave them out")
        if not 0 <= balance <= most:
            raise UsageError(f"credits: {balance:,.0f} is not between 0 and {most:,.0f}")
    config = VolumeConfig(
        flush_ios=settings.flush_ios,
        backlog_ns=settings.writeback_backlog_ms * 1_000_000,
        cache_blocks=settings.page_cache_mib * 2**20 // _CACHE_BLOCK_BYTES,
        read_cache_blocks=settings.read_cache_mib * 2**20 // _CACHE_BLOCK_BYTES,
        read_cache_on=settings.read_cache_on,
        io_bytes=IO_SIZE_BYTES,
        readahead_bytes=settings.readahead_kib * 1024,
        directory=os.fsencode(directory),
    )
    for name, limit in make_limit_configs(limits, instance_limits, settings, balance).items():
        config.limits[LIMITS.index(name)] = limit
    mean_us = settings.base_latency_us
    mean_us = limits.base_latency_us if mean_us is None else mean_us
    if mean_us:
        config.read_cache_scale = settings.read_cache_latency_us / mean_us
    table = draw_latencies_ns(mean_us, settings.latency_sigma)
    for kind in range(2):
        config.latency_ns[kind][:] = table
    return config


def make_limit_configs(
    limits: VolumeLimits,
    instance: InstanceLimits | None,
    settings: VolumeSettings,
    balance: float | None,
) -> dict[str, LimitConfig]:
    """Return the buckets of a volume and its instance, by name."""

    def peak(units_per_s: float | None) -> LimitConfig:
        rate = units_per_s or 0
        return LimitConfig(rate, rate * settings.catch_up_ms / 1000, 0)

    lasting_bytes_s = (limits.throughput_mib_s or 0) * 2**20
    peak_bytes_s = (limits.burst_throughput_mib_s or 0) * 2**20 or lasting_bytes_s
    configs = {"peak_iops": peak(limits.burst_iops), "peak_bytes": peak(peak_bytes_s)}
    if limits.burst_credits is not None:
        held = limits.burst_credits if balance is None else balance
        configs["lasting_iops"] = LimitConfig(limits.baseline_iops or 0, limits.burst_credits, held)
        room = (peak_bytes_s - lasting_bytes_s) * BURST_S
        if room > 0:  # bytes have a bucket of their own, which starts as full as that of the I/Os
            full = room * held / limits.burst_credits
            configs["lasting_bytes"] = LimitConfig(lasting_bytes_s, room, full)
    if instance is not None:
        bursts = {
            "iops": (instance.baseline_iops, instance.burst_iops),
            "bytes": (
                instance.baseline_throughput_mib_s * 2**20,
                instance.burst_throughput_mib_s * 2**20,
            ),
        }
        for unit, (baseline, burst) in bursts.items():
            configs[f"instance_peak_{unit}"] = peak(burst)
            room = (burst - baseline) * BURST_S
            if room > 0:
                configs[f"instance_lasting_{unit}"] = LimitConfig(baseline, room, room)
    return configs
