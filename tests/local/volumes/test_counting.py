"""Each call of a program is counted as the I/O that it is, whatever it is called."""

import pytest

from plimsoll.model.aws.volumes import VolumeSample
from tests.local.volumes.conftest import VolumeFactory, run_on

KIB = 1024
DIRECT = """
import ctypes, mmap, os
fd = os.open("file", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
page = mmap.mmap(-1, 1 << 20)
half = memoryview(page)[: 1 << 19]
libc = ctypes.CDLL(None, use_errno=True)
address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))
at = ctypes.c_int64
os.ftruncate(fd, 1 << 24)
"""


def counted(sample: VolumeSample) -> dict[str, tuple[int, int, int]]:
    return {
        "read": (sample.read_operations, sample.read_ios, sample.read_bytes),
        "write": (sample.write_operations, sample.write_ios, sample.write_bytes),
    }


NONE = (0, 0, 0)


@pytest.mark.parametrize(
    ("calls", "read", "write"),
    [
        ("os.write(fd, page)", NONE, (1, 4, 1024 * KIB)),
        ("os.pwrite(fd, half, 0)", NONE, (1, 2, 512 * KIB)),
        ("libc.pwrite64(fd, address, 4096, at(0))", NONE, (1, 1, 4 * KIB)),
        ("os.writev(fd, [half, half])", NONE, (1, 4, 1024 * KIB)),
        ("os.pwritev(fd, [half, half], 4096)", NONE, (1, 4, 1024 * KIB)),
        ("os.pwritev(fd, [half], 4096, os.RWF_DSYNC)", NONE, (1, 2, 512 * KIB)),
        (
            "os.write(fd, page); os.lseek(fd, 0, 0); os.readv(fd, [page])",
            (1, 4, 1024 * KIB),
            (1, 4, 1024 * KIB),
        ),
        ("os.preadv(fd, [page], 0)", (1, 4, 1024 * KIB), NONE),
        ("os.preadv(fd, [half], 4096, os.RWF_HIPRI & 0)", (1, 2, 512 * KIB), NONE),
        ("libc.pread(fd, address, 4096, at(0))", (1, 1, 4 * KIB), NONE),
        ("libc.pread64(fd, address, 4096, at(0))", (1, 1, 4 * KIB), NONE),
        ("libc.read(fd, address, 262144)", (1, 1, 256 * KIB), NONE),
        ("libc.read(fd, address, 266240)", (1, 2, 260 * KIB), NONE),
        ("os.pread(fd, 4096, 1 << 24)", NONE, NONE),  # behind the end: no I/O
    ],
)
def test_direct_calls(
    volumes: VolumeFactory,
    calls: str,
    read: tuple[int, int, int],
    write: tuple[int, int, int],
) -> None:
    volume = volumes()
    done = run_on(volume, DIRECT + calls)
    assert done.returncode == 0, done.stderr
    assert counted(volume.sample()) == {"read": read, "write": write}
