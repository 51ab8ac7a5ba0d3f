"""How true an emulated volume is, judged by fio: `python -m benchmarks.volume WHAT --dir DIR`.

WHAT: caps, engines, latency, credits, throughput, fairness or clouds. Each prints a Markdown table
for docs/evidence/volumes.md. Needs fio (Debian: apt-get install fio) and an otherwise idle machine.
"""

import math
from collections.abc import Iterable
from pathlib import Path

import click

from benchmarks.volume_clouds import clouds
from benchmarks.volume_credits import burst, fairness
from benchmarks.volume_fio import fio, off, provisioned, scratch, table
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.aws.volumes_seen import host_bound
from plimsoll.volumes import EmulatedVolume

MODES = ("randread", "randwrite", "randrw")


def caps(directory: Path, iops_list: Iterable[int]) -> None:
    """Compare IOPS delivered with IOPS set: three ways to do I/O, reads, writes and mixes."""

    def rows() -> Iterable[Iterable[object]]:
        for iops in iops_list:
            depth = min(64, max(4, iops // 125))
            seconds = 10 if iops < 1_000 else 5
            ways: dict[str, dict[str, object]] = {
                "direct": {"numjobs": depth, "ioengine": "psync"},
                "libaio": {"iodepth": depth, "ioengine": "libaio"},
                "buffered, flushed": {
                    "numjobs": min(depth, 16),
                    "direct": 0,
                    "fdatasync": max(1, iops // 500),
                },
            }
            for way, options in ways.items():
                for mode in MODES:
                    with EmulatedVolume.create(directory, provisioned(iops)) as on:
                        before = on.sample()
                        seen = fio(directory, on.environment(), rw=mode, runtime=seconds, **options)
                        late = host_bound(before, on.sample()).late_time_share or 0
                    yield (
                        f"{iops:,}",
                        way,
                        mode[4:],
                        f"{seen['iops']:,.1f}",
                        off(seen["iops"], iops),
                        f"{100 * late:.1f} %",
                    )

    table("IOPS set | way | I/O | IOPS by fio | off | the machine's share", rows())


def engines(directory: Path) -> None:
    """Compare every way in which fio can do I/O at one cap."""

    def rows() -> Iterable[Iterable[object]]:
        for engine in ("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio"):
            for mode in MODES:
                with EmulatedVolume.create(directory, provisioned(4_000)) as on:
                    many = {"iodepth": 32} if engine == "libaio" else {"numjobs": 32}
                    seen = fio(directory, on.environment(), ioengine=engine, rw=mode, **many)
                yield engine, mode[4:], f"{seen['iops']:,.1f}", off(seen["iops"], 4_000)

    table("fio engine | I/O | IOPS by fio (4,000 set) | off", rows())


def latency(directory: Path) -> None:
    """Compare latency with concurrency: base latency below the cap, Little's law beyond it."""

    def rows() -> Iterable[Iterable[object]]:
        for workers in (1, 2, 4, 8, 16, 32, 64):
            with EmulatedVolume.create(directory, provisioned(4_000)) as on:
                base_us = on.limits.base_latency_us
                before = on.sample()
                seen = fio(directory, on.environment(), rw="randread", numjobs=workers)
                late = host_bound(before, on.sample()).late_time_share or 0
            # a lognormal's median is below its mean by exp(sigma squared / 2)
            expected = max(base_us * math.exp(-(0.2**2) / 2), 1e6 * workers / 4_000)
            yield (
                workers,
                f"{seen['iops']:,.0f}",
                f"{expected:,.0f}",
                f"{seen['p50_us']:,.0f}",
                off(seen["p50_us"], expected),
                f"{seen['mean_us']:,.0f}",
                f"{seen['p99_us']:,.0f}",
                f"{100 * late:.1f} %",
            )

    table(
        "readers | IOPS | expected us | median us | off | mean us | p99 us | the machine's share",
        rows(),
    )


def throughput(directory: Path) -> None:
    """Compare where the cap of IOPS and the cap of throughput cross."""
    volume = Volume(type="gp3", size_gib=100)  # 3,000 IOPS, 125 MiB/s

    def rows() -> Iterable[Iterable[object]]:
        for size_kib in (4, 16, 32, 42, 64, 128, 256, 1_024):
            with EmulatedVolume.create(directory, volume) as on:
                before = on.sample()
                seen = fio(
                    directory, on.environment(), rw="randread", bs=f"{size_kib}k",
                    ioengine="libaio", iodepth=32,
                )  # fmt: skip
                late = host_bound(before, on.sample()).late_time_share or 0
            ios = max(1, size_kib // 256)
            expected = min(3_000 / ios, 125 * 1024 / size_kib)
            yield (
                size_kib,
                f"{seen['iops']:,.1f}",
                f"{seen['mib_s']:,.1f}",
                f"{expected:,.1f}",
                off(seen["iops"], expected),
                f"{100 * late:.1f} %",
            )

    table("KiB | reads/s by fio | MiB/s | reads/s expected | off | the machine's share", rows())


_OTHERS = {
    "engines": engines,
    "latency": latency,
    "credits": burst,
    "throughput": throughput,
    "fairness": fairness,
    "clouds": clouds,
}


@click.command()
@click.argument("what", type=click.Choice(["caps", *_OTHERS]))
@click.option("--dir", "base", type=click.Path(path_type=Path), default=None)
@click.option("--iops", multiple=True, type=int, default=(100, 250, 1_000, 4_000, 16_000))
def main(what: str, base: Path | None, iops: tuple[int, ...]) -> None:
    """Run one benchmark in a scratch folder under --dir."""
    with scratch(base) as directory:
        if what == "caps":
            caps(directory, iops)
        else:
            _OTHERS[what](directory)


if __name__ == "__main__":
    main()
