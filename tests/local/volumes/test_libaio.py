"""libaio's calls are counted and held back until the volume's completions are due."""

import os
import subprocess
from pathlib import Path

import pytest

from plimsoll.model.aws.volume_rules import Fail
from plimsoll.volumes import EmulatedVolume, VolumeSettings
from tests.local.volumes.conftest import VolumeFactory

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program linked to a libaio, as a database is."""
    built = tmp_path_factory.mktemp("programs")
    library = built / "libaio.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, PROGRAMS / "libaio.c"], check=True)
    subprocess.run(
        ["cc", "-o", built / "aio", PROGRAMS / "aio_program.c", library, f"-Wl,-rpath,{built}"],
        check=True,
    )
    return built / "aio"


def run(program: Path, volume: EmulatedVolume) -> list[str]:
    beside = volume.directory.parent / "beside"
    done = subprocess.run(
        [program, volume.directory / "file", beside],
        env={**os.environ, **volume.environment()},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.split()


def test_every_call_is_counted_and_comes_back_as_it_was(
    program: Path, volumes: VolumeFactory
) -> None:
    volume = volumes()
    told = run(program, volume)[:-1]
    assert sorted(told) == sorted([*(f"{i}:8192" for i in range(9)), "9:0"])
    sample = volume.sample()
    # nine writes, of which one beside the volume, and a flush
    assert (sample.write_operations, sample.write_ios) == (8, 8)
    assert sample.write_bytes == 8 * 8192
    assert sample.flush_operations == 1


def test_completions_wait_until_they_are_due(program: Path, volumes: VolumeFactory) -> None:
    volume = volumes(settings=VolumeSettings(base_latency_us=1_000_000))
    *_, first_ms = run(program, volume)
    assert int(first_ms) >= 500
    sample = volume.sample()
    assert sample.write_time_us >= 8 * 500_000


def test_a_failure_comes_as_the_result_of_its_call(program: Path, volumes: VolumeFactory) -> None:
    volume = volumes()
    volume.inject(Fail(error="EIO", after_operations=2, operations=1))
    assert sorted(run(program, volume)[:-1])[3] == "3:-5"
    assert volume.sample().failed_operations == 1
