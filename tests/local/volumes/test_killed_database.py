"""No committed row is lost on a volume, however the server ends; nor without one (the control)."""

from pathlib import Path

from plimsoll.model.volumes import Volume
from tests.local.volumes.conftest import VolumeFactory
from tests.local.volumes.killing import kill_again_and_again

KILLS = 20


def test_a_server_killed_on_a_volume_keeps_every_commit(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="gp3", size_gib=100))
    commits = kill_again_and_again(
        volume.directory / "server", kills=KILLS, environment=volume.environment()
    )
    assert commits >= 40 * KILLS
    sample = volume.sample()
    assert sample.write_ios > commits / 10  # it was on the volume (a log write carries a group)
    assert sample.flush_operations > 0
    assert sample.refused_calls == 0


def test_a_server_killed_without_a_volume_keeps_every_commit(tmp_path: Path) -> None:
    assert kill_again_and_again(tmp_path / "server", kills=KILLS) >= 40 * KILLS
