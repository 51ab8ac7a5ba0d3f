"""How true an emulated volume is, judged by fio: `python -m benchmarks.volume WHAT --dir DIR`.

WHAT: caps, engines, latency, credits or throughput. Each prints a Markdown table for
docs/volumes.md. Needs fio (on Debian: apt-get install fio) and an otherwise idle machine.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from plimsoll.local.volumes import EmulatedVolume
from plimsoll.model.volumes import Volume, host_bound, rates

FILE_MIB = 512
MODES = ("randread", "randwrite", "randrw")


def provisioned(iops: int) -> Volume:
    """Give a volume with so many IOPS and throughput enough for them at 16 KiB."""
    return Volume(type="io2", size_gib=1_000, iops=iops)


def fio(directory: Path, environment: Mapping[str, str], **options: object) -> dict[str, Any]:
    """Run one fio job on the benchmark's file; give its figures, reads and writes summed.

    Returns:
        iops, mib_s, mean_us, p50_us, p99_us.
    """
    settings: dict[str, object] = {
        "name": "benchmark",
        "filename": directory / "file",
        "size": f"{FILE_MIB}M",
        "bs": "16k",
        "direct": 1,
        "ioengine": "psync",
        "time_based": 1,
        "runtime": 5,
        "ramp_time": 1,
        "group_reporting": 1,
        "thread": 1,
        "norandommap": 1,
        "invalidate": 0,
        **options,
    }
    done = subprocess.run(
        ["fio", "--output-format=json", *(f"--{name}={value}" for name, value in settings.items())],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"fio failed: {done.stderr or done.stdout}")
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    sides = [job[side] for side in ("read", "write") if job[side]["total_ios"]]
    total = sum(side["total_ios"] for side in sides)
    return {
        # fio's own iops leaves out what was under way when the ramp ended
        "iops": sum(side["bw_bytes"] for side in sides) / _bytes(str(settings["bs"])),
        "mib_s": sum(side["bw_bytes"] for side in sides) / 2**20,
        "mean_us": sum(side["clat_ns"]["mean"] * side["total_ios"] for side in sides) / total / 1e3,
        "p50_us": max(side["clat_ns"]["percentile"]["50.000000"] for side in sides) / 1e3,
        "p99_us": max(side["clat_ns"]["percentile"]["99.000000"] for side in sides) / 1e3,
    }


@contextmanager
def scratch(base: Path | None) -> Iterator[Path]:
    """Make a folder with the benchmark's file in it; it goes afterwards."""
    with tempfile.TemporaryDirectory(dir=base, prefix="plimsoll-benchmark-") as made:
        directory = Path(made)
        chunk = os.urandom(2**20)
        with (directory / "file").open("wb") as file:
            for _ in range(FILE_MIB):
                file.write(chunk)
            os.fsync(file.fileno())
        yield directory


def _bytes(size: str) -> int:
    return int(size.removesuffix("k")) * 1024


def table(head: str, rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table, each row as it comes."""
    columns = head.split(" | ")
    print(f"| {head} |\n|{'---|' * len(columns)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |", flush=True)


def _off(seen: float, expected: float) -> str:
    return f"{100 * (seen / expected - 1):+.2f} %"


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
                    off = _off(seen["iops"], iops)
                    host = f"{100 * late:.1f} %"
                    yield f"{iops:,}", way, mode[4:], f"{seen['iops']:,.1f}", off, host

    table("IOPS set | way | I/O | IOPS by fio | off | the machine's share", rows())


def engines(directory: Path) -> None:
    """Compare every way in which fio can do I/O at one cap."""

    def rows() -> Iterable[Iterable[object]]:
        for engine in ("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio"):
            for mode in MODES:
                with EmulatedVolume.create(directory, provisioned(4_000)) as on:
                    many = {"iodepth": 32} if engine == "libaio" else {"numjobs": 32}
                    seen = fio(directory, on.environment(), ioengine=engine, rw=mode, **many)
                yield engine, mode[4:], f"{seen['iops']:,.1f}", _off(seen["iops"], 4_000)

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
                _off(seen["p50_us"], expected),
                f"{seen['mean_us']:,.0f}",
                f"{seen['p99_us']:,.0f}",
                f"{100 * late:.1f} %",
            )

    table(
        "readers | IOPS | expected us | median us | off | mean us | p99 us | the machine's share",
        rows(),
    )


def credits(directory: Path) -> None:  # noqa: A001 - AWS's word
    """Compare how long gp2 bursts, what it falls to, and what it earns while idle."""
    volume = Volume(type="gp2", size_gib=100)  # 300 IOPS, bursts to 3,000

    def rows() -> Iterable[Iterable[object]]:
        for balance in (5_000, 25_000, 50_000):
            with EmulatedVolume.create(directory, volume, credits=balance) as on:
                runtime = balance / 2_700 + 8
                job = subprocess.Popen(
                    [
                        "fio", "--name=b", f"--filename={directory / 'file'}", "--size=512M",
                        "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio",
                        "--iodepth=32", "--time_based", f"--runtime={runtime:.0f}",
                        "--output=/dev/null",
                    ],
                    env={**os.environ, **on.environment()},
                )  # fmt: skip
                start = on.sample()
                while (now := on.sample()).read_ios == 0:
                    start = now
                    time.sleep(0.002)
                # what it had when the first I/O came, and what each second then takes of it
                expected_s = (start.credits or 0) / (3_000 - 300)
                while (now.credits or 0) >= 3:
                    time.sleep(0.005)
                    now = on.sample()
                took = (now.epoch_ms - start.epoch_ms) / 1000
                time.sleep(1)
                low = on.sample()
                time.sleep(4)
                fell = rates(low, on.sample()).read_iops
                job.wait()
                after = on.sample()
                time.sleep(5)
                end = on.sample()
                earned = (end.credits or 0) - (after.credits or 0)
                seconds = (end.epoch_ms - after.epoch_ms) / 1000
            yield (
                f"{balance:,}",
                f"{expected_s:.2f}",
                f"{took:.2f}",
                _off(took, expected_s),
                f"{fell:,.1f}",
                f"{earned / seconds:,.1f}",
            )

    table(
        "credits | burst s, formula | burst s | off | then IOPS (300) | earned/s idle (300)", rows()
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
                _off(seen["iops"], expected),
                f"{100 * late:.1f} %",
            )

    table("KiB | reads/s by fio | MiB/s | reads/s expected | off | the machine's share", rows())


_OTHERS = {
    "engines": engines,
    "latency": latency,
    "credits": credits,
    "throughput": throughput,
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
