"""No committed row is lost on a volume, however the server ends; nor without one (the control)."""

import json
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll.model.aws.volumes import Volume
from tests.local.volumes.conftest import VolumeFactory
from tests.local.volumes.killed_kinds import MARIADB, POSTGRES, Kind
from tests.local.volumes.killing import kill_again_and_again
from tests.support.owner import owner_of

KILLS = pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.whole)])
BOTH = pytest.mark.parametrize("kind", [MARIADB, POSTGRES], ids=["mariadb", "postgres"])


@BOTH
@KILLS
def test_a_server_killed_on_a_volume_keeps_every_commit(
    volumes: VolumeFactory, kind: Kind, kills: int
) -> None:
    volume = volumes(Volume(type="gp3", size_gib=100))
    commits = kill_again_and_again(
        volume.directory / "server", kind=kind, kills=kills, environment=volume.environment
    )
    assert commits >= 40 * kills
    sample = volume.sample()
    assert sample.write_ios > commits / 10  # it was on the volume (a log write carries a group)
    assert sample.flush_operations > 0
    assert sample.refused_calls == 0


@pytest.mark.whole  # the control: it says of a failure on a volume whether the volume made it
@BOTH
def test_a_server_killed_without_a_volume_keeps_every_commit(tmp_path: Path, kind: Kind) -> None:
    assert kill_again_and_again(tmp_path / "server", kind=kind, kills=20) >= 40 * 20


OWNER = """
import json
import subprocess
import sys
from pathlib import Path
from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes import EmulatedVolume
volume = EmulatedVolume.create(Path(sys.argv[1]), Volume(type="gp3", size_gib=100))
print(json.dumps(volume.environment(), separators=(",", ":")), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("kind", "kills"),
    [
        (MARIADB, 2),
        pytest.param(MARIADB, 5, marks=pytest.mark.whole),
        pytest.param(POSTGRES, 5, marks=pytest.mark.whole),
    ],
    ids=["mariadb-2", "mariadb-5", "postgres-5"],
)
def test_a_server_whose_volumes_owner_is_killed_too_keeps_every_commit(
    tmp_path: Path, kind: Kind, kills: int
) -> None:
    with ExitStack() as owners:
        alive: list[subprocess.Popen[str]] = []

        def volume_of_another() -> Mapping[str, str]:
            owner, words = owners.enter_context(owner_of(OWNER, tmp_path / "volume"))
            alive.append(owner)
            variables: Mapping[str, str] = json.loads(words[0])
            return variables

        def kill_owner() -> None:
            alive[-1].kill()

        commits = kill_again_and_again(
            tmp_path / "volume/server",
            kind=kind,
            kills=kills,
            environment=volume_of_another,
            first_kill=kill_owner,
        )
        kill_owner()
    assert commits >= 40 * kills
