"""What the benchmarks of volumes share: fio as the judge, a scratch file, tables in Markdown."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plimsoll.model.aws.volumes import Volume

FILE_MIB = 512


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


def off(seen: float, expected: float) -> str:
    """Say by how much something is off what was expected."""
    return f"{100 * (seen / expected - 1):+.2f} %"
