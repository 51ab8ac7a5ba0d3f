"""Which files are on a volume, what buffered I/O costs, and what is refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.volumes import EmulatedVolume, VolumeSettings
from plimsoll.local.volumes.places import state_path
from plimsoll.model.volume_samples import Fail
from plimsoll.model.volumes import Volume, VolumeSample
from tests.local.volumes.conftest import INSTANT, VolumeFactory, run_on

KIB = 1024


def ran(volume: EmulatedVolume, program: str, *arguments: str) -> VolumeSample:
    done = run_on(volume, "import os\n" + program, *arguments)
    assert done.returncode == 0, done.stderr
    return volume.sample()


# --- descriptors ---


def test_only_the_files_under_the_directory_are_on_the_volume(
    volumes: VolumeFactory, tmp_path: Path
) -> None:
    volume = volumes()
    beside = tmp_path / "volume-but-not-on-it"
    sample = ran(volume, f"open({str(beside)!r}, 'wb', 0).write(bytes(4096))")
    assert sample.write_operations == 0
    sample = ran(volume, "os.mkdir('deep'); open('deep/file', 'wb', 0).write(bytes(4096))")
    assert (sample.write_operations, sample.write_bytes) == (1, 4096)


@pytest.mark.parametrize(
    "copy",
    [
        "os.dup(fd)",
        "os.dup2(fd, 77)",
        "__import__('fcntl').fcntl(fd, 1030, 40)",  # F_DUPFD_CLOEXEC
    ],
)
def test_copies_of_a_descriptor_are_on_the_volume(volumes: VolumeFactory, copy: str) -> None:
    program = f"fd = os.open('file', os.O_RDWR | os.O_CREAT); to = {copy}; os.close(fd)\n"
    assert ran(volumes(), program + "os.write(to, bytes(4096))").write_operations == 1


def test_the_number_of_a_closed_file_is_forgotten(volumes: VolumeFactory) -> None:
    program = """
import socket
fd = os.open('file', os.O_RDWR | os.O_CREAT)
os.close(fd)
a, b = socket.socketpair()
assert a.fileno() == fd
os.write(fd, bytes(4096))
"""
    assert ran(volumes(), program).write_operations == 0


def test_forked_and_executed_children_inherit_their_files(volumes: VolumeFactory) -> None:
    program = """
import subprocess, sys
fd = os.open('file', os.O_RDWR | os.O_CREAT)
os.set_inheritable(fd, True)
if os.fork() == 0:
    os.write(fd, bytes(4096))
    os._exit(0)
os.wait()
child = f"import os; os.write({fd}, bytes(4096))"
subprocess.run([sys.executable, "-c", child], close_fds=False, check=True)
os.write(fd, bytes(4096))
"""
    sample = ran(volumes(), program)
    assert (sample.write_operations, sample.write_bytes) == (3, 3 * 4096)
    assert sample.attached_processes == 2  # a fork shares its parent's attachment


def test_direct_io_may_be_switched_on_later(volumes: VolumeFactory) -> None:
    program = """
import fcntl, mmap
fd = os.open('file', os.O_RDWR | os.O_CREAT)
os.truncate(fd, 1 << 20)
page = mmap.mmap(-1, 65536)
for _ in range(2):  # again and again the same: in the page cache that is one I/O, direct two
    os.pwrite(fd, page, 0)
fcntl.fcntl(fd, fcntl.F_SETFL, os.O_DIRECT)
for _ in range(2):
    os.pwrite(fd, page, 0)
"""
    sample = ran(volumes(), program)
    assert (sample.write_operations, sample.write_ios) == (4, 3)


# --- the page cache ---


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
    sample = ran(volumes(), f"fd = os.open('file', os.O_RDWR | os.O_CREAT)\n{program}")
    assert (sample.write_operations, sample.write_ios) == (operations, ios)
    assert sample.write_bytes == size


def test_synchronous_writes_do_not_wait_to_be_joined(volumes: VolumeFactory) -> None:
    program = "fd = os.open('file', os.O_RDWR | os.O_CREAT | os.O_DSYNC)\n"
    sample = ran(volumes(), program + "for i in range(4): os.write(fd, bytes(8192))")
    assert (sample.write_ios, sample.write_bytes) == (4, 32 * KIB)


def test_a_flush_ends_when_what_was_written_before_it_has(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="io1", size_gib=10, iops=100))
    program = """
