"""How true the volumes of other clouds are, judged by fio, at what this emulation is proven for.

`python -m benchmarks.volume clouds --dir DIR` prints the tables of docs/evidence/volumes.md: up to
16,000 IOPS and 500 MiB/s. What is above is checked with a virtual clock (tests/unit/volumes).
"""

from collections.abc import Iterable
from pathlib import Path
from statistics import median

from benchmarks.volume_fio import fio, off, table
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.aws.volumes_seen import host_bound
from plimsoll.model.request.descriptions import describe_volume
from plimsoll.volumes import EmulatedVolume
from plimsoll.volumes.config import draw_latencies_ns

VOLUMES = (
    Volume(cloud="alibaba", type="essd", level="PL0", size_gib=100),
    Volume(cloud="alibaba", type="essd", level="PL1", size_gib=200),
    Volume(cloud="alibaba", type="essd-autopl", size_gib=40, iops=5_000),
    Volume(cloud="alibaba", type="premium-essd", size_gib=100),
    Volume(cloud="azure", type="premium-ssd", size_gib=1_024),
    Volume(cloud="azure", type="premium-ssd-v2", size_gib=100, iops=16_000, throughput_mb_s=500),
    Volume(cloud="azure", type="ultra", size_gib=100, iops=10_000, throughput_mb_s=400),
    Volume(cloud="google", type="pd-balanced", size_gib=1_000),
    Volume(cloud="google", type="pd-ssd", size_gib=500),
    Volume(cloud="google", type="hyperdisk-balanced", size_gib=100, iops=8_000),
    Volume(cloud="google", type="hyperdisk-extreme", size_gib=64, iops=2_000),
)
_BURSTING = Volume(cloud="azure", type="premium-ssd", size_gib=128)


def clouds(directory: Path) -> None:
    """Compare IOPS, throughput, latency and bursts with the rules."""
    table(
        "volume | IOPS by the rule | by fio | off | MiB/s by the rule | by fio | off"
        " | median us | by fio | off | the machine's share",
        map(_row, _each(directory)),
    )
    print()
    table("128 GiB of Premium SSD | by the rule | by fio | off", _bursts(directory))


def _each(directory: Path) -> Iterable[tuple[Path, Volume]]:
    return ((directory, volume) for volume in VOLUMES)


def _row(one: tuple[Path, Volume]) -> Iterable[object]:
    directory, volume = one
    promised = limits(volume)
    iops, mib_s = promised.baseline_iops or 0, promised.throughput_mib_s or 0
    with EmulatedVolume.create(directory, volume) as on:
        before = on.sample()
        many = fio(directory, on.environment(), rw="randread", bs="4k", numjobs=64)
        large = fio(directory, on.environment(), rw="randread", bs="256k", numjobs=16)
        alone = fio(directory, on.environment(), rw="randread", bs="4k", numjobs=1)
        late = host_bound(before, on.sample()).late_time_share or 0
    # one reader whose I/Os take less than the rate's 1 / IOPS waits for the rate
    median_us = max(median(draw_latencies_ns(promised.base_latency_us, 0.2)) / 1000, 1e6 / iops)
    bytes_most = min(mib_s, iops / 4)
    yield describe_volume(volume)
    yield from (f"{iops:,.0f}", f"{many['iops']:,.1f}", off(many["iops"], iops))
    yield from (f"{bytes_most:,.1f}", f"{large['mib_s']:,.1f}", off(large["mib_s"], bytes_most))
    yield from (f"{median_us:,.0f}", f"{alone['p50_us']:,.0f}", off(alone["p50_us"], median_us))
    yield f"{100 * late:.1f} %"


def _bursts(directory: Path) -> Iterable[Iterable[object]]:
    promised = limits(_BURSTING)
    for what, held, expected in (
        ("IOPS with a full bucket", None, promised.burst_iops or 0),
        ("IOPS with an empty bucket", 0.0, promised.baseline_iops or 0),
    ):
        with EmulatedVolume.create(directory, _BURSTING, credits=held) as on:
            seen = fio(directory, on.environment(), rw="randread", bs="4k", numjobs=32, runtime=10)
        yield what, f"{expected:,.0f}", f"{seen['iops']:,.1f}", off(seen["iops"], expected)
    with EmulatedVolume.create(directory, _BURSTING) as on:
        seen = fio(directory, on.environment(), rw="randread", bs="128k", numjobs=32)
    mib_s = promised.burst_throughput_mib_s or 0
    yield (
        "MiB/s with a full bucket",
        f"{mib_s:,.1f}",
        f"{seen['mib_s']:,.1f}",
        off(seen["mib_s"], mib_s),
    )
