"""Which files are on a volume, and that what is written arrives."""

import hashlib
import json
from pathlib import Path

import pytest

from plimsoll.model.aws.volumes import Volume
from tests.local.volumes.conftest import VolumeFactory, ran, ran_at_once, run_on


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
    sample = ran_at_once(volumes, program)
    assert (sample.write_operations, sample.write_ios) == (4, 3)


# --- data ---


def test_random_writes_arrive_as_they_were_made(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="io2", size_gib=10, iops=5_000))
    program = """
import hashlib, json, mmap, random, sys, threading
SIZE, BLOCKS = 8192, 512
digests = {}

def work(seed):  # each thread its own blocks, each block again and again, by every kind of call
    draw = random.Random(seed)
    direct = os.open('file', os.O_RDWR | os.O_DIRECT)
    cached = os.open('file', os.O_RDWR)
    page = mmap.mmap(-1, SIZE)
    for _ in range(300):
        block = draw.randrange(BLOCKS) * 4 + seed
        data = draw.randbytes(SIZE)
        page[:] = data
        call = draw.choice([
            lambda: os.pwrite(direct, page, block * SIZE),
            lambda: os.pwritev(direct, [page], block * SIZE),
            lambda: os.pwrite(cached, data, block * SIZE),
            lambda: os.pwritev(cached, [data[:5000], data[5000:]], block * SIZE),
        ])
        assert call() == SIZE
        if draw.random() < 0.05:
            os.fsync(cached)
        assert os.pread(cached, SIZE, block * SIZE) == data
        digests[block] = hashlib.sha256(data).hexdigest()

os.close(os.open('file', os.O_CREAT | os.O_WRONLY))
os.truncate('file', BLOCKS * 4 * SIZE)
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
json.dump(digests, sys.stdout)
"""
    done = run_on(volume, "import os" + program)
    assert done.returncode == 0, done.stderr
    digests = json.loads(done.stdout)
    assert len(digests) > 800
    held = (volume.directory / "file").read_bytes()  # without the volume
    for block, digest in digests.items():
        at = int(block) * 8192
        assert hashlib.sha256(held[at : at + 8192]).hexdigest() == digest
    assert volume.sample().write_operations == 1_200
