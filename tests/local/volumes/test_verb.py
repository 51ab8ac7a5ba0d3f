"""`plimsoll volume`, as it is typed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.model.aws.volumes import Volume
from plimsoll.volumes.calibration import Measured, measure_disk
from tests.local.volumes.conftest import VolumeFactory, run_on
from tests.support.command import COMMAND

WRITE = "import os; os.write(os.open('file', os.O_CREAT | os.O_WRONLY), bytes(4096))"


def plimsoll(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *(str(argument) for argument in ("volume", *arguments))],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=60,
    )


GP2 = ("--type", "gp2", "--size-gib", 100)


def test_limits_says_what_a_volume_promises() -> None:
    done = plimsoll("limits", *GP2, "--json")
    assert json.loads(done.stdout)["baseline_iops"] == 300
    assert "full, they last 33 min 20 s at 3,000 IOPS" in plimsoll("limits", *GP2).stdout


def test_what_is_not_allowed_is_refused_before_anything_runs(tmp_path: Path) -> None:
    wrong = ("--type", "gp3", "--size-gib", 100, "--iops", 100)
    done = plimsoll("run", *wrong, "--dir", tmp_path / "v", "--", "true")
    assert done.returncode == 2
    assert "the nearest allowed value is 3,000" in done.stderr
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize("code", [0, 7])
def test_run_puts_a_command_on_a_volume_and_ends_as_it_does(tmp_path: Path, code: int) -> None:
    directory = tmp_path / "v"
    directory.mkdir()
    done = plimsoll(
        *("run", *GP2, "--dir", directory, "--", sys.executable, "-c", f"{WRITE}; exit({code})"),
        cwd=directory,
    )
    assert done.returncode == code
    assert done.stdout == ""
    head, figures, verdict = done.stderr.splitlines()
    assert head.split()[:3] == ["read/s", "write/s", "flush/s"]
    # the credits, of which one was spent some milliseconds ago: so long it takes to earn it back
    assert "5,400,000" in figures or "5,399,999" in figures
    assert " of 1 operations waited for this machine's disk" in verdict


def test_run_says_when_nothing_was_emulated(tmp_path: Path) -> None:
    done = plimsoll(
        *("run", *GP2, "--dir", tmp_path, "--", "env", "-u", "LD_PRELOAD", "true"),
    )
    assert done.returncode == 0  # `env` itself was on the volume
    assert "no I/O reached the volume" in done.stderr


def test_stat_prints_a_sample_each_second(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="gp2", size_gib=100))
    run_on(volume, WRITE)
    done = plimsoll("stat", volume.directory, "--seconds", 1, "--json")
    (line,) = done.stdout.splitlines()
    seen = json.loads(line)
    assert seen["interval_s"] > 0
    assert (seen["write_iops"], seen["burst_balance_percent"]) == (0, 100)


@pytest.mark.parametrize("verb", [("stat",), ("fault", "heal")])
def test_a_directory_without_a_volume_is_told(tmp_path: Path, verb: tuple[str, ...]) -> None:
    done = plimsoll(*verb, tmp_path)
    assert done.returncode == 2
    assert "no emulated volume is running there" in done.stderr


def test_faults_are_set_and_healed_by_hand(volumes: VolumeFactory) -> None:
    volume = volumes()
    assert plimsoll("fault", "fail", volume.directory, "EIO").returncode == 0
    assert "Input/output error" in run_on(volume, WRITE).stderr
    assert plimsoll("fault", "heal", volume.directory).returncode == 0
    assert run_on(volume, WRITE).returncode == 0


def test_a_volume_is_changed_while_programs_run_on_it(volumes: VolumeFactory) -> None:
    volume = volumes(Volume(type="gp2", size_gib=100))
    changed = ("--type", "gp2", "--size-gib", 200, "--credits", 0)
    assert plimsoll("change", volume.directory, *changed).returncode == 0
    assert (volume.sample().credits or 0) < 600 * 60  # what it earns in a minute


def test_calibrate_measures_and_judges(tmp_path: Path) -> None:
    done = plimsoll("calibrate", *GP2, "--dir", tmp_path, "--seconds-each", 0.1, "--json")
    result = json.loads(done.stdout)
    assert done.returncode == (1 if result["host_bound"] else 0)
    assert result["measured"]["parallel_read"]["operations"] > 0
    assert list(tmp_path.iterdir()) == []


def test_each_kind_of_io_is_measured_once_at_least(tmp_path: Path) -> None:
    """However little of its time is left when the machine gets round to it."""
    measured = measure_disk(tmp_path, seconds_each=0, size_mib=1)
    kinds = [each for _, each in measured if isinstance(each, Measured)]
    assert len(kinds) == 7
    assert all(each.operations >= 1 and each.mean_us > 0 for each in kinds)
