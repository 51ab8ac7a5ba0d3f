"""What cannot be seen is told of, or refused, so that no I/O passes uncounted."""

import os
import platform
import subprocess
import sys

from tests.local.volumes.conftest import VolumeFactory, ran, run_on

KIB = 1024
IO_SETUP = {"x86_64": 206, "aarch64": 0}[platform.machine()]  # its system call's number


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


def test_whoever_asks_for_persistent_memory_is_told_that_a_volume_is_none(
    volumes: VolumeFactory,
) -> None:
    volume = volumes()
    for name in ("asks", "other"):
        (volume.directory / name).write_bytes(bytes(4096))
    program = """
import errno, mmap
SYNCED = 0x03 | 0x80000  # MAP_SHARED_VALIDATE, MAP_SYNC
asks, other = open('asks', 'r+b'), open('other', 'r+b')
for flags in (SYNCED, mmap.MAP_SHARED):  # and whoever then does as if it were some
    try:
        mmap.mmap(asks.fileno(), 4096, flags=flags)
    except OSError as error:
        assert error.errno == errno.EOPNOTSUPP, error
    else:
        raise AssertionError('it was mapped')
mmap.mmap(asks.fileno(), 4096, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
mmap.mmap(asks.fileno(), 4096, flags=mmap.MAP_PRIVATE)
mmap.mmap(other.fileno(), 4096, flags=mmap.MAP_SHARED)
"""
    assert ran(volume, program).uncounted_maps == 3


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


def test_libaio_past_the_library_is_refused(volumes: VolumeFactory) -> None:
    program = """
import subprocess, sys
child = "import ctypes as c, sys; l = c.CDLL(None, use_errno=True); " \\
    "print(l.syscall(int(sys.argv[1]), 8, c.byref(c.c_ulong())), c.get_errno())"
subprocess.run([sys.executable, "-c", child, sys.argv[1]], env={}, check=True)
"""
    done = run_on(volumes(), program, str(IO_SETUP))
    assert done.stdout == "-1 1\n"  # EPERM


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