fd = os.open('file', os.O_RDWR | os.O_CREAT)
for i in range(20):
    os.pwrite(fd, bytes(4096), 8192 * i)
os.fsync(fd)
"""
    sample = ran(volume, program)
    assert (sample.write_ios, sample.flush_operations) == (20, 1)
    # 20 I/Os at 100/s: the last starts 190 ms after the first; the writes took far less
    assert sample.flush_time_us > 150_000
    assert max(sample.write_histogram) > 150_000  # its latency as the volume has it


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


# --- what cannot be seen ---


def test_copies_inside_the_kernel_are_counted(volumes: VolumeFactory) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(bytes(512 * KIB))
    program = """
source, to = os.open('file', os.O_RDONLY), os.open('copy', os.O_RDWR | os.O_CREAT)
assert os.copy_file_range(source, to, 512 * 1024, 0, 0) == 512 * 1024
"""
    sample = ran(volume, program)
    assert (sample.read_ios, sample.read_bytes) == (2, 512 * KIB)
    assert (sample.write_ios, sample.write_bytes) == (2, 512 * KIB)


def test_memory_maps_are_told_of(volumes: VolumeFactory) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(bytes(4096))
    done = run_on(volume, "import mmap; f = open('file', 'r+b'); mmap.mmap(f.fileno(), 4096)")
    assert "I/O through a memory map is not counted: " in done.stderr
    assert str(volume.directory / "file") in done.stderr
    assert volume.sample().uncounted_maps == 1


def test_streams_of_the_c_library_are_told_of(volumes: VolumeFactory) -> None:
    program = "import ctypes; ctypes.CDLL(None).fopen(b'file', b'w')"
    assert ran(volumes(), program).uncounted_streams == 1


def test_io_uring_is_refused_aloud(volumes: VolumeFactory) -> None:
    volume = volumes()
    program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(425, 8, ctypes.create_string_buffer(120)) == -1
assert ctypes.get_errno() == errno.EPERM
"""
    done = run_on(volume, program)
    assert done.returncode == 0, done.stderr
    assert "io_uring is refused" in done.stderr
    assert volume.sample().refused_calls == 1


def test_io_uring_is_refused_to_whoever_escapes_the_preload(volumes: VolumeFactory) -> None:
    program = """
import subprocess, sys
child = "import ctypes as c; l = c.CDLL(None, use_errno=True); " \\
    "print(l.syscall(425, 8, c.create_string_buffer(120)), c.get_errno())"
subprocess.run([sys.executable, "-c", child], env={}, check=True)
"""
    done = run_on(volumes(), program)
    assert done.stdout == "-1 1\n"  # EPERM, from the kernel


def test_posix_aio_is_refused_aloud(volumes: VolumeFactory) -> None:
    program = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
block = (ctypes.c_int * 64)(os.open('file', os.O_RDWR | os.O_CREAT))
assert libc.aio_read(block) == -1 and ctypes.get_errno() == errno.ENOSYS
"""
    volume = volumes()
    assert ran(volume, program).refused_calls == 1


def test_a_lost_state_file_stops_the_program(volumes: VolumeFactory) -> None:
    volume = volumes()
    environment = {**os.environ, **volume.environment(), "PLIMSOLL_VOLUME": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", "print('ran')"], env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (126, b"")
    assert b"cannot use the volume's state file: /nowhere" in done.stderr


# --- faults, seen by a program ---


def test_a_program_sees_the_failure_and_the_disk_the_rest(volumes: VolumeFactory) -> None:
    volume = volumes()
    volume.inject(Fail(error="EIO", after_operations=2, operations=1))
    program = """
fd = os.open('file', os.O_RDWR | os.O_CREAT)
for i in range(4):
    try:
        os.pwrite(fd, b'%d' % i * 4096, 4096 * i)
    except OSError as error:
        print(i, error.errno)
