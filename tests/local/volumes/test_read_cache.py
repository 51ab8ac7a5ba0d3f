"""A read cache in front of the volume: it answers direct reads, and can be switched off."""

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import VolumeSettings
from tests.local.volumes.conftest import VolumeFactory, ran, run_on

KIB = 1024
# a file in memory takes direct reads from Linux 6.6 on; on a disk any kernel does
DIRECT = """
import mmap
fd = os.open('file', os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 16384)
def read(block): os.preadv(fd, [page], 16384 * block)
"""


def with_cache(latency_us: float = 0) -> Volume:
    return Volume(type="nvme", size_gib=10, read_cache_mib=64, read_cache_latency_us=latency_us)


def test_direct_reads_are_answered_from_the_second_time_on(volumes: VolumeFactory) -> None:
    volume = volumes(with_cache())
    (volume.directory / "file").write_bytes(bytes(1024 * KIB))
    program = f"{DIRECT}for block in range(63, 0, -2): read(block)\n"
    assert ran(volume, program).read_ios == 32
    assert ran(volume, program).read_ios == 32  # also to another process
    volume.use_read_cache(on=False)
    assert ran(volume, program).read_ios == 64
    volume.use_read_cache(on=True)  # what it held is still there
    assert ran(volume, program).read_ios == 64


def test_what_is_written_is_in_the_cache_too(volumes: VolumeFactory) -> None:
    volume = volumes(with_cache())
    (volume.directory / "file").write_bytes(bytes(1024 * KIB))
    write = "fd = os.open('file', os.O_WRONLY | os.O_DSYNC)\nos.pwrite(fd, bytes(16384), 16384)\n"
    sample = ran(volume, write)
    assert (sample.write_ios, sample.read_ios) == (1, 0)
    assert ran(volume, f"{DIRECT}read(1)").read_ios == 0


def test_a_hit_takes_the_latency_of_the_cache(volumes: VolumeFactory) -> None:
    volume = volumes(
        with_cache(20_000), settings=VolumeSettings(base_latency_us=50_000, latency_sigma=0)
    )
    (volume.directory / "file").write_bytes(bytes(1024 * KIB))
    timed = f"""{DIRECT}
import time
read(1)
for _ in range(20):
    began = time.monotonic()
    read(1)
    print(time.monotonic() - began)
"""
    done = run_on(volume, f"import os{timed}")
    assert done.returncode == 0, done.stderr
    took_s = [float(line) for line in done.stdout.split()]
    assert min(took_s) >= 0.019  # none sooner; how much later depends on the machine
    assert volume.sample().read_ios == 1


def test_a_volume_without_a_cache_has_none_to_switch(volumes: VolumeFactory) -> None:
    with pytest.raises(UsageError, match="read_cache_mib"):
        volumes().use_read_cache(on=False)
