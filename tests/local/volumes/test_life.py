"""Faults as a program sees them; volumes side by side, and what they leave."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.resources import sampler
from plimsoll.machine import program
from plimsoll.model.aws.volume_rules import Drain, Fail
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume, VolumeSettings, places
from plimsoll.volumes.native import State
from plimsoll.volumes.places import state_path
from tests.local.volumes.conftest import VolumeFactory, ran, run_on

SMALL = Volume(type="gp3", size_gib=10)


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


# --- their life ---


def test_two_volumes_count_apart(volumes: VolumeFactory) -> None:
    one, other = volumes(name="one"), volumes(name="other")
    ran(one, "open('file', 'wb', 0).write(bytes(4096))")
    assert (one.sample().write_ios, other.sample().write_ios) == (1, 0)


def test_a_directory_has_one_volume(volumes: VolumeFactory) -> None:
    volume = volumes()
    with pytest.raises(PlimsollError, match="has an emulated volume already"):
        EmulatedVolume.create(volume.directory, Volume(type="nvme", size_gib=1))


def test_its_watcher_is_told_apart_though_it_is_nobodys_child(volumes: VolumeFactory) -> None:
    volume = volumes()
    assert volume.watcher_pid is not None
    assert program(volume.watcher_pid) == "plimsoll-volume-watcher"[:15]  # as the kernel keeps it
    parent = Path(f"/proc/{volume.watcher_pid}/stat").read_text().rpartition(")")[2].split()[1]
    assert int(parent) != os.getpid()
    assert EmulatedVolume.open(volume.directory).watcher_pid is None


def test_what_its_watcher_does_is_no_work_of_others(
    volumes: VolumeFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = volumes()
    ours: Queue[set[int]] = Queue()

    def seen(run: set[int], strangers: set[int], servers: set[int]) -> None:
        assert not strangers
        assert servers == {os.getpid()}
        ours.put(run)

    monkeypatch.setattr(sampler, "cpu_times", seen)
    target = sampler.Sampler(volume, os.getpid(), naming=lambda _: ())
    try:
        assert ours.get(timeout=60) == {os.getppid(), volume.watcher_pid}
    finally:
        target.close()


def test_another_process_watches_and_changes_it(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="gp2", size_gib=100), settings=VolumeSettings())
    watcher = EmulatedVolume.open(volume.directory)
    assert watcher.volume == volume.volume
    assert watcher.sample().credits == 5.4e6
    changed = time.monotonic()
    watcher.reconfigure(Volume(type="gp2", size_gib=200), credits=1000)
    watcher.close()
    credits_now = volume.sample().credits
    earned_most = 600 * (time.monotonic() - changed)
    assert credits_now is not None
    assert 1000 <= credits_now <= 1000 + earned_most


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


KILLED_OWNER = """
import os, sys
from pathlib import Path
from plimsoll.volumes import *
from plimsoll.model.aws.volumes import Volume
v = EmulatedVolume.create(Path(sys.argv[1]), Volume(type='gp2', size_gib=1))
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_owner_left_goes_with_its_directory(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    subprocess.run([sys.executable, "-c", KILLED_OWNER, gone], check=False)
    left = state_path(gone)
    assert left.exists()
    gone.rmdir()
    with EmulatedVolume.create(tmp_path / "next", Volume(type="nvme", size_gib=1)):
        assert list(left.parent.glob(f"{left.name}*")) == []


def test_a_directory_whose_owner_was_killed_can_have_a_volume_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run([sys.executable, "-c", KILLED_OWNER, tmp_path / "v"], check=False)
    locked: list[Path] = []
    lock = places._try_lock

    def lock_and_note(path: Path) -> int | None:
        locked.append(path)
        return lock(path)

    monkeypatch.setattr(places, "_try_lock", lock_and_note)
    places.remove_abandoned()  # as whoever makes a volume elsewhere meanwhile
    assert state_path(tmp_path / "v") not in locked
    with EmulatedVolume.create(tmp_path / "v", Volume(type="nvme", size_gib=1)) as volume:
        assert volume.sample().credits is None


def test_burst_credits_are_spent_on_purpose(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="gp2", size_gib=100))
    assert volume.sample().credits == volume.sample().credits_max
    volume.inject(Drain())
    assert (volume.sample().credits or 0) < 300 * 60  # what it earns in a minute
    with pytest.raises(UsageError, match="no burst credits"):
        volumes(name="other").inject(Drain())


@pytest.mark.parametrize("failing", ["State.create", "Path.write_text"])
def test_where_memory_is_full_there_is_one_sentence_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    real = State.create

    def full(*arguments: Any) -> None:
        if failing == "State.create":
            real(*arguments)  # what was made of it until then
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    owner = State if failing == "State.create" else Path
    monkeypatch.setattr(owner, failing.partition(".")[2], full)
    with pytest.raises(PlimsollError, match=r"no space left in .* for the state of an emulated"):
        EmulatedVolume.create(tmp_path, SMALL)
    path = state_path(tmp_path)
    assert [s for s in ("", ".json", ".lock") if path.with_suffix(s).exists()] == []


def test_its_state_has_all_its_memory_from_the_start(tmp_path: Path) -> None:
    """Else the first use of a page that memory has no room for ends the process (SIGBUS)."""
    settings = VolumeSettings(page_cache_mib=1024)
    with EmulatedVolume.create(tmp_path, SMALL, settings=settings):
        state = state_path(tmp_path).stat()
        assert state.st_size > 1_000_000
        assert state.st_blocks * 512 >= state.st_size
