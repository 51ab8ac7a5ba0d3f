"""What a volume without limit and latency costs: `python -m benchmarks.volume_pairs --dir DIR`.

The same file is read and written under two names, one on the volume and one beside it, by the same
thread in turn, a few milliseconds each: what the machine does meanwhile hits both alike.
"""

import mmap
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks.volume_fio import scratch
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume, VolumeSettings

BATCH = 50
PAIRS = 3_000
SIZE = 16 * 1024


def compare(names: tuple[str, ...]) -> None:
    """Print a row for reads and one for writes: the median of the pairs, and its 95 % interval."""
    within, beside = (os.open(name, os.O_RDWR | os.O_DIRECT) for name in names)
    blocks = os.fstat(within).st_size // SIZE
    buffer = mmap.mmap(-1, SIZE)
    calls: dict[str, Callable[[int, int], object]] = {
        "16 KiB direct reads": lambda fd, at: os.preadv(fd, [buffer], at),
        "16 KiB direct writes": lambda fd, at: os.pwritev(fd, [buffer], at),
    }
    print("| I/O | us without | overhead, median | 95 % interval |\n|---|---|---|---|")
    for name, call in calls.items():
        draw, times = random.Random(1), {within: 0.0, beside: 0.0}  # noqa: S311 - positions
        ratios, plain = [], []
        for pair in range(PAIRS):
            for fd in (within, beside) if pair % 2 else (beside, within):
                places = [draw.randrange(blocks) * SIZE for _ in range(BATCH)]
                start = time.perf_counter()
                for at in places:
                    call(fd, at)
                times[fd] = (time.perf_counter() - start) / BATCH
            ratios.append(times[within] / times[beside] - 1)
            plain.append(times[beside])
        ratios.sort()
        spread = round(0.98 * PAIRS**0.5)  # order statistics around the median: 95 %
        low, middle, high = (ratios[PAIRS // 2 + k] for k in (-spread, 0, spread))
        print(
            f"| {name} | {1e6 * sorted(plain)[PAIRS // 2]:.1f} | {100 * middle:+.2f} % "
            f"| {100 * low:+.2f} to {100 * high:+.2f} % |"
        )


@click.command()
@click.option("--dir", "base", type=click.Path(path_type=Path), default=None)
@click.argument("names", nargs=-1)
def main(base: Path | None, names: tuple[str, ...]) -> None:
    """Put this program itself on a volume; with two names of a file, compare them."""
    if names:
        compare(names)
        return
    with scratch(base) as directory:
        inside = directory / "inside"
        free = VolumeSettings(base_latency_us=0)
        with EmulatedVolume.create(inside, Volume(type="nvme", size_gib=1), settings=free) as on:
            os.link(directory / "file", inside / "file")
            subprocess.run(
                [sys.executable, "-m", __spec__.name, inside / "file", directory / "file"],
                env={**os.environ, **on.environment()},
                check=True,
            )


if __name__ == "__main__":
    main()
