"""Maven over a network that stumbles: it is run again, and not for ever."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local.databases.maven import TRIES, run_maven


@pytest.fixture
def fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Have a Maven that fails so often before it succeeds, and writes down each time."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    program = tmp_path / "mvn"

    def with_failures(count: int) -> None:
        program.write_text(
            "#!/bin/sh\n"
            "echo x >> runs\n"
            f'[ $(grep -c x runs) -gt {count} ] || {{ echo "[ERROR] cut off"; exit 1; }}\n'
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    return with_failures


def fetch(folder: Path) -> int:
    """Fetch something; gives how often Maven ran until it had it."""
    run_maven("group:artifact:1", "plugin:copy", folder=folder, how_to_get="nowhere")
    return len((folder / "runs").read_text().splitlines())


@pytest.mark.parametrize("failures", range(TRIES))
def test_one_that_fails_is_run_again_until_it_succeeds(
    fails: Callable[[int], None], tmp_path: Path, failures: int
) -> None:
    fails(failures)
    assert fetch(tmp_path) == failures + 1


def test_one_that_never_succeeds_is_given_up_with_its_reason(
    fails: Callable[[int], None], tmp_path: Path
) -> None:
    fails(TRIES)
    with pytest.raises(PlimsollError, match=r"could not fetch group:artifact:1: .*cut off"):
        fetch(tmp_path)
    assert len((tmp_path / "runs").read_text().splitlines()) == TRIES