"""
    done = run_on(volume, "import os" + program)
    assert done.stdout == "2 5\n"
    held = (volume.directory / "file").read_bytes()
    assert [held[4096 * i : 4096 * i + 1] for i in range(4)] == [b"0", b"1", b"\0", b"3"]
    assert volume.sample().failed_operations == 1


def test_a_full_disk_can_be_read_but_not_extended(volumes: VolumeFactory) -> None:
    volume = volumes()
    (volume.directory / "file").write_bytes(b"here")
    volume.inject(Fail(error="ENOSPC"))
    program = """
fd = os.open('file', os.O_RDWR)
print(os.read(fd, 4))
for full in (lambda: os.write(fd, b'x'), lambda: os.posix_fallocate(fd, 0, 8192)):
    try:
        full()
    except OSError as error:
        print(error.errno)
os.fsync(fd)
"""
    assert run_on(volume, "import os" + program).stdout == "b'here'\n28\n28\n"


# --- volumes side by side, and their life ---


def test_two_volumes_count_apart(volumes: VolumeFactory) -> None:
    one, other = volumes(name="one"), volumes(name="other")
    ran(one, "open('file', 'wb', 0).write(bytes(4096))")
    assert (one.sample().write_ios, other.sample().write_ios) == (1, 0)


def test_a_directory_has_one_volume(volumes: VolumeFactory) -> None:
    volume = volumes()
    with pytest.raises(PlimsollError, match="has an emulated volume already"):
        EmulatedVolume.create(volume.directory, Volume(type="nvme", size_gib=1))


def test_another_process_watches_and_changes_it(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="gp2", size_gib=100), settings=VolumeSettings())
    watcher = EmulatedVolume.open(volume.directory)
    assert watcher.volume == volume.volume
    assert watcher.sample().credits == 5.4e6
    watcher.reconfigure(Volume(type="gp2", size_gib=200), credits=1000)
    watcher.close()
    assert volume.sample().credits == pytest.approx(1000, abs=900)  # 600 are earned each second


def test_credits_are_for_volumes_that_have_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="credits: this volume has no burst credits"):
        EmulatedVolume.create(tmp_path, Volume(type="gp3", size_gib=10), credits=5)
    with pytest.raises(UsageError, match="credits: 6,000,000 is not between 0 and 5,400,000"):
        EmulatedVolume.create(tmp_path, Volume(type="gp2", size_gib=10), credits=6e6)


def test_a_closed_volume_leaves_nothing_but_the_files(tmp_path: Path) -> None:
    with EmulatedVolume.create(tmp_path / "v", Volume(type="nvme", size_gib=1)):
        path = state_path(tmp_path / "v")
        assert path.exists()
    assert list(path.parent.glob(f"{path.name}*")) == []
    with pytest.raises(UsageError, match="no emulated volume is running there"):
        EmulatedVolume.open(tmp_path / "v")


def test_what_a_killed_owner_left_goes_with_its_directory(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    program = (
        "import os, sys; from pathlib import Path; from plimsoll.local.volumes import *; "
        "from plimsoll.model.volumes import Volume; "
        "v = EmulatedVolume.create(Path(sys.argv[1]), Volume(type='nvme', size_gib=1)); "
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, gone], check=False)
    left = state_path(gone)
    assert left.exists()
    gone.rmdir()
    with EmulatedVolume.create(tmp_path / "next", Volume(type="nvme", size_gib=1)):
        assert list(left.parent.glob(f"{left.name}*")) == []


def test_a_directory_whose_owner_was_killed_can_have_a_volume_again(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from plimsoll.local.volumes import *; "
        "from plimsoll.model.volumes import Volume; "
        "v = EmulatedVolume.create(Path(sys.argv[1]), Volume(type='gp2', size_gib=1)); "
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "v"], check=False)
    with EmulatedVolume.create(tmp_path / "v", Volume(type="nvme", size_gib=1)) as volume:
        assert volume.sample().credits is None
