"""What buffered I/O costs: dirty pages that join, reading ahead, a cache of the instance."""

import pytest

from plimsoll.model.aws.volumes import Volume
from tests.local.volumes.conftest import INSTANT, VolumeFactory, ran, ran_at_once, run_on

KIB = 1024


@pytest.mark.parametrize(
    ("program", "operations", "ios", "size"),
    [
        ("for i in range(64): os.write(fd, bytes(8192))", 64, 2, 512 * KIB),
        ("for i in range(64): os.pwrite(fd, bytes(8192), 0)", 64, 1, 8 * KIB),
        ("for i in range(64): os.pwrite(fd, bytes(8192), 16384 * i)", 64, 64, 512 * KIB),
        ("for i in range(4): os.write(fd, bytes(8192)); os.fsync(fd)", 4, 4, 32 * KIB),
    ],
    ids=["appended", "rewritten", "scattered", "flushed-each"],
)
def test_dirty_pages_join_until_they_are_flushed(
    volumes: VolumeFactory, program: str, operations: int, ios: int, size: int
) -> None:
    sample = ran_at_once(volumes, f"fd = os.open('file', os.O_RDWR | os.O_CREAT)\n{program}")
    assert (sample.write_operations, sample.write_ios) == (operations, ios)
    assert sample.write_bytes == size


def test_synchronous_writes_do_not_wait_to_be_joined(volumes: VolumeFactory) -> None:
    program = "fd = os.open('file', os.O_RDWR | os.O_CREAT | os.O_DSYNC)\n"
    sample = ran(volumes(), program + "for i in range(4): os.write(fd, bytes(8192))")
    assert (sample.write_ios, sample.write_bytes) == (4, 32 * KIB)


def test_a_flush_ends_when_what_was_written_before_it_has(volumes: VolumeFactory) -> None:
    exact = INSTANT.model_copy(update={"catch_up_ms": 0})
    program = """
import time
fd = os.open('file', os.O_RDWR | os.O_CREAT)
began = time.monotonic()
for i in range(20):
    os.pwrite(fd, bytes(4096), 8192 * i)
written = time.monotonic()
os.fsync(fd)
print(written - began, time.monotonic() - began)
"""
    for tries_left in reversed(range(5)):
        slow = Volume(type="io1", size_gib=10, iops=100)
        volume = volumes(slow, settings=exact, name=f"slow-{tries_left}")
        done = run_on(volume, "import os" + program)
        assert done.returncode == 0, done.stderr
        writes_s, all_s = map(float, done.stdout.split())
        sample = volume.sample()
        assert (sample.write_ios, sample.flush_operations) == (20, 1)
        # 20 I/Os at 100/s: the last starts 190 ms after the first, however soon it was written
        assert all_s >= 0.190
        assert max(sample.write_histogram) >= 1e6 * (0.190 - writes_s)  # the latency of the last
        if sample.flush_time_us >= 1e6 * (0.190 - writes_s):
            break
        assert tries_left  # between the clock's reading and the flush another had the processor


def test_sequential_readers_are_read_ahead_of(volumes: VolumeFactory) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(bytes(1024 * KIB))
    sample = ran(
        volume,
        "fd = os.open('file', os.O_RDONLY)\nwhile os.read(fd, 8192): pass",
    )
    # the first 8 KiB, then 128 KiB at a time, and what is left
    assert (sample.read_ios, sample.read_bytes) == (9, 1024 * KIB)


def test_random_readers_are_not(volumes: VolumeFactory) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(bytes(1024 * KIB))
    program = "fd = os.open('file', os.O_RDONLY)\n"
    sample = ran(volume, program + "for i in range(50, 0, -2): os.pread(fd, 8192, 8192 * i)")
    assert (sample.read_ios, sample.read_bytes) == (25, 200 * KIB)


def test_a_page_cache_of_the_instance_answers_what_it_holds(volumes: VolumeFactory) -> None:
    volume = volumes(settings=INSTANT.model_copy(update={"page_cache_mib": 64}))
    (volume.directory / "file").write_bytes(bytes(1024 * KIB))
    program = "fd = os.open('file', os.O_RDONLY)\n"
    reads = "for i in range(50, 0, -2): os.pread(fd, 8192, 8192 * i)\n"
    assert ran(volume, program + reads).read_ios == 25
    assert ran(volume, program + reads).read_ios == 25  # also to another process
