"""gp2's credits, and how two processes share a volume: part of `benchmarks.volume`."""

import os
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.volume_fio import fio, off, provisioned, table
from plimsoll.model.aws.volumes import Volume, rates
from plimsoll.volumes import EmulatedVolume


def burst(directory: Path) -> None:
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
                off(took, expected_s),
                f"{fell:,.1f}",
                f"{earned / seconds:,.1f}",
            )

    table(
        "credits | burst s, formula | burst s | off | then IOPS (300) | earned/s idle (300)", rows()
    )


def fairness(directory: Path) -> None:
    """Compare what processes with so many readers each get of one volume's 2,000 IOPS."""

    def rows() -> Iterable[Iterable[object]]:
        for jobs in ((8, 8), (4, 8, 16)):
            with (
                EmulatedVolume.create(directory, provisioned(2_000)) as on,
                ThreadPoolExecutor(len(jobs)) as pool,
            ):
                running = [
                    pool.submit(fio, directory, on.environment(), rw="randread", numjobs=n)
                    for n in jobs
                ]
                got = [one.result()["iops"] for one in running]
            for n, iops in zip(jobs, got, strict=True):
                fair = 2_000 * n / sum(jobs)
                yield " + ".join(map(str, jobs)), n, f"{iops:,.1f}", off(iops, fair)

    table("readers of the processes | this one's | IOPS by fio | off a fair share", rows())
