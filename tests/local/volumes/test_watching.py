"""A watcher is found, stays as long as it is needed, and says why it does not start."""

import errno
import os
import select
import subprocess
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume, places, watching
from plimsoll.volumes.places import WATCH, state_path
from plimsoll.volumes.watching import Watcher
from tests.local.volumes.conftest import VolumeFactory, run_on

NVME = Volume(type="nvme", size_gib=10)


def held() -> tuple[list[str], list[str]]:
    """Give this process's descriptors, and the states of volumes that it has mapped."""
    descriptors = [entry.name for entry in os.scandir("/proc/self/fd")]
    maps = Path("/proc/self/maps").read_text().splitlines()
    return sorted(descriptors), [line for line in maps if "/dev/shm/" in line]


def broken(monkeypatch: pytest.MonkeyPatch, program: Path, text: str, mode: int) -> None:
    """Put a program in the watcher's place."""
    program.write_text(text)
    program.chmod(mode)
    monkeypatch.setattr(watching, "find_native_part", lambda _: program)


def test_its_own_reason_is_in_the_message(tmp_path: Path) -> None:
    before = held()
    missing = tmp_path / "state"
    with pytest.raises(PlimsollError, match=r"does not start: No such file or directory$"):
        Watcher.start(missing, tmp_path.stat())
    assert held() == before


def test_a_volume_whose_watcher_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    EmulatedVolume.create(tmp_path, NVME).close()  # the core stays loaded
    before = held()
    broken(monkeypatch, tmp_path / "watcher", "#!/bin/sh\necho no luck >&2\nexit 1\n", 0o700)
    with pytest.raises(PlimsollError, match="does not start: no luck"):
        EmulatedVolume.create(tmp_path, NVME)
    assert held() == before


def test_nor_does_one_that_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    EmulatedVolume.create(tmp_path, NVME).close()
    before = held()
    broken(monkeypatch, tmp_path / "watcher", "#!/bin/sh\n", 0o600)
    with pytest.raises(PlimsollError, match=f"{tmp_path}/watcher: Permission denied"):
        EmulatedVolume.create(tmp_path, NVME)
    assert held() == before


def test_nor_does_one_whose_socket_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    EmulatedVolume.create(tmp_path, NVME).close()
    before = held()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(watching, "_bind_socket", full)
    with pytest.raises(PlimsollError, match="no space left in "):
        EmulatedVolume.create(tmp_path, NVME)
    assert held() == before


def test_where_nobody_can_watch_that_is_said(volumes: VolumeFactory) -> None:
    volume = volumes()
    state_path(volume.directory).with_suffix(WATCH).unlink()
    done = run_on(volume, "import os; os.system('true')")
    said = done.stderr.count("I/O that goes past the volume cannot be seen here: ")
    assert said == 1, "its child does not say it again"
    assert volume.sample().unwatched


def test_a_watcher_is_found_however_long_its_path_is(
    volumes: VolumeFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no /dev/shm, it lies with the temporary files."""
    far = tmp_path / ("a" * 100) / ("b" * 100)
    far.mkdir(parents=True)
    monkeypatch.setattr(places, "MEMORY", far)
    volume = volumes()
    done = run_on(volume, "import os; os.system('true')")
    assert "cannot be seen here" not in done.stderr
    assert not volume.sample().unwatched


def watcher_of(volume: EmulatedVolume) -> int:
    """Open a descriptor of a volume's watcher, which becomes readable when that has ended."""
    state = os.fsencode(state_path(volume.directory))
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if process.read_bytes().split(b"\0")[1:2] == [state]:
                return os.pidfd_open(int(process.parent.name))
        except OSError:
            continue  # it has ended meanwhile
    raise AssertionError("there is no watcher")


def ended(watcher: int, within_s: float) -> bool:
    return bool(select.select([watcher], [], [], within_s)[0])


def test_the_watcher_stays_as_long_as_it_is_needed(volumes: VolumeFactory, programs: Path) -> None:
    volume = volumes()
    watcher = watcher_of(volume)
    escape = f"{programs}/static plain write {volume.directory}/file 10"
    with subprocess.Popen(
        ["sh", "-c", f"echo on it; read line; {escape}"],
        env={**os.environ, **volume.environment()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on it\n"
        volume.close()
        assert not ended(watcher, 0)
        process.communicate(b"go on\n")
    assert process.returncode == 0
    assert ended(watcher, 30)
    os.close(watcher)
