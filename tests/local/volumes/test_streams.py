"""What a program does by the C library's streams is on the volume, and comes to the same."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.local.volumes.conftest import VolumeFactory

SOURCE = Path(__file__).parent / "programs" / "reader.c"
TEXT = "".join(f"line {number:08}\n" for number in range(6_000))


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("programs") / "reader"
    subprocess.run(["cc", "-O1", "-o", built, SOURCE], check=True)
    return built


def test_a_stream_on_a_volume_does_as_one_beside_it(
    volumes: VolumeFactory, tmp_path: Path, reader: Path
) -> None:
    volume = volumes()
    beside, on_it = tmp_path / "file", volume.directory / "file"
    texts = []
    for file in (beside, on_it):
        file.write_text(TEXT)
        done = subprocess.run(
            [reader, file],
            env={**os.environ, **volume.environment()},
            capture_output=True,
            text=True,
            check=True,
        )
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    assert f"size {len(TEXT)}" in texts[1]
    assert "lines 6000" in texts[1]
    assert on_it.read_text() == beside.read_text() == "one 2wo 0"
    assert volume.sample().escapes == ()
    assert volume.sample().write_operations > 0
    assert volume.sample().read_bytes >= len(TEXT)
