"""Volumes for the tests, and programs that run on them."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.model.aws.volumes import Volume, VolumeSample
from plimsoll.volumes import EmulatedVolume, VolumeSettings

# no caps and no latency: what is counted does not depend on the time that it takes
INSTANT = VolumeSettings(base_latency_us=0)
VolumeFactory = Callable[..., EmulatedVolume]
ESCAPE = Path(__file__).parent / "programs" / "escape.c"


@pytest.fixture
def volumes(tmp_path: Path) -> Iterator[VolumeFactory]:
    """Make volumes, by default without any limit; each is closed after the test."""
    made: list[EmulatedVolume] = []

    def create(
        volume: Volume | None = None, *, settings: VolumeSettings = INSTANT, name: str = "volume"
    ) -> EmulatedVolume:
        made.append(
            EmulatedVolume.create(
                tmp_path / name,
                volume or Volume(type="nvme", size_gib=10),
                settings=settings,
            )
        )
        return made[-1]

    yield create
    for volume in made:
        volume.close()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program that escapes, as it is usually linked and statically."""
    built = tmp_path_factory.mktemp("programs")
    subprocess.run(["cc", "-O1", "-o", built / "dynamic", ESCAPE], check=True)
    subprocess.run(["cc", "-O1", "-static", "-o", built / "static", ESCAPE], check=True)
    return built


def run_on(
    volume: EmulatedVolume, program: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run a Python program on a volume, in its directory."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **volume.environment()},
        cwd=volume.directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def ran_at_once(volumes: VolumeFactory, program: str) -> VolumeSample:
    """As `ran`, on a new volume, before dirty pages are written back since they are 5 s old.

    Only a machine that stands still meanwhile takes so long: then again, five times at most.
    """
    for number in range(5):
        volume = volumes(name=f"at-once-{number}")
        timed = f"import os, time\nbegan = time.monotonic()\n{program}\n"
        done = run_on(volume, timed + "print(time.monotonic() - began)")
        assert done.returncode == 0, done.stderr
        if float(done.stdout) < 5:
            return volume.sample()
    raise AssertionError("it took 5 s at each try")


def ran(volume: EmulatedVolume, program: str, *arguments: str) -> VolumeSample:
    """Run a Python program on a volume, which must succeed; give what was then counted."""
    done = run_on(volume, "import os\n" + program, *arguments)
    assert done.returncode == 0, done.stderr
    return volume.sample()
