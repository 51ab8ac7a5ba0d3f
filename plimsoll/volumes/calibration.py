"""Measures whether this machine's own disk is fast enough to emulate a volume."""

import mmap
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.base import Model

_MIB = 2**20
_SMALL = 16 * 1024  # the page size of InnoDB
_LARGE = 256 * 1024  # the largest size that counts as one I/O
_WORKERS = 16


class Measured(Model):
    """One kind of I/O on the machine's disk, without its page cache."""

    name: str
    operations: int
    operations_per_second: float
    mib_s: float
    mean_us: float
    p50_us: float
    p99_us: float


class DiskMeasurement(Model):
    """The measured speed of a machine's disk."""

    directory: str
    read: Measured  # one at a time
    write: Measured
    flush: Measured  # fdatasync after a write, one at a time; the write is not timed
    parallel_read: Measured  # many at a time
    parallel_write: Measured
    large_read: Measured  # many at a time, 256 KiB each
    large_write: Measured


class Calibration(Model):
    """Whether a machine can emulate a volume, with the figures."""

    host_bound: bool
    reasons: list[str]  # why the machine is too slow; empty if it is not
    notes: list[str]
    limits: VolumeLimits
    measured: DiskMeasurement


def compare_with_limits(measured: DiskMeasurement, limits: VolumeLimits) -> Calibration:
    """Compare a machine's disk with the limits of a volume. Does no I/O.

    The machine can emulate the volume if its disk is at least as fast: mean latency at most the
    volume's, IOPS and MiB/s at least the volume's highest.
    """
    base = limits.base_latency_us
    flush_us = measured.flush.mean_us
    compared = [
        *((seen, seen.mean_us, base, "") for seen in (measured.read, measured.write)),
        (measured.flush, flush_us, base, " (of one whole I/O)"),
    ]
    reasons = [
        f"{seen.name}: {words.format_latency(here)} on this machine,"
        f" {words.format_latency(there)}{of} on the volume"
        for seen, here, there, of in compared
        if here > there
    ]
    least = [
        *(
            (seen, seen.operations_per_second, limits.burst_iops, "IOPS")
            for seen in (measured.parallel_read, measured.parallel_write)
        ),
        *(
            (seen, seen.mib_s, limits.throughput_mib_s, "MiB/s")
            for seen in (measured.large_read, measured.large_write)
        ),
    ]
    reasons += [
        f"{seen.name}: {words.format_rate(here)} {unit} on this machine,"
        f" {words.format_number(there)} on the volume"
        for seen, here, there, unit in least
        if there is not None and here < there
    ]
    note = (
        f"a flush takes {words.format_latency(flush_us)} on this machine and adds nothing on the"
        " volume:"
        " a commit that waits for one is slower here by that much"
    )
    return Calibration(
        host_bound=bool(reasons), reasons=reasons, notes=[note], limits=limits, measured=measured
    )


def measure_disk(
    directory: Path, *, seconds_each: float = 2.0, size_mib: int = 256
) -> DiskMeasurement:
    """Measure the disk under a folder with direct I/O on a scratch file, which is then removed.

    Args:
        directory: The folder for the file.
        seconds_each: The duration of each of the seven measurements, in seconds.
        size_mib: The size of the file, in MiB.

    Raises:
        PlimsollError: The file system lacks direct I/O, or has no space.
    """
    directory.mkdir(parents=True, exist_ok=True)
    try:
        fd, name = tempfile.mkstemp(dir=directory, prefix="plimsoll-calibrate-")
        os.close(fd)
        try:
            return _measure_file(Path(name), directory, seconds_each, size_mib)
        finally:
            Path(name).unlink()
    except OSError as error:
        raise PlimsollError(f"{directory}: cannot be measured: {error.strerror}") from error


def _measure_file(path: Path, directory: Path, seconds: float, size_mib: int) -> DiskMeasurement:
    size = size_mib * _MIB
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    try:
        block = _make_buffer(_LARGE)
        for at in range(0, size, _LARGE):
            os.pwritev(fd, [block], at)
        os.fsync(fd)

        def make_read(io_bytes: int) -> Callable[[mmap.mmap, int], float]:
            def once(buffer: mmap.mmap, at: int) -> float:
                start = time.perf_counter()
                os.preadv(fd, [buffer], at * io_bytes)
                return time.perf_counter() - start

            return once

        def make_write(io_bytes: int) -> Callable[[mmap.mmap, int], float]:
            def once(buffer: mmap.mmap, at: int) -> float:
                start = time.perf_counter()
                os.pwritev(fd, [buffer], at * io_bytes)
                return time.perf_counter() - start

            return once

        def flush_once(buffer: mmap.mmap, at: int) -> float:
            os.pwritev(fd, [buffer], at * _SMALL)
            start = time.perf_counter()
            os.fdatasync(fd)
            return time.perf_counter() - start

        def run(
            what: str, once: Callable[[mmap.mmap, int], float], io_bytes: int, workers: int
        ) -> Measured:
            return _repeat_io(
                what,
                once,
                io_bytes=io_bytes,
                positions=size // io_bytes,
                workers=workers,
                seconds=seconds,
            )

        return DiskMeasurement(
            directory=str(directory.resolve()),
            read=run("16 KiB read", make_read(_SMALL), _SMALL, 1),
            write=run("16 KiB write", make_write(_SMALL), _SMALL, 1),
            flush=run("fdatasync after a 16 KiB write", flush_once, _SMALL, 1),
            parallel_read=run("16 parallel 16 KiB reads", make_read(_SMALL), _SMALL, _WORKERS),
            parallel_write=run("16 parallel 16 KiB writes", make_write(_SMALL), _SMALL, _WORKERS),
            large_read=run("16 parallel 256 KiB reads", make_read(_LARGE), _LARGE, _WORKERS),
            large_write=run("16 parallel 256 KiB writes", make_write(_LARGE), _LARGE, _WORKERS),
        )
    finally:
        os.close(fd)


def _make_buffer(size: int) -> mmap.mmap:
    buffer = mmap.mmap(-1, size)  # direct I/O needs page alignment
    buffer[:] = random.Random(1).randbytes(size)  # noqa: S311 - incompressible, not secret
    return buffer


def _repeat_io(
    name: str,
    once: Callable[[mmap.mmap, int], float],
    *,
    io_bytes: int,
    positions: int,
    workers: int,
    seconds: float,
) -> Measured:
    taken: list[list[float]] = [[] for _ in range(workers)]
    failures: list[OSError] = []
    end = time.perf_counter() + seconds

    def work(mine: list[float], seed: int) -> None:
        buffer, draw = _make_buffer(io_bytes), random.Random(seed)  # noqa: S311 - positions, not secrets
        try:
            while not mine or time.perf_counter() < end:
                mine.append(once(buffer, draw.randrange(positions)))
        except OSError as error:
            failures.append(error)

    start = time.perf_counter()
    threads = [threading.Thread(target=work, args=(mine, seed)) for seed, mine in enumerate(taken)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    elapsed = time.perf_counter() - start
    times = sorted(second for mine in taken for second in mine)
    rate = len(times) / elapsed
    return Measured(
        name=name,
        operations=len(times),
        operations_per_second=rate,
        mib_s=rate * io_bytes / _MIB,
        mean_us=1e6 * sum(times) / len(times),
        p50_us=1e6 * times[len(times) // 2],
        p99_us=1e6 * times[min(len(times) - 1, int(0.99 * len(times)))],
    )
